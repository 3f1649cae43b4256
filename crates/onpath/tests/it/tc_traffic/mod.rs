//! Tests with traffic of a real network stack through programs at traffic control. One end adds headers to packets,
//! and the other removes them. No byte of a stream may be lost or wrong, with any offloads. Needs root.

mod tunnels;

use lab::traffic::{Amount, ping, tcp};
use lab::{Ends, Offloads, Pair, Route, SERVER, Space, Task};
use net::raw_socket::RawSocket;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::Duration;

const PORT: u16 = 7100;
const BYTES: u64 = 24 << 20;

/// Two ends, each with the same programs. They are given in the order in which packets meet them at egress.
struct Net {
    _programs: Vec<Task>,
    pair: Pair,
}

impl Net {
    fn new(offloads: Offloads, programs: &[&str]) -> Net {
        let ends = Ends {
            offloads,
            ..Ends::default()
        };
        let pair = Pair::new(ends).expect("this test needs root");
        // This leaves room on the wire for headers that are added.
        for (space, device) in [(pair.client(), "c0"), (pair.server(), "s0")] {
            space
                .set(&format!("ipv6/conf/{device}/mtu"), "1460")
                .expect("a route's MTU");
        }
        let mut running = Vec::new();
        for (space, device) in [(pair.client(), "c0"), (pair.server(), "s0")] {
            for program in programs {
                running.push(start(space, device, "tc-egress", program));
            }
            for program in programs.iter().rev() {
                running.push(start(space, device, "tc-ingress", program));
            }
        }
        Net {
            _programs: running,
            pair,
        }
    }

    fn pings(&self) {
        let pinged = ping::ping(&self.pair, 5, Duration::from_millis(20)).expect("pings");
        assert_eq!(pinged.received, 5);
    }

    fn streams(&self) {
        let seen = tcp::transfer(&self.pair, PORT, Amount::Bytes(BYTES)).expect("a stream");
        assert_eq!(seen.corrupted_at, None);
        assert_eq!(seen.bytes, BYTES);
    }

    /// Checks that an echo request on the wire has these bytes at an offset.
    fn on_the_wire(&self, offset: usize, wanted: &[u8]) {
        let wire = self.pair.server().run(|| RawSocket::open("s0"));
        let wire = wire.expect("a socket");
        self.pings();
        let mut seen = std::iter::from_fn(|| wire.receive().ok().flatten());
        let found = seen.any(|p| p.bytes.get(offset..offset + wanted.len()) == Some(wanted));
        assert!(found, "no packet with {wanted:x?} at {offset}");
    }
}

fn start(space: &Space, device: &str, hook: &str, program: &str) -> Task {
    start_at(space, &["--dev", device], hook, program)
}

fn start_at(space: &Space, interfaces: &[&str], hook: &str, program: &str) -> Task {
    let script = "mount -t bpf bpf /sys/fs/bpf && exec \"$0\" \"$@\"";
    let file = format!(
        "{}/../../tests/traffic/{program}.p4",
        env!("CARGO_MANIFEST_DIR")
    );
    let onpath = env!("CARGO_BIN_EXE_onpath");
    let name = format!("{program}-{hook}");
    let mut words = vec!["unshare", "--mount", "sh", "-c", script, onpath, "run"];
    words.extend([&file, "--target", hook, "--name", &name]);
    words.extend(interfaces);
    let mut task = space.start(&words).expect("onpath starts");
    task.wait_for("running").expect("it runs");
    task
}

const ALL: [Offloads; 3] = [Offloads::All, Offloads::Software, Offloads::None];

#[test]
fn an_extension_header_goes_in_and_out() {
    for offloads in ALL {
        let net = Net::new(offloads, &["option"]);
        net.on_the_wire(20, &[60]);
        net.streams();
    }
}

/// The VLAN tag is in the packet's metadata when the second program at egress and the first at ingress see it.
#[test]
fn an_extension_header_goes_into_tagged_packets() {
    for offloads in ALL {
        let net = Net::new(offloads, &["tag", "option"]);
        net.on_the_wire(12, &[0x81, 0, 0, 7, 0x86, 0xdd]);
        net.on_the_wire(24, &[60]);
        net.streams();
    }
}

/// The stack gets the packet with its new protocol. Packets that are still to be segmented are dropped.
#[test]
fn packets_become_those_of_another_protocol_and_back() {
    let net = Net::new(Offloads::None, &["label"]);
    net.on_the_wire(12, &[0x88, 0x47]);
    for (space, device) in [(net.pair.client(), "c0"), (net.pair.server(), "s0")] {
        space.one_segment(device).expect("packets of one segment");
    }
    net.streams();
}

#[test]
fn transport_checksums_follow_their_offload() {
    for offloads in ALL {
        let net = Net::new(offloads, &["rewrite"]);
        net.streams();
    }
}

#[test]
fn packets_are_for_whom_their_addresses_say_at_last() {
    for offloads in ALL {
        let net = Net::new(offloads, &["address"]);
        net.pings();
        net.streams();
    }
    // With the program at one end only, incoming packets have another host's address.
    let pair = Pair::new(Ends::default()).expect("this test needs root");
    let _program = start(pair.server(), "s0", "tc-ingress", "address");
    let pinged = ping::ping(&pair, 2, Duration::from_millis(20));
    let lost = pinged.expect_err("nobody answers").to_string();
    assert!(lost.contains("100% packet loss"), "{lost}");
}

/// Packets come in for a link address that nobody has. The stack treats them by the address that the program writes:
/// this host's, or a group's, whose packets TCP discards.
#[test]
fn packets_that_come_in_are_for_whom_the_program_says() {
    let nobody = "02:00:00:00:00:99";
    for model in [&["-D", "SWITCH"][..], &[]] {
        let pair = Pair::new(Ends::default()).expect("this test needs root");
        let to = SERVER.to_string();
        let neighbour = ["ip", "neigh", "replace", &to, "lladdr", nobody, "dev", "c0"];
        pair.client().output(&neighbour).expect("a neighbour");
        let pings = || ping::ping(&pair, 2, Duration::from_millis(20));
        pings().expect_err("nobody answers");
        for (address, host) in [
            ("TO=0x020000000002", true),
            ("TO=0xffffffffffff", false),
            ("TO=0x333300000001", false),
        ] {
            let options = [&["--dev", "s0", "-D", address], model].concat();
            let _program = start_at(pair.server(), &options, "tc-ingress", "destination");
            assert_eq!(pings().expect("answers").received, 2, "{address}");
            // Nobody listens, so TCP refuses the connections that it sees.
            let to = (SERVER, PORT).into();
            let connect = || TcpStream::connect_timeout(&to, Duration::from_millis(300));
            let error = pair.client().run(connect).expect_err("nobody listens");
            let refused = error.kind() == ErrorKind::ConnectionRefused;
            assert_eq!(refused, host, "{address}: {error}");
        }
    }
}

//! Tests of the shipped programs of `onpath pdm` with a million flows: in test runs, each verdict is checked, and on
//! a veth pair, each packet has to arrive.

use super::datagram::{OPTION_AT, OPTION_LENGTH, datagram, number, source};
use crate::pair::{self, Compiled};
use control::Store;
use diag::Diagnostic;
use kernel::Instance;
use kernel::attach::attach;
use kernel::attachment::{Attached, Interfaces, TcMethod};
use kernel::port::Port;
use kernel::sys::TcContext;
use kernel::test_run::tc_verdict;
use lab::{Ends, Offloads, Route, SERVER, Space};
use net::interface;
use net::raw_socket::RawSocket;
use num_traits::ToPrimitive;
use std::collections::HashSet;
use std::io;
use std::net::{Ipv6Addr, SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;

const FLOWS: u32 = 1_000_000;
const SLOTS: usize = 65_536;
const PORT: u16 = 9000;

#[test]
fn a_million_measured_flows_pass_through_64k_slots() {
    let compiled = Compiled::egress(false);
    let [egress] = pair::load([&compiled]);
    let sent = every_packet_is_marked(&egress);
    let seen = Seen {
        sent: 1,
        received: 0,
    };
    let psn = |flow: u32| Some(sent[flow as usize]);
    let stay = flows(&compiled, &egress, seen, psn);
    the_newest_stay_and_go_on(&egress, &sent, &stay);
}

/// Checks that every packet of a new flow passes with an option, and returns their sequence numbers. The clock and
/// the random numbers are the kernel's.
fn every_packet_is_marked(egress: &Instance) -> Vec<u16> {
    let mut out = [0; 256];
    let numbers: Vec<u16> = (0..FLOWS)
        .map(|flow| marked(egress, flow, &mut out))
        .collect();
    let mut times = vec![0u32; 1 << 16];
    for number in &numbers {
        times[usize::from(*number)] += 1;
    }
    // Each number is expected 15 times, with a standard deviation of 4.
    let most = times.iter().max();
    let never = times.iter().filter(|count| **count == 0).count();
    assert!(most < Some(&60) && never < 20, "{most:?}, {never} never");
    let in_a_row = numbers.windows(2).filter(|w| w[0].wrapping_add(1) == w[1]);
    assert!(
        in_a_row.count() < 100,
        "the first number follows from another"
    );
    numbers
}

/// Runs a packet of a flow, checks its option, and returns the sequence number in it.
fn marked(egress: &Instance, flow: u32, out: &mut [u8]) -> u16 {
    let packet = datagram(flow, PORT);
    let program = egress.program.prog();
    let ran = program
        .run_tc(&packet, out, &mut TcContext::default(), 1)
        .expect("a test run");
    assert_eq!(ran.verdict, tc_verdict::NEXT, "flow {flow}");
    assert_eq!(ran.length, packet.len() + OPTION_LENGTH, "flow {flow}");
    let option = &out[OPTION_AT..OPTION_AT + OPTION_LENGTH];
    // No packet has been received yet, so there are no number and no delays.
    let first = [17, 1, 0x0f, 10, 0, 0];
    let rest = [0, 0, 0, 0, 0, 0, 1, 0];
    assert!(
        out[20] == 60 && option[..6] == first && option[8..] == rest,
        "flow {flow}: {:02x?}",
        &out[..ran.length]
    );
    let behind = &out[OPTION_AT + OPTION_LENGTH..ran.length];
    assert_eq!(behind, &packet[OPTION_AT..], "flow {flow}");
    u16::from_be_bytes([option[6], option[7]])
}

/// Expected counts in a flow's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Seen {
    sent: u64,
    received: u64,
}

/// Checks that every slot holds a real flow with the right value, and returns the numbers of these flows. `sent`
/// gives the sequence number of the last packet, if it is known.
fn flows(
    compiled: &Compiled,
    instance: &Instance,
    seen: Seen,
    sent: impl Fn(u32) -> Option<u16>,
) -> HashSet<u32> {
    let state = compiled.object("flows");
    let [sent_at, received_at, next_at, first_at] =
        ["sent", "received", "psn_next", "first_seen"].map(|name| compiled.field(state, name));
    let mut stay = HashSet::new();
    for flow in instance.store.flows(state).expect("flows") {
        let key = |at: usize| flow.key[at].value().to_u128().expect("a number");
        let value = |at: usize| flow.value[at].to_u64().expect("a number");
        let ends = [0, 1].map(|at| Ipv6Addr::from_bits(key(at)));
        let ports = [2, 3].map(|at| key(at) as u16);
        // On the server, the client is the other host.
        let here = usize::from(ends[0] == SERVER);
        let number = number(ends[here], ports[here]);
        assert_eq!((ends[here], ports[here]), source(number));
        assert_eq!((ends[1 - here], key(4)), (SERVER, 17));
        assert!(number < FLOWS && stay.insert(number), "flow {number}");
        let found = Seen {
            sent: value(sent_at),
            received: value(received_at),
        };
        assert_eq!(found, seen, "flow {number}");
        if let Some(psn) = sent(number) {
            assert_eq!(
                value(next_at),
                u64::from(psn.wrapping_add(1)),
                "flow {number}"
            );
        }
        assert_ne!(value(first_at), 0, "flow {number}");
    }
    assert_eq!(stay.len(), SLOTS, "every slot is taken");
    stay
}

/// Checks that the least recently used flows were evicted, and that stored flows continue their sequence numbers.
fn the_newest_stay_and_go_on(egress: &Instance, sent: &[u16], stay: &HashSet<u32>) {
    const NEWEST: u32 = SLOTS as u32 / 2;
    let newest = (FLOWS - NEWEST..FLOWS).filter(|flow| stay.contains(flow));
    let newest: Vec<u32> = newest.collect();
    let count = newest.len();
    assert!(
        count > 32_000,
        "of the last {NEWEST} flows, {count} are there"
    );
    for flow in newest {
        let psn = marked(egress, flow, &mut [0; 256]);
        assert_eq!(psn, sent[flow as usize].wrapping_add(1), "flow {flow}");
    }
}

/// Two processors send a packet of each flow. It gets the option at one end, and at the other the option is read and
/// removed.
#[test]
fn a_million_measured_flows_lose_no_packet() {
    let compiled = [Compiled::egress(false), Compiled::ingress(false)];
    let [client] = pair::load([&compiled[0]]);
    let [server] = pair::load([&compiled[1]]);
    let ends = Ends {
        offloads: Offloads::None,
        ..Ends::default()
    };
    let net = lab::Pair::new(ends).expect("this test needs root");
    let _running = [
        AtDevice::new(net.client(), "c0", &client),
        AtDevice::new(net.server(), "s0", &server),
    ];
    thread::scope(|scope| {
        for half in 0..2 {
            let net = &net;
            scope.spawn(move || each_arrives(net, half).expect("sends and receives"));
        }
    });
    let count = |end: &Instance, at: usize, name, index| {
        let counter = end.store.counter(compiled[at].object(name), index);
        counter.expect("a counter").packets
    };
    let all = u64::from(FLOWS);
    // Marked; read; taken out.
    assert_eq!(count(&client, 0, "egress.egress_packets", 0), all);
    assert_eq!(count(&server, 1, "ingress.ingress_packets", 0), all);
    assert_eq!(count(&server, 1, "ingress.ingress_packets", 9), all);
    let seen = Seen {
        sent: 0,
        received: 1,
    };
    flows(&compiled[1], &server, seen, |_| None);
}

/// A program at a device of a namespace. It is detached inside the namespace, as a filter knows its interface by
/// index.
struct AtDevice<'a> {
    space: &'a Space,
    attached: Vec<Attached>,
}

impl<'a> AtDevice<'a> {
    fn new(space: &'a Space, device: &str, instance: &Instance) -> AtDevice<'a> {
        let attached = space.run(|| {
            let refused = |d: Box<Diagnostic>| io::Error::other(d.message);
            let port = Port {
                number: 0,
                index: interface::index(device).map_err(refused)?,
                name: device.to_owned(),
            };
            let at = Interfaces {
                order: None,
                redirects: false,
                ports: &[port],
                targets: &[],
            };
            attach(&instance.program, at, TcMethod::Best).map_err(refused)
        });
        AtDevice {
            space,
            attached: attached.expect("the program at the device"),
        }
    }
}

impl Drop for AtDevice<'_> {
    fn drop(&mut self) {
        let attached = std::mem::take(&mut self.attached);
        let _ = self.space.run(|| {
            drop(attached);
            Ok(())
        });
    }
}

/// Sends the packets of every second flow in batches that fit a socket's buffer, and waits for each batch.
fn each_arrives(net: &lab::Pair, half: u16) -> io::Result<()> {
    const AT_ONCE: usize = 100;
    let port = PORT + half;
    let wire = net.client().run(|| RawSocket::open("c0"))?;
    let socket = net.server().run(|| UdpSocket::bind((SERVER, port)))?;
    socket.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mine: Vec<u32> = (half.into()..FLOWS).step_by(2).collect();
    let mut payload = [0; 64];
    for flows in mine.chunks(AT_ONCE) {
        for flow in flows {
            wire.send(&datagram(*flow, port))?;
        }
        for flow in flows {
            let (length, from) = socket
                .recv_from(&mut payload)
                .map_err(|e| io::Error::other(format!("flow {flow}: {e}")))?;
            assert_eq!(payload[..length], flow.to_be_bytes(), "flow {flow}");
            assert_eq!(from, SocketAddr::from(source(*flow)), "flow {flow}");
        }
    }
    Ok(())
}

//! Network of a client that has raw sockets alone, a bridge with the firewall, and a server of Linux. Between the bridge and the server, VLAN tags and PPPoE are
//! removed and added, as an access concentrator does it.
//!
//! Client and server send on different processors, so that the firewall sees the two directions of a connection there.

use super::wrapping::{Hosts, Network, Wrapping};
use lab::worker::Worker;
use lab::{Space, Task, precedence};
use net::link::{self, End};
use net::raw_socket::RawSocket;
use serde_json::Value;
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// Processors on which the client and the server send.
const OF_CLIENT: usize = 0;
const OF_SERVER: usize = 1;
/// MTU with room for the longest streams and for tags, in bytes. With XDP, a packet is in one page.
const MTU: u32 = 3400;

/// VLAN tags and PPPoE between the client and the concentrator. Each has an address of the client.
pub(super) const LINKS: [(&[(u16, u16)], bool); 5] = [
    (&[], false),
    (&[(0x8100, 7)], false),
    (&[(0x88a8, 5), (0x8100, 7)], false),
    (&[], true),
    (&[(0x8100, 9)], true),
];

/// Returns the addresses of a client behind a link, and of the server.
pub(super) fn hosts(link: usize) -> Hosts {
    let number = 10 + link as u8;
    let v6 = |host| [0xfd, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host];
    Hosts {
        link: [[2, 0, 0, 0, 1, 2], [2, 0, 0, 0, 2, 2]],
        v4: [[10, 7, 0, number], [10, 7, 0, 2]],
        v6: [v6(number), v6(2)],
    }
}

pub(super) struct Net {
    client: Space,
    bridge: Space,
    pub server: Space,
    _concentrator: (Space, [Worker<()>; 2]),
}

impl Net {
    pub(super) fn new() -> io::Result<Net> {
        let [client, bridge, concentrator, server] = [quiet()?, quiet()?, quiet()?, Space::new()?];
        join((&client, "c0"), (&bridge, "left"))?;
        join((&bridge, "right"), (&concentrator, "t0"))?;
        join((&concentrator, "t1"), (&server, "s0"))?;
        // Bridged packets are not the host's to check.
        shell(
            &bridge,
            "ip link add across type bridge; ip link set left master across
             ip link set right master across; ip link set across up
             for name in ip ip6; do sysctl -qw net.bridge.bridge-nf-call-${name}tables=0 || true; done",
        )?;
        let mut script = String::from(
            "ip link set s0 down; ip link set s0 address 02:00:00:00:02:02 up
             ip address add 10.7.0.2/24 dev s0; ip address add fd00:7::2/64 dev s0 nodad\n",
        );
        for link in 0..LINKS.len() {
            let number = 10 + link;
            for address in [format!("10.7.0.{number}"), format!("fd00:7::{number:x}")] {
                script += &format!("ip neighbour add {address} lladdr 02:00:00:00:01:02 dev s0\n");
            }
        }
        shell(&server, &script)?;
        let sockets = || -> io::Result<[RawSocket; 2]> {
            concentrator.run(|| Ok([RawSocket::open("t0")?, RawSocket::open("t1")?]))
        };
        let ([up, to_server], [to_client, down]) = (sockets()?, sockets()?);
        let workers = [
            Worker::start(move |stop| relay(&up, &to_server, stop, unwrapped)),
            Worker::start(move |stop| relay(&down, &to_client, stop, wrapped)),
        ];
        Ok(Net {
            client,
            bridge,
            server,
            _concentrator: (concentrator, workers),
        })
    }

    /// Opens the client's device, for a thread that sends from now on.
    pub(super) fn client(&self) -> io::Result<RawSocket> {
        // Some machines have one processor only.
        let _ = precedence::pin_this(OF_CLIENT);
        self.client.run(|| RawSocket::open("c0"))
    }

    /// Starts the firewall on both ports of the bridge.
    pub(super) fn block(&self, name: &str, options: &str) -> io::Result<Firewall> {
        let script = format!(
            "mount -t bpf bpf /sys/fs/bpf; cd $(mktemp -d); echo '||{name}^' > list.txt
             \"$0\" firewall --dev left,right --block list.txt --detach {options} 2>&1
             rm -r $PWD; echo it runs; exec sleep infinity"
        );
        let onpath = env!("CARGO_BIN_EXE_onpath");
        let words = ["unshare", "--mount", "sh", "-ec", &script, onpath];
        let mut task = self.bridge.start(&words)?;
        task.wait_for("it runs")?;
        Ok(Firewall { task })
    }
}

/// The firewall, which ends with the value.
pub(super) struct Firewall {
    task: Task,
}

impl Firewall {
    /// Returns what it counted as unknown or not read, whatever the reason.
    pub(super) fn unknown(&self, net: &Net) -> io::Result<u64> {
        let process = self.task.id().to_string();
        let onpath = env!("CARGO_BIN_EXE_onpath");
        let words = ["nsenter", "--mount", "--target", &process, onpath];
        let words = [&words[..], &["firewall", "stats", "--json"]].concat();
        let stats: Value = serde_json::from_slice(&net.bridge.output(&words)?.stdout)?;
        let counts = ["unknown", "unread"].map(|of| stats[of].as_array().cloned());
        let counts = counts.into_iter().flatten().flatten();
        Ok(counts.filter_map(|row| row["count"].as_u64()).sum())
    }
}

/// Returns a namespace in which only tests send packets.
fn quiet() -> io::Result<Space> {
    let space = Space::new()?;
    space.set("ipv6/conf/all/disable_ipv6", "1")?;
    space.set("ipv6/conf/default/disable_ipv6", "1")?;
    Ok(space)
}

fn join(one: (&Space, &str), other: (&Space, &str)) -> io::Result<()> {
    let far = End {
        netns: Some(other.0.as_fd()),
        mtu: Some(MTU),
        ..End::here(other.1)
    };
    let near = End {
        mtu: Some(MTU),
        ..End::here(one.1)
    };
    one.0.run(|| link::add_veth(near, far))?;
    for (space, name) in [one, other] {
        shell(space, &format!("ip link set {name} up"))?;
    }
    for (space, name) in [one, other] {
        space.run(|| link::wait_until_running(name))?;
    }
    Ok(())
}

fn shell(space: &Space, script: &str) -> io::Result<()> {
    space.output(&["sh", "-ec", script]).map(|_| ())
}

/// Sends what comes in at one device out of the other, changed.
fn relay(
    from: &RawSocket,
    to: &RawSocket,
    stop: &AtomicBool,
    change: impl Fn(&[u8]) -> Option<Vec<u8>>,
) -> io::Result<()> {
    // Some machines have one processor only.
    let _ = precedence::pin_this(OF_SERVER);
    from.set_room(8 << 20)?;
    while !stop.load(Ordering::Relaxed) {
        while let Some(received) = from.receive()? {
            if let Some(frame) = change(&received.bytes) {
                to.send(&frame)?;
            }
        }
        from.wait(20)?;
    }
    Ok(())
}

/// Returns the packet of IP in a frame.
pub(super) fn inner(frame: &[u8]) -> Option<&[u8]> {
    let mut at = 12;
    loop {
        let kind = u16::from_be_bytes(frame.get(at..at + 2)?.try_into().ok()?);
        match kind {
            0x8100 | 0x88a8 => at += 4,
            0x0800 | 0x86dd => return frame.get(at + 2..),
            0x8864 => return frame.get(at + 10..),
            _ => return None,
        }
    }
}

/// Takes tags and PPPoE off. As at a router, packets end whose time has come.
fn unwrapped(frame: &[u8]) -> Option<Vec<u8>> {
    let packet = inner(frame)?;
    let (kind, hops) = match packet.first()? >> 4 {
        4 => ([8, 0], packet[8]),
        _ => ([0x86, 0xdd], packet[7]),
    };
    (hops > 1).then(|| [&frame[..12], &kind, packet].concat())
}

/// Puts on tags and PPPoE of a client.
fn wrapped(frame: &[u8]) -> Option<Vec<u8>> {
    let packet = inner(frame)?;
    let is_v4 = packet.first()? >> 4 == 4;
    let client = if is_v4 {
        packet.get(19)?
    } else {
        packet.get(39)?
    };
    let link = usize::from(client.checked_sub(10)?);
    let (tags, session) = LINKS.get(link)?;
    let network = match is_v4 {
        true => Network::V4 { options: 0 },
        false => Network::V6 {
            extensions: Vec::new(),
        },
    };
    let wrapping = Wrapping {
        tags: tags.to_vec(),
        session: *session,
        network,
        hops: 64,
    };
    Some(wrapping.framed(&hosts(link).back(), packet))
}

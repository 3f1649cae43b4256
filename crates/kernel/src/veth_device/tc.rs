//! Ports of a program at traffic control. Each has two pairs of devices:
//!
//! ```text
//! enter ~~~ port    the program is at the port's ingress or egress
//! leave ~~~ seen    where redirects and copies to the port go
//! ```
//!
//! Towards ingress a packet is sent out of `enter` and comes in at `port`. If it passes, a second program there sends
//! it out of `leave`, because sockets at `port` see packets before any program does. Towards egress a packet is sent
//! out of `port`, and if it passes, it comes in at `enter`. A packet that is redirected to a port's ingress comes in
//! at `leave`, where such a second program runs too. So it counts as out of that port, and does not meet the tested
//! program again. Packets that came out of a port are seen at `seen`. Those that are sent back, or pass on their way
//! out, are seen at `enter`.
//!
//! The kernel queues packets in transit between virtual devices in one queue a processor. So everything is sent from
//! one processor. A marker that went through the whole queue shows that everything before it has made a step. A packet
//! makes three steps at most, and one more for each time that it comes in again.

use super::{
    Subject, first_cpu, in_order, marker, on_cpu, receive_rest, receive_until, socket, system,
};
use crate::ports::connect_split;
use crate::sys::{Link, Prog, Side, filter};
use bpf::abi::MOST_ROUNDS;
use control::{Packet, StoreError};
use diag::Diagnostic;
use net::raw_socket::RawSocket;
use net::veth::make_pairs_for;
use nix::net::if_::if_nametoindex;
use std::io;

/// Number of steps that a packet may make between devices after the program ran for the last time.
const STEPS: usize = 3;

/// Ports of a test device for tc, and the state of its run.
#[derive(Debug)]
pub(super) struct Wiring {
    ports: Vec<Port>,
    side: Side,
    /// Processor that sends.
    cpu: usize,
    markers: u64,
    /// Number of steps that a packet may make in all. Each time that it comes in again is one more.
    steps: usize,
}

#[derive(Debug)]
struct Port {
    number: u32,
    enter: RawSocket,
    port: RawSocket,
    leave: RawSocket,
    seen: RawSocket,
    _links: Vec<Option<Link>>,
}

impl Wiring {
    /// Makes the devices in this thread's namespace.
    pub(crate) fn new(
        subject: Subject<'_>,
        side: Side,
        numbers: &[u32],
    ) -> io::Result<Result<Wiring, Box<Diagnostic>>> {
        let name = |what: &str, number: &u32| format!("{what}{number}");
        let mut pairs = Vec::new();
        for n in numbers {
            pairs.push((name("e", n), name("p", n)));
            pairs.push((name("l", n), name("s", n)));
        }
        make_pairs_for(&pairs, subject.mtu)?;
        let mut ports = Vec::with_capacity(numbers.len());
        let mut connections = Vec::with_capacity(numbers.len());
        for n in numbers {
            let index = if_nametoindex(name("p", n).as_str())?;
            let leave = if_nametoindex(name("l", n).as_str())?;
            connections.push((*n, index, leave));
            let out = Prog::redirect_tc(leave)?;
            let mut links = vec![
                attach(subject.prog, index, side)?,
                attach(&out, leave, Side::Ingress)?,
            ];
            if side == Side::Ingress {
                links.push(attach(&out, index, side)?);
            }
            ports.push(Port {
                number: *n,
                enter: socket(&name("e", n))?,
                port: socket(&name("p", n))?,
                leave: socket(&name("l", n))?,
                seen: socket(&name("s", n))?,
                _links: links,
            });
        }
        let connected = connect_split(subject.ports, subject.maps, &connections);
        let cpu = first_cpu()?;
        Ok(connected.map(|()| Wiring {
            ports,
            side,
            cpu,
            markers: 0,
            steps: match subject.comes_in_again {
                // A packet that is truncated before it leaves comes in once more.
                true => STEPS + MOST_ROUNDS as usize + 1,
                false => STEPS,
            },
        }))
    }

    /// Sends a packet into a port; `None` if there is no such port.
    pub(crate) fn send(&self, port: u32, packet: &[u8]) -> Option<io::Result<()>> {
        let port = self.ports.iter().find(|p| p.number == port)?;
        Some(on_cpu(self.cpu, || match self.side {
            Side::Ingress => port.enter.send(packet),
            Side::Egress => match port.port.send(packet) {
                // The sender gets an error when a program at egress drops the packet.
                Err(e) if e.raw_os_error() == Some(libc::ENOBUFS) => Ok(()),
                other => other,
            },
        }))
    }

    /// Returns the packets that came out, once the program has run on all that were sent.
    pub(crate) fn take(&mut self) -> Result<Vec<Packet>, StoreError> {
        let mut seen: Vec<_> = self.ports.iter().map(|_| Vec::new()).collect();
        if let (Some(first), Some(found)) = (self.ports.first(), seen.first_mut()) {
            for _ in 0..self.steps {
                self.markers += 1;
                let marker = marker(self.markers);
                on_cpu(self.cpu, || first.leave.send(&marker)).map_err(system("send a marker"))?;
                found.extend(receive_until(&marker, &first.seen, first.number)?);
            }
        }
        let mut all = Vec::new();
        for (port, mut seen) in self.ports.iter().zip(seen) {
            seen.extend(receive_rest(&port.seen)?);
            let enter = receive_rest(&port.enter)?;
            all.extend(in_order(port.number, [seen, enter]));
        }
        Ok(all)
    }
}

/// Attaches a program after those at a device's side: by a link or, if the kernel has no tcx, by a filter, which stays
/// as long as the device.
fn attach(prog: &Prog, ifindex: u32, side: Side) -> io::Result<Option<Link>> {
    match Link::attach_tcx(prog, ifindex, side) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            filter::make_qdisc(ifindex)?;
            filter::add_filter(prog, ifindex, side).map(|_| None)
        }
        other => other.map(Some),
    }
}

//! Ports of a program at XDP. It runs natively at the inner end of each pair.
//!
//! Packets go in at the outer end. Packets that the program passes on are seen at the inner end; those that it sends
//! or redirects are seen at the outer one.
//!
//! A passed packet is there at once. A redirected one is there only after the kernel's next step, which does not begin
//! before all waiting packets have met the program. So that no packet overtakes another, each has met the program
//! before the next one is sent, from the same processor. A marker sent after the last packet shows that an outer end
//! has nothing more, and a memory barrier waits for the softirqs that were running.

use super::{
    Subject, first_cpu, in_order, marker, on_cpu, receive_rest, receive_until, socket, system,
};
use crate::ports::connect_ports;
use crate::sys::{Link, Prog, XdpMode};
use control::{Packet, StoreError};
use diag::Diagnostic;
use net::raw_socket::RawSocket;
use net::veth::make_pairs_for;
use nix::net::if_::if_nametoindex;
use std::io;

/// The kernel's `XDP_PASS`.
const PASS: i32 = 2;

/// Ports of a test device for XDP, and the state of its run.
#[derive(Debug)]
pub(super) struct Wiring {
    ports: Vec<Port>,
    /// Processor that sends.
    cpu: usize,
    markers: u64,
}

#[derive(Debug)]
struct Port {
    number: u32,
    inner: RawSocket,
    outer: RawSocket,
    _links: [Link; 2],
}

impl Wiring {
    /// Makes the devices in this thread's namespace.
    pub(crate) fn new(
        subject: Subject<'_>,
        numbers: &[u32],
    ) -> io::Result<Result<Wiring, Box<Diagnostic>>> {
        let names: Vec<(String, String)> = numbers
            .iter()
            .map(|n| (format!("in{n}"), format!("out{n}")))
            .collect();
        let pass = Prog::constant_xdp(PASS)?;
        make_pairs_for(&names, subject.mtu)?;
        let mut ports = Vec::with_capacity(numbers.len());
        let mut connections = Vec::with_capacity(numbers.len());
        for (number, (inner, outer)) in numbers.iter().zip(&names) {
            let index = if_nametoindex(inner.as_str())?;
            connections.push((*number, index));
            // Redirects arrive at an outer end only if it runs a program too.
            let outer_index = if_nametoindex(outer.as_str())?;
            let links = [
                Link::attach_xdp(subject.prog, index, XdpMode::Native)?,
                Link::attach_xdp(&pass, outer_index, XdpMode::Native)?,
            ];
            ports.push(Port {
                number: *number,
                inner: socket(inner)?,
                outer: socket(outer)?,
                _links: links,
            });
        }
        let connected = connect_ports(subject.ports, subject.maps, &connections);
        let cpu = first_cpu()?;
        Ok(connected.map(|()| Wiring {
            ports,
            cpu,
            markers: 0,
        }))
    }

    /// Sends a packet into a port; `None` if there is no such port.
    pub(crate) fn send(&self, port: u32, packet: &[u8]) -> Option<io::Result<()>> {
        let port = self.ports.iter().find(|p| p.number == port)?;
        Some(on_cpu(self.cpu, || port.outer.send(packet)))
    }

    /// Returns the packets that came out, once the program has run on all that were sent.
    pub(crate) fn take(&mut self) -> Result<Vec<Packet>, StoreError> {
        host::linux::wait_for_softirqs();
        let mut all = Vec::new();
        for port in &self.ports {
            self.markers += 1;
            let marker = marker(self.markers);
            port.inner.send(&marker).map_err(system("send a marker"))?;
            let outer = receive_until(&marker, &port.outer, port.number)?;
            let inner = receive_rest(&port.inner)?;
            all.extend(in_order(port.number, [outer, inner]));
        }
        Ok(all)
    }
}

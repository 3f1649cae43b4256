//! A device in the kernel: the program natively on one end of a pair of virtual Ethernet devices for
//! each port, our sockets on both ends.
//!
//! Packets go in at the outer end. What the program passes on is seen at the inner end, what it sends
//! or redirects at the outer one. Nothing sleeps: the kernel counts the program's runs, a marker sent
//! after the last packet tells that an outer end has nothing more, and a memory barrier waits for the
//! softirqs that were running.

use crate::errors;
use crate::load::Instance;
use crate::netns::NetNs;
use crate::ports::connect_ports;
use crate::sys::{Link, Prog, XdpMode, count_runs};
use crate::veth::{MTU, RawSocket, Received, make_pairs};
use control::{Device, Packet, StoreError};
use diag::Diagnostic;
use nix::net::if_::if_nametoindex;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// How long packets may take to be processed before the test counts as failed.
const PATIENCE: Duration = Duration::from_secs(2);
/// The kernel sends no packet shorter than an Ethernet header.
const SHORTEST: usize = 14;
/// The kernel's `XDP_PASS`.
const PASS: i32 = 2;

/// One port.
#[derive(Debug)]
struct Port {
    number: u32,
    inner: RawSocket,
    outer: RawSocket,
    _links: [Link; 2],
}

/// A loaded program between ports of its own.
#[derive(Debug)]
pub struct VethDevice {
    /// The program and its state.
    pub instance: Instance,
    ports: Vec<Port>,
    _runs_counted: OwnedFd,
    runs_before: u64,
    sent: u64,
    markers: u64,
    /// Packets that came out before anyone asked for them.
    held: Vec<Packet>,
    /// Packets sent since the last were taken from the sockets.
    waiting: u32,
    /// Dropped after the links: the namespace goes last, and the devices with it.
    _namespace: NetNs,
}

crate::delegate::store_by_field!(VethDevice, instance.store);

impl VethDevice {
    /// Makes a namespace with a pair of devices for each port number and attaches the program to each.
    pub fn new(mut instance: Instance, numbers: &[u32]) -> Result<VethDevice, Box<Diagnostic>> {
        let failed = |what: &'static str| {
            move |e: io::Error| errors::device::no_test_network(what, &e.to_string())
        };
        let namespace = NetNs::new().map_err(failed("a network namespace"))?;
        let runs_counted = count_runs().map_err(failed("counting the program's runs"))?;
        let names: Vec<(String, String)> = numbers
            .iter()
            .map(|n| (format!("in{n}"), format!("out{n}")))
            .collect();
        let pass = Prog::constant_xdp(PASS).map_err(failed("the outer ends' program"))?;
        let (xdp, abi, maps) = (
            instance.program.prog(),
            &instance.store.abi.ports,
            &instance.store.maps,
        );
        let (ports, connected) = namespace
            .run(|| {
                make_pairs(&names)?;
                let mut ports = Vec::with_capacity(numbers.len());
                let mut connections = Vec::with_capacity(numbers.len());
                for (number, (inner, outer)) in numbers.iter().zip(&names) {
                    let index = if_nametoindex(inner.as_str())?;
                    connections.push((*number, index));
                    // Redirects arrive at an outer end only if it runs a program too.
                    let outer_index = if_nametoindex(outer.as_str())?;
                    let links = [
                        Link::attach_xdp(xdp, index, XdpMode::Native)?,
                        Link::attach_xdp(&pass, outer_index, XdpMode::Native)?,
                    ];
                    ports.push(Port {
                        number: *number,
                        inner: RawSocket::open(inner)?,
                        outer: RawSocket::open(outer)?,
                        _links: links,
                    });
                }
                Ok((ports, connect_ports(abi, maps, &connections)))
            })
            .map_err(failed("devices and sockets"))?;
        connected?;
        let runs_before = instance
            .program
            .prog()
            .runs()
            .map_err(failed("counting runs"))?;
        instance.store.live = true;
        Ok(VethDevice {
            instance,
            ports,
            _runs_counted: runs_counted,
            runs_before,
            sent: 0,
            markers: 0,
            held: Vec::new(),
            waiting: 0,
            _namespace: namespace,
        })
    }

    /// Waits until the program has run on every packet that was sent.
    fn wait_for_runs(&self) -> Result<(), StoreError> {
        let started = Instant::now();
        loop {
            let runs = self
                .instance
                .program
                .prog()
                .runs()
                .map_err(system("count the program's runs"))?;
            if runs - self.runs_before >= self.sent {
                return Ok(());
            }
            if started.elapsed() > PATIENCE {
                return Err(StoreError::System {
                    what: format!(
                        "the program ran {} times on {} packets; the rest was lost on the way in",
                        runs - self.runs_before,
                        self.sent
                    ),
                });
            }
            std::thread::yield_now();
        }
    }

    /// Everything at a port's outer end up to a marker that is sent now.
    fn drain_outer(&self, port: &Port, number: u64) -> Result<Vec<Received>, StoreError> {
        let marker = marker(number);
        port.inner.send(&marker).map_err(system("send a marker"))?;
        let started = Instant::now();
        let mut all = Vec::new();
        loop {
            match port.outer.receive().map_err(system("receive"))? {
                Some(packet) if packet.bytes == marker => return Ok(all),
                Some(packet) => all.push(packet),
                None if started.elapsed() > PATIENCE => {
                    return Err(StoreError::System {
                        what: format!("port {} lost the packet that ends a test", port.number),
                    });
                }
                None => {
                    port.outer.wait(10).map_err(system("wait for packets"))?;
                }
            }
        }
    }
}

/// Packets that are sent before those that came out are taken: a socket's buffer holds some ninety of
/// the largest.
const BATCH: u32 = 64;

/// A packet that no test sends: an experimental type, and our name.
fn marker(number: u64) -> Vec<u8> {
    let mut bytes = vec![0x02; 12];
    bytes.extend([0x88, 0xb5]);
    bytes.extend(b"onpath end of test");
    bytes.extend(number.to_be_bytes());
    bytes
}

fn system(what: &'static str) -> impl Fn(io::Error) -> StoreError {
    move |error| StoreError::System {
        what: format!("could not {what}: {error}"),
    }
}

/// Waits until every processor has left the softirq that it was in.
fn wait_for_softirqs() {
    const MEMBARRIER_CMD_GLOBAL: libc::c_int = 1;
    // SAFETY: takes no memory. A kernel without it is one where the packets are nearly always there
    // already.
    unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) };
}

impl Device for VethDevice {
    fn send(&mut self, packet: &Packet) -> Result<(), StoreError> {
        let length = packet.bytes.len();
        if !(SHORTEST..=MTU as usize + SHORTEST).contains(&length) {
            return Err(StoreError::Unsupported {
                what: format!(
                    "the kernel's Ethernet devices take packets of {SHORTEST} to {} bytes here, and this one has {length}",
                    MTU as usize + SHORTEST
                ),
            });
        }
        let Some(port) = self.ports.iter().find(|p| p.number == packet.port) else {
            return Err(StoreError::Unsupported {
                what: format!("the device has no port {}", packet.port),
            });
        };
        port.outer
            .send(&packet.bytes)
            .map_err(system("send a packet"))?;
        self.sent += 1;
        self.waiting += 1;
        if self.waiting == BATCH {
            let out = self.take()?;
            self.held.extend(out);
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<Vec<Packet>, StoreError> {
        let mut all = std::mem::take(&mut self.held);
        all.extend(self.take()?);
        Ok(all)
    }
}

impl VethDevice {
    /// Waits for the packets on their way, and takes what came out.
    fn take(&mut self) -> Result<Vec<Packet>, StoreError> {
        self.waiting = 0;
        self.wait_for_runs()?;
        wait_for_softirqs();
        let mut all = Vec::new();
        for port in &self.ports {
            self.markers += 1;
            let mut packets = self.drain_outer(port, self.markers)?;
            while let Some(packet) = port.inner.receive().map_err(system("receive"))? {
                packets.push(packet);
            }
            packets.sort_by_key(|p| p.time);
            all.extend(packets.into_iter().map(|p| Packet {
                port: port.number,
                bytes: p.bytes,
            }));
        }
        Ok(all)
    }
}

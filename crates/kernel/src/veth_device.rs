//! A device in the kernel. Each port is a pair of virtual Ethernet devices, with the program at one end and the test's
//! sockets at the other.
//!
//! Nothing sleeps: the kernel counts the program's runs, and markers sent after the last packet show that nothing more
//! is to come.

mod tc;
mod xdp;

use crate::attachment;
use crate::errors;
use crate::load::Instance;
use crate::store::Maps;
use crate::sys::{Prog, count_runs};
use bpf::abi::{PortsAbi, ProgramAbi, ROUNDS_MAP};
use control::{Device, Packet, Store, StoreError};
use diag::{Diagnostic, system_message};
use net::netns::NetNs;
use net::raw_socket::{RawSocket, Received};
use net::veth::{LARGEST_MTU, MTU};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Longest time that the processing of packets may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(10);
/// Length of the shortest packet in bytes: the kernel sends none shorter than an Ethernet header.
const SHORTEST: usize = 14;
/// Number of packets that are sent before those that came out are taken.
const BATCH: u32 = 64;
/// Capacity of a socket, in bytes. Before Linux 6.3 a packet that passed a program takes more than a page, however
/// short it is.
const ROOM: usize = 4 << 20;

/// A loaded program between ports of its own.
#[derive(Debug)]
pub struct VethDevice {
    /// The program and its state.
    pub instance: Instance,
    wiring: Wiring,
    /// The devices' MTU.
    mtu: u32,
    _runs_counted: OwnedFd,
    runs_before: u64,
    sent: u64,
    /// Packets that came out before they were asked for.
    held: Vec<Packet>,
    /// Number of packets sent since the sockets were last read.
    waiting: u32,
    /// Limit of that number.
    batch: u32,
    /// Namespace with the devices. It is dropped last, after the links.
    _namespace: NetNs,
}

/// Program that is to be wired up.
#[derive(Clone, Copy)]
struct Subject<'a> {
    prog: &'a Prog,
    ports: &'a PortsAbi,
    maps: &'a Maps,
    /// MTU of its devices.
    mtu: u32,
    /// True if packets may come in again, after packets that were sent later.
    comes_in_again: bool,
}

/// Devices and sockets, by the program's hook.
#[derive(Debug)]
enum Wiring {
    Xdp(xdp::Wiring),
    Tc(tc::Wiring),
}

impl VethDevice {
    /// Makes a namespace with devices for each port number and attaches the program to each port.
    pub fn new(mut instance: Instance, numbers: &[u32]) -> Result<VethDevice, Box<Diagnostic>> {
        let failed =
            |what: &'static str| move |e: io::Error| errors::device::no_test_network(what, &e);
        let namespace = NetNs::new().map_err(failed("a network namespace"))?;
        let runs_counted = count_runs().map_err(failed("counting the program's runs"))?;
        let side = attachment::side(instance.program.hook());
        let maps = &instance.store.memory.abi.maps;
        let comes_in_again = maps.iter().any(|map| map.name == ROUNDS_MAP);
        let takes_fragments = |program: &ProgramAbi| program.takes_fragments();
        let mtu = match instance
            .store
            .memory
            .abi
            .programs
            .iter()
            .all(takes_fragments)
        {
            true => LARGEST_MTU,
            false => MTU,
        };
        let subject = Subject {
            prog: instance.program.prog(),
            ports: &instance.store.memory.abi.ports,
            maps: &instance.store.memory.maps,
            mtu,
            comes_in_again,
        };
        let made = namespace.run(|| {
            Ok(match side {
                None => xdp::Wiring::new(subject, numbers)?.map(Wiring::Xdp),
                Some(side) => tc::Wiring::new(subject, side, numbers)?.map(Wiring::Tc),
            })
        });
        let wiring = made.map_err(failed("devices and sockets"))??;
        let runs_before = instance.program.prog().runs();
        let runs_before = runs_before.map_err(failed("counting runs"))?;
        instance.store.live = true;
        Ok(VethDevice {
            instance,
            wiring,
            mtu,
            _runs_counted: runs_counted,
            runs_before,
            sent: 0,
            held: Vec::new(),
            waiting: 0,
            batch: if comes_in_again { 1 } else { BATCH },
            _namespace: namespace,
        })
    }

    /// Waits until the program has run on every packet that was sent.
    fn wait_for_runs(&self) -> Result<(), StoreError> {
        let started = Instant::now();
        loop {
            let runs = self.instance.program.prog().runs();
            let runs = runs.map_err(system("count the program's runs"))?;
            if runs - self.runs_before >= self.sent {
                return Ok(());
            }
            if started.elapsed() > PATIENCE {
                return Err(StoreError::System {
                    what: format!(
                        "the program ran {} times on {} packets; the rest was lost before it",
                        runs - self.runs_before,
                        self.sent
                    ),
                });
            }
            std::thread::yield_now();
        }
    }

    /// Waits for the packets in transit, and takes those that came out.
    fn take(&mut self) -> Result<Vec<Packet>, StoreError> {
        self.waiting = 0;
        self.wait_for_runs()?;
        match &mut self.wiring {
            Wiring::Xdp(wiring) => wiring.take(),
            Wiring::Tc(wiring) => wiring.take(),
        }
    }
}

/// Opens a socket that holds all packets of a batch.
fn socket(device: &str) -> io::Result<RawSocket> {
    let socket = RawSocket::open(device)?;
    socket.set_room(ROOM)?;
    Ok(socket)
}

/// Returns the first processor on which this thread may run.
fn first_cpu() -> io::Result<usize> {
    let allowed = sched_getaffinity(Pid::from_raw(0))?;
    (0..CpuSet::count())
        .find(|cpu| allowed.is_set(*cpu).unwrap_or(false))
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Runs work on one processor.
fn on_cpu<T>(cpu: usize, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let this = Pid::from_raw(0);
    let before = sched_getaffinity(this)?;
    let mut one = CpuSet::new();
    one.set(cpu)?;
    sched_setaffinity(this, &one)?;
    let done = work();
    sched_setaffinity(this, &before)?;
    done
}

/// Makes a packet that no test sends: an experimental type, and Onpath's name.
fn marker(number: u64) -> Vec<u8> {
    let mut bytes = vec![0x02; 12];
    bytes.extend([0x88, 0xb5]);
    bytes.extend(b"onpath end of test");
    bytes.extend(number.to_be_bytes());
    bytes
}

/// Receives everything that a socket has before a marker.
fn receive_until(
    marker: &[u8],
    socket: &RawSocket,
    port: u32,
) -> Result<Vec<Received>, StoreError> {
    let started = Instant::now();
    let mut all = Vec::new();
    loop {
        match socket.receive().map_err(system("receive"))? {
            Some(packet) if packet.bytes == marker => return Ok(all),
            Some(packet) => all.push(packet),
            None if started.elapsed() > PATIENCE => {
                return Err(StoreError::System {
                    what: format!("port {port} lost the packet that ends a test"),
                });
            }
            None => {
                socket.wait(10).map_err(system("wait for packets"))?;
            }
        }
    }
}

/// Receives everything that a socket has now.
fn receive_rest(socket: &RawSocket) -> Result<Vec<Received>, StoreError> {
    let mut all = Vec::new();
    while let Some(packet) = socket.receive().map_err(system("receive"))? {
        all.push(packet);
    }
    Ok(all)
}

/// Merges a port's packets in the order in which they came; those of each socket are in order already.
fn in_order(port: u32, mut sockets: [Vec<Received>; 2]) -> impl Iterator<Item = Packet> {
    for packets in &mut sockets {
        // The kernel begins to stamp incoming packets only some time after a socket asked for it. Until then a
        // packet's time is that of its reading, which is too late.
        let mut next = None;
        for packet in packets.iter_mut().rev() {
            packet.time = next.map_or(packet.time, |next| packet.time.min(next));
            next = Some(packet.time);
        }
    }
    let mut packets = sockets.concat();
    packets.sort_by_key(|p| p.time);
    packets.into_iter().map(move |p| Packet {
        port,
        bytes: p.bytes,
    })
}

fn system(what: &'static str) -> impl Fn(io::Error) -> StoreError {
    move |error| StoreError::System {
        what: format!("could not {what}: {}", system_message(&error)),
    }
}

impl Device for VethDevice {
    fn store(&self) -> &dyn Store {
        &self.instance.store
    }

    fn store_mut(&mut self) -> &mut dyn Store {
        &mut self.instance.store
    }

    fn send(&mut self, packet: &Packet) -> Result<(), StoreError> {
        let length = packet.bytes.len();
        let longest = self.mtu as usize + SHORTEST;
        if !(SHORTEST..=longest).contains(&length) {
            return Err(StoreError::Unsupported {
                what: format!(
                    "the kernel's Ethernet devices take packets of {SHORTEST} to {longest} bytes here, and this one has {length}"
                ),
            });
        }
        let sent = match &self.wiring {
            Wiring::Xdp(wiring) => wiring.send(packet.port, &packet.bytes),
            Wiring::Tc(wiring) => wiring.send(packet.port, &packet.bytes),
        };
        let Some(sent) = sent else {
            return Err(StoreError::Unsupported {
                what: format!("the device has no port {}", packet.port),
            });
        };
        sent.map_err(system("send a packet"))?;
        self.sent += 1;
        self.waiting += 1;
        if matches!(self.wiring, Wiring::Xdp(_)) {
            self.wait_for_runs()?;
        }
        if self.waiting == self.batch {
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

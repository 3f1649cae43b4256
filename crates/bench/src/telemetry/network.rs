//! Sender and receiver in namespaces of their own, joined by virtual Ethernet.

use super::message::{ADDRESSES, LINKS, PORT};
use kernel::sys::{Attached, Link, Prog, XdpMode};
use lab::Space;
use lab::precedence;
use net::interface;
use net::link::{self, End, Setup};
use net::offloads::{self, Offload};
use net::packet_ring::PacketRing;
use nix::sys::socket::{setsockopt, sockopt};
use nix::unistd::Pid;
use std::fs;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

/// The sender's device.
const SENDER: &str = "sender";
/// Receive buffer of a socket, in bytes. It is large enough to lose nothing while the receiver waits for its processor.
const SOCKET_BUFFER: usize = 64 << 20;
/// Number of blocks of a ring of copies: 16 MB, as `onpath query --off-path` has.
const RING_BLOCKS: usize = 32;
/// Timeout of a receiver, after which it checks for the request to stop.
pub(super) const PATIENCE: Duration = Duration::from_millis(20);
/// Longest time to start a process, also on a busy machine.
const LONGEST_START: Duration = Duration::from_secs(2);

/// Sender and receiver.
pub(super) struct Network {
    pub(super) sender: Space,
    pub(super) receiver: Space,
    /// The receiver's device.
    device: String,
}

/// Context in which the kernel receives packets from the receiver's device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Polling {
    /// Processor that sent the packets.
    Sender,
    /// The kernel's thread for the device, on this processor.
    Thread(usize),
}

impl Network {
    /// Makes both ends. The name of the receiver's device is unique among processes.
    pub(super) fn new(number: usize, polling: Polling) -> io::Result<Network> {
        let [sender, receiver] = [Space::new()?, Space::new()?];
        let device = format!("t{}n{number}", std::process::id() % 10_000);
        let end = |space, name| End {
            netns: Some(space),
            ..End::here(name)
        };
        link::add_veth(end(sender.as_fd(), SENDER), end(receiver.as_fd(), &device))?;
        let network = Network {
            sender,
            receiver,
            device,
        };
        network.set_up(0)?;
        network.set_up(1)?;
        let wait = |space: &Space, name: &str| space.run(|| link::wait_until_running(name));
        wait(&network.sender, SENDER)?;
        wait(&network.receiver, &network.device)?;
        if let Polling::Thread(processor) = polling {
            network.poll_on(processor)?;
        }
        Ok(network)
    }

    fn set_up(&self, end: usize) -> io::Result<()> {
        let (space, name) = match end {
            0 => (&self.sender, SENDER),
            _ => (&self.receiver, self.device.as_str()),
        };
        space.run(|| {
            let setup = Setup {
                address: Some(LINKS[end]),
                no_own_address: true,
                ..Setup::default()
            };
            link::set_up(name, setup)?;
            link::add_address(name, address(end), 24)?;
            link::add_neighbour(name, address(1 - end), LINKS[1 - end])?;
            // Without this, a device takes XDP frames only if it has a program of its own.
            offloads::set(name, Offload::Gro, true)
        })
    }

    /// Makes the kernel poll the receiver's device in a thread on this processor.
    fn poll_on(&self, processor: usize) -> io::Result<()> {
        // sysfs shows the devices of the namespace in which it was mounted.
        let script = format!(
            "mount -t sysfs onpath /sys && echo 1 > /sys/class/net/{}/threaded",
            self.device
        );
        self.receiver
            .output(&["unshare", "--mount", "sh", "-c", &script])?;
        let name = format!("napi/{}-", self.device);
        let mut found = false;
        for entry in fs::read_dir("/proc")? {
            let folder = entry?.path();
            let is_it = fs::read_to_string(folder.join("comm")).is_ok_and(|n| n.starts_with(&name));
            let number = folder.file_name().and_then(|n| n.to_str()?.parse().ok());
            if let (true, Some(thread)) = (is_it, number) {
                let thread = Pid::from_raw(thread);
                precedence::pin(thread, processor)?;
                precedence::first(thread)?;
                found = true;
            }
        }
        match found {
            true => Ok(()),
            false => Err(io::Error::other("the kernel has no thread for the device")),
        }
    }

    /// Opens the receiver's socket. The address may still be in use for a moment: a process that is being started
    /// elsewhere holds the previous socket's descriptor.
    pub(super) fn socket(&self) -> io::Result<UdpSocket> {
        let begun = Instant::now();
        let socket = loop {
            let bound = self
                .receiver
                .run(|| UdpSocket::bind((Ipv4Addr::from(ADDRESSES[1]), PORT)));
            match bound {
                Err(error)
                    if error.kind() == ErrorKind::AddrInUse && begun.elapsed() < LONGEST_START =>
                {
                    thread::sleep(PATIENCE);
                }
                bound => break bound?,
            }
        };
        setsockopt(&socket, sockopt::RcvBufForce, &SOCKET_BUFFER)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        Ok(socket)
    }

    /// Opens a socket of the sender, connected to the receiver's.
    pub(super) fn client(&self) -> io::Result<UdpSocket> {
        let socket = self
            .sender
            .run(|| UdpSocket::bind((Ipv4Addr::from(ADDRESSES[0]), 0)))?;
        socket.connect((Ipv4Addr::from(ADDRESSES[1]), PORT))?;
        Ok(socket)
    }

    /// Opens a ring of copies of the receiver's packets.
    pub(super) fn ring(&self) -> io::Result<PacketRing> {
        self.receiver.run(|| {
            PacketRing::open(&self.device, RING_BLOCKS).map_err(|d| io::Error::other(d.message))
        })
    }

    /// Attaches a program to the receiver's device.
    pub(super) fn attach(&self, program: &Prog) -> io::Result<Attached> {
        self.receiver.run(|| {
            let index = index(&self.device)?;
            Ok(Link::attach_xdp(program, index, XdpMode::Native)?.until_dropped())
        })
    }

    /// Returns the index of the sender's device in its namespace.
    pub(super) fn sender_index(&self) -> io::Result<u32> {
        self.sender.run(|| index(SENDER))
    }
}

fn index(device: &str) -> io::Result<u32> {
    interface::index(device).map_err(|d| io::Error::other(d.message))
}

fn address(end: usize) -> IpAddr {
    Ipv4Addr::from(ADDRESSES[end]).into()
}

//! Generator of packets in the kernel, at the full speed of their receivers.

use crate::error::Error;
use crate::programs::compile_c;
use host::words::Words;
use kernel::sys::{Link, Loaded, Map, Prog, XdpMode, load_object};
use net::netns::NetNs;
use net::veth;
use nix::net::if_::if_nametoindex;
use std::io;

/// Offsets of the members of `flow` in `generator.c`.
const IFINDEX: u32 = 0;
const STOP: u32 = 4;
const MOST: u32 = 8;
const FEW: u32 = 16;
const MOST_COPIED: u32 = 24;
const SENT: u32 = 64;
const WAITS: u32 = 72;
const RECEIVED: u32 = 128;
const COPIED: u32 = 192;

/// Number of packets that may be under way to the socket. It is less than the 256 that a virtual device queues, so that
/// none is lost.
const WINDOW: u64 = 224;
/// Number of packets under way at which the next ones are sent. They arrive in batches as large as a device's
/// interrupts would report.
const LEFT: u64 = 64;
/// Number of packets that may be under way to a ring: less than its capacity, and several of its blocks.
const RING_WINDOW: u64 = 4096;
/// Number of runs of the generator in one call. Most of them drop their packet.
const RUNS: u32 = 50_000;

/// Loaded generator.
pub(super) struct Generator {
    prog: Prog,
    flow: Words,
    _maps: Vec<(String, Map)>,
    /// Idle device with the program. Without one, each call takes milliseconds more: the kernel updates its XDP
    /// dispatcher.
    _known: (NetNs, Link),
}

/// Receivers whose speed limits the generator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Receivers {
    /// The socket only.
    Socket,
    /// The socket and the reader of copies.
    SocketAndRing,
}

/// Attaches the program to an idle device.
fn known(prog: &Prog) -> io::Result<(NetNs, Link)> {
    let ns = NetNs::new()?;
    let link = ns.run(|| {
        veth::make_pairs(&[("idle".into(), "other".into())])?;
        Link::attach_xdp(prog, if_nametoindex("idle")?, XdpMode::Native)
    })?;
    Ok((ns, link))
}

impl Generator {
    /// Compiles and loads the generator.
    pub(super) fn new() -> Result<Generator, Error> {
        let object = compile_c(include_str!("generator.c"), None)?;
        let Loaded { maps, programs } =
            load_object(&object, &[]).map_err(|f| Error::new(format!("{}{}", f.error, f.log)))?;
        let map = maps.iter().find(|(name, _)| name == ".data.flow");
        let (Some((_, map)), Some((_, prog))) = (map, programs.into_iter().next()) else {
            return Err(Error::new("the generator is not what it was"));
        };
        let flow = map
            .words()
            .map_err(Error::system("the generator's memory"))?;
        let known = known(&prog).map_err(Error::system("an idle device"))?;
        Ok(Generator {
            prog,
            _known: known,
            flow,
            _maps: maps,
        })
    }

    /// Sets all counts to 0, and sets the device for packets, in this thread's namespace.
    pub(super) fn reset(&self, ifindex: u32, receivers: Receivers) -> io::Result<()> {
        let ring = match receivers {
            Receivers::Socket => u64::MAX,
            Receivers::SocketAndRing => RING_WINDOW,
        };
        self.flow.set_u32(IFINDEX, ifindex)?;
        self.flow.set_u64(MOST, WINDOW)?;
        self.flow.set_u64(FEW, LEFT)?;
        self.flow.set_u64(MOST_COPIED, ring)?;
        for count in [SENT, WAITS, RECEIVED, COPIED] {
            self.flow.set_u64(count, 0)?;
        }
        self.flow.set_u32(STOP, 0)
    }

    /// Sends until [`Self::stop`]. The thread must be in the device's namespace.
    pub(super) fn send(&self, packet: &[u8]) -> io::Result<()> {
        while self.flow.u32(STOP)? == 0 {
            self.prog.run_live(packet, RUNS)?;
        }
        Ok(())
    }

    /// Sends this number of packets at once, whether or not they are received.
    pub(super) fn burst(&self, packet: &[u8], packets: u32, ifindex: u32) -> io::Result<()> {
        self.reset(ifindex, Receivers::Socket)?;
        self.flow.set_u64(MOST, u64::MAX)?;
        self.prog.run_live(packet, packets)
    }

    /// Ends [`Self::send`].
    pub(super) fn stop(&self) -> io::Result<()> {
        self.flow.set_u32(STOP, 1)
    }

    /// Returns the number of packets sent.
    pub(super) fn sent(&self) -> io::Result<u64> {
        self.flow.u64(SENT)
    }

    /// Returns the number of packets that the socket received.
    pub(super) fn received(&self) -> io::Result<u64> {
        self.flow.u64(RECEIVED)
    }

    /// Returns the number of packets that the ring received.
    pub(super) fn copied(&self) -> io::Result<u64> {
        self.flow.u64(COPIED)
    }

    /// Publishes the number of packets that the socket received.
    pub(super) fn set_received(&self, packets: u64) -> io::Result<()> {
        self.flow.set_u64(RECEIVED, packets)
    }

    /// Publishes the number of packets that the ring received.
    pub(super) fn set_copied(&self, packets: u64) -> io::Result<()> {
        self.flow.set_u64(COPIED, packets)
    }
}

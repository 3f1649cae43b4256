//! Packets from the kernel, as fast as their receivers take them.

use crate::error::Error;
use crate::programs::compile_c;
use host::words::Words;
use kernel::sys::{Link, Loaded, Map, Prog, XdpMode, load_object};
use net::netns::NetNs;
use net::veth;
use nix::net::if_::if_nametoindex;
use std::io;

/// Members of `flow` in `generator.c`, by their offset.
const IFINDEX: u32 = 0;
const STOP: u32 = 4;
const MOST: u32 = 8;
const FEW: u32 = 16;
const MOST_COPIED: u32 = 24;
const SENT: u32 = 64;
const WAITS: u32 = 72;
const RECEIVED: u32 = 128;
const COPIED: u32 = 192;

/// Packets that may be under way to the socket: less than a virtual device keeps, 256, so that none is lost.
const WINDOW: u64 = 224;
/// As many are left when the next ones are sent, so that they come as many at a time as a device's interrupts would report.
const LEFT: u64 = 64;
/// Packets that may be under way to a ring: less than it has room for, and several of its blocks.
const RING_WINDOW: u64 = 4096;
/// Runs of the generator in one call, which most often drop.
const RUNS: u32 = 50_000;

/// The generator, loaded.
pub(super) struct Generator {
    prog: Prog,
    flow: Words,
    _maps: Vec<(String, Map)>,
    /// A program that is on no device costs each call milliseconds: the kernel changes its XDP dispatcher for it.
    _known: (NetNs, Link),
}

/// Who has to keep up with the generator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Receivers {
    /// The socket.
    Socket,
    /// The socket, and who reads copies beside it.
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
    /// Compiles and loads it.
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

    /// Sets all counts to 0, and the device that packets go to, in this thread's namespace.
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

    /// Sends until [`Self::stop`]. The thread is in the namespace of the device.
    pub(super) fn send(&self, packet: &[u8]) -> io::Result<()> {
        while self.flow.u32(STOP)? == 0 {
            self.prog.run_live(packet, RUNS)?;
        }
        Ok(())
    }

    /// Sends so many packets at once, whether anybody takes them or not.
    pub(super) fn burst(&self, packet: &[u8], packets: u32, ifindex: u32) -> io::Result<()> {
        self.reset(ifindex, Receivers::Socket)?;
        self.flow.set_u64(MOST, u64::MAX)?;
        self.prog.run_live(packet, packets)
    }

    /// Ends [`Self::send`].
    pub(super) fn stop(&self) -> io::Result<()> {
        self.flow.set_u32(STOP, 1)
    }

    /// Packets sent.
    pub(super) fn sent(&self) -> io::Result<u64> {
        self.flow.u64(SENT)
    }

    /// Packets that the socket had.
    pub(super) fn received(&self) -> io::Result<u64> {
        self.flow.u64(RECEIVED)
    }

    /// Packets that the ring had.
    pub(super) fn copied(&self) -> io::Result<u64> {
        self.flow.u64(COPIED)
    }

    /// Reports how many packets the socket had.
    pub(super) fn set_received(&self, packets: u64) -> io::Result<()> {
        self.flow.set_u64(RECEIVED, packets)
    }

    /// Reports how many packets the ring had.
    pub(super) fn set_copied(&self, packets: u64) -> io::Result<()> {
        self.flow.set_u64(COPIED, packets)
    }
}

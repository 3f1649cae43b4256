//! Firewalls that are compared, each at a router of its own.

mod hand_written;
mod iptables;
mod onpath;
mod place;
pub(super) mod process;
mod proxies;
mod resolvers;
mod suricata;

use super::messages::Kind;
use super::network::{Ends, Network};
use crate::error::Error;
use kernel::sys::Attached;
use place::{Parts, Place};
use process::Process;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub(super) use hand_written::{PASS_C, TUPLE_C, load_firewall, load_quic};
pub(super) use onpath::reload;
pub(super) use place::Starter;

/// A firewall that is compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Peer {
    /// A program at XDP that passes everything.
    NoOp,
    /// The same once more, to know the noise.
    NoOpAgain,
    /// Forwarding without any program.
    Plain,
    OnpathXdp,
    OnpathTc,
    HandWritten,
    Iptables,
    Suricata,
    HaProxy,
    Squid,
    Dnsmasq,
    Unbound,
    Dnsdist,
}

impl Peer {
    pub(super) const ALL: [Peer; 13] = [
        Peer::NoOp,
        Peer::NoOpAgain,
        Peer::Plain,
        Peer::OnpathXdp,
        Peer::OnpathTc,
        Peer::HandWritten,
        Peer::Iptables,
        Peer::Suricata,
        Peer::HaProxy,
        Peer::Squid,
        Peer::Dnsmasq,
        Peer::Unbound,
        Peer::Dnsdist,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Peer::NoOp => "no-op at XDP",
            Peer::NoOpAgain => "no-op at XDP, again",
            Peer::Plain => "no program",
            Peer::OnpathXdp => "Onpath at XDP",
            Peer::OnpathTc => "Onpath at tc",
            Peer::HandWritten => "hand-written C at XDP",
            Peer::Iptables => "iptables -m string",
            Peer::Suricata => "Suricata, NFQUEUE",
            Peer::HaProxy => "HAProxy",
            Peer::Squid => "Squid",
            Peer::Dnsmasq => "dnsmasq",
            Peer::Unbound => "Unbound",
            Peer::Dnsdist => "dnsdist",
        }
    }

    /// Returns true if it blocks nothing.
    pub(super) fn is_baseline(self) -> bool {
        matches!(self, Peer::NoOp | Peer::NoOpAgain | Peer::Plain)
    }

    /// Returns the baseline of a stream's rate: with a program at XDP the far end's device sends segments one by one.
    pub(super) fn baseline(self) -> Peer {
        match self {
            Peer::NoOp | Peer::NoOpAgain | Peer::OnpathXdp | Peer::HandWritten => Peer::NoOp,
            _ => Peer::Plain,
        }
    }

    /// Returns the largest list that it is given.
    pub(super) fn most_names(self) -> usize {
        match self {
            Peer::Iptables => 5_000,
            _ => super::lists::MOST,
        }
    }

    /// Returns true if it is to block this message by a listed name. A rule for the text of a name finds none in DNS, where lengths stand between labels.
    pub(super) fn blocks(self, kind: Kind) -> bool {
        let misses = self == Peer::Iptables && kind == Kind::Dns;
        self.reads(kind) && !misses && !self.is_baseline()
    }

    /// Returns true if it reads this message.
    pub(super) fn reads(self, kind: Kind) -> bool {
        match self {
            Peer::HaProxy | Peer::Squid => kind != Kind::Dns,
            Peer::Dnsmasq | Peer::Unbound | Peer::Dnsdist => kind == Kind::Dns,
            _ => true,
        }
    }
}

/// A peer at work.
pub(super) struct Running {
    pub(super) peer: Peer,
    /// Its programs end before its network does.
    pub(super) process: Option<Process>,
    _attached: Option<Attached>,
    pub(super) network: Network,
    /// Time from its start until it was ready.
    pub(super) ready: Duration,
    /// Memory of the maps in the kernel that came with it, in bytes.
    pub(super) maps: Option<u64>,
    folder: TempDir,
}

impl Running {
    /// Returns the folder with its files.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// Starts a peer with a list.
pub(super) fn start(starter: &Starter, peer: Peer, names: &[String]) -> Result<Running, Error> {
    let network = Network::new(Ends::Usual).map_err(Error::system("a network"))?;
    let folder = tempfile::tempdir().map_err(Error::system("a folder"))?;
    let place = Place {
        starter,
        network: &network,
        names,
        folder: folder.path(),
    };
    let before = map_memory();
    let begun = Instant::now();
    let parts = match peer {
        Peer::Plain => Parts::default(),
        Peer::NoOp | Peer::NoOpAgain => hand_written::no_op(&place)?,
        Peer::HandWritten => hand_written::start(&place)?,
        Peer::OnpathXdp => onpath::start(&place, onpath::Hook::Xdp)?,
        Peer::OnpathTc => onpath::start(&place, onpath::Hook::Tc)?,
        Peer::Iptables => iptables::start(&place)?,
        Peer::Suricata => suricata::start(&place)?,
        Peer::HaProxy => proxies::haproxy(&place)?,
        Peer::Squid => proxies::squid(&place)?,
        Peer::Dnsmasq => resolvers::dnsmasq(&place)?,
        Peer::Unbound => resolvers::unbound(&place)?,
        Peer::Dnsdist => resolvers::dnsdist(&place)?,
    };
    let ready = begun.elapsed();
    Ok(Running {
        peer,
        process: parts.process,
        _attached: parts.attached,
        ready,
        maps: before
            .zip(map_memory())
            .map(|(before, after)| after.saturating_sub(before)),
        network,
        folder,
    })
}

/// Returns the memory of all maps in the kernel, in bytes.
fn map_memory() -> Option<u64> {
    let output = Command::new("bpftool")
        .args(["-j", "map", "list"])
        .output()
        .ok()?;
    let maps: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    let bytes = maps
        .as_array()?
        .iter()
        .map(|map| map["bytes_memlock"].as_u64());
    Some(bytes.flatten().sum())
}

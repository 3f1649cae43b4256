//! Means by which a peer is started, and its parts.

use super::process::Process;
use crate::error::Error;
use crate::firewall::network::{INSIDE_DEVICE, Network};
use host::interrupt::Interrupts;
use kernel::sys::Attached;
use std::path::Path;

/// Means by which peers are started.
pub(crate) struct Starter<'a> {
    pub(crate) root: &'a Path,
    pub(crate) interrupts: &'a Interrupts,
}

/// Files of a peer that is started.
pub(super) struct Place<'a> {
    pub(super) starter: &'a Starter<'a>,
    pub(super) network: &'a Network,
    pub(super) names: &'a [String],
    /// A folder of the peer's own.
    pub(super) folder: &'a Path,
}

impl Place<'_> {
    /// Writes a file to the folder, and returns its path as text.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<String, Error> {
        let path = self.folder.join(name);
        std::fs::write(&path, text).map_err(|e| Error::file("write", &path, &e))?;
        Ok(path.display().to_string())
    }

    /// Writes the list, a name a line.
    pub(super) fn list(&self) -> Result<String, Error> {
        self.write("names.txt", &(self.names.join("\n") + "\n"))
    }

    pub(super) fn start(&self, words: &[&str]) -> Result<Process, Error> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let Starter { interrupts, .. } = self.starter;
        Process::start(&self.network.router, interrupts, self.folder, &words)
    }

    /// Leads what clients send to a port of the server to one of the router.
    pub(super) fn redirect(&self, protocol: &str, port: u16, to: u16) -> Result<(), Error> {
        let [port, to] = [port, to].map(|port| port.to_string());
        let what = ["-i", INSIDE_DEVICE, "-p", protocol, "--dport", &port];
        let chain = ["iptables", "-t", "nat", "-A", "PREROUTING"];
        let target = ["-j", "REDIRECT", "--to-ports", &to];
        self.output(&[&chain[..], &what, &target].concat())
    }

    pub(super) fn output(&self, words: &[&str]) -> Result<(), Error> {
        let done = self.network.router.output(words);
        done.map(|_| ()).map_err(|e| Error::new(e.to_string()))
    }
}

/// Parts of a peer that work until they are dropped.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) process: Option<Process>,
    pub(super) attached: Option<Attached>,
}

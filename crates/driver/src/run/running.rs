//! A running unit.

use super::adjusted::Adjusted;
use super::entries::Filled;
use crate::specialize::Specializable;
use bpf::abi::Hook;
use diag::Diagnostic;
use kernel::Pins;
use kernel::attachment::{How, Mode};
use kernel::guard::Guard;
use kernel::loss::Loss;
use kernel::pins::Loading;
use kernel::port::Port;
use net::interface;
use std::time::Duration;

/// A running unit. Dropping it detaches it, so nothing keeps running if the caller ends early.
#[derive(Debug)]
pub struct Running<'a> {
    /// Its programs at their interfaces.
    pub attached: Vec<Attached>,
    /// Those of its programs that have entries.
    pub filled: Vec<Filled>,
    /// Settings that were changed so that its programs lose no packets.
    pub adjusted: Adjusted,
    /// Packet losses to expect at its interfaces with their present settings. Each has the program's name as the user
    /// knows it.
    pub losses: Vec<(String, Loss)>,
    /// Programs of it that are to be specialized.
    pub origins: Vec<Specializable>,
    /// Instructions of all programs.
    pub instructions: u32,
    /// Time from the first text to the last program in the kernel, without checks of entries.
    pub took: Duration,
    /// Share of `took` without clang, for compiled programs; `None` if nothing was compiled.
    pub compiler_time: Option<Duration>,
    /// True if commands in other mount namespaces do not see it.
    pub hidden: bool,
    pub(super) saved: Option<Saved<'a>>,
    // The guard ends after the program has been detached.
    pub(super) _guard: Option<Guard>,
}

/// A program at an interface.
#[derive(Debug)]
pub struct Attached {
    /// The program, as the user knows it.
    pub program: String,
    /// The interface.
    pub port: Port,
    /// The hook.
    pub hook: Hook,
    /// Mode of its attachment, and the reason why it is not a better one.
    pub how: How,
}

#[derive(Debug)]
pub(super) struct Saved<'a> {
    pub(super) pins: &'a Pins,
    pub(super) name: String,
    pub(super) loading: Loading,
}

/// The end of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// It was detached by this call.
    Detached,
    /// Another command had already detached it.
    ByAnother,
}

impl Running<'_> {
    /// Returns the name by which other commands refer to it.
    pub fn name(&self) -> &str {
        self.saved.as_ref().map_or("", |saved| &saved.name)
    }

    /// Returns true if another command has detached it, even if something else runs under its name now.
    pub fn is_gone(&self) -> bool {
        let saved = self.saved.as_ref();
        saved.is_none_or(|saved| !saved.pins.is_still(&saved.name, saved.loading))
    }

    /// Returns true if none of its interfaces exists any more, in any network namespace.
    pub fn has_no_interface(&self) -> bool {
        let Some(saved) = &self.saved else {
            return false;
        };
        let is_there =
            |program: &Attached| saved.is_at(program.port.index, program.how.mode == Mode::Clsact);
        if self.attached.iter().any(is_there) {
            return false;
        }
        // Its interfaces may have been changed meanwhile.
        let record = saved.pins.record(&saved.name);
        let mut now = record.iter().flat_map(|record| record.members.iter());
        !now.any(|member| {
            member
                .interfaces
                .iter()
                .any(|at| saved.is_at(at.index, at.filter.is_some()))
        })
    }

    /// Leaves it running.
    pub fn leave(mut self) {
        self.saved = None;
    }

    /// Detaches it.
    pub fn end(mut self) -> Result<Ended, Box<Diagnostic>> {
        let ours = self.saved.take().map(|saved| saved.remove());
        match ours.transpose()? {
            Some(true) => Ok(Ended::Detached),
            Some(false) | None => Ok(Ended::ByAnother),
        }
    }
}

impl Saved<'_> {
    /// Returns true if a program is still attached at an interface.
    fn is_at(&self, index: u32, by_filter: bool) -> bool {
        match by_filter {
            // A filter has no link that knows.
            true => interface::name(index).is_some(),
            false => self.pins.holds(&self.name, index),
        }
    }

    /// Detaches the unit. Returns false if another command has already done so.
    fn remove(&self) -> Result<bool, Box<Diagnostic>> {
        self.pins.remove_loading(&self.name, self.loading)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(saved) = self.saved.take() {
            let _ = saved.remove();
        }
    }
}

//! A unit that runs.

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

/// A unit that runs. Dropping it detaches it: so does a caller that ends before it could report that it runs.
#[derive(Debug)]
pub struct Running<'a> {
    /// Its programs at their interfaces.
    pub attached: Vec<Attached>,
    /// Those of its programs that have entries.
    pub filled: Vec<Filled>,
    /// Settings that were made so that its programs lose no packets.
    pub adjusted: Adjusted,
    /// Losses of its programs at their interfaces as they are now: each with the program, as the user knows it.
    pub losses: Vec<(String, Loss)>,
    /// Those of its programs that are to be specialized.
    pub origins: Vec<Specializable>,
    /// Instructions of all programs.
    pub instructions: u32,
    /// From the first text to the last program in the kernel, without checks of entries.
    pub took: Duration,
    /// The part of this that was ours and not clang's; `None` if nothing was compiled.
    pub compiler_time: Option<Duration>,
    /// Set if commands of other mount namespaces do not see it.
    pub hidden: bool,
    pub(super) saved: Option<Saved<'a>>,
    // Ends after the program has been detached.
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
    /// By what it is attached, and why not by something better.
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
    /// It was detached now.
    Detached,
    /// Another command had detached it.
    ByAnother,
}

impl Running<'_> {
    /// The name by which other commands know it.
    pub fn name(&self) -> &str {
        self.saved.as_ref().map_or("", |saved| &saved.name)
    }

    /// Says that another command has detached it, even if something else runs under its name now.
    pub fn is_gone(&self) -> bool {
        let saved = self.saved.as_ref();
        saved.is_none_or(|saved| !saved.pins.is_still(&saved.name, saved.loading))
    }

    /// Says that there is no interface any more at which it runs, in whatever network namespace.
    pub fn has_no_interface(&self) -> bool {
        let Some(saved) = &self.saved else {
            return false;
        };
        let is_there =
            |program: &Attached| saved.is_at(program.port.index, program.how.mode == Mode::Clsact);
        if self.attached.iter().any(is_there) {
            return false;
        }
        // It may have got other ones meanwhile.
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
    /// Says that a program which was attached at an interface still is.
    fn is_at(&self, index: u32, by_filter: bool) -> bool {
        match by_filter {
            // A filter has no link that knows.
            true => interface::name(index).is_some(),
            false => self.pins.holds(&self.name, index),
        }
    }

    /// `false`: somebody else has done so.
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

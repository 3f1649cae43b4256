//! Runs a plan on the present kernel: in a guest, or on the host.

mod features;
mod loads;
mod output;
mod process;
mod script;
mod test_binary;

pub(crate) use test_binary::together;

use crate::plan::GuestPlan;
use crate::suite::SuiteKind;
use crate::trial::Event;

/// Runs all trials of a plan. Nothing that a trial does ends this.
pub(crate) fn run(plan: &GuestPlan, sink: &mut dyn FnMut(Event)) {
    // As `uname -r` prints it.
    let release = nix::sys::utsname::uname().map(|it| it.release().to_string_lossy().into_owned());
    sink(Event::Started {
        release: release.unwrap_or_default(),
    });
    let features = features::run(&plan.onpath, sink);
    for part in &plan.suites {
        sink(Event::Suite {
            name: part.suite.clone(),
            trials: part.trials.len(),
        });
        match part.kind {
            SuiteKind::Tests => test_binary::run(part, &plan.objects, sink),
            SuiteKind::Loads => loads::run(part, &plan.objects, &features, sink),
            SuiteKind::Built | SuiteKind::Drivers => script::run(part, &plan.onpath, sink),
        }
    }
    sink(Event::Ended);
}

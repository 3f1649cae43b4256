//! Runs a plan on the present kernel: in a guest, or on the host.

mod built;
mod drivers;
mod features;
mod loads;
mod output;
mod process;
mod script;
mod test_binary;

pub(crate) use test_binary::together;

use crate::plan::{Kind, Plan};
use crate::trial::{Event, Sink};

/// Runs all trials of a plan. Nothing that a trial does ends this.
pub(crate) fn run(plan: &Plan, sink: &mut dyn Sink) {
    sink.take(Event::Started {
        release: release().unwrap_or_default(),
    });
    let features = features::run(&plan.onpath, sink);
    for part in &plan.suites {
        sink.take(Event::Suite {
            name: part.suite.clone(),
            trials: part.trials.len(),
        });
        match part.kind {
            Kind::Tests => test_binary::run(part, &plan.objects, sink),
            Kind::Loads => loads::run(part, &plan.objects, &features, sink),
            Kind::Built => built::run(part, sink),
            Kind::Drivers => drivers::run(part, &plan.onpath, sink),
        }
    }
    sink.take(Event::Ended);
}

/// The kernel's release, as `uname -r` prints it.
fn release() -> nix::Result<String> {
    Ok(nix::sys::utsname::uname()?
        .release()
        .to_string_lossy()
        .into_owned())
}

//! STF tests on the native target, which needs no root. Tables change in shared memory.

use crate::{Script, externs_of, input};
use arch::Model;
use diag::render_plain;
use driver::stf::{Prepared, Start, TestResult};
use driver::{Elaborated, elaborate};
use libtest_mimic::Failed;
use native::Options;
use std::path::{Path, PathBuf};

/// Runs the tests of a program. A program of another architecture, or one that copies packets, must be refused.
pub(crate) fn passes(program: &Path, scripts: &[PathBuf]) -> Result<(), Failed> {
    let elaborated = elaborate(&input(program))
        .map_err(|refused| render_plain(&refused.diagnostics, &refused.map))?;
    let runs = runs(&elaborated);
    let options = Options {
        record: false,
        externs: externs_of(program),
    };
    let prepared = Prepared::on(elaborated, |program, map| {
        let built = native::build(program, map, &options)?;
        let start: Start = Box::new(move || Ok(Box::new(built.start()?)));
        Ok(start)
    });
    let mut prepared = match (prepared, runs) {
        (Ok(prepared), true) => prepared,
        (Ok(_), false) => return Err("it runs: say so in `runs`".into()),
        (Err(unfit), has_to_run) => {
            let text = render_plain(&unfit.diagnostics, &unfit.map);
            return match !has_to_run && text.contains("the native target has no") {
                true => Ok(()),
                false => Err(text.into()),
            };
        }
    };
    let mut failed = String::new();
    for path in scripts {
        let script = Script::read(path)?;
        match prepared.run(&script.case, None) {
            TestResult::Passed { .. } => {}
            TestResult::Failed { failures, .. } => failed += &failures.join("\n"),
            ref verdict @ (TestResult::Refused(ref diagnostics)
            | TestResult::NotLoaded(ref diagnostics)) => {
                failed += &render_plain(diagnostics, prepared.map(verdict));
            }
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(failed.into()),
    }
}

/// Returns true for programs of the target's architectures whose packets are neither copied nor resubmitted.
fn runs(elaborated: &Elaborated) -> bool {
    let arch = arch::by_package(&elaborated.program.arch);
    arch.is_some_and(|arch| match arch.model {
        Model::Filter | Model::Switch => true,
        Model::Pipeline => arch::v1model::ways(&elaborated.program).is_empty(),
        Model::Tap | Model::Tc => false,
    })
}

//! Reports on the progress of a unit that is started.

use diag::{Diagnostics, SourceMap};
use std::fmt;

/// A step that may take long. Its text is for people: `router: compiling`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgressStep {
    /// The program, as the user knows it.
    pub program: String,
    /// The work.
    pub work: Work,
}

/// The work of a [`ProgressStep`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Work {
    /// Compilation from P4 to an object.
    Compile,
    /// Compilation by other strategies, after the verifier rejected the first object.
    Recompile,
    /// Loading into the kernel, which verifies the object.
    Verify,
    /// Check of the entries in this file.
    CheckEntries(String),
    /// Writing of this file's entries to tables.
    PutEntries(String),
}

impl fmt::Display for ProgressStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = &self.program;
        match &self.work {
            Work::Compile => write!(f, "{program}: compiling"),
            Work::Recompile => write!(
                f,
                "{program}: recompiling with other strategies, since the verifier rejected it"
            ),
            Work::Verify => write!(f, "{program}: the kernel verifies it"),
            Work::CheckEntries(file) => write!(f, "{program}: checking entries in {file}"),
            Work::PutEntries(file) => write!(f, "{program}: changing tables by {file}"),
        }
    }
}

/// A receiver of reports.
pub trait Observer {
    /// Calls `work` once, which does the step. It may report the step before, meanwhile and afterwards.
    fn during(&self, step: &ProgressStep, work: &mut dyn FnMut());
    /// Reports the warnings of a program that is about to be compiled.
    fn warn(&self, warnings: &Diagnostics, texts: &SourceMap);
    /// Reports in advance work that takes more than a few seconds.
    fn notice(&self, text: &str);
}

/// An observer that reports nothing.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Observer for Silent {
    fn during(&self, _: &ProgressStep, work: &mut dyn FnMut()) {
        work();
    }

    fn warn(&self, _: &Diagnostics, _: &SourceMap) {}

    fn notice(&self, _: &str) {}
}

/// Does a step, and reports it to the observer.
pub(super) fn during<T>(
    observer: &dyn Observer,
    program: String,
    work: Work,
    done: impl FnOnce() -> T,
) -> T {
    let (mut done, mut result) = (Some(done), None);
    observer.during(&ProgressStep { program, work }, &mut || {
        if let Some(done) = done.take() {
            result = Some(done());
        }
    });
    // The work is done even if the observer did not call it.
    match (result, done) {
        (Some(result), _) => result,
        (None, Some(done)) => done(),
        (None, None) => unreachable!("work that was taken has a result"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An observer that calls a step's work this many times.
    struct Times(usize);

    impl Observer for Times {
        fn during(&self, _: &ProgressStep, work: &mut dyn FnMut()) {
            (0..self.0).for_each(|_| work());
        }

        fn warn(&self, _: &Diagnostics, _: &SourceMap) {}

        fn notice(&self, _: &str) {}
    }

    #[test]
    fn a_step_is_done_once_whatever_the_observer_does() {
        for times in 0..3 {
            let mut done = 0;
            let work = || {
                done += 1;
                done
            };
            let result = during(&Times(times), "a".into(), Work::Compile, work);
            assert_eq!((result, done), (1, 1), "{times}");
        }
    }
}

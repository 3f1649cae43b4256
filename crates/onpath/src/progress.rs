//! Progress reports on standard error.

use crate::output::{notice, print_diagnostics, write_styled_err};
use diag::{Diagnostics, SourceMap, shown};
use driver::run::{Observer, ProgressStep};
use host::interrupt::Deferred;
use std::io::IsTerminal;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Time before the first report, if there is no terminal.
const PATIENCE: Duration = Duration::from_secs(1);

/// Reporter of the steps of a command that may take long. A terminal shows the current step until it is done.
/// Elsewhere each step is a line, but only once the command has taken [`PATIENCE`], so that fast commands write
/// nothing to a log.
#[derive(Debug)]
pub(crate) struct Progress {
    style: Style,
    begun: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    /// No reports.
    Silent,
    /// Reports in place, on a terminal with this many columns.
    InPlace(usize),
    /// Reports as lines, from this time after the beginning.
    Lines(Duration),
}

impl Progress {
    /// Begins to report, or never reports if `quiet` is set.
    pub(crate) fn new(quiet: bool) -> Progress {
        match quiet {
            true => Progress::begin(Style::Silent),
            false => Progress::after(PATIENCE),
        }
    }

    /// Begins to report. Without a terminal, nothing is reported before `patience` has passed.
    pub(crate) fn after(patience: Duration) -> Progress {
        Progress::begin(match terminal() {
            Some(columns) => Style::InPlace(columns),
            None => Style::Lines(patience),
        })
    }

    fn begin(style: Style) -> Progress {
        Progress {
            style,
            begun: Instant::now(),
        }
    }

    /// Does a step and reports it meanwhile. The step must print nothing.
    pub(crate) fn during<T>(&self, step: &str, work: impl FnOnce() -> T) -> T {
        self.reporting(step, work, &write_styled_err)
    }

    fn reporting<T>(
        &self,
        step: &str,
        work: impl FnOnce() -> T,
        write: &(dyn Fn(&str) + Sync),
    ) -> T {
        match self.style {
            Style::Silent => work(),
            Style::InPlace(columns) => {
                // A line that wraps would not be erased whole.
                let fits: String = shown(step)
                    .chars()
                    .take(columns.saturating_sub(1))
                    .collect();
                write(&format!("\r{fits}\x1b[K"));
                let done = work();
                write("\r\x1b[K");
                done
            }
            Style::Lines(patience) => {
                let line = format!("{}\n", shown(step));
                let left = patience.saturating_sub(self.begun.elapsed());
                // From then on even fast steps are reported, so that the log is the same each time.
                if left.is_zero() {
                    write(&line);
                    return work();
                }
                after(left, || write(&line), work)
            }
        }
    }
}

impl Observer for Progress {
    fn during(&self, step: &ProgressStep, work: &mut dyn FnMut()) {
        Progress::during(self, &step.to_string(), work);
    }

    fn warn(&self, warnings: &Diagnostics, texts: &SourceMap) {
        print_diagnostics(warnings, texts);
    }

    fn notice(&self, text: &str) {
        notice(text);
    }
}

/// Does `work`, and calls `late` once if it takes longer than `patience`.
fn after<T>(patience: Duration, late: impl FnOnce() + Send, work: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let (done, is_done) = mpsc::channel::<()>();
        // Interrupts must go to the working thread. In this one they would end the process before it is cleaned up.
        let deferred = Deferred::begin();
        scope.spawn(move || {
            // The channel is closed when the work ends, also by a panic.
            if is_done.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout) {
                late();
            }
        });
        drop(deferred);
        let result = work();
        drop(done);
        result
    })
}

/// Returns the number of columns of the terminal on standard error, if a line can be erased on it.
fn terminal() -> Option<usize> {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if dumb || !std::io::stderr().is_terminal() {
        return None;
    }
    let size = terminal_size::terminal_size_of(std::io::stderr());
    // A terminal that does not know its width reports 0, or nothing.
    let columns = size.map_or(0, |(width, _)| usize::from(width.0));
    Some(if columns == 0 { 80 } else { columns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Returns the reports of a step.
    fn reported(style: Style, step: &str, work: impl FnOnce(&Mutex<String>)) -> String {
        let output = Mutex::new(String::new());
        let write = |text: &str| output.lock().unwrap().push_str(text);
        let progress = Progress {
            style,
            begun: Instant::now(),
        };
        progress.reporting(step, || work(&output), &write);
        output.into_inner().unwrap()
    }

    #[test]
    fn a_terminal_shows_the_step_while_it_lasts_and_nothing_afterwards() {
        let style = Style::InPlace(80);
        let all = reported(style, "a: compiling", |output| {
            assert_eq!(*output.lock().unwrap(), "\ra: compiling\x1b[K");
        });
        assert_eq!(all, "\ra: compiling\x1b[K\r\x1b[K");
        let narrow = reported(Style::InPlace(4), "a: compiling", |_| ());
        assert_eq!(narrow, "\ra: \x1b[K\r\x1b[K");
    }

    #[test]
    fn a_log_has_the_steps_of_what_takes_long() {
        let slow = |output: &Mutex<String>| {
            let begun = Instant::now();
            while output.lock().unwrap().is_empty() && begun.elapsed() < Duration::from_secs(60) {
                thread::sleep(Duration::from_millis(1));
            }
        };
        let soon = Style::Lines(Duration::from_millis(5));
        assert_eq!(reported(soon, "a: compiling", slow), "a: compiling\n");
    }

    #[test]
    fn when_it_took_long_already_each_step_is_reported_however_fast() {
        assert_eq!(reported(Style::Lines(Duration::ZERO), "b", |_| ()), "b\n");
    }

    #[test]
    fn fast_steps_and_quiet_commands_report_nothing() {
        let late = Style::Lines(Duration::from_secs(3600));
        assert_eq!(reported(late, "a: compiling", |_| ()), "");
        let wait = |_: &Mutex<String>| thread::sleep(Duration::from_millis(5));
        assert_eq!(reported(Style::Silent, "a: compiling", wait), "");
    }

    #[test]
    fn a_step_that_panics_ends_its_report() {
        let late = Style::Lines(Duration::from_secs(3600));
        let caught = std::panic::catch_unwind(|| reported(late, "a", |_| panic!("as it should")));
        assert!(caught.is_err());
    }
}

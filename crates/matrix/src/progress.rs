//! Output during a run: a line for each suite, and for each trial that fails.

use crate::trial::{Event, Outcome};
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Interval at which a long suite reports its progress.
const OFTEN: Duration = Duration::from_secs(30);

/// Progress of a kernel's run.
#[derive(Debug)]
pub(crate) struct Progress {
    kernel: String,
    begun: Instant,
    reported: Instant,
    suite: Option<Running>,
}

#[derive(Debug)]
struct Running {
    name: String,
    trials: usize,
    done: usize,
    failed: usize,
}

impl Progress {
    /// Begins a run.
    pub(crate) fn new(kernel: &str) -> Progress {
        let now = Instant::now();
        Progress {
            kernel: kernel.to_string(),
            begun: now,
            reported: now,
            suite: None,
        }
    }

    /// Returns the time since the beginning.
    pub(crate) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Shows an event, if it is worth a line.
    pub(crate) fn take(&mut self, event: &Event, out: &mut impl Write) -> io::Result<()> {
        match event {
            Event::Started { release } => self.line(out, &format!("Linux {release} runs")),
            Event::Feature(_) => Ok(()),
            Event::Suite { name, trials } => {
                self.close(out)?;
                self.suite = Some(Running {
                    name: name.clone(),
                    trials: *trials,
                    done: 0,
                    failed: 0,
                });
                Ok(())
            }
            Event::Trial(trial) => {
                let Some(suite) = &mut self.suite else {
                    return Ok(());
                };
                suite.done += 1;
                suite.failed += usize::from(trial.outcome != Outcome::Passed);
                if self.reported.elapsed() < OFTEN {
                    return Ok(());
                }
                let text = suite.text();
                self.line(out, &text)
            }
            Event::Broken { name, reason } => self.line(out, &format!("{name}: {reason}")),
            Event::Ended => self.close(out),
        }
    }

    fn close(&mut self, out: &mut impl Write) -> io::Result<()> {
        let closed = self.suite.take();
        closed.map_or(Ok(()), |suite| self.line(out, &suite.text()))
    }

    fn line(&mut self, out: &mut impl Write, text: &str) -> io::Result<()> {
        self.reported = Instant::now();
        let seconds = self.elapsed().as_secs();
        let (minutes, seconds) = (seconds / 60, seconds % 60);
        writeln!(out, "{} {minutes:3}:{seconds:02} {text}", self.kernel)?;
        out.flush()
    }
}

impl Running {
    fn text(&self) -> String {
        let of = format!("{}: {} of {}", self.name, self.done, self.trials);
        match self.failed {
            0 => of,
            n => format!("{of}, {n} did not pass"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Trial;

    #[test]
    fn a_suite_is_a_line() {
        let mut out = Vec::new();
        let mut progress = Progress::new("6.1");
        let suite = |name: &str, trials| Event::Suite {
            name: name.to_string(),
            trials,
        };
        let trial = |outcome| Event::Trial(Trial::new("a", "t", outcome, ""));
        let events = [
            suite("a", 2),
            trial(Outcome::Passed),
            trial(Outcome::Hung),
            suite("b", 1),
            trial(Outcome::Passed),
            Event::Ended,
        ];
        for event in &events {
            progress.take(event, &mut out).expect("written");
        }
        let text = String::from_utf8(out).expect("text");
        assert_eq!(
            text,
            "6.1   0:00 a: 2 of 2, 1 did not pass\n6.1   0:00 b: 1 of 1\n"
        );
    }
}

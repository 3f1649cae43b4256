//! Looking again and again, and showing what there is, until it is enough.

use crate::output::{Reading, Stop, write_watched};
use control::StoreError;
use kernel::interrupt::Interrupts;
use pdm::reader::Reader;
use pdm::serve::Page;
use pdm::{json, prometheus, table};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Flows in the table, and in JSON and for Prometheus, where nothing else is asked for.
const FLOWS: (usize, usize) = (20, 1000);

/// In what form figures are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// A table; on a terminal always at the same position.
    Table,
    /// A JSON object a line.
    Json,
    /// Not at all.
    Nothing,
}

/// What is shown, how often, and for how long.
#[derive(Debug)]
pub(crate) struct Show {
    /// How.
    pub form: Form,
    /// Flows at most, if that was asked for.
    pub flows: Option<usize>,
    /// From one look to the next.
    pub interval: Duration,
    /// From the beginning to the last look.
    pub duration: Option<Duration>,
    /// Only what the last look gives is shown.
    pub once: bool,
    /// Where the page for Prometheus is, if there is one.
    pub page: Option<Page>,
}

/// Why there is nothing more to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// It was interrupted, the time is over, or there is no reader any more.
    Enough,
    /// Another command has taken the measurement off.
    DetachedByAnother,
    /// The interface is gone.
    InterfaceGone,
}

/// Shows what is measured until there is a reason not to. `ended` finds reasons that come from outside.
pub(crate) fn show(
    reader: &mut Reader,
    show: &Show,
    interrupts: &Interrupts,
    ended: impl Fn() -> Option<End>,
) -> Result<End, Stop> {
    let begun = Instant::now();
    let end = show.duration.map(|duration| begun + duration);
    let mut next = begun + show.interval;
    loop {
        let until = end.map_or(next, |end| end.min(next));
        let interrupted = interrupts
            .wait_for(until.saturating_duration_since(Instant::now()))
            .map_err(|e| Stop::Failed(format!("waiting for an interrupt failed: {e}")))?
            .is_some();
        let last = interrupted || end.is_some_and(|end| Instant::now() >= end);
        let shown = if show.once { last } else { !interrupted };
        let Some(reading) = look(reader, show, shown)? else {
            return Ok(End::DetachedByAnother);
        };
        if let Some(end) = ended() {
            return Ok(end);
        }
        if last || reading == Reading::Over {
            return Ok(End::Enough);
        }
        // What was missed is not made up for.
        while next <= Instant::now() {
            next += show.interval;
        }
    }
}

/// Looks, publishes, and prints if that is wanted. `None`: another command has taken the measurement off.
pub(crate) fn look(reader: &mut Reader, show: &Show, print: bool) -> Result<Option<Reading>, Stop> {
    let snapshot = match reader.look() {
        Err(StoreError::Unloaded) => return Ok(None),
        looked => looked.map_err(unreadable)?,
    };
    let many = show.flows.unwrap_or(FLOWS.1);
    if let Some(page) = &show.page {
        page.publish(prometheus::page(&snapshot, many));
    }
    if !print {
        return Ok(Some(Reading::On));
    }
    let few = show.flows.unwrap_or(FLOWS.0);
    Ok(Some(match show.form {
        Form::Nothing => Reading::On,
        Form::Json => write_watched(format_args!("{}\n", json::object(&snapshot, many))),
        Form::Table => {
            let text = table::text(&snapshot, few);
            match terminal().filter(|_| !show.once) {
                Some((width, height)) => write_watched(format_args!(
                    "{}",
                    redrawn(&table::fit(&text, width, height))
                )),
                None => write_watched(format_args!("{text}\n")),
            }
        }
    }))
}

fn unreadable(error: StoreError) -> Stop {
    Stop::Failed(format!("the figures could not be read: {error}"))
}

/// Columns and lines of the terminal that standard output is, if it is one that can be drawn on.
fn terminal() -> Option<(usize, usize)> {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if dumb || !std::io::stdout().is_terminal() {
        return None;
    }
    let (width, height) = terminal_size::terminal_size()?;
    // The last line is left to the cursor.
    Some((width.0.into(), usize::from(height.0).saturating_sub(1)))
}

/// A text in place of what the terminal shows: from its corner, each line to its end, and nothing below.
fn redrawn(text: &str) -> String {
    let lines: String = text.lines().map(|line| format!("{line}\x1b[K\n")).collect();
    format!("\x1b[H{lines}\x1b[J")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_drawn_on_without_scrolling() {
        assert_eq!(redrawn("a\nb"), "\x1b[Ha\x1b[K\nb\x1b[K\n\x1b[J");
    }
}

//! Looking again and again, and showing what there is, until it is enough.

use crate::metrics_page::Page;
use crate::output::{Reading, Stop, write_styled, write_watched};
use crate::screen;
use control::StoreError;
use host::interrupt::Interrupts;
use pdm::reader::Reader;
use pdm::{json, prometheus, table};
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
            match screen::size().filter(|_| !show.once) {
                Some((width, height)) => {
                    write_styled(&screen::redrawn(&screen::fit(&text, width, height)))
                }
                None => write_watched(format_args!("{text}\n")),
            }
        }
    }))
}

fn unreadable(error: StoreError) -> Stop {
    Stop::Failed(format!("the figures could not be read: {error}"))
}

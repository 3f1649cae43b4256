//! Periodic display of a measurement, until it ends.

use crate::output::{Reading, Stop, write_styled, write_watched};
use crate::prometheus_page::Page;
use crate::screen;
use control::StoreError;
use host::interrupt::Interrupts;
use pdm::reader::Reader;
use pdm::{json, prometheus, table};
use std::time::{Duration, Instant};

/// Default maximum number of flows: in the table, and in JSON and for Prometheus.
const FLOWS: (usize, usize) = (20, 1000);

/// Output format of the metrics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OutputFormat {
    /// A table; on a terminal always at the same position.
    Table,
    /// A JSON object on each line.
    Json,
    /// No output.
    Nothing,
}

/// Options of the display: its contents, interval and duration.
#[derive(Debug)]
pub(crate) struct Show {
    /// Output format.
    pub form: OutputFormat,
    /// Maximum number of flows, if it was given.
    pub flows: Option<usize>,
    /// Time between two readings.
    pub interval: Duration,
    /// Time from the beginning to the last reading.
    pub duration: Option<Duration>,
    /// True to show the last reading only.
    pub once: bool,
    /// Page for Prometheus, if there is one.
    pub page: Option<Page>,
}

/// Reason why the display ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// An interrupt, the end of the duration, or an output that is no longer read.
    Enough,
    /// Another command has detached the measurement.
    DetachedByAnother,
    /// The interface is gone.
    InterfaceGone,
}

/// Shows a measurement until it ends. `ended` returns external reasons to end.
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
        // Missed updates are skipped.
        while next <= Instant::now() {
            next += show.interval;
        }
    }
}

/// Reads the metrics, publishes them, and prints them if `print` is set. Returns `None` if another command has
/// detached the measurement.
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
        OutputFormat::Nothing => Reading::On,
        OutputFormat::Json => write_watched(format_args!("{}\n", json::object(&snapshot, many))),
        OutputFormat::Table => {
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
    Stop::Failed(format!("the metrics could not be read: {error}"))
}

//! Periodic output of counters, with their rates.

use super::{At, Element, read_all};
use crate::output::{Done, Reading, Stop, write_watched};
use control::{Count, Store};
use diag::{columns, shown};
use serde_json::json;
use std::collections::HashMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Prints counters at this interval, until it is interrupted or its output is no longer read.
pub(super) fn run(
    store: &dyn Store,
    counter: Option<&str>,
    every: Duration,
    as_json: bool,
) -> Done {
    let mut before = read(store, counter)?;
    loop {
        std::thread::sleep(every);
        let now = read(store, counter)?;
        let passed = now.at.saturating_duration_since(before.at).as_secs_f64();
        let rows: Vec<Row> = now
            .elements
            .iter()
            .map(|element| Row::new(element, &before, passed))
            .collect();
        let text = match as_json {
            true => json_line(&rows, passed),
            false => table(&rows),
        };
        if write_watched(format_args!("{text}")) == Reading::Over {
            return Ok(ExitCode::SUCCESS);
        }
        before = now;
    }
}

/// Counters at one time.
struct Moment {
    at: Instant,
    elements: Vec<Element>,
    counts: HashMap<(String, At), Count>,
}

fn read(store: &dyn Store, counter: Option<&str>) -> Result<Moment, Stop> {
    let elements = read_all(store, counter)?;
    let counts = elements
        .iter()
        .map(|e| ((e.counter.clone(), e.at.clone()), e.count));
    Ok(Moment {
        at: Instant::now(),
        counts: counts.collect(),
        elements,
    })
}

/// An element, with its rates per second since the last time. A count below the last one means that the element was
/// reset; the rate is then that of the new count.
struct Row<'e> {
    element: &'e Element,
    packets: f64,
    bytes: f64,
}

impl Row<'_> {
    fn new<'e>(element: &'e Element, before: &Moment, passed: f64) -> Row<'e> {
        let name = (element.counter.clone(), element.at.clone());
        let Count { packets, bytes } = before.counts.get(&name).copied().unwrap_or_default();
        let rate = |now: u64, before: u64| now.checked_sub(before).unwrap_or(now) as f64 / passed;
        Row {
            element,
            packets: rate(element.count.packets, packets),
            bytes: rate(element.count.bytes, bytes),
        }
    }
}

fn table(rows: &[Row]) -> String {
    let with_bytes = rows.iter().any(|row| row.element.unit.has_bytes());
    let heads = ["COUNTER", "COUNT", "PER SECOND", "BYTES", "PER SECOND"];
    let shown_columns = if with_bytes { 5 } else { 3 };
    let mut all = vec![
        heads[..shown_columns]
            .iter()
            .map(|head| head.to_string())
            .collect(),
    ];
    for Row {
        element,
        packets,
        bytes,
    } in rows
    {
        let row = [
            shown(&element.name()).into_owned(),
            element.count.packets.to_string(),
            format!("{packets:.0}"),
            element.count.bytes.to_string(),
            format!("{bytes:.0}"),
        ];
        all.push(row[..shown_columns].to_vec());
    }
    format!("{}\n", columns(&all))
}

/// Returns a line of JSON: the `seconds` since the last line, and the counters with `packets_per_second` and
/// `bytes_per_second`.
fn json_line(rows: &[Row], passed: f64) -> String {
    let counters = rows.iter().map(|row| {
        let mut shown = row.element.json();
        if row.element.unit.has_packets() {
            shown["packets_per_second"] = json!(row.packets);
        }
        if row.element.unit.has_bytes() {
            shown["bytes_per_second"] = json!(row.bytes);
        }
        shown
    });
    let line = json!({ "seconds": passed, "counters": counters.collect::<Vec<_>>() });
    format!("{line}\n")
}

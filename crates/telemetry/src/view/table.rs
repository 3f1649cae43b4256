//! Metrics as text.

use super::trend::Trends;
use super::{QUANTILES, number, scaled};
use crate::aggregate::Cell;
use crate::messages::MOST_KEPT;
use crate::report::{Report, Unit};
use crate::value::Value;
use std::fmt::Write;

/// Number of values of `top` in a cell.
const IN_A_CELL: usize = 3;
/// Width of the longest bar of a histogram, in characters.
const BAR: u64 = 40;

/// Formats at most `most` groups as a table; without keys, each aggregate has a line. Notes on packets and records that
/// were not counted follow.
pub fn text(report: &Report, most: usize) -> String {
    with_trends(report, most, None)
}

/// Formats as [`text`] does. A line in each group shows the trend of its first aggregate.
pub fn with_trends(report: &Report, most: usize, trends: Option<&Trends>) -> String {
    let mut text = match (report.keys.is_empty(), trends) {
        (false, _) => grouped(report, most, trends),
        (true, None) => alone(report),
        (true, Some(trends)) => {
            let line = report.shown().first().map(|row| trends.line(row));
            let shown = report.aggregates.first().zip(line);
            let shown = shown.map(|(name, line)| format!("{name}, trend: {line}\n"));
            alone(report) + &shown.unwrap_or_default()
        }
    };
    for line in notes(report) {
        let _ = writeln!(text, "{line}");
    }
    text
}

fn grouped(report: &Report, most: usize, trends: Option<&Trends>) -> String {
    let header = report.keys.iter().chain(&report.aggregates);
    let header = header.map(|name| name.to_uppercase());
    let mut rows: Vec<Vec<String>> = vec![header.collect()];
    rows[0].extend(trends.map(|_| "OF LATE".to_owned()));
    for row in report.shown().iter().take(most) {
        let keys = row.keys.iter().map(Value::to_string);
        let cells = row.cells.iter().zip(&report.units);
        let cells = keys.chain(cells.map(|(cell, unit)| short(cell, *unit)));
        rows.push(cells.chain(trends.map(|trends| trends.line(row))).collect());
    }
    let mut text = diag::columns(&rows);
    let left = report.shown().len().saturating_sub(most);
    if left > 0 {
        let _ = writeln!(text, "and {}", diag::counted(left, "other group"));
    }
    text
}

fn alone(report: &Report) -> String {
    let mut text = String::new();
    let Some(row) = report.shown().first() else {
        return text;
    };
    let metrics = report.aggregates.iter().zip(&row.cells);
    for ((name, cell), &unit) in metrics.zip(&report.units) {
        match cell {
            Cell::Top { items, unseen } => {
                let _ = writeln!(text, "{name}:");
                let rows: Vec<Vec<String>> = items
                    .iter()
                    .map(|(value, count, error)| {
                        vec![format!("  {value}"), counted(*count, *error)]
                    })
                    .collect();
                text += &diag::columns(&rows);
                if *unseen > 0 {
                    let _ = writeln!(text, "  no other value came more than {unseen} times");
                }
            }
            Cell::Histogram(histogram, error) if histogram.total() > 0 => {
                let error = 100.0 * error;
                let _ = writeln!(text, "{name}: {} (within {error:.1} %)", short(cell, unit));
                text += &bars(histogram, unit);
            }
            Cell::Estimate(_, error) => {
                let error = 100.0 * error;
                let _ = writeln!(
                    text,
                    "{name}: {} (standard error {error:.1} %)",
                    short(cell, unit)
                );
            }
            cell => {
                let _ = writeln!(text, "{name}: {}", short(cell, unit));
            }
        }
    }
    text
}

/// Formats an aggregate's value for a cell.
fn short(cell: &Cell, unit: Unit) -> String {
    match cell {
        Cell::Top { items, .. } => {
            let shown = items.iter().take(IN_A_CELL);
            let mut shown: Vec<String> = shown
                .map(|(value, count, error)| format!("{value} ({})", counted(*count, *error)))
                .collect();
            if items.len() > IN_A_CELL {
                shown.push("...".into());
            }
            shown.join(", ")
        }
        Cell::Histogram(histogram, _) => {
            let quantile = |(name, q)| {
                let value = histogram.quantile(q)?;
                Some(format!("{name} {}", scaled(value, unit)))
            };
            let shown: Vec<String> = QUANTILES.into_iter().filter_map(quantile).collect();
            match shown.is_empty() {
                true => "-".into(),
                false => shown.join(", "),
            }
        }
        Cell::Number(time) if unit == Unit::Time => scaled(*time, unit),
        Cell::Real(time) if unit == Unit::Time => scaled(time.round() as u64, unit),
        cell => number(cell).unwrap_or_else(|| "-".into()),
    }
}

/// Formats a count, as a range if it is not exact.
fn counted(count: u64, error: u64) -> String {
    match error {
        0 => count.to_string(),
        error => format!("{} to {count}", count - error),
    }
}

/// Draws a bar for each power of two.
fn bars(histogram: &sketch::Histogram, unit: Unit) -> String {
    let mut powers: Vec<(u64, u64, u64)> = Vec::new();
    for (least, _, count) in histogram.buckets() {
        let power = least.checked_ilog2().map_or(0u64, |log| 1 << log);
        let last = (power.max(1) - 1).saturating_add(power);
        match powers.last_mut() {
            Some((known, _, sum)) if *known == power => *sum += count,
            _ => powers.push((power, last, count)),
        }
    }
    let most = powers.iter().map(|(.., count)| *count).max().unwrap_or(1);
    let rows: Vec<Vec<String>> = powers
        .into_iter()
        .map(|(first, last, count)| {
            let width = (u128::from(count) * u128::from(BAR)).div_ceil(u128::from(most.max(1)));
            vec![
                match unit {
                    Unit::Plain => format!("  {first} to {last}"),
                    // The upper end is the next bar's lower end.
                    Unit::Time => format!(
                        "  {} to {}",
                        scaled(first, unit),
                        scaled(last.saturating_add(1), unit)
                    ),
                },
                count.to_string(),
                "#".repeat(width as usize),
            ]
        })
        .collect();
    diag::columns(&rows)
}

/// Explains which packets and records were not counted, and why; empty if all were.
pub fn notes(report: &Report) -> Vec<String> {
    let counts = &report.counts;
    let streams = &counts.streams;
    let cut = format!("cut to {} bytes", report.text);
    let without_key = format!("without {}", report.keys.join(" or "));
    let unfollowed = format!(
        "with an end that is not known: a head that is cut, or of more than {MOST_KEPT} bytes, or a body of no known length"
    );
    let all = [
        (
            counts.untimed,
            "packet",
            "without a time: in no rate, and in no response time",
        ),
        (counts.without_key, "record", &without_key),
        (
            counts.not_grouped,
            "record",
            "not counted: the table of groups is full (--groups)",
        ),
        (counts.malformed, "packet", "with a malformed message"),
        (counts.cut, "long value", &cut),
        (
            counts.unread,
            "packet",
            "with messages that were not read: too long, or behind too many others",
        ),
        (counts.unanswered, "request", "without a response so far"),
        (
            counts.unmatched,
            "response",
            "without a request that is known",
        ),
        (
            streams.unfinished,
            "message",
            "of which the rest has not come so far",
        ),
        (
            streams.gaps,
            "segment",
            "behind something that is missing: lost, or late",
        ),
        (streams.sent_again, "segment", "with bytes that came before"),
        (streams.unfollowed, "message", &unfollowed),
    ];
    let some = all.into_iter().filter(|(count, ..)| *count > 0);
    let notes = some.map(|(count, what, how)| format!("{} {how}", diag::counted(count, what)));
    notes.collect()
}

//! The figures as comma-separated values (RFC 4180).

use super::{QUANTILES, json, number};
use crate::aggregate::Cell;
use crate::query::{Function, Query};
use crate::report::Report;
use crate::value::Value;

/// The first line: the time, the keys, the aggregates. A histogram has a column for each quantile.
pub fn header(query: &Query) -> String {
    let keys = query.keys.iter().map(|&k| query.attributes[k].name.clone());
    let aggregates = query.aggregates.iter().flat_map(|a| match a.function {
        Function::Histogram(_) => QUANTILES
            .map(|(name, _)| format!("{}.{name}", a.label))
            .to_vec(),
        _ => vec![a.label.clone()],
    });
    let time = std::iter::once("seconds".to_string());
    line(time.chain(keys).chain(aggregates))
}

/// A line for each group, `seconds` after the beginning. What is not there is empty; `top` is the JSON of its items.
pub fn lines(report: &Report, seconds: f64) -> String {
    let rows = report.rows.iter().map(|row| {
        let keys = row.keys.iter().map(Value::to_string);
        let cells = row.cells.iter().flat_map(fields);
        let time = std::iter::once(format!("{seconds:.3}"));
        line(time.chain(keys).chain(cells))
    });
    rows.collect()
}

fn fields(cell: &Cell) -> Vec<String> {
    match cell {
        Cell::Nothing => vec![String::new()],
        Cell::Top { .. } => vec![json::figure(cell)["items"].to_string()],
        Cell::Histogram(histogram, _) => QUANTILES
            .map(|(_, q)| {
                histogram
                    .quantile(q)
                    .map_or(String::new(), |n| n.to_string())
            })
            .to_vec(),
        cell => vec![number(cell).unwrap_or_default()],
    }
}

fn line(fields: impl Iterator<Item = String>) -> String {
    let fields: Vec<String> = fields.map(|field| quoted(&field)).collect();
    fields.join(",") + "\n"
}

fn quoted(field: &str) -> String {
    match field.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_string(),
    }
}

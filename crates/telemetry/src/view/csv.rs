//! Metrics as comma-separated values (RFC 4180).
//!
//! A spreadsheet takes a field that begins with `=`, `+`, `-` or `@` for a formula. In texts from packets, and in
//! labels, that first character is escaped as texts are: `\x3d`, `\x2b`, `\x2d`, `\x40`.

use super::{QUANTILES, json, number};
use crate::aggregate::Cell;
use crate::query::{Function, Query};
use crate::report::Report;

/// Returns the header line: the time, the keys, the aggregates. A histogram has a column for each quantile.
pub fn header(query: &Query) -> String {
    let keys = query.keys.iter().map(|&k| query.attributes[k].name.clone());
    let aggregates = query.aggregates.iter().flat_map(|a| match a.function {
        Function::Histogram(_) => QUANTILES
            .map(|(name, _)| format!("{}.{name}", a.label))
            .to_vec(),
        _ => vec![a.label.clone()],
    });
    let time = std::iter::once("seconds".to_string());
    line(time.chain(keys).chain(aggregates).map(no_formula))
}

/// Returns a line for each group, `seconds` after the beginning. Missing values are empty; `top` is the JSON of its
/// items.
pub fn lines(report: &Report, seconds: f64) -> String {
    let rows = report.shown().iter().map(|row| {
        let keys = row.keys.iter().map(|key| no_formula(key.to_string()));
        let cells = row.cells.iter().flat_map(fields);
        let time = std::iter::once(format!("{seconds:.3}"));
        line(time.chain(keys).chain(cells))
    });
    rows.collect()
}

fn fields(cell: &Cell) -> Vec<String> {
    match cell {
        Cell::Nothing => vec![String::new()],
        Cell::Top { .. } => vec![json::metric(cell)["items"].to_string()],
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

/// Escapes a text that a spreadsheet would take for a formula.
fn no_formula(text: String) -> String {
    match text.as_bytes().first() {
        Some(first @ (b'=' | b'+' | b'-' | b'@')) => format!("\\x{first:02x}{}", &text[1..]),
        _ => text,
    }
}

fn quoted(field: &str) -> String {
    match field.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_a_formula() {
        let texts = ["=1+1", "+1", "-1", "@SUM(A1)", "a=1", ""];
        let fields = texts.map(|text| no_formula(text.to_owned()));
        assert_eq!(
            fields,
            ["\\x3d1+1", "\\x2b1", "\\x2d1", "\\x40SUM(A1)", "a=1", ""]
        );
    }
}

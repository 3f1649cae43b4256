//! The figures in Prometheus' text format, version 0.0.4.

use super::QUANTILES;
use crate::aggregate::Cell;
use crate::query::{Function, Query};
use crate::report::{Counts, Report};
use std::fmt::Write;

/// A page: the figures of the first `most` groups, with the keys as labels, and what was not counted.
pub fn page(query: &Query, report: &Report, most: usize) -> String {
    let mut page = String::new();
    for (index, aggregate) in query.aggregates.iter().enumerate() {
        let name = format!("onpath_query_{}", word(&aggregate.label));
        let _ = writeln!(page, "# HELP {name} {}", help(&aggregate.label));
        let _ = writeln!(page, "# TYPE {name} {}", kind(aggregate.function));
        for row in report.rows.iter().take(most) {
            let values = row.keys.iter().map(ToString::to_string);
            let labels: Vec<String> = report
                .keys
                .iter()
                .zip(values)
                .map(|(key, value)| label(&word(key), &value))
                .collect();
            if let Some(cell) = row.cells.get(index) {
                samples(&mut page, &name, &labels, cell);
            }
        }
    }
    counts(&mut page, &report.counts);
    page
}

fn samples(page: &mut String, name: &str, labels: &[String], cell: &Cell) {
    let mut sample = |suffix: &str, extra: Option<String>, value: &str| {
        let all: Vec<&str> = labels.iter().chain(&extra).map(String::as_str).collect();
        let labels = match all.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", all.join(",")),
        };
        let _ = writeln!(page, "{name}{suffix}{labels} {value}");
    };
    match cell {
        Cell::Nothing => {}
        Cell::Number(number) => sample("", None, &number.to_string()),
        Cell::Real(number) | Cell::Estimate(number, _) => sample("", None, &number.to_string()),
        Cell::Top { items, .. } => {
            for (item, count, _) in items {
                let item = label("item", &item.to_string());
                sample("", Some(item), &count.to_string());
            }
        }
        Cell::Histogram(histogram, _) => {
            for (_, quantile) in QUANTILES {
                if let Some(value) = histogram.quantile(quantile) {
                    let quantile = label("quantile", &quantile.to_string());
                    sample("", Some(quantile), &value.to_string());
                }
            }
            sample("_count", None, &histogram.total().to_string());
        }
    }
}

fn counts(page: &mut String, counts: &Counts) {
    let all = [
        ("packets", "Packets that were read.", counts.packets),
        (
            "records",
            "Packets, or messages of the query's kind.",
            counts.records,
        ),
        (
            "matched",
            "Records for which the condition holds.",
            counts.matched,
        ),
        (
            "without_key",
            "Of these, those that lack a key.",
            counts.without_key,
        ),
        (
            "not_grouped",
            "Of these, those for whose group there was no room.",
            counts.not_grouped,
        ),
        (
            "malformed",
            "Packets with a malformed message.",
            counts.malformed,
        ),
    ];
    for (name, help, number) in all {
        let _ = writeln!(page, "# HELP onpath_query_{name}_total {help}");
        let _ = writeln!(page, "# TYPE onpath_query_{name}_total counter");
        let _ = writeln!(page, "onpath_query_{name}_total {number}");
    }
}

fn kind(function: Function) -> &'static str {
    match function {
        Function::Count | Function::Bytes | Function::Sum(_) => "counter",
        Function::Histogram(_) => "summary",
        Function::Min(_)
        | Function::Max(_)
        | Function::Mean(_)
        | Function::Distinct(_)
        | Function::Top(..)
        | Function::Rate(_) => "gauge",
    }
}

/// A text as a name: letters, digits and single underscores.
fn word(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("_")
}

fn help(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

fn label(name: &str, value: &str) -> String {
    let value = value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("{name}=\"{value}\"")
}

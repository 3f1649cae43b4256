//! The figures in Prometheus' text format, version 0.0.4.

use super::QUANTILES;
use crate::aggregate::Cell;
use crate::query::{Function, Query};
use crate::report::{Counts, Report};
use std::fmt::Write;

/// A page: the figures of the first `most` groups, with the keys as labels, and what was not counted, among it `dropped` packets that were
/// not seen.
pub fn page(query: &Query, report: &Report, dropped: u64, most: usize) -> String {
    let mut page = String::new();
    let keys = words(report.keys.iter().map(String::as_str));
    let names = words(query.aggregates.iter().map(|a| a.label.as_str()));
    for (index, (aggregate, name)) in query.aggregates.iter().zip(names).enumerate() {
        let name = format!("onpath_query_{name}");
        let _ = writeln!(page, "# HELP {name} {}", help(&aggregate.label));
        let _ = writeln!(page, "# TYPE {name} {}", kind(aggregate.function));
        for row in report.rows.iter().take(most) {
            let values = row.keys.iter().map(ToString::to_string);
            let labels = keys.iter().zip(values);
            let labels: Vec<String> = labels.map(|(key, value)| label(key, &value)).collect();
            if let Some(cell) = row.cells.get(index) {
                samples(&mut page, &name, &labels, cell);
            }
        }
    }
    let left = report.rows.len().saturating_sub(most);
    let name = "onpath_query_groups_left_out";
    let _ = writeln!(
        page,
        "# HELP {name} Groups that are not on this page, which has the {most} with the largest first figure."
    );
    let _ = writeln!(page, "# TYPE {name} gauge\n{name} {left}");
    counts(&mut page, &report.counts, dropped);
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

fn counts(page: &mut String, counts: &Counts, dropped: u64) {
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
        ("cut", "Long values that were cut.", counts.cut),
        (
            "unread",
            "Packets with messages that were not read: too long, or behind too many others.",
            counts.unread,
        ),
        (
            "unmatched",
            "Responses without a request that is known.",
            counts.unmatched,
        ),
        (
            "gaps",
            "Segments in front of which something is missing.",
            counts.streams.gaps,
        ),
        (
            "sent_again",
            "Segments whose bytes came before.",
            counts.streams.sent_again,
        ),
        (
            "unfollowed",
            "Messages with an end that is not known: a head that is cut or long, or a body of no known length.",
            counts.streams.unfollowed,
        ),
        (
            "dropped",
            "Packets that the kernel had no room to copy.",
            dropped,
        ),
    ];
    for (name, help, number) in all {
        let _ = writeln!(page, "# HELP onpath_query_{name}_total {help}");
        let _ = writeln!(page, "# TYPE onpath_query_{name}_total counter");
        let _ = writeln!(page, "onpath_query_{name}_total {number}");
    }
    let gauges = [
        (
            "unanswered",
            "Requests that have no response so far.",
            counts.unanswered,
        ),
        (
            "unfinished",
            "Messages whose rest has not come so far.",
            counts.streams.unfinished,
        ),
    ];
    for (name, help, number) in gauges {
        let name = format!("onpath_query_{name}");
        let _ = writeln!(
            page,
            "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {number}"
        );
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

/// Texts as names of letters, digits and single underscores. Those that would be alike have a number behind them: no page may have the same
/// name twice.
fn words<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for text in texts {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let plain = words.join("_");
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        let mut wishes = std::iter::once(plain.clone()).chain(numbered);
        let free = wishes.find(|wish| !names.contains(wish));
        names.push(free.unwrap_or(plain));
    }
    names
}

fn help(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

fn label(name: &str, value: &str) -> String {
    let value = diag::shown_lines(value)
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("{name}=\"{value}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped() {
        let label = label("name", "a\"b\\c\nd\x1b[2J");
        assert_eq!(label, "name=\"a\\\"b\\\\c\\nd\\\\u001b[2J\"");
    }
}

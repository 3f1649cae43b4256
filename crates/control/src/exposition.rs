//! Writer of a page of metrics in Prometheus' text format, version 0.0.4. It guarantees the endings of names, units,
//! escapes and the order of lines. The caller must keep families, label names and label sets distinct.
//!
//! Every family of metrics is described once, followed by all its samples. The name of a counter ends in `_total`, that
//! of times in `_seconds`. Times are nanoseconds everywhere else, and are shown in seconds.

use std::borrow::Borrow;
use std::fmt::Display;

/// A page that is being written.
pub struct Page {
    prefix: &'static str,
    text: String,
}

/// Description of metrics that differ in their labels only.
#[derive(Clone, Copy, Debug)]
pub struct Family<'a> {
    /// Name, distinct on a page, without the page's prefix, a unit or `_total`.
    pub name: &'a str,
    /// Unit of the values.
    pub unit: Unit,
    /// Help text: a sentence for people.
    pub help: &'a str,
}

impl<'a> Family<'a> {
    /// Describes metrics that are not times.
    pub fn plain(name: &'a str, help: &'a str) -> Family<'a> {
        let unit = Unit::Plain;
        Family { name, unit, help }
    }
}

/// Unit of numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Unit {
    /// Plain numbers.
    Plain,
    /// Times, in nanoseconds.
    Time,
}

/// Kind of a single number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FamilyKind {
    /// Counter, which only grows.
    Counter,
    /// Gauge, which grows and falls.
    Gauge,
}

/// A value of a metric.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// A whole number.
    Whole(u64),
    /// A number with a fraction.
    Real(f64),
}

/// A distribution by some of its quantiles.
#[derive(Clone, PartialEq, Debug)]
pub struct Summary {
    /// Quantiles, each a share from 0 to 1 and the value that this share of values does not exceed.
    pub quantiles: Vec<(f64, Value)>,
    /// Sum of all values.
    pub sum: Value,
    /// Number of values.
    pub count: u64,
}

/// A distribution by buckets.
#[derive(Clone, PartialEq, Debug)]
pub struct Histogram {
    /// Upper bounds, ascending, each with the number of values that do not exceed it.
    pub buckets: Vec<(Value, u64)>,
    /// Sum of all values.
    pub sum: Value,
    /// Number of values, including those beyond the last bound.
    pub count: u64,
}

/// Label names with their values, escaped.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Labels(String);

impl Labels {
    /// Returns these labels and one more. Its name consists of ASCII letters, digits and underscores; its value is any
    /// text.
    pub fn and(&self, name: &str, value: impl Display) -> Labels {
        let comma = if self.0.is_empty() { "" } else { "," };
        let value = escaped(&diag::shown_lines(&value.to_string())).replace('"', "\\\"");
        Labels(format!("{}{comma}{name}=\"{value}\"", self.0))
    }
}

impl Page {
    /// Begins a page, on which all names begin with the prefix.
    pub fn new(prefix: &'static str) -> Page {
        let text = String::new();
        Page { prefix, text }
    }

    /// Writes a family of counters or gauges.
    pub fn numbers(
        &mut self,
        kind: FamilyKind,
        family: Family,
        samples: impl IntoIterator<Item = (impl Borrow<Labels>, Value)>,
    ) {
        let (kind, ending) = match kind {
            FamilyKind::Counter => ("counter", "_total"),
            FamilyKind::Gauge => ("gauge", ""),
        };
        let name = self.describe(kind, family, ending);
        for (labels, value) in samples {
            self.sample(&name, labels.borrow(), shown(value, family.unit));
        }
    }

    /// Writes a family of summaries.
    pub fn summaries(
        &mut self,
        family: Family,
        samples: impl IntoIterator<Item = (Labels, Summary)>,
    ) {
        let name = self.describe("summary", family, "");
        for (
            labels,
            Summary {
                quantiles,
                sum,
                count,
            },
        ) in samples
        {
            for (quantile, value) in quantiles {
                let labels = labels.and("quantile", quantile);
                self.sample(&name, &labels, shown(value, family.unit));
            }
            self.sum_and_count(&name, &labels, shown(sum, family.unit), count);
        }
    }

    /// Writes a family of histograms.
    pub fn histograms(
        &mut self,
        family: Family,
        samples: impl IntoIterator<Item = (Labels, Histogram)>,
    ) {
        let name = self.describe("histogram", family, "");
        let bucket = format!("{name}_bucket");
        for (
            labels,
            Histogram {
                buckets,
                sum,
                count,
            },
        ) in samples
        {
            for (bound, count) in buckets {
                let labels = labels.and("le", shown(bound, family.unit));
                self.sample(&bucket, &labels, count);
            }
            self.sample(&bucket, &labels.and("le", "+Inf"), count);
            self.sum_and_count(&name, &labels, shown(sum, family.unit), count);
        }
    }

    /// Returns the page's text.
    pub fn text(self) -> String {
        self.text
    }

    /// Writes the header lines of a family, and returns its full name.
    fn describe(&mut self, kind: &str, family: Family, ending: &str) -> String {
        let unit = match family.unit {
            Unit::Plain => "",
            Unit::Time => "_seconds",
        };
        let name = format!("{}_{}{unit}{ending}", self.prefix, family.name);
        let help = escaped(family.help);
        self.text += &format!("# HELP {name} {help}\n# TYPE {name} {kind}\n");
        name
    }

    fn sum_and_count(&mut self, name: &str, labels: &Labels, sum: String, count: u64) {
        self.sample(&format!("{name}_sum"), labels, sum);
        self.sample(&format!("{name}_count"), labels, count);
    }

    fn sample(&mut self, name: &str, Labels(labels): &Labels, value: impl Display) {
        self.text += &match labels.is_empty() {
            true => format!("{name} {value}\n"),
            false => format!("{name}{{{labels}}} {value}\n"),
        };
    }
}

fn shown(value: Value, unit: Unit) -> String {
    match (value, unit) {
        (Value::Whole(number), Unit::Plain) => number.to_string(),
        (Value::Real(number), Unit::Plain) => number.to_string(),
        (Value::Whole(ns), Unit::Time) => seconds(ns),
        (Value::Real(ns), Unit::Time) => (ns / 1e9).to_string(),
    }
}

/// Formats nanoseconds as seconds, exactly and without an exponent.
fn seconds(ns: u64) -> String {
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(unit: Unit) -> Family<'static> {
        Family {
            name: "x",
            unit,
            help: "Back\\slash,\nline.",
        }
    }

    #[test]
    fn numbers_have_the_endings_of_their_kind_and_unit() {
        let mut page = Page::new("t");
        let labels = Labels::default();
        page.numbers(
            FamilyKind::Counter,
            family(Unit::Plain),
            [
                (labels.clone(), Value::Whole(u64::MAX)),
                (labels.and("a", "b").and("c", 1), Value::Real(0.5)),
            ],
        );
        let time = [(labels, Value::Real(1.5e9))];
        page.numbers(FamilyKind::Gauge, family(Unit::Time), time);
        assert_eq!(
            page.text(),
            "# HELP t_x_total Back\\\\slash,\\nline.\n\
             # TYPE t_x_total counter\n\
             t_x_total 18446744073709551615\n\
             t_x_total{a=\"b\",c=\"1\"} 0.5\n\
             # HELP t_x_seconds Back\\\\slash,\\nline.\n\
             # TYPE t_x_seconds gauge\n\
             t_x_seconds 1.5\n"
        );
    }

    #[test]
    fn distributions_have_a_sum_and_a_count() {
        let mut page = Page::new("t");
        let labels = Labels::default().and("a", "b");
        let summary = Summary {
            quantiles: vec![(0.5, Value::Whole(7))],
            sum: Value::Whole(21),
            count: 3,
        };
        let samples = [(labels.clone(), summary)];
        page.summaries(family(Unit::Plain), samples);
        let histogram = Histogram {
            buckets: vec![(Value::Whole(1_023), 2)],
            sum: Value::Whole(3_000_000_001),
            count: 3,
        };
        page.histograms(family(Unit::Time), [(labels, histogram)]);
        let text = page.text();
        let samples: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with("# HELP"))
            .collect();
        assert_eq!(
            samples,
            [
                "# TYPE t_x summary",
                "t_x{a=\"b\",quantile=\"0.5\"} 7",
                "t_x_sum{a=\"b\"} 21",
                "t_x_count{a=\"b\"} 3",
                "# TYPE t_x_seconds histogram",
                "t_x_seconds_bucket{a=\"b\",le=\"0.000001023\"} 2",
                "t_x_seconds_bucket{a=\"b\",le=\"+Inf\"} 3",
                "t_x_seconds_sum{a=\"b\"} 3.000000001",
                "t_x_seconds_count{a=\"b\"} 3",
            ]
        );
    }

    #[test]
    fn labels_are_escaped() {
        let labels = Labels::default().and("name", "a\"b\\c\nd\x1b[2J");
        assert_eq!(labels.0, "name=\"a\\\"b\\\\c\\nd\\\\u001b[2J\"");
    }

    #[test]
    fn seconds_are_exact() {
        let shown = [0, 1, 1_024, 500_000_000, 30_000_000_000, u64::MAX].map(seconds);
        assert_eq!(
            shown,
            [
                "0",
                "0.000000001",
                "0.000001024",
                "0.5",
                "30",
                "18446744073.709551615"
            ]
        );
    }
}

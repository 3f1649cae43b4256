//! Plots of the first aggregate of each group as SVG: its trend over time, or its distribution.

use super::axes::{powers, room_of_names, whole};
use super::scaled;
use super::trend::Totals;
use crate::aggregate::Cell;
use crate::query::{Function, Query};
use crate::report::{Report, Row, Unit};
use crate::value::Value;
use ::plot::{Axis, LINES, Legend, Panel, PlotError, Series};
use sketch::Histogram;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Greatest number of reports that are kept; at that number, every other one is dropped.
const MOST: usize = 512;
/// Number of groups that are kept.
const GROUPS: usize = 64;
/// Number of distributions that are shown.
const DISTRIBUTIONS: usize = 4;
/// Greatest number of characters in the title and in a name.
const TITLE: usize = 90;
const NAME: usize = 36;

/// Values of reports, for drawing.
#[derive(Clone, Debug)]
pub struct History {
    title: String,
    quantity: Quantity,
    unit: Unit,
    /// Name of the aggregate.
    label: String,
    groups: HashMap<Vec<Value<'static>>, Group>,
    totals: Totals,
    /// Times of the reports.
    times: Vec<f64>,
    /// Groups to show, and number of the others.
    shown: Vec<Vec<Value<'static>>>,
    left: usize,
    distributions: Vec<(String, Histogram)>,
}

/// Keys of a group, followed by a value of `top`.
type Keys<'r> = Cow<'r, [Value<'static>]>;

/// Group in the plot.
#[derive(Clone, Debug, Default)]
struct Group {
    name: String,
    /// Points: number of the report, and value.
    points: Vec<(usize, f64)>,
}

/// Quantity that is drawn of the first aggregate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Quantity {
    /// The growth of a total, per second.
    Growth,
    /// The growth of the total of each of several values.
    Growths,
    /// The value itself.
    Level,
    /// The distribution so far.
    Distribution,
}

impl History {
    /// Returns an empty history of a query with this text.
    pub fn new(query: &Query, text: &str) -> History {
        let first = query.aggregates.first();
        let function = first.map_or(Function::Count, |a| a.function);
        History {
            title: shortened(text, TITLE),
            quantity: match function {
                Function::Top(..) => Quantity::Growths,
                Function::Histogram(_) => Quantity::Distribution,
                function if function.is_total() => Quantity::Growth,
                _ => Quantity::Level,
            },
            unit: Unit::Plain,
            label: first.map_or(String::new(), |a| a.label.clone()),
            groups: HashMap::new(),
            totals: Totals::default(),
            times: Vec::new(),
            shown: Vec::new(),
            left: 0,
            distributions: Vec::new(),
        }
    }

    /// Returns true if the plot has a time axis.
    pub fn is_over_time(&self) -> bool {
        self.quantity != Quantity::Distribution
    }

    /// Adds a report, `elapsed` seconds after the beginning.
    pub fn take(&mut self, report: &Report, elapsed: f64) {
        self.unit = report.units.first().copied().unwrap_or(Unit::Plain);
        if self.quantity == Quantity::Distribution {
            return self.distributions(report);
        }
        let passed = elapsed - self.times.last().copied().unwrap_or(0.0);
        if passed <= 0.0 {
            return;
        }
        let number = self.times.len();
        self.times.push(elapsed);
        let values = self.values(&report.rows);
        let shown = self.values(report.shown()).len();
        self.left = shown.saturating_sub(LINES);
        let keys = |(keys, _): &(Keys, f64)| keys.to_vec();
        self.shown = values.iter().take(shown.min(LINES)).map(keys).collect();
        let leading = &values[..values.len().min(GROUPS)];
        self.make_room(leading);
        for (at, (keys, now)) in values.iter().enumerate() {
            let total = match self.quantity {
                Quantity::Growth | Quantity::Growths => self.totals.replace(keys, *now),
                _ => None,
            };
            let value = match self.quantity {
                Quantity::Growth | Quantity::Growths => {
                    (now - total.unwrap_or(0.0)).max(0.0) / passed
                }
                _ => *now,
            };
            if at < GROUPS && !self.groups.contains_key(&**keys) {
                let mut group = Group {
                    name: self.name(keys),
                    points: Vec::new(),
                };
                if number > 0 && self.quantity != Quantity::Level && total.is_none() {
                    // The group was empty at the last report.
                    group.points.push((number - 1, 0.0));
                }
                self.groups.insert(keys.to_vec(), group);
            }
            if let Some(group) = self.groups.get_mut(&**keys) {
                group.points.push((number, value));
            }
        }
        if self.times.len() == MOST {
            self.halve();
        }
    }

    /// Forgets groups that are not among the leading ones if these do not fit.
    fn make_room(&mut self, leading: &[(Keys, f64)]) {
        let new = leading
            .iter()
            .filter(|(keys, _)| !self.groups.contains_key(&**keys));
        if self.groups.len() + new.count() > GROUPS {
            let leading: HashSet<&[Value]> = leading.iter().map(|(keys, _)| &**keys).collect();
            self.groups
                .retain(|keys, _| leading.contains(keys.as_slice()));
        }
    }

    fn name(&self, keys: &[Value]) -> String {
        match keys {
            [] => self.label.clone(),
            keys => name(keys),
        }
    }

    /// Returns keys and values: of the groups, or of the groups' values of `top`.
    fn values<'r>(&self, rows: &'r [Row]) -> Vec<(Keys<'r>, f64)> {
        let mut values = Vec::new();
        for row in rows {
            let keys = Cow::Borrowed(row.keys.as_slice());
            match row.cells.first() {
                Some(Cell::Number(number)) => values.push((keys, *number as f64)),
                Some(Cell::Real(number) | Cell::Estimate(number, _)) => {
                    values.push((keys, *number));
                }
                Some(Cell::Top { items, .. }) => {
                    for (item, count, _) in items {
                        let keys: Vec<Value> = row.keys.iter().chain([item]).cloned().collect();
                        values.push((Cow::Owned(keys), *count as f64));
                    }
                }
                _ => {}
            }
        }
        values
    }

    /// Drops every other report. Each value becomes the mean of two.
    fn halve(&mut self) {
        self.times = self.times.iter().skip(1).step_by(2).copied().collect();
        for group in self.groups.values_mut() {
            let mut halved: Vec<(usize, f64)> = Vec::new();
            for &(number, value) in &group.points {
                match halved.last_mut() {
                    Some((last, known)) if *last == number / 2 => *known = (*known + value) / 2.0,
                    _ => halved.push((number / 2, value)),
                }
            }
            group.points = halved;
        }
    }

    fn distributions(&mut self, report: &Report) {
        let found = report
            .shown()
            .iter()
            .filter_map(|row| match row.cells.first() {
                Some(Cell::Histogram(histogram, _)) if histogram.total() > 0 => {
                    Some((name(&row.keys), histogram.clone()))
                }
                _ => None,
            });
        let found: Vec<(String, Histogram)> = found.collect();
        self.left = found.len().saturating_sub(DISTRIBUTIONS);
        self.distributions = found.into_iter().take(DISTRIBUTIONS).collect();
    }

    /// Draws the plot.
    ///
    /// # Errors
    /// The plot cannot be drawn.
    pub fn svg(&self) -> Result<String, PlotError> {
        match self.quantity {
            Quantity::Distribution if !self.distributions.is_empty() => self.bars(),
            _ => self.lines(),
        }
    }

    fn title(&self) -> String {
        match self.left {
            0 => self.title.clone(),
            left => format!(
                "{} (and {})",
                self.title,
                diag::counted(left, "other group")
            ),
        }
    }

    fn lines(&self) -> Result<String, PlotError> {
        let shown = self.shown.iter().filter_map(|keys| self.groups.get(keys));
        let lines: Vec<Series> = shown
            .map(|group| {
                let points = group.points.iter();
                let at = |&(number, value): &(usize, f64)| {
                    Some((self.times.get(number).copied()?, value))
                };
                Series::Line {
                    name: group.name.clone(),
                    points: points.filter_map(at).collect(),
                }
            })
            .collect();
        let most = lines.iter().flat_map(|line| match line {
            Series::Line { points, .. } => points.as_slice(),
            Series::Bars(_) => &[],
        });
        let most = most.fold(0.0f64, |most, point| most.max(point.1));
        let end = self.times.last().copied().unwrap_or(1.0).max(1e-3);
        let up = match self.quantity {
            Quantity::Growth | Quantity::Growths => format!("{}, new a second", self.label),
            _ => self.label.clone(),
        };
        let panel = Panel {
            title: &self.title(),
            across: Axis {
                name: "seconds",
                range: (0.0, end),
                label: &|x| trimmed(x, 3),
                places: None,
            },
            up: Axis {
                name: &up,
                range: (
                    0.0,
                    if most > 0.0 {
                        most / (1.0 - room_of_names(lines.len()))
                    } else {
                        1.0
                    },
                ),
                label: &|y| number(y, self.unit),
                places: None,
            },
            shapes: &lines,
            legend: Legend::UpperLeft,
            marks: self.times.len() <= 60,
        };
        ::plot::svg(&[panel], 1, (820, 380))
    }

    fn bars(&self) -> Result<String, PlotError> {
        let buckets = self.distributions.iter().map(|(_, histogram)| {
            let buckets = histogram.buckets();
            let bars = buckets.map(|(least, greatest, count)| {
                // The scale is logarithmic; 0 is left of 1.
                let left = (least as f64).max(0.5).log10();
                let right = (greatest as f64 + 1.0).log10();
                (left, right, count as f64)
            });
            vec![Series::Bars(bars.collect())]
        });
        let shapes: Vec<Vec<Series>> = buckets.collect();
        let bars = || {
            shapes.iter().flatten().flat_map(|shape| match shape {
                Series::Bars(bars) => bars.as_slice(),
                Series::Line { .. } => &[],
            })
        };
        // All share the same scale.
        let least = bars().fold(f64::INFINITY, |least, bar| least.min(bar.0));
        let greatest = bars().fold(f64::NEG_INFINITY, |most, bar| most.max(bar.1));
        let unit = |x: f64| match self.unit {
            Unit::Plain => si(10f64.powf(x)),
            Unit::Time => scaled(10f64.powf(x).round() as u64, Unit::Time),
        };
        let name = match self.unit {
            Unit::Plain => "value",
            Unit::Time => "time",
        };
        let titles: Vec<String> = self
            .distributions
            .iter()
            .enumerate()
            .map(|(at, (keys, histogram))| {
                let total = diag::counted(histogram.total(), "record");
                match (keys.is_empty(), at) {
                    (true, _) => format!("{}: {total}", self.title()),
                    (_, 0) => format!("{keys}: {total}, {}", self.title()),
                    (_, _) => format!("{keys}: {total}"),
                }
            })
            .collect();
        let panels = shapes.iter().zip(&titles).map(|(shapes, title)| {
            let most = shapes.iter().flat_map(|shape| match shape {
                Series::Bars(bars) => bars.as_slice(),
                Series::Line { .. } => &[],
            });
            let most = most.fold(1.0f64, |most, bar| most.max(bar.2));
            Panel {
                title,
                across: Axis {
                    name,
                    range: (least, greatest),
                    label: &unit,
                    places: Some(powers(least, greatest)),
                },
                up: Axis {
                    name: "records",
                    range: (0.0, most * 1.1),
                    label: &si,
                    places: Some(whole(most * 1.1)),
                },
                shapes,
                legend: Legend::UpperLeft,
                marks: false,
            }
        });
        let panels: Vec<Panel> = panels.collect();
        ::plot::svg(&panels, 1, (820, if panels.len() == 1 { 380 } else { 240 }))
    }
}

/// Returns a group's name.
fn name(keys: &[Value]) -> String {
    let keys: Vec<String> = keys.iter().map(Value::to_string).collect();
    shortened(&keys.join(", "), NAME)
}

/// Puts a text on one line, with at most this many characters.
fn shortened(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = diag::shown(&words.join(" ")).into_owned();
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text,
    }
}

fn number(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Plain => si(value),
        Unit::Time => scaled(value.round() as u64, Unit::Time),
    }
}

/// Formats a number with an SI prefix.
fn si(value: f64) -> String {
    // Least number for the prefix, the unit, and the prefix.
    const PREFIXES: [(f64, f64, &str); 4] = [
        (1e12, 1e12, " T"),
        (1e9, 1e9, " G"),
        (1e6, 1e6, " M"),
        (1e4, 1e3, " k"),
    ];
    match PREFIXES.into_iter().find(|(from, ..)| value >= *from) {
        Some((_, unit, prefix)) => format!("{}{prefix}", trimmed(value / unit, 1)),
        None => trimmed(value, 2),
    }
}

/// Formats a number with at most this many digits after the point.
fn trimmed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Counts;
    use crate::{Catalogue, Schemas};

    /// Builds the history of reports one second apart, with groups of numbers in the order of their totals.
    fn history(text: &str, reports: &[Vec<(u64, u64)>]) -> History {
        let (schemas, mut map) = (Schemas::builtin(), diag::SourceMap::new());
        let query = crate::compile(text, &Catalogue::new(&schemas), &mut map).expect("a query");
        let mut history = History::new(&query, text);
        for (second, values) in (1u32..).zip(reports) {
            let row = |&(key, value): &(u64, u64)| Row {
                keys: vec![Value::Number(key)],
                cells: vec![Cell::Number(value)],
            };
            let rows = values.iter().map(row).collect();
            let report = Report::new(&query, rows, Counts::default(), 1.0);
            history.take(&report, second.into());
        }
        history
    }

    fn points(history: &History, key: u64) -> Vec<(usize, f64)> {
        let group = history.groups.get(&[Value::Number(key)][..]);
        group.expect("known").points.clone()
    }

    #[test]
    fn a_new_leader_is_drawn_with_its_growth_alone() {
        let reports = [vec![(1, 10), (2, 9)], vec![(1, 12), (2, 30)]];
        let history = history("count by ip.src top 1", &reports);
        assert_eq!(history.shown, [[Value::Number(2)]]);
        assert_eq!(points(&history, 2), [(0, 9.0), (1, 21.0)]);
        assert_eq!(history.left, 0);
    }

    #[test]
    fn a_new_leader_from_far_behind_has_room() {
        let groups = |many: u64| (0..many).map(|key| (key, 1000 - key)).collect::<Vec<_>>();
        let first = groups(100);
        let mut second = first.clone();
        second[99] = (99, 5000);
        second.push((100, 50));
        let history = history("count by ip.src top 3", &[first, second]);
        assert_eq!(history.shown[0], [Value::Number(99)]);
        assert_eq!(points(&history, 99), [(1, 4099.0)]);
        assert_eq!(points(&history, 0), [(0, 1000.0), (1, 0.0)]);
        assert!(history.groups.len() <= GROUPS);
    }
}

//! Metrics in Prometheus' text format.
//!
//! The function of an aggregate names the metric; its attribute is a label. So no metric's name depends on the query,
//! and every page conforms to Prometheus' naming rules.

use super::QUANTILES;
use crate::aggregate::Cell;
use crate::query::{Function, Query};
use crate::report::{Report, Row};
use crate::value::Value as GroupKey;
use control::exposition::{Family, FamilyKind, Labels, Page, Summary, Unit, Value};
use std::collections::HashSet;

/// Labels that are not keys.
const OWN_LABELS: [&str; 4] = ["of", "k", "item", "quantile"];

/// Index of an aggregate in a row, with its function and the unit of its numbers.
type Column = (usize, Function, Unit);

/// Groups of a page. Those of the last page are on the next one too, as far as they fit: Prometheus cannot use a
/// counter that comes and goes.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    last: HashSet<Vec<GroupKey<'static>>>,
}

impl Groups {
    /// Selects the groups that the query shows, and those of the last page; at most `most`.
    fn take<'r>(&mut self, report: &'r Report, most: usize) -> Vec<&'r Row> {
        let leading = report.shown().len().min(most);
        let (leaders, others) = report.rows.split_at(leading);
        let kept = others.iter().filter(|row| self.last.contains(&row.keys));
        let rows: Vec<&Row> = leaders.iter().chain(kept).take(most).collect();
        self.last = rows.iter().map(|row| row.keys.clone()).collect();
        rows
    }
}

/// Returns a page: the metrics of at most `most` groups, with the keys as labels, and the numbers of packets and
/// records that were not counted. `dropped` is the number of packets that were never seen.
pub fn page(
    query: &Query,
    report: &Report,
    dropped: u64,
    (groups, most): (&mut Groups, usize),
) -> String {
    let mut page = Page::new("onpath_query");
    let keys = label_names(&report.keys);
    let rows = groups.take(report, most);
    let left = report.rows.len() - rows.len();
    let groups = rows.into_iter().map(|row| {
        let labels = keys.iter().zip(&row.keys);
        let labels = labels.fold(Labels::default(), |all, (key, value)| all.and(key, value));
        (labels, row)
    });
    let groups: Vec<(Labels, &Row)> = groups.collect();
    let columns = query.aggregates.iter().zip(&report.units).enumerate();
    let mut columns: Vec<Column> = columns
        .map(|(index, (aggregate, &unit))| (index, aggregate.function, unit))
        .collect();
    let family = |&(_, function, unit): &Column| (metric(function).0, unit);
    columns.sort_by_key(family);
    for columns in columns.chunk_by(|a, b| family(a) == family(b)) {
        add_family(&mut page, query, columns, &groups);
    }
    let mut alone = |kind, name, help: &str, number| {
        let samples = [(Labels::default(), Value::Whole(number))];
        page.numbers(kind, Family::plain(name, help), samples);
    };
    let help = format!(
        "Groups that are not on this page, which has those that the query shows and those that it had before, {most} at most."
    );
    alone(FamilyKind::Gauge, "groups_left_out", &help, left as u64);
    for (name, help, number) in report.counts.totals() {
        alone(FamilyKind::Counter, name, help, number);
    }
    let help = "Packets that the kernel had no room to copy.";
    alone(FamilyKind::Counter, "dropped", help, dropped);
    for (name, help, number) in report.counts.waiting() {
        alone(FamilyKind::Gauge, name, help, number);
    }
    page.text()
}

/// Writes the values of aggregates with a common metric.
fn add_family(page: &mut Page, query: &Query, columns: &[Column], groups: &[(Labels, &Row)]) {
    let Some(&(_, function, unit)) = columns.first() else {
        return;
    };
    let (name, kind, help) = metric(function);
    let family = Family { name, unit, help };
    let cells = columns.iter().flat_map(|&(index, function, _)| {
        let cells = groups
            .iter()
            .filter_map(move |(group, row)| Some((group, row.cells.get(index)?)));
        cells.map(move |(group, cell)| (labels(group, function, query), cell))
    });
    match kind {
        Some(kind) => page.numbers(kind, family, cells.flat_map(numbers)),
        None => page.summaries(family, cells.filter_map(summary)),
    }
}

/// Returns the name, the kind and the help of an aggregate's metric. `None` as a kind is a summary.
fn metric(function: Function) -> (&'static str, Option<FamilyKind>, &'static str) {
    use FamilyKind::{Counter, Gauge};
    match function {
        Function::Count => ("count", Some(Counter), "Records."),
        Function::Bytes => ("bytes", Some(Counter), "Bytes of the records' packets."),
        Function::Sum(_) => ("sum", Some(Counter), "Sum of an attribute."),
        Function::Min(_) => ("min", Some(Gauge), "Least value of an attribute."),
        Function::Max(_) => ("max", Some(Gauge), "Greatest value of an attribute."),
        Function::Mean(_) => ("mean", Some(Gauge), "Mean of an attribute."),
        Function::Distinct(_) => (
            "distinct",
            Some(Gauge),
            "Estimated number of different values of an attribute.",
        ),
        Function::Top(..) => (
            "top",
            Some(Gauge),
            "How often the k most frequent values of an attribute came, at most.",
        ),
        Function::Rate(_) => (
            "rate",
            Some(Gauge),
            "Records a second since the report before, or an attribute's sum a second.",
        ),
        Function::Histogram(_) => (
            "distribution",
            None,
            "Distribution of an attribute; its quantiles and sum are estimates.",
        ),
    }
}

/// Returns the labels of a group and of an aggregate.
fn labels(group: &Labels, function: Function, query: &Query) -> Labels {
    let Some(attribute) = function.attribute() else {
        return group.clone();
    };
    let labels = group.and("of", &query.attributes[attribute].name);
    match function {
        Function::Top(k, _) => labels.and("k", k),
        _ => labels,
    }
}

fn numbers((labels, cell): (Labels, &Cell)) -> Vec<(Labels, Value)> {
    match cell {
        Cell::Nothing | Cell::Histogram(..) => Vec::new(),
        Cell::Number(number) => vec![(labels, Value::Whole(*number))],
        Cell::Real(number) | Cell::Estimate(number, _) => vec![(labels, Value::Real(*number))],
        Cell::Top { items, .. } => {
            let items = items.iter();
            items
                .map(|(item, count, _)| (labels.and("item", item), Value::Whole(*count)))
                .collect()
        }
    }
}

fn summary((labels, cell): (Labels, &Cell)) -> Option<(Labels, Summary)> {
    let Cell::Histogram(histogram, _) = cell else {
        return None;
    };
    let quantiles = QUANTILES.into_iter();
    let quantiles = quantiles.filter_map(|(_, q)| Some((q, Value::Whole(histogram.quantile(q)?))));
    let summary = Summary {
        quantiles: quantiles.collect(),
        sum: Value::Real(histogram.sum()),
        count: histogram.total(),
    };
    Some((labels, summary))
}

/// Converts texts to names of lower-case letters, digits and single underscores. Duplicates get a number: Prometheus
/// refuses a page with a duplicate label.
fn label_names(texts: &[String]) -> Vec<String> {
    let mut names = OWN_LABELS.map(String::from).to_vec();
    for text in texts {
        let mut spaced = String::new();
        for c in text.chars() {
            if c.is_ascii_uppercase() && spaced.ends_with(|c: char| c.is_ascii_lowercase()) {
                spaced.push('_');
            }
            spaced.push(if c.is_ascii_alphanumeric() { c } else { '_' });
        }
        spaced.make_ascii_lowercase();
        let words: Vec<&str> = spaced.split('_').filter(|word| !word.is_empty()).collect();
        let plain = words.join("_");
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        let mut wishes = std::iter::once(plain.clone()).chain(numbered);
        let free = wishes.find(|wish| !names.contains(wish));
        names.push(free.unwrap_or(plain));
    }
    names.split_off(OWN_LABELS.len())
}

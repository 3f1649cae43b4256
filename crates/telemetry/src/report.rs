//! Results of a query so far, as data.

use crate::aggregate::Cell;
use crate::catalogue::Type;
use crate::query::{Aggregate, By, Order, Query};
use crate::streams::Followed;
use crate::value::Value;
pub use control::exposition::Unit;
use std::cmp::Ordering;

/// Metrics of all groups.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Names of the keys.
    pub keys: Vec<String>,
    /// Names of the aggregates.
    pub aggregates: Vec<String>,
    /// Units of the aggregates' values.
    pub units: Vec<Unit>,
    /// True for each aggregate that is a total: then the difference from the last report is meaningful.
    pub totals: Vec<bool>,
    /// All groups in the query's order. Equal ones are ordered by their keys.
    pub rows: Vec<Row>,
    /// Greatest number of groups that the query shows.
    pub most: usize,
    /// Numbers of packets and records, by outcome.
    pub counts: Counts,
    /// Time that rates cover, in seconds.
    pub seconds: f64,
    /// Longest text that is kept, in bytes.
    pub text: usize,
}

impl Report {
    /// Builds a report of rows in any order.
    pub(crate) fn new(query: &Query, mut rows: Vec<Row>, counts: Counts, seconds: f64) -> Report {
        rows.sort_by(|a, b| compare(query.order, a, b).then_with(|| a.keys.cmp(&b.keys)));
        let name = |&key: &usize| query.attributes[key].name.clone();
        Report {
            keys: query.keys.iter().map(name).collect(),
            aggregates: query.aggregates.iter().map(|a| a.label.clone()).collect(),
            units: query.aggregates.iter().map(|a| unit(a, query)).collect(),
            totals: query
                .aggregates
                .iter()
                .map(|a| a.function.is_total())
                .collect(),
            rows,
            most: query.most.unwrap_or(usize::MAX),
            counts,
            seconds,
            text: crate::MAX_TEXT,
        }
    }

    /// Returns the groups that the query shows. The others serve comparisons with the next report.
    pub fn shown(&self) -> &[Row] {
        &self.rows[..self.most.min(self.rows.len())]
    }
}

/// Compares two groups in an order.
fn compare(order: Order, a: &Row, b: &Row) -> Ordering {
    let directed = |ordering: Ordering| match order.descending {
        true => ordering.reverse(),
        false => ordering,
    };
    match order.by {
        By::Key(key) => directed(a.keys.get(key).cmp(&b.keys.get(key))),
        By::Aggregate(index) => {
            let (a, b) = (a.cells.get(index), b.cells.get(index));
            let is_none = |cell: Option<&Cell>| matches!(cell, None | Some(Cell::Nothing));
            let size = |cell: Option<&Cell>| cell.map_or(0.0, magnitude);
            let by_size = directed(size(a).total_cmp(&size(b)));
            is_none(a).cmp(&is_none(b)).then(by_size)
        }
    }
}

fn unit(aggregate: &Aggregate, query: &Query) -> Unit {
    let attribute = aggregate.function.attribute();
    match attribute.map(|x| query.attributes[x].ty) {
        Some(Type::Time) => Unit::Time,
        _ => Unit::Plain,
    }
}

/// Group in a report.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Values of the keys.
    pub keys: Vec<Value<'static>>,
    /// Values of the aggregates.
    pub cells: Vec<Cell>,
}

/// Numbers of packets and records, by outcome.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Packets that were read.
    pub packets: u64,
    /// Of these, packets without a time in the capture. They do not count in rates and response times.
    pub untimed: u64,
    /// Records: messages of the query's kind, or packets if it reads no messages.
    pub records: u64,
    /// Records for which the condition holds.
    pub matched: u64,
    /// Of these, records that lack a key, and are in no group.
    pub without_key: u64,
    /// Of these, records whose group did not fit into the table.
    pub not_grouped: u64,
    /// Packets with a malformed message.
    pub malformed: u64,
    /// Keys and values of `top` that were longer than the limit, and cut; on the path also values of `distinct`.
    pub cut: u64,
    /// Packets whose messages a program on the path did not read completely: a message is too long, or there are too
    /// many.
    pub unread: u64,
    /// Requests without a response so far, or without one that was read. Only in a query about response times.
    pub unanswered: u64,
    /// Responses without a known request. Only in a query about response times.
    pub unmatched: u64,
    /// Outcome of following streams, for messages that continue in later segments.
    pub streams: Followed,
}

impl Counts {
    /// Returns the counters that only grow: name, description and number.
    pub(crate) fn totals(&self) -> [(&'static str, &'static str, u64); 13] {
        [
            ("packets", "Packets that were read.", self.packets),
            ("untimed", "Of these, those without a time.", self.untimed),
            (
                "records",
                "Packets, or messages of the query's kind.",
                self.records,
            ),
            (
                "matched",
                "Records for which the condition holds.",
                self.matched,
            ),
            (
                "without_key",
                "Of these, those that lack a key.",
                self.without_key,
            ),
            (
                "not_grouped",
                "Of these, those for whose group there was no room.",
                self.not_grouped,
            ),
            (
                "malformed",
                "Packets with a malformed message.",
                self.malformed,
            ),
            ("cut", "Long values that were cut.", self.cut),
            (
                "unread",
                "Packets with messages that were not read: too long, or behind too many others.",
                self.unread,
            ),
            (
                "unmatched",
                "Responses without a request that is known.",
                self.unmatched,
            ),
            (
                "gaps",
                "Segments in front of which something is missing.",
                self.streams.gaps,
            ),
            (
                "sent_again",
                "Segments whose bytes came before.",
                self.streams.sent_again,
            ),
            (
                "unfollowed",
                "Messages with an end that is not known: a head that is cut or long, or a body of no known length.",
                self.streams.unfollowed,
            ),
        ]
    }

    /// Returns the numbers that may also fall: name, description and number.
    pub(crate) fn waiting(&self) -> [(&'static str, &'static str, u64); 2] {
        [
            (
                "unanswered",
                "Requests that have no response so far.",
                self.unanswered,
            ),
            (
                "unfinished",
                "Messages whose rest has not come so far.",
                self.streams.unfinished,
            ),
        ]
    }
}

/// Returns the number by which rows are ordered.
pub(crate) fn magnitude(cell: &Cell) -> f64 {
    match cell {
        Cell::Nothing => -1.0,
        Cell::Number(n) => *n as f64,
        Cell::Real(x) | Cell::Estimate(x, _) => *x,
        Cell::Top { items, .. } => items.first().map_or(0.0, |(_, count, _)| *count as f64),
        Cell::Histogram(histogram, _) => histogram.total() as f64,
    }
}

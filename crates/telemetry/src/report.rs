//! What a query has found so far, as data.

use crate::aggregate::Cell;
use crate::catalogue::Type;
use crate::query::{Aggregate, By, Order, Query};
use crate::streams::Followed;
use crate::value::Value;
pub use control::exposition::Unit;
use std::cmp::Ordering;

/// The figures of all groups.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// The names of the keys.
    pub keys: Vec<String>,
    /// The names of the aggregates.
    pub aggregates: Vec<String>,
    /// The unit of each aggregate's numbers.
    pub units: Vec<Unit>,
    /// True of each aggregate that is a total, so that what is new since the report before makes sense.
    pub totals: Vec<bool>,
    /// All groups in the query's order; those that are alike in the order of their keys.
    pub rows: Vec<Row>,
    /// The number of groups that the query shows, at most.
    pub most: usize,
    /// The numbers of packets, by what became of them.
    pub counts: Counts,
    /// The time that rates are about.
    pub seconds: f64,
    /// The longest text that is kept, in bytes.
    pub text: usize,
}

impl Report {
    /// Of rows in any order.
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

    /// The groups that the query shows. The others matter to those who compare this report with the next.
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

/// A group.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// The values of the keys.
    pub keys: Vec<Value<'static>>,
    /// The figures.
    pub cells: Vec<Cell>,
}

/// Numbers of packets and records, by what became of them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Packets that were read.
    pub packets: u64,
    /// Of these, those that a capture has without a time: they are in no rate, and in no response time.
    pub untimed: u64,
    /// Records: messages of the query's kind, or packets if it reads no messages.
    pub records: u64,
    /// Records for which the condition holds.
    pub matched: u64,
    /// Of these, those that lack a key, and are in no group.
    pub without_key: u64,
    /// Of these, those for whose group the table had no room.
    pub not_grouped: u64,
    /// Packets with a malformed message.
    pub malformed: u64,
    /// Keys and values of `top` that were longer than what is kept, and cut; on the path also values of `distinct`.
    pub cut: u64,
    /// Packets of which a program on the path did not read all messages: one is longer than it reads, or there are more.
    pub unread: u64,
    /// Requests that have no response so far, or none that was read. Only of a query about response times.
    pub unanswered: u64,
    /// Responses without a request that is known. Only of a query about response times.
    pub unmatched: u64,
    /// What became of the streams of messages that go on from segment to segment.
    pub streams: Followed,
}

impl Counts {
    /// Those that only grow: name, description and number.
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

    /// Those that fall too: name, description and number.
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

/// By what rows are ordered.
pub(crate) fn magnitude(cell: &Cell) -> f64 {
    match cell {
        Cell::Nothing => -1.0,
        Cell::Number(n) => *n as f64,
        Cell::Real(x) | Cell::Estimate(x, _) => *x,
        Cell::Top { items, .. } => items.first().map_or(0.0, |(_, count, _)| *count as f64),
        Cell::Histogram(histogram, _) => histogram.total() as f64,
    }
}

//! Checked query: every name is resolved, and every literal has the type that it is compared with.

use crate::catalogue::{Attribute, Source};
use diag::Span;
use payload::Pattern;
use std::net::IpAddr;

/// Checked query.
#[derive(Clone, Debug)]
pub struct Query {
    /// Attributes that it reads, each once. Other fields refer to them by index.
    pub attributes: Vec<Attribute>,
    /// Kind of message that it reads, as an index into [`Messages::kinds`](crate::Messages::kinds). If there is one,
    /// each message is a record; otherwise each packet is one.
    pub kind: Option<usize>,
    /// Keys of `by`, at most [`MAX_KEYS`](crate::MAX_KEYS).
    pub keys: Vec<usize>,
    /// Aggregates: at least one, at most [`MAX_AGGREGATES`](crate::MAX_AGGREGATES).
    pub aggregates: Vec<Aggregate>,
    /// Condition of `where`.
    pub condition: Option<Condition>,
    /// Order of groups.
    pub order: Order,
    /// Number of groups that are shown; all if `None`.
    pub most: Option<usize>,
    /// Texts in its conditions.
    pub(crate) texts: Vec<Compared>,
}

/// Text that a condition compares with an attribute.
#[derive(Clone, Debug)]
pub(crate) struct Compared {
    pub attribute: usize,
    pub bytes: usize,
    /// Location of the text.
    pub at: Span,
}

impl Query {
    /// Returns true if its records are responses with the requests that they answer.
    pub fn is_about_exchanges(&self) -> bool {
        self.response_time().is_some()
    }

    /// Returns the attribute that is the time from a request to its response.
    pub(crate) fn response_time(&self) -> Option<&Attribute> {
        let mut attributes = self.attributes.iter();
        attributes.find(|a| a.source == Source::ResponseTime)
    }
}

/// Order of groups. Equal groups are ordered by their keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Order {
    /// Aggregate or key that is compared.
    pub by: By,
    /// True if the largest comes first. Groups without a value come last.
    pub descending: bool,
}

impl Default for Order {
    /// Orders by the first aggregate, the largest value first.
    fn default() -> Order {
        Order {
            by: By::Aggregate(0),
            descending: true,
        }
    }
}

/// Sort key of groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// An aggregate, by its index in the query.
    Aggregate(usize),
    /// A key, by its index in the query.
    Key(usize),
}

/// Aggregate of the records in each group.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// Function that it computes.
    pub function: Function,
    /// Text as the user would write it: `sum(packet.length)`.
    pub label: String,
}

/// Function of an aggregate. All but `Count` and `Rate(None)` apply to the records that have the attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Function {
    /// The number of records.
    Count,
    /// The sum of the packets' lengths, each packet once.
    Bytes,
    /// The sum of an attribute, which saturates at 2^64 - 1.
    Sum(usize),
    /// The least value.
    Min(usize),
    /// The greatest value.
    Max(usize),
    /// The mean.
    Mean(usize),
    /// The approximate number of distinct values.
    Distinct(usize),
    /// The most frequent values: how many, and of which attribute.
    Top(usize, usize),
    /// The distribution.
    Histogram(usize),
    /// The number of records a second, or an attribute's sum a second.
    Rate(Option<usize>),
}

impl Function {
    /// Returns true for a total, which can only grow. For `top`, this is true of the counts.
    pub(crate) fn is_total(self) -> bool {
        match self {
            Function::Count
            | Function::Bytes
            | Function::Sum(_)
            | Function::Top(..)
            | Function::Histogram(_) => true,
            Function::Min(_)
            | Function::Max(_)
            | Function::Mean(_)
            | Function::Distinct(_)
            | Function::Rate(_) => false,
        }
    }

    /// Returns the attribute that it applies to, if there is one.
    pub fn attribute(self) -> Option<usize> {
        match self {
            Function::Count | Function::Bytes | Function::Rate(None) => None,
            Function::Sum(x)
            | Function::Min(x)
            | Function::Max(x)
            | Function::Mean(x)
            | Function::Rate(Some(x))
            | Function::Distinct(x)
            | Function::Top(_, x)
            | Function::Histogram(x) => Some(x),
        }
    }
}

/// A condition on a record.
#[derive(Clone, Debug)]
pub enum Condition {
    /// All of these hold.
    All(Vec<Condition>),
    /// One of these holds.
    Any(Vec<Condition>),
    /// This does not hold.
    Not(Box<Condition>),
    /// The record has the attribute, and its value satisfies the predicate.
    Test(usize, Predicate),
}

/// Predicate on an attribute's value.
#[derive(Clone, Debug)]
pub enum Predicate {
    /// A comparison with a number.
    Number(Operator, u64),
    /// One of these values.
    In(Vec<Element>),
    /// Not this value.
    Not(Element),
    /// A text that begins with this prefix.
    StartsWith(Vec<u8>),
    /// A text in which the expression matches.
    Matches(Pattern),
}

/// Value, or prefix of addresses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Element {
    /// A number.
    Number(u64),
    /// A text.
    Text(Vec<u8>),
    /// Addresses with this prefix, of this length in bits; the other bits are zero. A single address has its full
    /// length.
    Prefix(IpAddr, u8),
    /// A link-layer address.
    Mac([u8; 6]),
}

/// Comparison operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Operator {
    const ALL: [(Operator, &str); 6] = [
        (Operator::Equal, "=="),
        (Operator::NotEqual, "!="),
        (Operator::Less, "<"),
        (Operator::LessOrEqual, "<="),
        (Operator::Greater, ">"),
        (Operator::GreaterOrEqual, ">="),
    ];

    pub(crate) fn from_symbol(symbol: &str) -> Option<Operator> {
        let found = Operator::ALL.iter().find(|(_, known)| *known == symbol);
        found.map(|(operator, _)| *operator)
    }

    /// Returns the operator's text.
    pub fn symbol(self) -> &'static str {
        let found = Operator::ALL.iter().find(|(known, _)| *known == self);
        found.map_or("==", |(_, symbol)| symbol)
    }

    /// Evaluates `left OPERATOR right`.
    pub fn holds(self, left: u64, right: u64) -> bool {
        match self {
            Operator::Equal => left == right,
            Operator::NotEqual => left != right,
            Operator::Less => left < right,
            Operator::LessOrEqual => left <= right,
            Operator::Greater => left > right,
            Operator::GreaterOrEqual => left >= right,
        }
    }
}

/// Arguments after an aggregate's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arguments {
    None,
    /// An attribute in parentheses, or nothing.
    Maybe,
    /// An attribute.
    One,
    /// A number and an attribute.
    NumberAndOne,
}

/// Aggregates: names and arguments.
pub(crate) const FUNCTIONS: [(&str, Arguments); 10] = [
    ("count", Arguments::None),
    ("bytes", Arguments::None),
    ("sum", Arguments::One),
    ("min", Arguments::One),
    ("max", Arguments::One),
    ("mean", Arguments::One),
    ("distinct", Arguments::One),
    ("top", Arguments::NumberAndOne),
    ("histogram", Arguments::One),
    ("rate", Arguments::Maybe),
];

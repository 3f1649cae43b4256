//! A query that is checked: every name is resolved, every value has the type of what it is compared with.

use crate::catalogue::{Attribute, Source};
use diag::Span;
use payload::Pattern;
use std::net::IpAddr;

/// A checked query.
#[derive(Clone, Debug)]
pub struct Query {
    /// Each attribute that it reads, once; the others refer to them by index.
    pub attributes: Vec<Attribute>,
    /// The kind of message that it reads, by its index among [`Messages::kinds`](crate::Messages::kinds). Each message of a
    /// packet is a record then; otherwise each packet is one.
    pub kind: Option<usize>,
    /// What `by` has, at most [`MAX_KEYS`](crate::MAX_KEYS).
    pub keys: Vec<usize>,
    /// At least one, at most [`MAX_AGGREGATES`](crate::MAX_AGGREGATES).
    pub aggregates: Vec<Aggregate>,
    /// What `where` has.
    pub condition: Option<Condition>,
    /// The order of groups.
    pub order: Order,
    /// The number of groups that are shown; `None` is all.
    pub most: Option<usize>,
    /// The texts in it.
    pub(crate) texts: Vec<Compared>,
}

/// A text with which a condition compares an attribute.
#[derive(Clone, Debug)]
pub(crate) struct Compared {
    pub attribute: usize,
    pub bytes: usize,
    /// Where it stands.
    pub at: Span,
}

impl Query {
    /// Whether its records are responses with the requests that they answer.
    pub fn is_about_exchanges(&self) -> bool {
        self.response_time().is_some()
    }

    /// The attribute that is the time from a request to its response.
    pub(crate) fn response_time(&self) -> Option<&Attribute> {
        let mut attributes = self.attributes.iter();
        attributes.find(|a| a.source == Source::ResponseTime)
    }
}

/// The order of groups. Those that are alike are ordered by their keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Order {
    /// The figure or key that orders them.
    pub by: By,
    /// True if the largest comes first. What there is no figure of comes last.
    pub descending: bool,
}

impl Default for Order {
    /// By the first figure, the largest first.
    fn default() -> Order {
        Order {
            by: By::Aggregate(0),
            descending: true,
        }
    }
}

/// A figure or a key that orders groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// A figure, by its number in the query.
    Aggregate(usize),
    /// A key, by its number in the query.
    Key(usize),
}

/// A figure of each group.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// What it computes.
    pub function: Function,
    /// As the user would write it: `sum(packet.length)`.
    pub label: String,
}

/// What an aggregate computes. All but `Count` and `Rate(None)` are about the records that have the attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Function {
    /// How many records.
    Count,
    /// The lengths of their packets, each packet once.
    Bytes,
    /// The sum of an attribute; it saturates at 2^64 - 1.
    Sum(usize),
    /// The least value.
    Min(usize),
    /// The greatest value.
    Max(usize),
    /// The mean.
    Mean(usize),
    /// About how many distinct values.
    Distinct(usize),
    /// The most frequent values, so many.
    Top(usize, usize),
    /// The distribution.
    Histogram(usize),
    /// Records a second, or an attribute's sum a second.
    Rate(Option<usize>),
}

impl Function {
    /// Whether it only grows, by what is new: of `top`, the counts do.
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

    /// The attribute that it is about, if it is about one.
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
    /// The record has the attribute, and the predicate is true of it.
    Test(usize, Predicate),
}

/// What is asked of an attribute's value.
#[derive(Clone, Debug)]
pub enum Predicate {
    /// A number, compared.
    Number(Operator, u64),
    /// It is one of these.
    In(Vec<Element>),
    /// It is not this one.
    Not(Element),
    /// A text that begins with this one.
    StartsWith(Vec<u8>),
    /// A text in which the expression matches.
    Matches(Pattern),
}

/// A value, or a prefix of addresses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Element {
    /// A number.
    Number(u64),
    /// A text.
    Text(Vec<u8>),
    /// Addresses with the same bits in front, as many as the second part is; the other bits are zero. An address alone has all.
    Prefix(IpAddr, u8),
    /// A link-layer address.
    Mac([u8; 6]),
}

/// How numbers are compared.
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

    /// As it is written.
    pub fn symbol(self) -> &'static str {
        let found = Operator::ALL.iter().find(|(known, _)| *known == self);
        found.map_or("==", |(_, symbol)| symbol)
    }

    /// Whether `left OPERATOR right`.
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

/// What stands behind an aggregate's name.
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

/// The names of the aggregates.
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

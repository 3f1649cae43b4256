//! A query as it was written.

use crate::query::Operator;
use diag::Span;
use std::net::IpAddr;

/// The whole query.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub aggregates: Vec<Call>,
    pub keys: Vec<Name>,
    pub condition: Option<Condition>,
    pub order: Option<Order>,
    /// The number of groups that are shown.
    pub most: Option<(u64, Span)>,
}

/// The order of groups.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub by: By,
    /// True if the largest comes first; `None` if nothing is said.
    pub descending: Option<bool>,
}

/// The order of groups.
#[derive(Clone, Debug)]
pub(crate) enum By {
    Aggregate(Call),
    Key(Name),
}

/// A name of an attribute.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub text: String,
    pub span: Span,
}

/// An aggregate: its name is known, and its arguments are those that it takes.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub function: &'static str,
    /// Of `top`.
    pub number: Option<(u64, Span)>,
    pub attribute: Option<Name>,
    pub span: Span,
}

impl Call {
    /// As the user would write it: `sum(packet.length)`.
    pub(crate) fn label(&self) -> String {
        match (&self.attribute, self.number) {
            (None, _) => self.function.to_string(),
            (Some(name), None) => format!("{}({})", self.function, name.text),
            (Some(name), Some((n, _))) => format!("{}({n}, {})", self.function, name.text),
        }
    }
}

/// A condition.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    /// All of these.
    All(Vec<Condition>),
    /// At least one of these.
    Any(Vec<Condition>),
    /// Not this.
    Not(Box<Condition>),
    /// An attribute, and what is asked of it.
    Test(Name, Test),
}

/// What is asked of an attribute.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    Compare(Operator, Span, Literal),
    In(Vec<Literal>),
    /// The span is that of the words.
    StartsWith(Span, Literal),
    /// The pattern as it was written, and the span of what stands between the quotes.
    Matches(Span, String, Span),
}

impl Test {
    /// The values that the attribute is compared with.
    pub(crate) fn literals(&self) -> &[Literal] {
        match self {
            Test::Compare(.., literal) | Test::StartsWith(_, literal) => {
                std::slice::from_ref(literal)
            }
            Test::In(literals) => literals,
            Test::Matches(..) => &[],
        }
    }
}

/// A value, where it stands, and how it was written.
#[derive(Clone, Debug)]
pub(crate) struct Literal {
    pub value: Constant,
    pub span: Span,
    pub written: String,
}

/// A value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Constant {
    Number(u64),
    /// In nanoseconds.
    Time(u64),
    Text(Vec<u8>),
    Address(IpAddr, Option<u8>),
    Mac([u8; 6]),
    /// A name, which is no value.
    Name(String),
}

impl Constant {
    /// What it is, with an article.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Constant::Number(_) => "a number",
            Constant::Time(_) => "a time",
            Constant::Text(_) => "a text",
            Constant::Address(IpAddr::V4(_), None) => "an IPv4 address",
            Constant::Address(IpAddr::V4(_), Some(_)) => "an IPv4 prefix",
            Constant::Address(IpAddr::V6(_), None) => "an IPv6 address",
            Constant::Address(IpAddr::V6(_), Some(_)) => "an IPv6 prefix",
            Constant::Mac(_) => "a link-layer address",
            Constant::Name(_) => "a name",
        }
    }
}

//! Syntax tree of a query.

use crate::query::Operator;
use diag::Span;
use std::net::IpAddr;

/// Whole query.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub aggregates: Vec<Call>,
    pub keys: Vec<Name>,
    pub condition: Option<Condition>,
    pub order: Option<Order>,
    /// Number of groups that are shown.
    pub most: Option<(u64, Span)>,
}

/// Order of groups.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub by: By,
    /// True if the largest comes first; `None` if the query does not specify it.
    pub descending: Option<bool>,
}

/// Sort key of groups.
#[derive(Clone, Debug)]
pub(crate) enum By {
    Aggregate(Call),
    Key(Name),
}

/// Name of an attribute.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub text: String,
    pub span: Span,
}

/// Call of an aggregate. The parser has checked its name and the number of its arguments.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub function: &'static str,
    /// Number of values of `top`.
    pub number: Option<(u64, Span)>,
    pub attribute: Option<Name>,
    pub span: Span,
}

impl Call {
    /// Returns the call as the user would write it: `sum(packet.length)`.
    pub(crate) fn label(&self) -> String {
        match (&self.attribute, self.number) {
            (None, _) => self.function.to_string(),
            (Some(name), None) => format!("{}({})", self.function, name.text),
            (Some(name), Some((n, _))) => format!("{}({n}, {})", self.function, name.text),
        }
    }
}

/// Condition on a record.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    /// All of these.
    All(Vec<Condition>),
    /// At least one of these.
    Any(Vec<Condition>),
    /// Not this.
    Not(Box<Condition>),
    /// A test of an attribute.
    Test(Name, Test),
}

/// Test of an attribute.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    Compare(Operator, Span, Literal),
    In(Vec<Literal>),
    /// The span is that of `starts with`.
    StartsWith(Span, Literal),
    /// The pattern as it was written, and its span between the quotes.
    Matches(Span, String, Span),
}

impl Test {
    /// Returns the values that the attribute is compared with.
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

/// Value, with its location and its text.
#[derive(Clone, Debug)]
pub(crate) struct Literal {
    pub value: Constant,
    pub span: Span,
    pub written: String,
}

/// Value of a literal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Constant {
    Number(u64),
    /// In nanoseconds.
    Time(u64),
    Text(Vec<u8>),
    Address(IpAddr, Option<u8>),
    Mac([u8; 6]),
    /// A name, which is not a value.
    Name(String),
}

impl Constant {
    /// Returns the kind of value, with an article.
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

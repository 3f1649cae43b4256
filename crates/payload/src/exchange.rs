//! Which messages are requests, and which are the responses to them.

use crate::{Kind, Schema};

/// What answers what. On each connection or pair of ports, responses come in the order of their requests, unless a number
/// in both says which belong together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exchange {
    /// By what a message shows which it is.
    pub sides: Sides,
    /// The attribute, a number, that a response has from its request.
    pub id: Option<String>,
}

/// By what a message shows whether it is a request or a response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sides {
    /// What goes to one of the schema's ports is a request, what comes from one is a response.
    Ports,
    /// By attributes. What is neither takes no part.
    Attributes {
        /// What a request has.
        request: Side,
        /// What a response has.
        response: Side,
    },
}

/// An attribute that tells a side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Side {
    /// Its name.
    pub attribute: String,
    /// One of these it has to be, if there are some.
    pub values: Vec<u64>,
    /// None of these it may be.
    pub except: Vec<u64>,
}

impl Side {
    /// Whether a message is of this side that has the attribute, with this value if it is a number.
    pub fn is(&self, number: Option<u64>) -> bool {
        match number {
            None => self.values.is_empty(),
            Some(n) => {
                (self.values.is_empty() || self.values.contains(&n)) && !self.except.contains(&n)
            }
        }
    }
}

impl Exchange {
    /// The attributes that show a message's side, and its number.
    pub fn attributes(&self) -> impl Iterator<Item = &str> {
        self.sides().chain(self.id.as_deref())
    }

    /// Those that show its side: the request's and the response's.
    pub fn sides(&self) -> impl Iterator<Item = &str> {
        let sides = match &self.sides {
            Sides::Ports => [None, None],
            Sides::Attributes { request, response } => [
                Some(request.attribute.as_str()),
                Some(response.attribute.as_str()),
            ],
        };
        sides.into_iter().flatten()
    }
}

impl Schema {
    /// Whether a name stands for numbers that are never negative.
    pub fn is_number(&self, name: &str) -> bool {
        let kind = self.asked(name).map(|asked| asked.kind);
        matches!(kind, Ok(Kind::Number { signed: false, .. }))
    }
}

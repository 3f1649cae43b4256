//! Pairing of requests and responses.

use crate::{AttributeKind, Schema};

/// Rule that pairs responses with requests. On each connection or pair of ports, responses come in the order of their
/// requests, unless both carry a number that identifies the pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exchange {
    /// Rule that tells requests from responses.
    pub sides: Sides,
    /// Attribute, a number, that a response repeats from its request.
    pub id: Option<String>,
}

/// Rule that tells whether a message is a request or a response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sides {
    /// By the schema's ports: a message to one of them is a request, one from them a response.
    Ports,
    /// By attributes. A message that matches neither side takes no part.
    Attributes {
        /// Attribute of a request.
        request: Side,
        /// Attribute of a response.
        response: Side,
    },
}

/// Attribute that identifies a side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Side {
    /// Its name.
    pub attribute: String,
    /// Values, one of which the attribute must have; empty if any will do.
    pub values: Vec<u64>,
    /// Values that the attribute must not have.
    pub except: Vec<u64>,
}

impl Side {
    /// Returns true if a message that has the attribute is of this side. `number` is the attribute's value if it is a
    /// number.
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
    /// Returns the names of the attributes that give a message's side and number.
    pub fn attributes(&self) -> impl Iterator<Item = &str> {
        self.sides().chain(self.id.as_deref())
    }

    /// Returns the names of the attributes that give a message's side: the request's, then the response's.
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
    /// Returns true if a name stands for unsigned numbers.
    pub fn is_number(&self, name: &str) -> bool {
        let kind = self.asked(name).map(|asked| asked.kind);
        matches!(kind, Ok(AttributeKind::Number { signed: false, .. }))
    }
}

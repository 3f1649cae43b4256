//! Attributes of messages in P4: the bytes of texts that are kept, and the calls that read attributes.

use super::p4::{Block, Expr, Stmt, Type, all, declare, name, number, text, variable};
use crate::MAX_TEXT;
use crate::catalogue;
use crate::errors::program as errors;
use crate::query::{Function, Query};
use diag::{Diagnostic, Span};
use payload::AttributeKind;

/// Greatest size of a metric's key, in bytes.
const LONGEST_KEY: usize = 128;
/// Least number of bytes of a text that is worth keeping.
const SHORTEST_TEXT: usize = 16;
/// Longest text that a condition may compare, in bytes.
const LONGEST_COMPARED: usize = 256;

/// Attribute of a message that the program reads.
pub(super) struct Attribute {
    /// Index in the query.
    pub index: usize,
    /// Name in the message.
    pub name: String,
    /// Name of its variable.
    pub variable: String,
    pub kind: AttributeKind,
    /// Number of bytes that are read of a text.
    pub width: usize,
    /// True if its bytes are an address, whose length is constant.
    pub is_address: bool,
}

impl Attribute {
    /// Returns true if it is bytes of variable length.
    pub(super) fn is_text(&self) -> bool {
        !matches!(self.kind, AttributeKind::Number { .. }) && !self.is_address
    }

    /// Returns the type of the variable.
    pub(super) fn ty(&self) -> Type {
        Type::Bits(match self.kind {
            AttributeKind::Number { bits, .. } => bits,
            AttributeKind::Bytes | AttributeKind::DnsName => 8 * self.width as u32,
        })
    }

    /// Returns the variable of its value.
    pub(super) fn value(&self) -> Expr {
        name(&self.variable)
    }

    /// Returns the variable of a text's length in bytes.
    pub(super) fn length(&self) -> Expr {
        name(format!("{}_length", self.variable))
    }

    /// Returns the variable that is true if the message has it.
    pub(super) fn has(&self) -> Expr {
        name(self.has_name())
    }

    /// Returns the name of that variable.
    pub(super) fn has_name(&self) -> String {
        format!("has_{}", self.variable)
    }

    /// Emits the call that reads it.
    pub(super) fn get(&self) -> Block {
        let attribute = text(&self.name);
        let has = |method, args| declare(Type::Bool, self.has_name(), messages(method, args));
        match self.kind {
            AttributeKind::Number { signed: false, .. } => vec![
                variable(self.ty(), &self.variable),
                has("get_number", vec![attribute, self.value()]),
            ],
            AttributeKind::Number { bits, signed: true } => {
                let signed = format!("{}_signed", self.variable);
                let is_number = name(&signed).binary(">=", number(0u8));
                vec![
                    variable(Type::Signed(bits), &signed),
                    has("get_number", vec![attribute, name(&signed)]),
                    Stmt::Assign(self.has(), all([self.has(), is_number])),
                    declare(self.ty(), &self.variable, name(&signed).cast(self.ty())),
                ]
            }
            AttributeKind::Bytes | AttributeKind::DnsName => vec![
                variable(self.ty(), &self.variable),
                variable(Type::Bits(32), format!("{}_length", self.variable)),
                has("get_bytes", vec![attribute, self.value(), self.length()]),
            ],
        }
    }
}

/// Name of the object that reads messages.
pub(super) const MESSAGES: &str = "messages";

/// Emits a call of the object that reads messages.
pub(super) fn messages(method: &str, args: Vec<Expr>) -> Expr {
    name(MESSAGES).method(method, args)
}

/// Tests that a regular expression matches in an attribute.
pub(super) fn matches(attribute: &str, pattern: &str) -> Expr {
    messages("matches", vec![text(attribute), text(pattern)])
}

/// Computes how many bytes of each text are kept as a key or an item: as many as fit.
pub(super) fn kept_of_texts(query: &Query) -> Result<usize, Box<Diagnostic>> {
    let size = |x: usize| match query.attributes[x].ty {
        catalogue::Type::Text => None,
        catalogue::Type::Flow => Some(48),
        _ => Some(16),
    };
    let items = query.aggregates.iter().filter_map(|a| match a.function {
        Function::Top(_, x) | Function::Distinct(x) => Some(size(x)),
        _ => None,
    });
    let items: Vec<Option<usize>> = items.collect();
    let keys = || query.keys.iter().map(|&key| size(key));
    let texts = keys().filter(Option::is_none).count() + usize::from(items.contains(&None));
    let others = keys().flatten().sum::<usize>() + items.into_iter().flatten().max().unwrap_or(0);
    if texts == 0 {
        return Ok(MAX_TEXT);
    }
    // Each text is followed by its length.
    let room = LONGEST_KEY.saturating_sub(others) / texts;
    let kept = room.saturating_sub(8) / 8 * 8;
    match kept >= SHORTEST_TEXT {
        true => Ok(kept),
        false => {
            let last = query.keys.last().map(|&key| query.attributes[key].at);
            let at = last.unwrap_or(Span::NONE);
            Err(errors::too_many_texts(at, LONGEST_KEY))
        }
    }
}

/// Returns true if an attribute is a key, an item, or the argument of an aggregate.
pub(super) fn is_kept(query: &Query, index: usize) -> bool {
    let mut aggregates = query.aggregates.iter();
    query.keys.contains(&index) || aggregates.any(|a| a.function.attribute() == Some(index))
}

/// Returns the number of bytes of a text that the program needs for the values it keeps.
pub(super) fn kept_of(query: &Query, index: usize, kept: usize) -> usize {
    match is_kept(query, index) {
        true => kept,
        false => 8,
    }
}

/// Returns the size of the longest text that a condition compares with an attribute.
pub(super) fn longest_compared(index: usize, query: &Query) -> Result<usize, Box<Diagnostic>> {
    let own = query.texts.iter().filter(|text| text.attribute == index);
    let longest = own.max_by_key(|text| text.bytes);
    match longest {
        Some(text) if text.bytes > LONGEST_COMPARED => {
            let name = &query.attributes[index].name;
            Err(errors::long_text(
                text.at,
                name,
                text.bytes,
                LONGEST_COMPARED,
            ))
        }
        longest => Ok(longest.map_or(0, |text| text.bytes)),
    }
}

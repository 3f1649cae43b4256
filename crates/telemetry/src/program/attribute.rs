//! An attribute of messages as P4: the bytes of its text that are kept, and the call that reads it.

use crate::MAX_TEXT;
use crate::catalogue::Type;
use crate::errors::program as errors;
use crate::query::{Function, Query};
use diag::{Diagnostic, Span};
use payload::Kind;
use std::fmt::Write;

/// The bytes of keys that figures may have.
const LONGEST_KEY: usize = 128;
/// The fewest bytes of a text that are worth keeping.
const SHORTEST_TEXT: usize = 16;
/// The longest text that a condition may compare.
const LONGEST_COMPARED: usize = 256;

/// An attribute that is read.
pub(super) struct Attribute {
    /// In the query.
    pub index: usize,
    /// In the message.
    pub name: String,
    /// Its variable.
    pub variable: String,
    pub kind: Kind,
    /// Of a text, the bytes that are read.
    pub width: usize,
}

impl Attribute {
    /// The call that reads it.
    pub(super) fn get(&self, out: &mut String) {
        let (name, variable) = (&self.name, &self.variable);
        let pad = "                ";
        let _ = match self.kind {
            Kind::Number {
                bits,
                signed: false,
            } => writeln!(
                out,
                "{pad}bit<{bits}> {variable};\n{pad}bool has_{variable} = messages.get_number(\"{name}\", {variable});"
            ),
            Kind::Number { bits, signed: true } => writeln!(
                out,
                "{pad}int<{bits}> {variable}_signed;\n{pad}bool has_{variable} = messages.get_number(\"{name}\", {variable}_signed);\n\
                 {pad}has_{variable} = has_{variable} && {variable}_signed >= 0;\n{pad}bit<{bits}> {variable} = (bit<{bits}>){variable}_signed;"
            ),
            Kind::Bytes | Kind::DnsName => writeln!(
                out,
                "{pad}bit<{}> {variable};\n{pad}bit<32> {variable}_length;\n\
                 {pad}bool has_{variable} = messages.get_bytes(\"{name}\", {variable}, {variable}_length);",
                8 * self.width
            ),
        };
    }
}

/// Reads the first bits of an attribute, if the message has such, with its length in bytes; `has_...` is whether it is there.
pub(super) fn get_bytes(out: &mut String, variable: &str, width: u32, attribute: Option<&str>) {
    let pad = "                ";
    let _ = match attribute {
        None => writeln!(out, "{pad}bool has_{variable} = false;"),
        Some(attribute) => writeln!(
            out,
            "{pad}bit<{width}> {variable};\n{pad}bit<32> {variable}_length;\n\
             {pad}bool has_{variable} = messages.get_bytes(\"{attribute}\", {variable}, {variable}_length);"
        ),
    };
}

/// The bytes of each text that are kept as a key or as an item: as many as there is room for.
pub(super) fn kept_of_texts(query: &Query) -> Result<usize, Box<Diagnostic>> {
    let size = |x: usize| match query.attributes[x].ty {
        Type::Text => None,
        Type::Flow => Some(48),
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
    // Each has its length behind it.
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

/// Whether an attribute is a key or an item, or is added up.
pub(super) fn is_kept(query: &Query, index: usize) -> bool {
    let mut aggregates = query.aggregates.iter();
    query.keys.contains(&index) || aggregates.any(|a| a.function.attribute() == Some(index))
}

/// The bytes of a text that the program needs for what it keeps.
pub(super) fn kept_of(query: &Query, index: usize, kept: usize) -> usize {
    match is_kept(query, index) {
        true => kept,
        false => 8,
    }
}

/// The bytes of the longest text with which a condition compares an attribute.
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

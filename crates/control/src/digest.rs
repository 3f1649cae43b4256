//! Digests: values that packets hand to the control plane.

use crate::entry::{find, reads_as_name};
use crate::errors::{self, Refusal};
use crate::json::json_value;
use crate::names::resolve;
use crate::piece::Piece;
use crate::values::{parse_match, show_value};
use diag::counted;
use schema::{Bits, Field, KeyMatch, KeySchema, MatchKind, Schema};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Values that a packet handed to the control plane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Digest {
    /// Which digest it is: an index of [`Schema::digests`](schema::Schema::digests).
    pub number: u32,
    /// For whom it is; the program says what that means.
    pub receiver: u64,
    /// Its scalars in order.
    pub values: Vec<Bits>,
}

/// What readers of digests get.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Digests {
    /// Those that have come, in order.
    pub received: Vec<Digest>,
    /// How many were lost before these because nobody had read what came before them.
    pub lost: u64,
}

/// What a packet logged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Logged {
    /// The message with its values in it.
    pub line: String,
    /// The message as the program has it.
    pub message: String,
    /// The time at which it was logged, since 1970, if that is known.
    pub time: Option<Duration>,
    /// Its values in order.
    pub values: Vec<Bits>,
}

/// What readers of a log get.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Logs {
    /// What was logged, in order.
    pub lines: Vec<Logged>,
    /// How many were lost before these: nobody had read what came before them, or they were too many in a second.
    pub lost: u64,
}

/// What a digest is to be like: some of its fields, each with a match.
#[derive(Clone, PartialEq, Debug)]
pub struct DigestPattern {
    /// An index of [`Schema::digests`](schema::Schema::digests).
    pub number: u32,
    wanted: Vec<(usize, KeyMatch)>,
}

/// How a digest that has to come is written.
pub const EXPECTED: &str = "expect_digest NAME [FIELD:MATCH ...]";

/// The fields of a digest.
fn fields(schema: &Schema, number: u32) -> &[Field] {
    let digest = schema.digests.get(number as usize);
    digest.map_or(&[][..], |digest| &digest.fields)
}

/// Finds a digest by the name of its type.
pub fn find_digest(schema: &Schema, name: Piece) -> Result<u32, Refusal> {
    let all = schema.digests.iter().zip(0..);
    find(
        all.map(|(digest, number)| (number, digest.name.as_str())),
        name,
        "digest",
    )
}

impl DigestPattern {
    /// Parses `NAME [FIELD:MATCH ...]`. Fields that are not named go in order; those that are left out may be anything.
    pub fn parse(schema: &Schema, text: Piece) -> Result<DigestPattern, Refusal> {
        let (name, rest) = text.first_word();
        let number = find_digest(schema, name)?;
        let fields = fields(schema, number);
        let names: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
        let mut wanted: Vec<(usize, KeyMatch)> = Vec::new();
        let mut by_position = 0;
        for word in rest.words() {
            // What stands before a colon may be the first part of an address instead.
            let named = match word.split_named() {
                Some((name, value)) => match resolve(names.iter().copied(), name.trim().text) {
                    Ok(index) => Some((index, value.trim())),
                    Err(error) if reads_as_name(name.text, !wanted.is_empty()) => {
                        let field = name.text;
                        return Err(errors::bad_name(name.span(), "field", field, &names, error));
                    }
                    Err(_) => None,
                },
                None => None,
            };
            let (index, value) = named.unwrap_or_else(|| {
                by_position += 1;
                (by_position - 1, word)
            });
            let Some(field) = fields.get(index) else {
                let name = &schema.digests[number as usize].name;
                let values = counted(fields.len(), "value");
                let what = format!("a digest `{name}` has {values}, and this is one more");
                return Err(errors::malformed(word.span(), &what, EXPECTED));
            };
            if wanted.iter().any(|(known, _)| *known == index) {
                return Err(errors::given_twice(word.span(), names[index]));
            }
            let key = KeySchema {
                field: field.clone(),
                kind: MatchKind::Ternary,
            };
            let found = parse_match(schema, &key, value.text)
                .map_err(|e| errors::bad_value(value.span(), names[index], e))?;
            wanted.push((index, key.canonical(&found)));
        }
        Ok(DigestPattern { number, wanted })
    }

    /// Whether a digest is like this.
    pub fn matches(&self, digest: &Digest) -> bool {
        let fits = |(index, wanted): &(usize, KeyMatch)| match (digest.values.get(*index), wanted) {
            (Some(value), KeyMatch::Ternary(want, mask)) => {
                value.value() & mask.value() == *want.value()
            }
            (Some(value), KeyMatch::Exact(want)) => value == want,
            (Some(_), KeyMatch::Any) => true,
            _ => false,
        };
        digest.number == self.number && self.wanted.iter().all(fits)
    }
}

/// A digest as text: `NAME FIELD:VALUE ...`.
pub fn show_digest(schema: &Schema, digest: &Digest) -> String {
    let name = schema
        .digests
        .get(digest.number as usize)
        .map(|d| d.name.as_str());
    let mut parts = vec![name.unwrap_or("digest").to_string()];
    let fields = fields(schema, digest.number).iter().zip(&digest.values);
    parts.extend(
        fields.map(|(field, value)| format!("{}:{}", field.name, show_value(schema, field, value))),
    );
    parts.join(" ")
}

/// A digest for programs: `digest`, `receiver`, and its `fields` by name.
pub fn digest_json(schema: &Schema, digest: &Digest) -> Value {
    let name = schema
        .digests
        .get(digest.number as usize)
        .map(|d| d.name.as_str());
    let fields = fields(schema, digest.number).iter().zip(&digest.values);
    let fields: Map<String, Value> = fields
        .map(|(field, value)| (field.name.to_string(), json_value(schema, field, value)))
        .collect();
    json!({ "digest": name, "receiver": digest.receiver, "fields": fields })
}

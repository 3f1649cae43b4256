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
    /// Index of the digest in [`Schema::digests`](schema::Schema::digests).
    pub number: u32,
    /// Receiver of the digest; the program defines its meaning.
    pub receiver: u64,
    /// Scalars of the digest, in order.
    pub values: Vec<Bits>,
}

/// Digests returned to a reader.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Digests {
    /// The digests received, in order.
    pub received: Vec<Digest>,
    /// Number of digests lost before these, since earlier ones had not been read in time.
    pub lost: u64,
}

/// A message that a packet logged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Logged {
    /// Message with its values inserted.
    pub line: String,
    /// Message as it is in the program, without values.
    pub message: String,
    /// Time at which it was logged, since 1970, if known.
    pub time: Option<Duration>,
    /// Values in order.
    pub values: Vec<Bits>,
}

/// Log messages returned to a reader.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Logs {
    /// Logged messages, in order.
    pub lines: Vec<Logged>,
    /// Number of messages lost before these: earlier ones had not been read in time, or there were too many in a
    /// second.
    pub lost: u64,
}

/// Pattern of a digest: matches for some of its fields.
#[derive(Clone, PartialEq, Debug)]
pub struct DigestPattern {
    /// Index of the digest in [`Schema::digests`](schema::Schema::digests).
    pub number: u32,
    wanted: Vec<(usize, KeyMatch)>,
}

/// Syntax of an expected digest.
pub const EXPECTED: &str = "expect_digest NAME [FIELD:MATCH ...]";

/// Returns the fields of a digest.
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
    /// Parses `NAME [FIELD:MATCH ...]`. Matches without a name are for the fields in order. Omitted fields match
    /// anything.
    pub fn parse(schema: &Schema, text: Piece) -> Result<DigestPattern, Refusal> {
        let (name, rest) = text.first_word();
        let number = find_digest(schema, name)?;
        let fields = fields(schema, number);
        let names: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
        let mut wanted: Vec<(usize, KeyMatch)> = Vec::new();
        let mut by_position = 0;
        for word in rest.words() {
            // The text before a colon may be the first part of an address instead of a name.
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

    /// Returns true if a digest matches the pattern.
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

/// Formats a digest: `NAME FIELD:VALUE ...`.
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

/// Returns a digest as JSON: `digest`, `receiver`, and its `fields` by name.
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

//! The entry of a table that a packet meets, and why it meets no other one.

use crate::call::Omitted;
use crate::entry::{Parsed, parse};
use crate::errors;
use crate::piece::Piece;
use diag::Diagnostic;
use schema::{Bits, Entry, KeyMatch, Schema, Table, Type};
use std::cmp::Reverse;

/// The part of an entry in a look-up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The packet meets it.
    Met,
    /// It matches too. The entry that is met has a larger priority or a longer prefix.
    Behind,
    /// These keys, by their places, do not match.
    Other(Vec<usize>),
}

/// Parses `TABLE KEY:VALUE ...`, a value for each key: the values of a packet.
///
/// # Errors
/// Those of an entry's match; a match of several values.
pub fn parse_values(schema: &Schema, text: Piece) -> Result<(Table, Vec<Bits>), Box<Diagnostic>> {
    let Parsed { table, keys, .. } = parse(schema, text, None, &mut Omitted::Refused)?;
    let value = |(key, found): (&schema::KeySchema, &KeyMatch)| {
        let value = found.only_value().cloned();
        value.ok_or_else(|| errors::no_value(text.trim().span(), &key.field.name))
    };
    let values = schema.tables[table].match_keys().zip(&keys).map(value);
    Ok((table, values.collect::<Result<_, _>>()?))
}

/// Judges each entry of a table, where a packet has these values. Of several that match, the packet meets the one with the
/// largest priority, else with the longest prefix; of equal ones, the first.
pub fn look_up(schema: &Schema, table: Table, entries: &[Entry], values: &[Bits]) -> Vec<Verdict> {
    let keys: Vec<_> = schema.tables[table].match_keys().collect();
    let wrong = |entry: &Entry| -> Vec<usize> {
        let matches = |&at: &usize| {
            let signed = matches!(keys[at].field.ty, Type::Bits { signed: true, .. });
            entry.keys[at].matches(&values[at], signed)
        };
        (0..keys.len()).filter(|at| !matches(at)).collect()
    };
    let mut verdicts: Vec<Verdict> = entries
        .iter()
        .map(|entry| match wrong(entry) {
            none if none.is_empty() => Verdict::Behind,
            keys => Verdict::Other(keys),
        })
        .collect();
    let matching = (0..entries.len()).filter(|&at| verdicts[at] == Verdict::Behind);
    let rank = |&at: &usize| {
        let lengths = entries[at].keys.iter().map(|found| match found {
            KeyMatch::Lpm(_, length) => *length,
            _ => 0,
        });
        Reverse((entries[at].priority, lengths.sum::<u32>()))
    };
    if let Some(met) = matching.min_by_key(rank) {
        verdicts[met] = Verdict::Met;
    }
    verdicts
}

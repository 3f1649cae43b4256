//! Look-up of a packet's values in a table: the entry that is hit, and the reasons why the others are not.

use crate::call::Omitted;
use crate::entry::{Parsed, parse};
use crate::errors;
use crate::piece::Piece;
use diag::Diagnostic;
use schema::{Bits, Entry, KeyMatch, Schema, Table, Type};
use std::cmp::Reverse;

/// Result for one entry in a look-up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EntryResult {
    /// The packet hits it.
    Met,
    /// It matches too, but the hit entry has precedence.
    Behind,
    /// Keys that do not match, by their indices.
    Other(Vec<usize>),
}

/// Parses `TABLE KEY:VALUE ...`, the values of a packet for each key.
///
/// # Errors Those of an entry's match; a match of several values.
pub fn parse_values(schema: &Schema, text: Piece) -> Result<(Table, Vec<Bits>), Box<Diagnostic>> {
    let Parsed { table, keys, .. } = parse(schema, text, None, &mut Omitted::Refused)?;
    let value = |(key, found): (&schema::KeySchema, &KeyMatch)| {
        let value = found.only_value().cloned();
        value.ok_or_else(|| errors::no_value(text.trim().span(), &key.field.name))
    };
    let values = schema.tables[table].match_keys().zip(&keys).map(value);
    Ok((table, values.collect::<Result<_, _>>()?))
}

/// Returns a result for each entry of a table, for a packet with these values. Of several that match, the one with the
/// largest priority is hit, else the longest prefix; of equal ones, the first.
pub fn look_up(
    schema: &Schema,
    table: Table,
    entries: &[Entry],
    values: &[Bits],
) -> Vec<EntryResult> {
    let keys: Vec<_> = schema.tables[table].match_keys().collect();
    let wrong = |entry: &Entry| -> Vec<usize> {
        let matches = |&at: &usize| {
            let signed = matches!(keys[at].field.ty, Type::Bits { signed: true, .. });
            entry.keys[at].matches(&values[at], signed)
        };
        (0..keys.len()).filter(|at| !matches(at)).collect()
    };
    let mut verdicts: Vec<EntryResult> = entries
        .iter()
        .map(|entry| match wrong(entry) {
            none if none.is_empty() => EntryResult::Behind,
            keys => EntryResult::Other(keys),
        })
        .collect();
    let matching = (0..entries.len()).filter(|&at| verdicts[at] == EntryResult::Behind);
    let rank = |&at: &usize| {
        let lengths = entries[at].keys.iter().map(|found| match found {
            KeyMatch::Lpm(_, length) => *length,
            _ => 0,
        });
        Reverse((entries[at].priority, lengths.sum::<u32>()))
    };
    if let Some(met) = matching.min_by_key(rank) {
        verdicts[met] = EntryResult::Met;
    }
    verdicts
}

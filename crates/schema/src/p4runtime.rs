//! The ids that P4Runtime gives to what a program offers.
//!
//! An id has the kind of the thing in its upper 8 bits. The lower 24 are what `@id(...)` says; without it they are
//! the hash of the control-plane name that p4c takes too (Jenkins' one-at-a-time), and the next free number if that one
//! is taken. So an id changes only if the name does, or a name before it in the alphabet comes into conflict.
//! (P4Runtime specification 1.4, section 6.3.)

use crate::Annotation;
use std::collections::BTreeSet;

/// What an id can be of: the upper 8 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Prefix {
    Action = 0x01,
    Table = 0x02,
    ValueSet = 0x03,
    ActionProfile = 0x11,
    Counter = 0x12,
    DirectCounter = 0x13,
    Meter = 0x14,
    DirectMeter = 0x15,
    Register = 0x16,
    Digest = 0x17,
    /// The first of those that are free for externs of one's own.
    FlowState = 0x81,
}

/// The lower 24 bits.
const NUMBER: u32 = 0x00ff_ffff;

/// Ids for all things of one kind, in their order. `things` are names and annotations. Of two things with one `@id`,
/// the first has it.
pub fn assign<'a>(
    prefix: Prefix,
    things: impl Iterator<Item = (&'a str, &'a [Annotation])>,
) -> Vec<u32> {
    let things: Vec<_> = things.collect();
    let mut taken: BTreeSet<u32> = BTreeSet::new();
    let mut numbers: Vec<Option<u32>> = things
        .iter()
        .map(|(_, annotations)| {
            let given = given(annotations)? & NUMBER;
            (given != 0 && taken.insert(given)).then_some(given)
        })
        .collect();
    let mut rest: Vec<usize> = (0..things.len())
        .filter(|&i| numbers[i].is_none())
        .collect();
    rest.sort_by_key(|&i| things[i].0);
    for i in rest {
        let mut number = hash(things[i].0.as_bytes()) & NUMBER;
        while number == 0 || !taken.insert(number) {
            number = (number + 1) & NUMBER;
        }
        numbers[i] = Some(number);
    }
    let prefix = u32::from(prefix as u8) << 24;
    numbers
        .into_iter()
        .map(|number| prefix | number.unwrap_or(0))
        .collect()
}

/// Ids of keys, parameters and fields: what `@id` says, or the position among the siblings from 1 on.
pub(crate) fn of_sibling(annotations: &[Annotation], index: usize) -> u32 {
    given(annotations).unwrap_or(index as u32 + 1)
}

/// What `@id` says: decimal, hexadecimal or with a width (`8w5`).
fn given(annotations: &[Annotation]) -> Option<u32> {
    let text = annotations
        .iter()
        .find(|a| a.name == "id")?
        .values
        .first()?;
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(&digits.replace('_', ""), 16).ok(),
        None => text.replace('_', "").parse().ok(),
    }
}

/// Jenkins' one-at-a-time hash.
fn hash(bytes: &[u8]) -> u32 {
    let mut hash = bytes.iter().fold(0u32, |hash, &byte| {
        let hash = hash.wrapping_add(u32::from(byte));
        let hash = hash.wrapping_add(hash << 10);
        hash ^ (hash >> 6)
    });
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(things: &[(&str, Option<&str>)]) -> Vec<u32> {
        let annotations: Vec<Vec<Annotation>> = things
            .iter()
            .map(|(_, id)| {
                let annotation = |id: &str| Annotation {
                    name: "id".into(),
                    values: vec![id.into()],
                };
                id.map(annotation).into_iter().collect()
            })
            .collect();
        let names = things.iter().map(|(name, _)| *name);
        assign(
            Prefix::Table,
            names.zip(annotations.iter().map(Vec::as_slice)),
        )
    }

    #[test]
    fn the_hash_is_one_at_a_time() {
        // The values that are published with the algorithm.
        assert_eq!(hash(b"a"), 0xca2e_9442);
        assert_eq!(
            hash(b"The quick brown fox jumps over the lazy dog"),
            0x519e_91f5
        );
    }

    #[test]
    fn an_id_is_given_or_comes_from_the_name() {
        assert_eq!(
            ids(&[("a", None), ("b", Some("0x2000007")), ("c", Some("9"))]),
            [0x022e_9442, 0x0200_0007, 0x0200_0009]
        );
        // Whatever the order of the declarations.
        assert_eq!(ids(&[("x", None), ("a", None)])[1], 0x022e_9442);
    }

    #[test]
    fn nothing_shares_an_id() {
        let taken = (0x2e_9442).to_string();
        assert_eq!(
            ids(&[("a", None), ("b", Some(&taken)), ("c", Some(&taken))])[..2],
            [0x022e_9443, 0x022e_9442]
        );
        let all = ids(&[("a", None), ("b", Some(&taken)), ("c", Some(&taken))]);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 3);
    }
}

//! Ids of P4Runtime for the objects that a program offers.
//!
//! An id has the kind of the object in its upper 8 bits. The lower 24 are the number in `@id(...)`. Without it they are
//! a hash of the control-plane name, the same one that p4c takes (Jenkins' one-at-a-time), or the next free number if
//! that one is taken. So an id changes only if the name does, or if a name before it in the alphabet comes into
//! conflict. (P4Runtime specification 1.4, section 6.3.)

mod given;

pub use given::{NUMBER, Prefix, given};

use std::collections::BTreeSet;

/// Assigns ids to all objects of one kind, in their order. `things` are names, each with the value of its `@id`. Of two
/// objects with one `@id`, the first gets it.
pub fn assign<'a>(
    prefix: Prefix,
    things: impl Iterator<Item = (&'a str, Option<u32>)>,
) -> Vec<u32> {
    let things: Vec<_> = things.collect();
    let mut taken: BTreeSet<u32> = BTreeSet::new();
    let mut numbers: Vec<Option<u32>> = things
        .iter()
        .map(|(_, given)| {
            let given = (*given)? & NUMBER;
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

/// Assigns ids to sibling keys, parameters or fields: the value of `@id`, or else the position among them, from 1. If
/// that is taken, the next free number.
pub fn of_siblings(siblings: impl Iterator<Item = Option<u32>>) -> Vec<u32> {
    let mut taken: BTreeSet<u32> = BTreeSet::new();
    let mut first = |id: &u32| *id != 0 && taken.insert(*id);
    let given: Vec<Option<u32>> = siblings.map(|given| given.filter(&mut first)).collect();
    let number = |(position, given): (u32, Option<u32>)| {
        given.unwrap_or_else(|| {
            let mut free = (position..).chain(1..position);
            let id = free.find(|id| !taken.contains(id)).unwrap_or(position);
            taken.insert(id);
            id
        })
    };
    (1..).zip(given).map(number).collect()
}

/// Computes Jenkins' one-at-a-time hash.
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

    fn ids(things: &[(&str, Option<u32>)]) -> Vec<u32> {
        assign(Prefix::Table, things.iter().copied())
    }

    #[test]
    fn the_hash_is_one_at_a_time() {
        // Values published with the algorithm.
        assert_eq!(hash(b"a"), 0xca2e_9442);
        assert_eq!(
            hash(b"The quick brown fox jumps over the lazy dog"),
            0x519e_91f5
        );
    }

    #[test]
    fn an_id_is_given_or_comes_from_the_name() {
        assert_eq!(
            ids(&[("a", None), ("b", Some(0x200_0007)), ("c", Some(9))]),
            [0x022e_9442, 0x0200_0007, 0x0200_0009]
        );
        // The order of the declarations does not matter.
        assert_eq!(ids(&[("x", None), ("a", None)])[1], 0x022e_9442);
    }

    #[test]
    fn siblings_have_their_position_unless_it_is_taken() {
        let ids = |given: &[Option<u32>]| of_siblings(given.iter().copied());
        assert_eq!(ids(&[None, None]), [1, 2]);
        assert_eq!(ids(&[Some(2), None, None]), [2, 3, 4]);
        assert_eq!(ids(&[None, Some(1), Some(9)]), [2, 1, 9]);
    }

    #[test]
    fn nothing_shares_an_id() {
        let taken = Some(0x2e_9442);
        assert_eq!(
            ids(&[("a", None), ("b", taken), ("c", taken)])[..2],
            [0x022e_9443, 0x022e_9442]
        );
        let all = ids(&[("a", None), ("b", taken), ("c", taken)]);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 3);
    }
}

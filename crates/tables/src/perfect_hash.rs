//! Emits const tables with exact keys as an array in read-only data. A multiplication finds the only element where the
//! entry of a key may be. Such a table takes no map.

use crate::entries::{Entries, declare_key, plain_key};
use crate::target::Tables;
use cgen::tree::{Expr as C, Item, Stmt, Type};
use emit::Gen;
use emit::record::Record;
use emit::table::key::{KeyLayout, KeyPart};
use emit::table::value::{ValueLayout, constant};
use ir::{Entry, Expr, KeyMatch, MatchKind, TableData};
use smol_str::SmolStr;

/// Most entries for which a multiplier is found quickly.
const MOST: usize = 256;
/// Number of multipliers that are tried for each size of the array.
const TRIES: u64 = 20_000;

/// Const table that is searched by a perfect hash.
#[derive(Clone, Debug)]
pub(crate) struct PerfectHash {
    /// Name of the array.
    array: SmolStr,
    /// Struct of its elements.
    element: SmolStr,
    /// Layout of the key.
    key: KeyLayout,
    hash: Hash,
}

/// Hash function of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Hash {
    multiplier: u64,
    /// Number of bits in the array's index.
    bits: u32,
}

impl Hash {
    /// Returns the index of a key's element, as `perfect_place` computes it.
    fn place(self, key: &[u8]) -> usize {
        let words = key.chunks_exact(4).map(|word| {
            let word = word.try_into().map_or(0, u32::from_ne_bytes);
            u64::from(word)
        });
        let hash = words.fold(0u64, |hash, word| {
            (hash ^ word).wrapping_mul(self.multiplier)
        });
        (hash >> (64 - self.bits)) as usize
    }

    /// Finds a hash that gives each of these keys a different element.
    fn of(keys: &[Vec<u8>]) -> Option<Hash> {
        // For this size the expected number of collisions is so small that one of the multipliers tried has none.
        let least = (keys.len() * keys.len() / 16).max(2 * keys.len());
        let bits = least.next_power_of_two().ilog2().max(1);
        (bits..=bits + 2).find_map(|bits| {
            let mut numbers = (1..=TRIES).map(|number| Hash {
                multiplier: scrambled(number) | 1,
                bits,
            });
            numbers.find(|hash| {
                let mut taken = vec![false; 1 << bits];
                let mut places = keys.iter().map(|key| hash.place(key));
                places.all(|place| !std::mem::replace(&mut taken[place], true))
            })
        })
    }
}

/// Returns a pseudo-random number (the step of SplitMix64).
fn scrambled(number: u64) -> u64 {
    let mut bits = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// Bytes of a key, the key in C, and the entry with its number.
type Keyed<'a> = (Vec<u8>, C, u32, &'a Entry);

/// Returns the entries of a const table with their keys and numbers. `None` if there are too many, or keys are not
/// exact. Of entries with the same key the first one counts.
fn entries_of<'a>(data: &'a TableData, key: &KeyLayout) -> Option<Vec<Keyed<'a>>> {
    let exact = data.keys.iter().all(|key| key.kind == MatchKind::Exact);
    let fixed = data.const_entries && data.entries.iter().all(|entry| entry.is_const);
    if !exact || !fixed || data.entries.len() > MOST {
        return None;
    }
    let mut all: Vec<Keyed<'_>> = Vec::new();
    for (number, entry) in (1..).zip(&data.entries) {
        let mut bytes = vec![0; key.record.size as usize];
        let mut members = Vec::new();
        let fields = key.fields.iter().zip(&key.offsets);
        for (((member, form), at), found) in fields.zip(&entry.keys) {
            let KeyMatch::Exact(value) = found else {
                return None;
            };
            if form.width > 0 {
                let (init, raw) = constant(value, *form);
                bytes[*at as usize..][..raw.len()].copy_from_slice(&raw);
                members.push((Some(member.clone()), init));
            }
        }
        if all.iter().all(|(other, ..)| *other != bytes) {
            all.push((bytes, C::Init(members), number, entry));
        }
    }
    Some(all)
}

/// Declares the array, if the table can have a perfect hash.
pub(crate) fn declare<T: Tables>(
    g: &mut Gen<'_, T>,
    data: &TableData,
    layout: &ValueLayout,
    parts: &[KeyPart],
    entries: &Entries<'_>,
) -> Option<PerfectHash> {
    let short = entries.short;
    let form = plain_key(T::names(), SmolStr::default(), parts);
    let found = entries_of(data, &form)?;
    let keys: Vec<Vec<u8>> = found.iter().map(|(bytes, ..)| bytes.clone()).collect();
    let hash = Hash::of(&keys)?;
    let (key, key_abi) = declare_key(g, parts, entries);
    let element = g.file.names.fresh(&format!("{short}_element"));
    let mut record = Record::default();
    let (key_type, align) = (Type::Struct(key.name.clone()), key.record.align.max(4));
    record.add(key_type, "key", key_abi.size, align, "");
    let values = &entries.values;
    record.add(
        values.ty.clone(),
        "value",
        values.abi.size,
        layout.align.max(4),
        "",
    );
    g.file.declare_struct(&element, record.members);
    let array = g.file.names.fresh(&format!("{short}_elements"));
    let mut all = vec![C::Init(Vec::new()); 1 << hash.bits];
    for (bytes, key, number, entry) in found {
        let (value, _) = layout.value(&entry.action, Some(number));
        all[hash.place(&bytes)] = C::Init(vec![
            (Some("key".into()), key),
            (Some("value".into()), value),
        ]);
    }
    let count = all.len() as u32;
    let item = Item::Variable {
        ty: Type::Struct(element.clone()).array(count),
        name: array.clone(),
        init: Some(C::Init(all.into_iter().map(|one| (None, one)).collect())),
        attribute: None,
        constant: true,
    };
    T::declare_constants(&mut g.file.own, item);
    T::tables(&mut g.file.own).perfect_hash = true;
    Some(PerfectHash {
        array,
        element,
        key,
        hash,
    })
}

/// Emits the search for the entry of a key. Returns a pointer to it, which may be null.
pub(crate) fn search<T: Tables>(
    g: &mut Gen<'_, T>,
    table: &PerfectHash,
    exprs: &[Expr],
    entry: Type,
) -> C {
    let key = g.build_key(&table.key, exprs);
    let [found, value] = ["found", "entry"].map(|wish| g.file.names.fresh(wish));
    let words = || C::int((table.key.record.size / 4).into());
    let place = C::call(
        "perfect_place",
        vec![
            key.clone().addr(),
            words(),
            C::int(table.hash.multiplier),
            C::int(table.hash.bits.into()),
        ],
    );
    let element = Type::Struct(table.element.clone()).ptr();
    let at = C::Ident(table.array.clone()).index(place).addr();
    g.push(Stmt::decl(element.clone(), found.clone(), at.cast(element)));
    let found = || C::Ident(found.clone());
    // An element without an entry has action 0.
    let same = C::call(
        "same_key",
        vec![found().arrow("key").addr(), key.addr(), words()],
    );
    let is_it = C::and(found().arrow("value").member("action"), same);
    g.push(Stmt::decl(entry, value.clone(), C::id("NULL")));
    let hit = Stmt::Assign(C::Ident(value.clone()), found().arrow("value").addr());
    g.push(Stmt::If(is_it, vec![hit], Vec::new()));
    C::Ident(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_place_of_its_own() {
        for count in [9, 64, 256] {
            let key = |n: u32| [n.to_be_bytes(), (n * 7 % 5).to_ne_bytes()].concat();
            let keys: Vec<Vec<u8>> = (0..count).map(key).collect();
            let hash = Hash::of(&keys).expect("few keys");
            let places: std::collections::BTreeSet<usize> =
                keys.iter().map(|key| hash.place(key)).collect();
            assert_eq!(places.len(), keys.len());
            assert!(hash.bits <= 14, "{count}: {}", hash.bits);
        }
    }
}

//! Emits tables that are searched by bit vectors by key byte ([`BitVectorsAbi`]).

mod function;

use crate::describe;
use crate::entries::{Entries, declare_key, measured_key, shadow_map, whole};
use crate::target::Tables;
use cgen::tree::{BinOp, Expr as C, Stmt, Type};
use emit::memory;
use emit::table::key::{KeyLayout, KeyPart};
use emit::{Event, Gen};
use ir::{Expr, MatchKind};
use layout::{
    BitVectorsAbi, ByteOrder, FieldAbi, KeyAbi, Lane, MOST_BLOCKS, Map, MapKind, RowForm, Test,
    WORDS_AT_ONCE,
};
use smol_str::SmolStr;

/// Most positions for which the blocks' words fit into registers.
const MOST_POSITIONS: u64 = WORDS_AT_ONCE as u64 * MOST_BLOCKS as u64 * 64;
/// Largest half of the rows, in bytes. It is one value of a map, for which some targets allocate at most 4 MiB.
const ROWS_LIMIT: u64 = 1 << 22;

/// Width above which a range is wide, in bits. The search keeps a pointer to each row of a range on a stack of 512
/// bytes. Rows with a summary leave room for one wide range.
const WIDE_RANGE: u32 = 64;

/// Table that is searched by bit vectors.
#[derive(Clone, Debug)]
pub(crate) struct BitVectors {
    /// Function that finds the position of an entry.
    find: SmolStr,
    /// Map of the entries' values.
    entries: SmolStr,
    /// Layout of the key.
    key: KeyLayout,
    /// Member of the globals that holds the half in use, and whether there are entries.
    head: SmolStr,
}

/// Returns the layout of the rows of a table with such keys and `size` entries. `None` if a half would be too large.
pub(crate) fn form(parts: &[KeyPart], kinds: &[MatchKind], size: u64) -> Option<RowForm> {
    let parts = whole(parts);
    let key = describe::key(&measured_key(&parts), &parts);
    if size > MOST_POSITIONS {
        return None;
    }
    let form = RowForm::of_size(lanes(&key, kinds), size);
    let with_kinds = key.fields.iter().zip(kinds);
    let ranges = with_kinds.filter(|(_, kind)| **kind == MatchKind::Range);
    let wide = ranges.filter(|(field, _)| field.width > WIDE_RANGE).count();
    let fits_stack = wide <= 1 || form.blocks() == 1;
    (!form.lanes.is_empty() && form.bytes() <= ROWS_LIMIT && fits_stack).then_some(form)
}

/// Returns the lanes of a key.
fn lanes(key: &KeyAbi, kinds: &[MatchKind]) -> Vec<Lane> {
    let mut all = Vec::new();
    for (number, (field, kind)) in key.fields.iter().zip(kinds).enumerate() {
        let digits = field.width.div_ceil(8);
        for digit in 0..digits {
            let tests: &[Test] = match kind {
                MatchKind::Range if digit + 1 < digits => {
                    &[Test::Above, Test::From, Test::Below, Test::To]
                }
                MatchKind::Range => &[Test::From, Test::To],
                _ => &[Test::Accepts],
            };
            all.extend(tests.iter().map(|&test| Lane {
                field: number as u32,
                digit,
                offset: place(field, digit),
                test,
            }));
        }
    }
    all
}

/// Returns the offset of a byte of a field's value; `digit` 0 is the most significant one.
fn place(field: &FieldAbi, digit: u32) -> u32 {
    let from_last = field.width.div_ceil(8) - 1 - digit;
    let reversed = field.order == ByteOrder::Host && cfg!(target_endian = "little");
    match reversed {
        true => field.offset + from_last,
        false => field.offset + field.size - 1 - from_last,
    }
}

/// Declares the maps, structs and the function of a search by bit vectors.
pub(crate) fn declare<T: Tables>(
    g: &mut Gen<'_, T>,
    parts: &[KeyPart],
    form: RowForm,
    entries: &Entries<'_>,
) -> (BitVectors, BitVectorsAbi) {
    let Entries {
        short,
        ref values,
        size,
        ..
    } = *entries;
    let (key, key_abi) = declare_key(g, &whole(parts), entries);
    let named = |g: &mut Gen<'_, T>, what: &str| g.file.names.fresh_short(short, what, T::MAP_NAME);
    let [rows, places, found, shadow] =
        ["_rows", "_places", "", "_shadow"].map(|what| named(g, what));
    let array = |name: &SmolStr, bytes: u32, count: u64, mapped: bool| Map {
        mapped,
        ..Map::new(name.as_str(), MapKind::Array, 4, bytes, count)
    };
    memory::declare(g, array(&rows, form.bytes() as u32, 2, true), None);
    memory::declare(g, array(&places, 4, 2 * size, true), None);
    memory::declare(
        g,
        array(&found, values.abi.size, 2 * size, false),
        Some((Type::U32, values.ty.clone())),
    );
    memory::declare(g, shadow_map(&shadow, parts, entries), None);
    let head = g.file.names.fresh(&format!("{short}_entries"));
    let kept = T::kept(&mut g.file.own);
    let head_offset = kept.add_global(Type::U64, &head, 8, None, vec![0; 8]);
    let find = g.file.names.fresh(&format!("{short}_find"));
    let abi = BitVectorsAbi {
        rows: rows.to_string(),
        form,
        entries: found.to_string(),
        places: places.to_string(),
        positions: size as u32,
        key: key_abi,
        value: values.abi.clone(),
        head_offset,
        shadow: shadow.to_string(),
    };
    let function = function::find(&g.target, &find, &key.name, &abi);
    g.file.functions.push(function);
    T::tables(&mut g.file.own).bit_vectors = true;
    let bits = BitVectors {
        find,
        entries: found,
        key,
        head,
    };
    (bits, abi)
}

/// Emits the search for the entry that wins. Returns a pointer to it, which may be null.
pub(crate) fn search<T: Tables>(
    g: &mut Gen<'_, T>,
    bits: &BitVectors,
    exprs: &[Expr],
    entry_type: Type,
) -> C {
    let [best, head, place] = ["best", "entries", "place"].map(|wish| g.file.names.fresh(wish));
    let id = |n: &SmolStr| C::Ident(n.clone());
    g.push(Stmt::decl(entry_type, best.clone(), C::id("NULL")));
    let globals = C::id(T::GLOBALS).member(bits.head.clone());
    g.push(Stmt::decl(Type::U64, head.clone(), globals));
    let count = C::bin(BinOp::Shr, id(&head), C::int(32)).cast(Type::U32);
    // If there are no entries, no key is built.
    let outer = std::mem::take(&mut g.out);
    let key = g.build_key(&bits.key, exprs);
    // Values computed for the key may not have been computed.
    g.kill_computed();
    let half = id(&head).cast(Type::U32);
    g.on(Event::Searches);
    let found = C::call(bits.find.clone(), vec![key.addr(), half]);
    g.push(Stmt::decl(Type::U32, place.clone(), found));
    g.set(id(&best), T::find(&bits.entries, id(&place).addr()));
    let search = std::mem::replace(&mut g.out, outer);
    g.push(Stmt::If(count, search, Vec::new()));
    id(&best)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(width: u32) -> KeyPart {
        KeyPart {
            name: "k".into(),
            width,
            prefix: false,
        }
    }

    fn rows(widths: &[u32], kind: MatchKind, size: u64) -> Option<RowForm> {
        let parts: Vec<KeyPart> = widths.iter().map(|&width| part(width)).collect();
        form(&parts, &vec![kind; widths.len()], size)
    }

    #[test]
    fn a_row_has_whole_blocks_and_a_summary_if_it_has_several() {
        let found = |size| {
            let rows = rows(&[8], MatchKind::Ternary, size).expect("small");
            (rows.words, rows.stride())
        };
        assert_eq!(found(1), (1, 1));
        assert_eq!(found(64), (1, 1));
        assert_eq!(found(65), (2, 2));
        assert_eq!(found(256), (4, 4));
        assert_eq!(found(257), (8, 9));
        assert_eq!(found(600), (16, 17));
        assert_eq!(found(1_000), (16, 17));
        assert_eq!(found(4_096), (64, 65));
        assert_eq!(found(4_097), (68, 69));
        assert_eq!(found(9_900), (156, 157));
        assert_eq!(found(16_384), (256, 257));
    }

    #[test]
    fn what_is_too_large_has_no_rows() {
        assert_eq!(rows(&[8], MatchKind::Ternary, 16_385), None);
        assert!(rows(&[32, 32, 16, 16, 8], MatchKind::Ternary, 9_984).is_some());
        assert_eq!(rows(&[32, 32, 16, 16, 8], MatchKind::Ternary, 10_000), None);
        assert_eq!(rows(&[], MatchKind::Ternary, 8), None);
    }

    #[test]
    fn each_byte_that_counts_is_asked() {
        let found = rows(&[20, 48], MatchKind::Ternary, 8).expect("small");
        let bytes: Vec<u32> = found.lanes.iter().map(|lane| lane.offset).collect();
        // 20 bits are in the machine's byte order, 48 in network byte order.
        match cfg!(target_endian = "little") {
            true => assert_eq!(bytes, [10, 9, 8, 0, 1, 2, 3, 4, 5]),
            false => assert_eq!(bytes, [9, 10, 11, 0, 1, 2, 3, 4, 5]),
        }
        let range = rows(&[16], MatchKind::Range, 8).expect("small");
        let tests: Vec<(u32, Test)> = range.lanes.iter().map(|l| (l.digit, l.test)).collect();
        let first = [Test::Above, Test::From, Test::Below, Test::To].map(|test| (0, test));
        assert_eq!(tests[..4], first);
        assert_eq!(tests[4..], [(1, Test::From), (1, Test::To)]);
    }
}

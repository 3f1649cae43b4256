//! Tuple space search: entries with equal masks share a hash map under their tuple's number.

mod search;

pub(crate) use search::search;

use crate::entries::{Entries, declare_key, shadow_map, whole};
use crate::target::Tables;
use cgen::tree::Type;
use emit::Gen;
use emit::memory;
use emit::record::Record;
use emit::table::key::{KeyLayout, KeyPart};
use layout::{Map, MapKind, TupleSpaceAbi};
use search::Iterations;
use smol_str::SmolStr;

/// Most entries that ranges may expand to, in all.
const EXPANDED_LIMIT: u64 = 1 << 20;
/// Most masks in a half of the list.
const MASK_LIMIT: u64 = 1 << 14;

/// Tuple space of a table.
#[derive(Clone, Debug)]
pub(crate) struct TupleSpace {
    /// Map of masks.
    masks: SmolStr,
    /// Struct of a mask.
    mask: SmolStr,
    /// Map of entries.
    entries: SmolStr,
    /// Struct of the entries' keys: the tuple and the masked key.
    tuple_key: SmolStr,
    /// Layout of the key.
    key: KeyLayout,
    /// Member of the globals that holds the list's head.
    head: SmolStr,
    /// Iteration over the list.
    iterations: Iterations,
}

/// Key of a tuple space search.
pub(crate) struct SearchKey<'a> {
    /// Parts of the key.
    pub parts: &'a [KeyPart],
    /// Most masks that one entry may take.
    pub expansion: u64,
}

/// Returns the most masks that an entry with ranges of these widths may take. Widths are in bits.
pub(crate) fn expansion(ranges: impl Iterator<Item = u32>) -> u64 {
    ranges
        .map(|width| u64::from(2 * width).saturating_sub(2).max(1))
        .product()
}

/// Declares the maps and structs of a tuple space search.
pub(crate) fn declare<T: Tables>(
    g: &mut Gen<'_, T>,
    key: &SearchKey<'_>,
    entries: &Entries<'_>,
) -> (TupleSpace, TupleSpaceAbi) {
    let SearchKey { parts, expansion } = *key;
    let Entries {
        short,
        ref values,
        size,
        ..
    } = *entries;
    let value_size = values.abi.size;
    let parts = whole(parts);
    let (key, key_abi) = declare_key(g, &parts, entries);
    let key_type = Type::Struct(key.name.clone());
    let padded = key_abi.size.next_multiple_of(8);
    let with_head = |second: &str| {
        let mut record = Record::default();
        record.add(Type::U32, "tuple", 4, 4, "");
        record.add(Type::U32, second, 4, 4, "");
        record.add(key_type.clone(), "key", key_abi.size, 8, "");
        record.pad_to(8);
        record.members
    };
    let mask = g.file.names.fresh(&format!("{short}_mask"));
    g.file.declare_struct(&mask, with_head("top"));
    let tuple_key = g.file.names.fresh(&format!("{short}_tuple"));
    g.file.declare_struct(&tuple_key, with_head("unused"));
    let max_masks = size.saturating_mul(expansion).clamp(1, MASK_LIMIT);
    let expanded = size.saturating_mul(expansion).min(EXPANDED_LIMIT.max(size));
    let named = |g: &mut Gen<'_, T>, what: &str| g.file.names.fresh_short(short, what, T::MAP_NAME);
    let [masks, found, shadow] = ["_masks", "", "_shadow"].map(|what| named(g, what));
    // One more element is used by the control plane only ([`TupleSpaceAbi::tally`]). It must not be added later, since
    // inner maps of an outer map must all have the same size.
    let elements = 2 * max_masks + 1;
    memory::declare(
        g,
        Map::new(masks.as_str(), MapKind::Array, 4, 8 + padded, elements),
        Some((Type::U32, Type::Struct(mask.clone()))),
    );
    let of_key = 8 + padded;
    let of_found = Map {
        // Most of the memory that ranges may need is never used.
        on_demand: expansion > 1,
        ..Map::new(found.as_str(), MapKind::Hash, of_key, value_size, expanded)
    };
    memory::declare(
        g,
        of_found,
        Some((Type::Struct(tuple_key.clone()), values.ty.clone())),
    );
    memory::declare(g, shadow_map(&shadow, &parts, entries), None);
    let head = g.file.names.fresh(&format!("{short}_list"));
    let kept = T::kept(&mut g.file.own);
    let head_offset = kept.add_global(Type::U64, &head, 8, None, vec![0; 8]);
    let abi = TupleSpaceAbi {
        masks: masks.to_string(),
        mask_offset: 8,
        max_masks: max_masks as u32,
        entries: found.to_string(),
        key_offset: 8,
        key: key_abi,
        value: values.abi.clone(),
        head_offset,
        shadow: shadow.to_string(),
    };
    let space = TupleSpace {
        masks,
        mask,
        entries: found,
        tuple_key,
        key,
        head,
        iterations: Iterations::Jump,
    };
    (space.with_iterations(g, short, values.ty.clone()), abi)
}

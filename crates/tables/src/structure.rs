//! Choice of a table's structure: bit vectors or tuple space search if entries may overlap, the target's trie or a
//! multibit trie for prefixes, the target's hash table or buckets for exact keys.

use crate::bit_vectors;
use crate::buckets;
use crate::budget;
use crate::entries::{Entries, measured_key};
use crate::errors;
use crate::lookup::Lookup;
use crate::multibit_trie::{self, Room};
use crate::one_map;
use crate::target::Tables;
use crate::tuple_space::{self, SearchKey};
use diag::Span;
use emit::Gen;
use emit::table::key::{self, KeyPart};
use emit::table::{has_priorities, property};
use ir::{Annotation, MatchKind, TableData, ValueSetData};
use layout::{LookupAbi, Matching, Structure};

/// Annotation that chooses the structure.
const ANNOTATION: &str = "layout";

/// Extern that, as a property of a table, requests a hash table.
pub(crate) const HASH_TABLE: &str = "hash_table";

/// Declared entries from which a table with exact keys has buckets even if its target spares maps. A hit takes half to
/// three quarters of the hash table's time; a miss takes as long in small tables, and less in large ones
/// (`make bench-tables`).
const MANY: u64 = 50_000;

/// Table or value set whose structure is chosen.
pub(crate) struct Chosen<'a> {
    /// Control-plane name.
    pub name: &'a str,
    /// Annotations of the table or value set.
    pub annotations: &'a [Annotation],
    /// Match kinds, which decide what structures it can have. `None` if there is no choice.
    pub matching: Option<Matching>,
    /// Declaration of the table or value set.
    pub span: Span,
}

impl Chosen<'_> {
    /// Returns the choice for a table.
    pub(crate) fn table(data: &TableData) -> Chosen<'_> {
        Chosen {
            name: &data.name,
            annotations: &data.annotations,
            matching: Some(match has_priorities(data) {
                true => Matching::Overlapping,
                false if data.keys.iter().any(|key| key.kind == MatchKind::Lpm) => {
                    Matching::Prefixes
                }
                false => Matching::Exact,
            }),
            span: data.span,
        }
    }

    /// Returns the choice for a value set, which has priorities unless all of its fields are exact.
    pub(crate) fn value_set(data: &ValueSetData) -> Chosen<'_> {
        let mut kinds = data.fields.iter().map(|(_, _, kind)| *kind);
        Chosen {
            name: &data.name,
            annotations: &data.annotations,
            matching: kinds
                .any(|kind| kind != MatchKind::Exact)
                .then_some(Matching::Overlapping),
            span: data.span,
        }
    }
}

/// Returns the structure that an annotation requests.
pub(crate) fn wanted<T: Tables>(g: &mut Gen<'_, T>, of: &Chosen<'_>) -> Option<Structure> {
    let annotation = of.annotations.iter().find(|a| a.name == ANNOTATION)?;
    let target = g.target.name();
    let named = match &annotation.values[..] {
        [name] => Structure::ALL
            .into_iter()
            .find(|layout| layout.name() == name),
        _ => None,
    };
    let Some(named) = named else {
        let given = annotation.values.join(", ");
        g.refuse(errors::unknown_layout(target, of.name, &given, of.span));
        return None;
    };
    let fits = of.matching == Some(named.matching());
    if !fits {
        g.refuse(errors::layout_of_no_use(target, of.name, named, of.span));
    }
    fits.then_some(named)
}

/// Declares the structure of a table, by its match kinds.
pub(crate) fn declare<T: Tables>(
    g: &mut Gen<'_, T>,
    data: &TableData,
    wanted: Option<Structure>,
    entries: &Entries<'_>,
) -> (Lookup, LookupAbi) {
    let parts = key::parts(g.p, &data.keys);
    if has_priorities(data) {
        let kinds: Vec<MatchKind> = key::matched(&data.keys).map(|key| key.kind).collect();
        return declare_overlapping(g, &parts, &kinds, wanted, entries);
    }
    match key::matched(&data.keys).position(|k| k.kind == MatchKind::Lpm) {
        Some(lpm) => declare_prefixes(g, lpm, &parts, wanted, entries),
        None => {
            let hash = property(g.p, data, HASH_TABLE).is_some();
            declare_exact(g, hash, &parts, wanted, entries)
        }
    }
}

/// Returns the approximate size of a map with `size` elements for such entries, in bytes.
fn leanest(parts: &[KeyPart], entries: &Entries<'_>, size: u64) -> u64 {
    let key = measured_key(parts).record.size;
    budget::single_entries(size, key, entries.values.abi.size)
}

/// Declares a table whose entries may overlap.
pub(crate) fn declare_overlapping<T: Tables>(
    g: &mut Gen<'_, T>,
    parts: &[KeyPart],
    kinds: &[MatchKind],
    wanted: Option<Structure>,
    entries: &Entries<'_>,
) -> (Lookup, LookupAbi) {
    let with_kinds = parts.iter().zip(kinds);
    let ranges = with_kinds.filter(|(_, kind)| **kind == MatchKind::Range);
    let expansion = tuple_space::expansion(ranges.map(|(part, _)| part.width));
    let rows = match wanted.or(g.target.preferred()) {
        Some(Structure::TupleSpace) => None,
        _ => bit_vectors::form(parts, kinds, entries.size).filter(|rows| {
            let masked = entries.size.saturating_mul(expansion);
            let leanest = leanest(parts, entries, masked);
            // There are two halves.
            wanted.is_some() || g.target.budget().admits(2 * rows.bytes(), leanest)
        }),
    };
    if let Some(rows) = rows {
        let (bits, abi) = bit_vectors::declare(g, parts, rows, entries);
        return (Lookup::BitVectors(bits), LookupAbi::BitVectors(abi));
    }
    if wanted == Some(Structure::BitVectors) {
        let target = g.target.name();
        g.refuse(errors::too_large_for_bit_vectors(
            target,
            entries.name,
            entries.size,
            entries.span,
        ));
    }
    let key = SearchKey { expansion, parts };
    let (space, abi) = tuple_space::declare(g, &key, entries);
    (Lookup::TupleSpace(space), LookupAbi::TupleSpace(abi))
}

/// Declares a table with prefixes. `lpm` is the index of the P4 key with the prefix.
fn declare_prefixes<T: Tables>(
    g: &mut Gen<'_, T>,
    lpm: usize,
    parts: &[KeyPart],
    wanted: Option<Structure>,
    entries: &Entries<'_>,
) -> (Lookup, LookupAbi) {
    let general = g.target.preferred();
    let general = general.filter(|layout| layout.matching() == Matching::Prefixes);
    let value = entries.values.abi.size;
    let fits = |room: &Room| {
        let bytes = room.bytes(measured_key(parts).record.size, value);
        let leanest = leanest(parts, entries, entries.size);
        g.target.budget().allows(bytes, leanest)
    };
    let room = Room::of(parts, value, entries.size, g.target.budget().every());
    let room = room.filter(|room| match wanted.or(general) {
        Some(structure) => structure == Structure::MultibitTrie,
        None => !g.target.spares_maps() && fits(room),
    });
    if let Some(room) = room {
        let (trie, abi) = multibit_trie::declare(g, lpm, parts, room, entries);
        return (Lookup::MultibitTrie(trie), LookupAbi::MultibitTrie(abi));
    }
    if wanted == Some(Structure::MultibitTrie) {
        let target = g.target.name();
        g.refuse(errors::too_large_for_multibit_trie(
            target,
            entries.name,
            entries.size,
            entries.span,
        ));
    }
    let (trie, abi) = one_map::declare_trie(g, lpm, parts, entries);
    (Lookup::OneMap(trie), abi)
}

/// Declares a table with exact keys. `asks_for_hash` is true if its properties request a hash table.
fn declare_exact<T: Tables>(
    g: &mut Gen<'_, T>,
    asks_for_hash: bool,
    parts: &[KeyPart],
    wanted: Option<Structure>,
    entries: &Entries<'_>,
) -> (Lookup, LookupAbi) {
    let is_array = wanted.is_none() && !asks_for_hash && one_map::fits_array(parts, entries);
    if is_array {
        let (array, abi) = one_map::declare_array(g, parts, entries);
        return (Lookup::OneMap(array), abi);
    }
    let general = g.target.preferred();
    let general = general.filter(|layout| layout.matching() == Matching::Exact);
    let chosen = match asks_for_hash || g.target.spares_maps() && entries.size < MANY {
        true => Structure::HashMap,
        false => Structure::Buckets,
    };
    let room = match wanted.or(general).unwrap_or(chosen) {
        Structure::Buckets => buckets::Room::of(parts, &entries.values.abi, entries.size),
        _ => None,
    };
    if let Some(room) = room {
        let (found, abi) = buckets::declare(g, parts, room, entries);
        return (Lookup::Buckets(found), LookupAbi::Buckets(abi));
    }
    if wanted == Some(Structure::Buckets) {
        let target = g.target.name();
        g.refuse(errors::too_large_for_buckets(
            target,
            entries.name,
            entries.size,
            entries.span,
        ));
    }
    let (hash, abi) = one_map::declare_hash(g, parts, entries);
    (Lookup::OneMap(hash), abi)
}

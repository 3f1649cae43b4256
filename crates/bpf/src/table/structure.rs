//! Which structure a table has where there is a choice: bit vectors or tuple space search if its entries may overlap, the
//! kernel's trie or a multibit trie if they have prefixes, the kernel's hash map or buckets if they are exact.

use super::Entries;
use super::bit_vectors;
use super::buckets;
use super::lookup::{self, Lookup};
use super::multibit_trie::{self, Room};
use super::tuple_space::{self, Shape};
use crate::errors;
use crate::target::Gen;
use diag::Span;
use emit::table::has_priorities;
use emit::table::key::KeyPart;
use ir::{Annotation, MatchKind, TableData, ValueSetData};
use layout::LookupAbi;
use layout::{Matching, Structure};

/// The annotation that chooses.
const ANNOTATION: &str = "layout";

/// A table or value set whose layout is chosen.
pub(crate) struct Chosen<'a> {
    /// Its control-plane name.
    pub name: &'a str,
    /// Its annotations.
    pub annotations: &'a [Annotation],
    /// What layouts are for it; `None` if there is no choice.
    pub matching: Option<Matching>,
    /// Its declaration.
    pub span: Span,
}

impl Chosen<'_> {
    /// A table.
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

    /// A value set, which has priorities unless all of its fields are exact.
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

/// The structure that an annotation asks for.
pub(crate) fn wanted(g: &mut Gen<'_>, of: &Chosen<'_>) -> Option<Structure> {
    let annotation = of.annotations.iter().find(|a| a.name == ANNOTATION)?;
    let hook = g.target.options.hook;
    let named = match &annotation.values[..] {
        [name] => Structure::ALL
            .into_iter()
            .find(|layout| layout.name() == name),
        _ => None,
    };
    let Some(named) = named else {
        let given = annotation.values.join(", ");
        g.refuse(errors::table::unknown_layout(
            hook, of.name, &given, of.span,
        ));
        return None;
    };
    let fits = of.matching == Some(named.matching());
    if !fits {
        g.refuse(errors::table::layout_of_no_use(
            hook, of.name, named, of.span,
        ));
    }
    fits.then_some(named)
}

/// Declares a table whose entries may overlap.
pub(crate) fn declare(
    g: &mut Gen<'_>,
    name: &str,
    parts: &[KeyPart],
    kinds: &[MatchKind],
    wanted: Option<Structure>,
    entries: &Entries<'_>,
) -> (Lookup, LookupAbi) {
    let rows = match wanted.or(g.target.options.layout) {
        Some(Structure::TupleSpace) => None,
        _ => bit_vectors::form(parts, kinds, entries.size),
    };
    if let Some(rows) = rows {
        let (bits, abi) = bit_vectors::declare(g, parts, rows, entries);
        return (Lookup::BitVectors(bits), LookupAbi::BitVectors(abi));
    }
    if wanted == Some(Structure::BitVectors) {
        let hook = g.target.options.hook;
        g.refuse(errors::table::too_large_for_bit_vectors(
            hook,
            name,
            entries.size,
            entries.span,
        ));
    }
    let with_kinds = parts.iter().zip(kinds);
    let ranges = with_kinds.filter(|(_, kind)| **kind == MatchKind::Range);
    let shape = Shape {
        expansion: tuple_space::expansion(ranges.map(|(part, _)| part.width)),
        parts,
    };
    let (space, abi) = tuple_space::declare(g, &shape, entries);
    (Lookup::TupleSpace(space), LookupAbi::TupleSpace(abi))
}

/// Declares a table of which the P4 key of this number has a prefix.
pub(crate) fn declare_prefixes(
    g: &mut Gen<'_>,
    table: &str,
    lpm: usize,
    parts: &[KeyPart],
    wanted: Option<Structure>,
    entries: &Entries<'_>,
) -> (Lookup, LookupAbi) {
    let general = g.target.options.layout;
    let general = general.filter(|layout| layout.matching() == Matching::Prefixes);
    let by_size = match entries.size > multibit_trie::FEW {
        true => Structure::MultibitTrie,
        false => Structure::Trie,
    };
    let room = match wanted.or(general).unwrap_or(by_size) {
        Structure::MultibitTrie => Room::of(parts, entries.values.abi.size, entries.size),
        _ => None,
    };
    if let Some(room) = room {
        let (trie, abi) = multibit_trie::declare(g, lpm, parts, room, entries);
        return (Lookup::MultibitTrie(trie), LookupAbi::MultibitTrie(abi));
    }
    if wanted == Some(Structure::MultibitTrie) {
        let hook = g.target.options.hook;
        g.refuse(errors::table::too_large_for_multibit_trie(
            hook,
            table,
            entries.size,
            entries.span,
        ));
    }
    lookup::declare_trie(g, table, lpm, parts, entries)
}

/// Declares a table with exact keys, which asks for the kernel's hash map, or does not.
pub(crate) fn declare_exact(
    g: &mut Gen<'_>,
    table: &str,
    asks_for_hash: bool,
    parts: &[KeyPart],
    wanted: Option<Structure>,
    entries: &Entries<'_>,
) -> (Lookup, LookupAbi) {
    let is_array = wanted.is_none() && !asks_for_hash && lookup::is_array(parts, entries);
    if is_array {
        return lookup::declare_array(g, parts, entries);
    }
    let general = g.target.options.layout;
    let general = general.filter(|layout| layout.matching() == Matching::Exact);
    let by_size = match entries.size >= buckets::MANY && !asks_for_hash {
        true => Structure::Buckets,
        false => Structure::HashMap,
    };
    let room = match wanted.or(general).unwrap_or(by_size) {
        Structure::Buckets => buckets::Room::of(parts, &entries.values.abi, entries.size),
        _ => None,
    };
    if let Some(room) = room {
        let (found, abi) = buckets::declare(g, parts, room, entries);
        return (Lookup::Buckets(found), LookupAbi::Buckets(abi));
    }
    if wanted == Some(Structure::Buckets) {
        let hook = g.target.options.hook;
        g.refuse(errors::table::too_large_for_buckets(
            hook,
            table,
            entries.size,
            entries.span,
        ));
    }
    lookup::declare_hash(g, table, parts, entries)
}

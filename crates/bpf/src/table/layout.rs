//! Which structure a table has where there is a choice: bit vectors or tuple space search if its entries may overlap, the
//! kernel's trie or a multibit trie if they have prefixes.

use super::Entries;
use super::bit_vectors;
use super::lookup::{self, Lookup};
use super::multibit_trie::{self, Room};
use super::tuple_space::{self, Shape};
use crate::abi::LookupAbi;
use crate::target::Gen;
use crate::{Layout, errors};
use diag::Span;
use emit::table::has_priorities;
use emit::table::key::KeyPart;
use ir::{Annotation, MatchKind, TableData, ValueSetData};

/// The annotation that chooses.
const ANNOTATION: &str = "layout";

/// A table or value set whose layout is chosen.
pub(crate) struct Chosen<'a> {
    /// Its control-plane name.
    pub name: &'a str,
    /// Its annotations.
    pub annotations: &'a [Annotation],
    /// Its entries may overlap, so that more than their keys decides.
    pub overlap: bool,
    /// It has a prefix.
    pub prefix: bool,
    /// Its declaration.
    pub span: Span,
}

impl Chosen<'_> {
    /// A table.
    pub(crate) fn table(data: &TableData) -> Chosen<'_> {
        Chosen {
            name: &data.name,
            annotations: &data.annotations,
            overlap: has_priorities(data),
            prefix: data.keys.iter().any(|key| key.kind == MatchKind::Lpm),
            span: data.span,
        }
    }

    /// A value set, which has priorities unless all of its fields are exact.
    pub(crate) fn value_set(data: &ValueSetData) -> Chosen<'_> {
        let mut kinds = data.fields.iter().map(|(_, _, kind)| *kind);
        Chosen {
            name: &data.name,
            annotations: &data.annotations,
            overlap: kinds.any(|kind| kind != MatchKind::Exact),
            prefix: false,
            span: data.span,
        }
    }
}

/// The structure that an annotation asks for.
pub(crate) fn wanted(g: &mut Gen<'_>, of: &Chosen<'_>) -> Option<Layout> {
    let annotation = of.annotations.iter().find(|a| a.name == ANNOTATION)?;
    let hook = g.target.options.hook;
    let named = match &annotation.values[..] {
        [name] => Layout::ALL.into_iter().find(|layout| layout.name() == name),
        _ => None,
    };
    let Some(named) = named else {
        let given = annotation.values.join(", ");
        g.refuse(errors::table::unknown_layout(
            hook, of.name, &given, of.span,
        ));
        return None;
    };
    let fits = match named.is_for_prefixes() {
        true => of.prefix && !of.overlap,
        false => of.overlap,
    };
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
    wanted: Option<Layout>,
    entries: &Entries<'_>,
) -> (Lookup, LookupAbi) {
    let rows = match wanted.or(g.target.options.layout) {
        Some(Layout::TupleSpace) => None,
        _ => bit_vectors::form(parts, kinds, entries.size),
    };
    if let Some(rows) = rows {
        let (bits, abi) = bit_vectors::declare(g, parts, rows, entries);
        return (Lookup::BitVectors(bits), LookupAbi::BitVectors(abi));
    }
    if wanted == Some(Layout::BitVectors) {
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
    wanted: Option<Layout>,
    entries: &Entries<'_>,
) -> (Lookup, LookupAbi) {
    let general = g.target.options.layout.filter(|l| l.is_for_prefixes());
    let by_size = match entries.size > multibit_trie::FEW {
        true => Layout::MultibitTrie,
        false => Layout::Trie,
    };
    let room = match wanted.or(general).unwrap_or(by_size) {
        Layout::MultibitTrie => Room::of(parts, entries.values.abi.size, entries.size),
        _ => None,
    };
    if let Some(room) = room {
        let (trie, abi) = multibit_trie::declare(g, lpm, parts, room, entries);
        return (Lookup::MultibitTrie(trie), LookupAbi::MultibitTrie(abi));
    }
    if wanted == Some(Layout::MultibitTrie) {
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

//! Which of the two structures a table has whose entries may overlap: bit vectors or tuple space search.

use super::Entries;
use super::bit_vectors::{self, Rows};
use super::lookup::Lookup;
use super::tuple_space::{self, Shape};
use crate::abi::LookupAbi;
use crate::target::Gen;
use crate::{Layout, errors};
use emit::table::has_priorities;
use emit::table::key::KeyPart;
use ir::{MatchKind, TableData};

/// The annotation that chooses.
const ANNOTATION: &str = "layout";

/// The structure that a table's annotation asks for.
pub(crate) fn wanted(g: &mut Gen<'_>, data: &TableData) -> Option<Layout> {
    let annotation = data.annotations.iter().find(|a| a.name == ANNOTATION)?;
    let hook = g.target.options.hook;
    let named = match &annotation.values[..] {
        [name] => Layout::ALL.into_iter().find(|layout| layout.name() == name),
        _ => None,
    };
    if named.is_none() {
        let given = annotation.values.join(", ");
        g.refuse(errors::table::unknown_layout(
            hook, &data.name, &given, data.span,
        ));
    } else if !has_priorities(data) {
        g.refuse(errors::table::layout_of_no_use(hook, &data.name, data.span));
    }
    named
}

/// Declares a table whose entries may overlap.
pub(crate) fn declare(
    g: &mut Gen<'_>,
    parts: &[KeyPart],
    kinds: &[MatchKind],
    wanted: Option<Layout>,
    entries: &Entries<'_>,
) -> (Lookup, LookupAbi) {
    let rows = match wanted.or(g.target.options.layout) {
        None | Some(Layout::BitVectors) => Rows::of(parts, kinds, entries.size),
        Some(Layout::TupleSpace) => None,
    };
    if let Some(rows) = rows {
        let (bits, abi) = bit_vectors::declare(g, parts, rows, entries);
        return (Lookup::BitVectors(bits), LookupAbi::BitVectors(abi));
    }
    if wanted == Some(Layout::BitVectors) {
        let hook = g.target.options.hook;
        g.refuse(errors::table::too_large_for_bit_vectors(
            hook,
            entries.short,
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

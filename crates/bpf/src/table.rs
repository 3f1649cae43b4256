//! Tables as BPF has them: what crate `tables` asks of the target, what is kept for each entry, and what people call their structures.

use crate::emitter::{Bpf, Gen, STATIC_FUNC, Shared, needs};
use crate::features::Feature;
use crate::uses::Construct;
use cgen::tree::Expr as C;
use emit::table::TableShape;
use layout::Structure;
use state::direct::Direct;
use tables::{Tables, TurnCalls};

/// A table: its entries, its default action, and the direct objects of its entries.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub entries: tables::Table,
    pub direct: Option<Direct>,
}

/// Declares what a table needs.
pub(crate) fn declare(g: &mut Gen<'_>, shape: &TableShape<'_>) -> Table {
    let mut direct = None;
    let entries = tables::declare(g, shape, |g, entries| {
        let (kept, abi) = Direct::declare(g, shape, entries)?;
        direct = Some(kept);
        Some(abi)
    });
    Table { entries, direct }
}

impl Tables for Bpf {
    fn tables(file: &mut Shared) -> &mut tables::Shared {
        &mut file.tables
    }

    fn preferred(&self) -> Option<Structure> {
        self.options.layout
    }

    fn turn_calls(g: &mut Gen<'_>) -> Option<TurnCalls> {
        let jumps = needs(g, Construct::MaskSearch).needs == Some(Feature::MayGoto);
        (!jumps).then_some(TurnCalls {
            linkage: STATIC_FUNC,
            run: |count, turn, with| C::call("bpf_loop", vec![count, turn, with, C::int(0)]),
        })
    }
}

/// A table's structure, as people read it.
pub fn title(structure: Structure) -> &'static str {
    match structure {
        Structure::BitVectors => "bit vectors",
        Structure::TupleSpace => "tuple space search",
        Structure::Trie => "the kernel's trie",
        Structure::MultibitTrie => "multibit trie",
        Structure::HashMap => "the kernel's hash map",
        Structure::Buckets => "buckets",
    }
}

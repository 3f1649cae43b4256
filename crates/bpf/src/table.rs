//! BPF's side of tables: answers to the questions of crate `tables`, and names of their structures for people.

use crate::emitter::{Bpf, Gen, STATIC_FUNC, Shared, needs};
use crate::features::Feature;
use crate::uses::Construct;
use cgen::tree::Expr as C;
use layout::Structure;
use tables::{Budget, IterationCalls, Tables};

impl Tables for Bpf {
    fn tables(file: &mut Shared) -> &mut tables::Shared {
        &mut file.tables
    }

    fn preferred(&self) -> Option<Structure> {
        self.options.layout
    }

    fn spares_maps(&self) -> bool {
        self.options.spares_maps
    }

    fn budget(&self) -> Budget {
        Budget(self.options.table_memory)
    }

    fn iteration_calls(g: &mut Gen<'_>) -> Option<IterationCalls> {
        let jumps = needs(g, Construct::MaskSearch).needs == Some(Feature::MayGoto);
        (!jumps).then_some(IterationCalls {
            linkage: STATIC_FUNC,
            run: |count, iteration, with| {
                C::call("bpf_loop", vec![count, iteration, with, C::int(0)])
            },
        })
    }
}

/// Returns the name of a table's structure for people.
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

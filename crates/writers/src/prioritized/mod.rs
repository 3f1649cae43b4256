//! Tables whose entries may overlap, so that priorities decide: with ternary, range and optional keys.
//!
//! The shadow entries are the entries as they were given; what the program reads follows from them, and is one of two
//! structures: a tuple space ([`tuple_space`]) or bit vectors ([`bit_vectors`]). A change ([`Staged`]) is planned on the
//! shadow entries, and each structure finds out from them what it has to write.

mod bit_vectors;
mod identity;
mod shadow;
mod staged;
mod tuple_space;

pub(super) use bit_vectors::BitVectors;
pub(super) use shadow::Shadow;
pub(super) use staged::Staged;
pub(super) use tuple_space::TupleSpace;

use crate::errors::refused;
use control::StoreError;
use host::words::Words;

/// What the program reads.
pub(super) enum Structure<'a> {
    /// Hash maps by masks.
    TupleSpace(TupleSpace<'a>),
    /// Rows of bits by bytes of the key.
    BitVectors(BitVectors<'a>),
}

impl<'a> Structure<'a> {
    /// The entries as they were given.
    pub(crate) fn shadow(&self) -> &Shadow<'a> {
        match self {
            Structure::TupleSpace(space) => &space.shadow,
            Structure::BitVectors(bits) => &bits.shadow,
        }
    }

    /// The names of its maps.
    pub(crate) fn maps(&self) -> Vec<&'a str> {
        match self {
            Structure::TupleSpace(space) => {
                let abi = space.abi;
                vec![&abi.masks, &abi.entries, &abi.shadow]
            }
            Structure::BitVectors(bits) => {
                let abi = bits.abi;
                vec![&abi.rows, &abi.entries, &abi.places, &abi.shadow]
            }
        }
    }

    /// Makes the program find nothing, in maps that are empty.
    pub(crate) fn start_empty(&self) -> Result<(), StoreError> {
        let (globals, head): (&Words, u32) = match self {
            Structure::TupleSpace(space) => (space.globals, space.abi.head_offset),
            Structure::BitVectors(bits) => (bits.globals, bits.abi.head_offset),
        };
        let emptied = globals.set_u64(head, 0);
        emptied.map_err(refused("write how many entries there are"))
    }
}

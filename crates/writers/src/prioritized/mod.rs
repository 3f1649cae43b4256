//! Tables whose entries may overlap, so that priorities decide: with ternary, range and optional keys.
//!
//! The shadow entries are the entries as they were given. The program reads a structure derived from them: a tuple
//! space ([`tuple_space`]) or bit vectors ([`bit_vectors`]). A change ([`Staged`]) is planned on the shadow entries,
//! from which each structure derives its own writes.

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

/// Structure that the program reads.
pub(super) enum Structure<'a> {
    /// Hash maps by masks.
    TupleSpace(TupleSpace<'a>),
    /// Rows of bits by bytes of the key.
    BitVectors(BitVectors<'a>),
}

impl<'a> Structure<'a> {
    /// Returns the entries as they were given.
    pub(crate) fn shadow(&self) -> &Shadow<'a> {
        match self {
            Structure::TupleSpace(space) => &space.shadow,
            Structure::BitVectors(bits) => &bits.shadow,
        }
    }

    /// Returns the names of the structure's maps.
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

    /// Initializes empty maps so that the program finds nothing.
    pub(crate) fn start_empty(&self) -> Result<(), StoreError> {
        let (globals, head): (&Words, u32) = match self {
            Structure::TupleSpace(space) => (space.globals, space.abi.head_offset),
            Structure::BitVectors(bits) => (bits.globals, bits.abi.head_offset),
        };
        let emptied = globals.set_u64(head, 0);
        emptied.map_err(refused("write how many entries there are"))
    }
}

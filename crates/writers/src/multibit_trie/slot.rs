//! Nodes and slots of a multibit trie, as numbers.

use super::encoding;
use super::pool::Take;

/// Flag in the lower half of a slot that leads to a node.
const NODE: u32 = 1 << 31;
/// Number of leading bits of the key that wide nodes decide.
pub(super) const WIDE_BITS: u32 = 16;

/// Prefix: the first bits of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prefix<'k> {
    /// Number of bits in the prefix.
    pub length: u32,
    /// Key bytes, zero after the prefix.
    pub key: &'k [u8],
}

impl Prefix<'_> {
    /// Returns the prefix that a key of the index encodes.
    pub(super) fn of(key: &[u8]) -> Prefix<'_> {
        Prefix {
            length: encoding::get_u32(key, 0),
            key: &key[size_of::<u32>()..],
        }
    }
}

/// Node, with the number of key bits that lead to it (`depth`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Node {
    pub depth: u32,
    pub number: u32,
}

impl Node {
    pub(super) fn bits(self) -> u32 {
        if self.depth < WIDE_BITS { 8 } else { 4 }
    }

    pub(super) fn end(self) -> u32 {
        self.depth + self.bits()
    }

    pub(super) fn width(self) -> u32 {
        1 << self.bits()
    }

    pub(super) fn kind(self) -> Take {
        kind(self.depth)
    }

    /// Returns the offset of a slot in the memory of the node's kind, in bytes.
    pub(super) fn at(self, slot: u32) -> u32 {
        8 * (self.number * self.width() + slot)
    }

    /// Returns the slot that a key leads to.
    pub(super) fn slot(self, key: &[u8]) -> u32 {
        let byte = u32::from(key[(self.depth / 8) as usize]);
        match (self.bits(), self.depth % 8) {
            (8, _) => byte,
            (_, 0) => byte >> 4,
            _ => byte & 15,
        }
    }
}

/// Returns the kind of a node at this depth.
pub(super) fn kind(depth: u32) -> Take {
    if depth < WIDE_BITS {
        Take::Wide
    } else {
        Take::Narrow
    }
}

/// Target of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Child {
    Nothing,
    /// Only route below the slot.
    Route(u32),
    Node(u32),
}

/// Slot as packets read it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Slot(pub u64);

impl Slot {
    pub(super) fn cover(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub(super) fn child(self) -> Child {
        match self.0 as u32 {
            0 => Child::Nothing,
            node if node & NODE != 0 => Child::Node(node ^ NODE),
            route => Child::Route(route),
        }
    }

    pub(super) fn with_cover(self, route: u32) -> Slot {
        Slot(self.0 & u64::from(u32::MAX) | u64::from(route) << 32)
    }

    pub(super) fn with_child(self, child: Child) -> Slot {
        let child = match child {
            Child::Nothing => 0,
            Child::Route(route) => route,
            Child::Node(node) => node | NODE,
        };
        Slot(self.0 >> 32 << 32 | u64::from(child))
    }
}

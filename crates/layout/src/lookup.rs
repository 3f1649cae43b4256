//! Look-up structures of tables: the maps of each structure, and the layout of keys and bits in them.

use crate::{KeyAbi, Structure, ValueAbi};
use serde::{Deserialize, Serialize};

/// Look-up structure of a table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LookupAbi {
    /// No map: the table has no key, its entries are compiled in, or the program never applies it. Entries cannot be
    /// inserted.
    Compiled,
    /// Array map, whose index is the key's value. An element with action 0 is no entry, and removing an entry writes
    /// zeros.
    Array {
        /// Name of the map.
        map: String,
        /// Width of the P4 key, in bits. The index is its value as `u32`.
        key_width: u32,
        /// Layout of the map's values.
        value: ValueAbi,
    },
    /// Hash map.
    Hash {
        /// Name of the map.
        map: String,
        /// Layout of the map's keys.
        key: KeyAbi,
        /// Layout of the map's values.
        value: ValueAbi,
    },
    /// LPM trie. The key begins with the prefix length (`u32`).
    Lpm {
        /// Name of the map.
        map: String,
        /// Layout of the map's keys. Offsets and size include the prefix length.
        key: KeyAbi,
        /// Index of the P4 key that has the prefix.
        lpm_key: u32,
        /// Number of key bits before that P4 key, which is added to the P4 prefix length.
        prefix_base: u32,
        /// Layout of the map's values.
        value: ValueAbi,
    },
    /// Multibit trie, for many prefixes.
    MultibitTrie(MultibitTrieAbi),
    /// Tuple space search for ternary, range and optional keys.
    TupleSpace(TupleSpaceAbi),
    /// Bit vectors for ternary, range and optional keys.
    BitVectors(BitVectorsAbi),
    /// Buckets, for many entries with exact keys.
    Buckets(BucketsAbi),
}

impl LookupAbi {
    /// Returns the structure of a table for which several are available. `None` for array and hash maps, and for tables
    /// without a map.
    pub fn structure(&self) -> Option<Structure> {
        match self {
            LookupAbi::TupleSpace(_) => Some(Structure::TupleSpace),
            LookupAbi::BitVectors(_) => Some(Structure::BitVectors),
            LookupAbi::Lpm { .. } => Some(Structure::Trie),
            LookupAbi::MultibitTrie(_) => Some(Structure::MultibitTrie),
            LookupAbi::Buckets(_) => Some(Structure::Buckets),
            LookupAbi::Compiled | LookupAbi::Array { .. } | LookupAbi::Hash { .. } => None,
        }
    }

    /// Returns the names of the maps, the main one first.
    pub fn maps(&self) -> Vec<&str> {
        match self {
            LookupAbi::Compiled => Vec::new(),
            LookupAbi::Array { map, .. }
            | LookupAbi::Hash { map, .. }
            | LookupAbi::Lpm { map, .. } => vec![map],
            LookupAbi::TupleSpace(abi) => vec![&abi.masks, &abi.entries, &abi.shadow],
            LookupAbi::BitVectors(abi) => {
                vec![&abi.rows, &abi.entries, &abi.places, &abi.shadow]
            }
            LookupAbi::MultibitTrie(abi) => {
                vec![&abi.routes, &abi.wide, &abi.narrow, &abi.index, &abi.pool]
            }
            LookupAbi::Buckets(abi) => vec![&abi.buckets, &abi.overflow],
        }
    }
}

/// Multibit trie. A node has a slot for each value of the key's next byte, or of the next half-byte from the third byte
/// on. Of a byte the upper half comes first.
///
/// A slot is a `u64`. Its upper half is the route of the longest prefix that ends in this node and matches the slot, or
/// 0. Its lower half stands for longer prefixes that match the slot:
///
/// - 0 if there is none;
/// - the route if there is one, whose prefix must still be compared with the key;
/// - the number of a node, with the highest bit set, if there are several.
///
/// The last matching route on the path from the root has the longest prefix.
///
/// A change of a prefix is atomic for the program. Either one slot is stored, or a new node is written and then linked
/// by one store, of the slot that leads to it or of the root's number. Routes and nodes that packets may have found are
/// not rewritten before a grace period has passed. The control plane maps the arrays into its memory
/// ([`Map::mapped`](crate::Map::mapped)).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MultibitTrieAbi {
    /// Name of the array map of nodes with 256 slots.
    pub wide: String,
    /// Name of the array map of nodes with 16 slots.
    pub narrow: String,
    /// Name of the array map of routes: a value, a prefix and its mask. Number 0 means no route.
    pub routes: String,
    /// Name of the index, a hash map that only the control plane uses. It maps `{u32 length, prefix}` to a route's
    /// number. The length is in bits of the whole key.
    pub index: String,
    /// Name of the array map that only the control plane uses: three `u32` and 4 bytes of padding, then a state byte
    /// for each wide node, narrow node and route, which is 0 if it is free.
    pub pool: String,
    /// Layout of the key in packets.
    pub key: KeyAbi,
    /// Index of the P4 key that has the prefix.
    pub lpm_key: u32,
    /// Number of key bits before that P4 key, which is added to the P4 prefix length.
    pub prefix_base: u32,
    /// Layout of the value, from the start of a route.
    pub value: ValueAbi,
    /// Offset of the prefix in a route. The prefix has the layout of `key`.
    pub prefix_offset: u32,
    /// Offset of the prefix's mask in a route.
    pub mask_offset: u32,
    /// Offset in the globals of the root's number (`u32`). The root is a wide node.
    pub root_offset: u32,
}

/// Number of slots in a bucket.
pub const BUCKET_PLACES: u32 = 4;

/// Buckets: a key's hash chooses two buckets, which have a few slots each.
///
/// The hash covers the key's bytes, padded with zeros to a multiple of 8. Its seed is
/// [`HashSeeds::buckets`](crate::HashSeeds::buckets) (`bucket_mix` in `onpath/buckets.h`). The lower half of the hash
/// times [`BucketsAbi::count`], divided by 2³², is the number of the first bucket. The upper half gives the second one
/// likewise.
///
/// An entry is in its first bucket. If that was full at insertion, it is in the second one, and if that was full too,
/// in any bucket that has a free slot. The overflow map then has the number of its slot, counted over all buckets. The
/// overflow map is as large as the table, and there are twice as many slots as entries. So a table takes all the entries
/// that it declares, whatever their keys are.
///
/// A bucket is `{u32 used, u16 second, u16 overflow, keys, values}`. `used` has a bit for each slot in use. `second`
/// and `overflow` are the lower and the upper half of a `u32`. They count the keys with this first bucket that are in
/// their second bucket and in buckets of other keys. Packets search there only if the count is not 0. A count that has
/// reached its limit stays.
///
/// A change of an entry is atomic for the program. One store of `used` makes an entry visible, removes it, or replaces
/// it by another slot of the same bucket. If no other slot is free, the new value goes to another bucket. The
/// old one is removed a grace period later; until then packets may find either. An entry that the overflow map leads to
/// is replaced by a store of another slot's number there. A count is incremented before its entry is inserted, and
/// decremented after the entry is removed. A slot that packets may have found is not rewritten before a grace period has passed. The control plane maps the array into its memory
/// ([`Map::mapped`](crate::Map::mapped)).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BucketsAbi {
    /// Name of the array map of buckets. Its last element is used by the control plane alone: `{u32 0, u32 entries}`,
    /// the number of entries.
    pub buckets: String,
    /// Name of the hash map of entries that are in buckets of other keys, from key to the number of the slot (`u32`).
    pub overflow: String,
    /// Number of buckets that keys hash to.
    pub count: u32,
    /// Size of a bucket, in bytes.
    pub size: u32,
    /// Offset of the keys in a bucket.
    pub keys_offset: u32,
    /// Offset of the values in a bucket.
    pub values_offset: u32,
    /// Layout of the key in packets.
    pub key: KeyAbi,
    /// Layout of the value.
    pub value: ValueAbi,
}

/// Tuple space search: entries with equal masks form a tuple, and share a hash map under the tuple's number.
///
/// The program iterates over the list of masks and looks `{tuple, key & mask}` up in the entries. It stops at a mask
/// whose `top` is not above the priority of the entry found so far. So the list is ordered by descending `top`. Of
/// entries with equal priority the one whose mask comes first wins.
///
/// A change is atomic for the program. The control plane inserts new entries, writes the new list into the half of the
/// masks map that is not in use, switches halves by one 8-byte store of the head, and then removes old entries. Entries
/// hidden by another one with the same mask and key but a higher priority are in the shadow entries only.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TupleSpaceAbi {
    /// Name of the array map of `{u32 tuple, u32 top, mask}`: two halves of [`TupleSpaceAbi::max_masks`] elements each.
    /// `top` is the highest priority among the tuple's entries. The control plane makes the map larger by one element,
    /// [`TupleSpaceAbi::tally`].
    pub masks: String,
    /// Offset of the mask in an element. It has the layout of `key`.
    pub mask_offset: u32,
    /// Number of masks that a half holds.
    pub max_masks: u32,
    /// Name of the hash map from `{u32 tuple, key & mask}` to the value.
    pub entries: String,
    /// Offset of the masked key in a key of `entries`.
    pub key_offset: u32,
    /// Layout of the key. Offsets are from its own start.
    pub key: KeyAbi,
    /// Layout of the entries' values.
    pub value: ValueAbi,
    /// Offset in the globals of the list's head: `{u32 first, u32 count}`, 8-byte aligned. `first` is 0 or `max_masks`.
    pub head_offset: u32,
    /// Name of the map of shadow entries, a hash map that only the control plane uses. It holds the P4 entries as they
    /// were given.
    ///
    /// It maps a `u32` number to `{u32 priority, value}`, followed by `{u8 tag, a, b}` for each P4 key. `a` and `b`
    /// have `width/8` bytes each, rounded up, in network order. The tags are: 0 any; 1 exact (a); 2 prefix (a; the
    /// length is in b's last two bytes, or its only byte); 3 ternary (a under mask b); 4 range (a to b).
    pub shadow: String,
}

impl TupleSpaceAbi {
    /// Returns the index of the last element of [`TupleSpaceAbi::masks`], which only the control plane uses: `{u32
    /// next, u32 count}`. `count` is the number of shadow entries. `next` is a number above those of all shadow
    /// entries, or 0 if neither is known.
    pub fn tally(&self) -> u32 {
        2 * self.max_masks
    }
}

/// Bit vectors: each entry has a position, and rows of bits say for each position whether its entry matches a byte of
/// the key.
///
/// Positions are in the order in which entries win; some are free. A [`Lane`] tests one byte of the key. For each of
/// the 256 values of that byte it has a row, in which an entry's bit is the result of the test. The key's bytes choose
/// a row of each lane. The program combines these rows with the row of *enabled* positions, which yields all entries
/// that match. The lowest bit set is the entry that wins.
///
/// A change of one entry is atomic for the program: it stores a word of the row of enabled positions. Used positions
/// are not reused in this half. Any other change is atomic, too. Rows and values are in two halves; the control plane
/// writes the half that is not in use, and then switches halves by an 8-byte store of the head.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BitVectorsAbi {
    /// Name of the array map of two elements, the halves, each in the layout of [`RowForm`]. The control plane maps it
    /// into its memory ([`Map::mapped`](crate::Map::mapped)).
    pub rows: String,
    /// Layout of a half.
    #[serde(flatten)]
    pub form: RowForm,
    /// Name of the array map of the entries' values. A position's index is the position plus the number of positions
    /// times the half.
    pub entries: String,
    /// Name of the array map with a `u32` for each position, indexed like `entries`, which only the control plane uses.
    /// 0 means that the position was never used in this half. Otherwise, if the position is enabled, the value is the
    /// number of its shadow entry plus one.
    pub places: String,
    /// Number of positions in a half.
    pub positions: u32,
    /// Layout of the key.
    pub key: KeyAbi,
    /// Layout of the entries' values.
    pub value: ValueAbi,
    /// Offset in the globals of the head: `{u32 half, u32 any}`, 8-byte aligned. `half` is the half in use; `any` is
    /// not 0 if there may be entries.
    pub head_offset: u32,
    /// Name of the map of shadow entries, as [`TupleSpaceAbi::shadow`] describes it.
    pub shadow: String,
}

/// Layout of a half of the rows: the rows of all lanes in order, one for each value of the byte, then the row of
/// enabled positions.
///
/// A row is [`RowForm::words`] `u64`, where position 0 is the lowest bit of the first word. If there are more than
/// [`WORDS_AT_ONCE`] words, a summary word precedes them. Its bit `i` is set if block `i` has a bit set; it may stay
/// set after the block became empty. Rows are combined by `and` and `or` alone. So summaries can be combined alike, and
/// no block with a match is left out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RowForm {
    /// Lanes by P4 key and byte. A byte that is matched by ranges has the lanes `Above`, `From`, `Below`, `To` in this
    /// order; the least significant byte has `From` and `To` only.
    pub lanes: Vec<Lane>,
    /// Number of words in a row without its summary: a multiple of the block's size.
    pub words: u32,
}

/// Most words of a row that are searched together, without a summary.
pub const WORDS_AT_ONCE: u32 = 4;

/// Largest row whose blocks are one word each, in words. Such a row has 8 or this many words.
const MOST_SMALL_BLOCKS: u32 = 16;

/// Most blocks of a row, for each of which its summary has a bit.
pub const MOST_BLOCKS: u32 = 64;

impl RowForm {
    /// Returns the layout of rows with at least this many positions.
    pub fn of_size(lanes: Vec<Lane>, positions: u64) -> RowForm {
        let words = positions.div_ceil(64).clamp(1, u32::MAX.into()) as u32;
        let words = match words {
            WORDS_AT_ONCE..=MOST_SMALL_BLOCKS => words.next_power_of_two(),
            _ => words.next_multiple_of(words_of_a_block(words)),
        };
        RowForm { lanes, words }
    }

    /// Returns the number of words in a block, which are searched together.
    pub fn words_of_a_block(&self) -> u32 {
        words_of_a_block(self.words)
    }

    /// Returns the number of blocks in a row. A row of several blocks has a summary.
    pub fn blocks(&self) -> u32 {
        self.words.div_ceil(self.words_of_a_block())
    }

    /// Returns the number of words in a row before the positions: 1 if it has a summary, else 0.
    pub fn head(&self) -> u32 {
        u32::from(self.blocks() > 1)
    }

    /// Returns the number of words in a row with its summary.
    pub fn stride(&self) -> u32 {
        self.head() + self.words
    }

    /// Returns the number of rows in a half.
    pub fn rows(&self) -> u64 {
        self.lanes.len() as u64 * 256 + 1
    }

    /// Returns the size of a half, in bytes.
    pub fn bytes(&self) -> u64 {
        self.rows() * u64::from(self.stride()) * 8
    }
}

/// Returns the number of words in a block, of rows with this many words. A smaller block is seldom searched in vain,
/// but the checker follows the search of each block.
fn words_of_a_block(words: u32) -> u32 {
    match words {
        ..=WORDS_AT_ONCE => words.max(1),
        8 | MOST_SMALL_BLOCKS => 1,
        _ => WORDS_AT_ONCE,
    }
}

/// Lane: a test of one byte of the key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Lane {
    /// Index of the P4 key that the byte belongs to.
    pub field: u32,
    /// Index of the byte in that key's value; 0 is the most significant one.
    pub digit: u32,
    /// Offset of the byte from the start of the key.
    pub offset: u32,
    /// Test of the byte.
    pub test: Test,
}

/// Test of a byte of the key. A byte of a key that is matched by ranges has the tests `Above`, `From`, `Below` and `To`
/// instead of [`Test::Accepts`]; the least significant byte has only `From` and `To`.
///
/// A value is not below a range if its first byte is above that of the range's lower end. It is not below either if the
/// first byte is equal, and the same is true of the bytes that follow. The upper end is tested likewise. Of a signed
/// key the sign bit is inverted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// The byte equals that of the entry where the entry's mask has ones.
    Accepts,
    /// The byte is greater than that of the range's lower end.
    Above,
    /// The byte is not less than that of the range's lower end.
    From,
    /// The byte is less than that of the range's upper end.
    Below,
    /// The byte is not greater than that of the range's upper end.
    To,
}

//! How tables find their entries: the maps of each structure, and how keys and bits lie in them.

use crate::{KeyAbi, Structure, ValueAbi};
use serde::{Deserialize, Serialize};

/// How a table finds an entry.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LookupAbi {
    /// There is nothing to insert into: no key, entries compiled in, or the program never applies
    /// the table.
    Compiled,
    /// An array map; the key's value is the index. An element with action 0 is no entry, and removing
    /// an entry writes zeros.
    Array {
        /// The map.
        map: String,
        /// The key field's width in bits; the index is the value as `u32`.
        key_width: u32,
        /// The map's values.
        value: ValueAbi,
    },
    /// A hash map.
    Hash {
        /// The map.
        map: String,
        /// The map's keys.
        key: KeyAbi,
        /// The map's values.
        value: ValueAbi,
    },
    /// An LPM trie. The key begins with the prefix length (`u32`).
    Lpm {
        /// The map.
        map: String,
        /// The map's keys, the prefix length included in offsets and size.
        key: KeyAbi,
        /// Which P4 key has the prefix.
        lpm_key: u32,
        /// What to add to the P4 prefix length: the bits before the field's own.
        prefix_base: u32,
        /// The map's values.
        value: ValueAbi,
    },
    /// A multibit trie, for many prefixes.
    MultibitTrie(MultibitTrieAbi),
    /// Tuple space search for ternary, range and optional keys.
    TupleSpace(TupleSpaceAbi),
    /// Bit vectors for ternary, range and optional keys.
    BitVectors(BitVectorsAbi),
    /// Buckets, for many entries with exact keys.
    Buckets(BucketsAbi),
}

impl LookupAbi {
    /// The structure, of a table that may have several. Few entries with exact keys have none to speak of.
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

    /// The names of its maps.
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

/// A multibit trie: nodes with a slot for each value of the next byte of the key, from the third byte on of the next
/// half byte, the upper one first.
///
/// A slot is a `u64`. Its upper half is the route with the longest of the prefixes that end in this node and begin like
/// the slot, 0 for none. Its lower half is what longer ones there are: 0 for none; the route if it is one, so that the
/// key has yet to be compared with it; the number of a node, with the highest bit set, if they are several. The last
/// route on the way that matches has the longest prefix.
///
/// A change of a prefix is atomic for the program: one slot is stored, or a node is written anew and the slot stored that
/// leads to it, or the root's number. Routes and nodes that packets may have found are not written before a grace period
/// has passed. User space maps the arrays ([`Map::mapped`](crate::Map::mapped)).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MultibitTrieAbi {
    /// Array map of nodes with 256 slots.
    pub wide: String,
    /// Array map of nodes with 16 slots.
    pub narrow: String,
    /// Array map of routes: a value, a prefix and its mask. None is number 0.
    pub routes: String,
    /// Hash map that only user space uses: from `{u32 length, prefix}`, the length in bits of the key, to a route's number.
    pub index: String,
    /// Array map that only user space uses: three `u32` and 4 bytes, then a byte for each wide node, narrow node and route:
    /// 0 if it is free.
    pub pool: String,
    /// The key, as packets have it.
    pub key: KeyAbi,
    /// Which P4 key has the prefix.
    pub lpm_key: u32,
    /// What to add to the P4 prefix length: the bits before the field's own.
    pub prefix_base: u32,
    /// The value, from the start of a route.
    pub value: ValueAbi,
    /// Where a route's prefix is, with the layout of `key`.
    pub prefix_offset: u32,
    /// Where its mask is.
    pub mask_offset: u32,
    /// Where in the globals the root's number is, a `u32`: a wide node.
    pub root_offset: u32,
}

/// Places of a bucket.
pub const BUCKET_PLACES: u32 = 4;

/// Buckets: a key's hash chooses two of them, with a few places each.
///
/// The hash is that of the key's bytes, zeros added up to a multiple of 8, with the seed in [`HashSeeds::buckets`](crate::HashSeeds::buckets)
/// (`writers/src/buckets/hash.rs`). Its
/// lower half times [`BucketsAbi::count`], divided by 2³², is the number of the first bucket, its upper half gives the second
/// one. An entry is in the first bucket, or, if that was full when it came, in the second one, or, if that was full too, in the overflow map,
/// which holds as many entries as the table, so that every table takes the entries that it declares, whatever their keys are.
///
/// A bucket is `{u32 used, u16 second, u16 overflow, keys, values}`, halves of a `u32` the lower of which is `second`: the bits of the places
/// that are in use; and how many of the keys whose first bucket it is are in their second one, and in the overflow map: packets look there only if
/// there are any. A count that has reached its limit stays.
///
/// A change of an entry is atomic for the program. One store of `used` makes an entry visible, removes it, or replaces it by
/// another place of the same bucket. If there is none, the new value comes to another bucket or to the overflow map, and the old one goes a grace
/// period later: either is right until then. Counts are not 0 before an entry comes, and until it is gone. A place that packets may have
/// found is not written before a grace period has passed. User space maps the array ([`Map::mapped`](crate::Map::mapped)).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BucketsAbi {
    /// Array map of buckets. Its last element belongs to user space alone: `{u32 0, u32 entries}`, how many entries there
    /// are.
    pub buckets: String,
    /// Hash map of the entries that have no place, from key to value.
    pub overflow: String,
    /// How many buckets keys have.
    pub count: u32,
    /// Bytes of a bucket.
    pub size: u32,
    /// Where a bucket has its keys.
    pub keys_offset: u32,
    /// Where it has its values.
    pub values_offset: u32,
    /// The key, as packets have it.
    pub key: KeyAbi,
    /// The value.
    pub value: ValueAbi,
}

/// Tuple space search: entries with equal masks (a tuple) share a hash map under the tuple's number.
///
/// The program goes through the mask list in order and looks `{tuple, key & mask}` up in the entries;
/// it stops at a mask whose `top` is not above the priority of what it has found. So the list is
/// ordered by descending `top`. Of entries with equal priority the one whose mask comes first wins.
///
/// A change is atomic for the program: put new entries in, write the new list into the half of the
/// masks map that is not in use, then switch by one 8-byte store of the head; then remove old
/// entries. An entry that another one with the same mask and key but a higher priority hides is in the
/// shadow entries only.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TupleSpaceAbi {
    /// Array map of `{u32 tuple, u32 top, mask}`, twice [`TupleSpaceAbi::max_masks`] elements: two
    /// halves. `top` is the highest priority among the tuple's entries. User space makes it larger by one element,
    /// [`TupleSpaceAbi::tally`].
    pub masks: String,
    /// Where the mask begins in such a value; it has the layout of `key`.
    pub mask_offset: u32,
    /// Masks that a half holds.
    pub max_masks: u32,
    /// Hash map from `{u32 tuple, key & mask}` to the value.
    pub entries: String,
    /// Where the masked key begins in such a key.
    pub key_offset: u32,
    /// The key; offsets from its own start.
    pub key: KeyAbi,
    /// The entries' values.
    pub value: ValueAbi,
    /// Where in the globals the head is: `{u32 first, u32 count}`, 8-byte aligned, `first` being 0 or
    /// `max_masks`.
    pub head_offset: u32,
    /// Shadow entries: a hash map that only user space uses, with the P4 entries as they were given: from a `u32` number
    /// to `{u32 priority, value, then for each P4 key {u8 tag, a, b}}`, `a` and `b` being
    /// `width/8` bytes rounded up in network order: tag 0 any, 1 exact (a), 2 prefix (a, length in b's
    /// last two bytes or only byte), 3 ternary (a under mask b), 4 range (a to b).
    pub shadow: String,
}

impl TupleSpaceAbi {
    /// The last element of [`TupleSpaceAbi::masks`], which only user space uses: `{u32 next, u32 count}`. `count` is how
    /// many shadow entries there are, `next` a number above those of all of them, or 0 if neither is known.
    pub fn tally(&self) -> u32 {
        2 * self.max_masks
    }
}

/// Bit vectors: what is known of an entry is a bit, at the entry's position, in rows of bits.
///
/// Entries have positions in the order in which they win, some of which are free. A [`Lane`] asks one question about one
/// byte of the key; for each of the 256 values of that byte it has a row, in which an entry's bit is its answer. An entry
/// matches a key if its bits say so in the rows that the key's bytes choose, so that the program finds all entries that
/// match by combining as many rows as there are lanes, and one more, which says what positions are *enabled*; the lowest
/// bit that is left is the one that wins.
///
/// A change of one entry is atomic for the program: a word of the row of enabled positions is stored. A position that
/// was in use is not used again in this half. Any other change is atomic too: rows and values are in two halves, of which
/// the one that is not in use is written anew, and then an 8-byte store of the head puts it to use.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BitVectorsAbi {
    /// Array map of two elements, the halves, each as [`RowForm`] has it. User space maps it ([`Map::mapped`](crate::Map::mapped)).
    pub rows: String,
    /// The form of a half.
    #[serde(flatten)]
    pub form: RowForm,
    /// Array map with the entries' values by position, from the number of positions times the half on.
    pub entries: String,
    /// Array map that only user space uses, with a `u32` for each position, as `entries` has them: 0 if the position was
    /// never used in this half, else the number of the shadow entry that has it, if it is enabled, plus one.
    pub places: String,
    /// Positions that a half has.
    pub positions: u32,
    /// The key.
    pub key: KeyAbi,
    /// The entries' values.
    pub value: ValueAbi,
    /// Where in the globals the head is: `{u32 half, u32 any}`, 8-byte aligned: the half in use, and whether there may be
    /// entries.
    pub head_offset: u32,
    /// Shadow entries, as [`TupleSpaceAbi::shadow`].
    pub shadow: String,
}

/// The form of a half of the rows: those of all lanes in order, for each value of the byte, then the row of enabled
/// positions.
///
/// A row is [`RowForm::words`] `u64`, position 0 being the lowest bit of the first. Where these are more than
/// [`WORDS_AT_ONCE`], a word with their summary precedes them: bit `i` is set if a bit of the block `i` is, and perhaps
/// if none is any more. The questions are combined by `and` and `or` alone, so that the summaries, combined alike, leave
/// out no block that has a match.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RowForm {
    /// The questions, by P4 key and byte; of a byte that is matched by ranges in the order `Above`, `From`, `Below`, `To`,
    /// of the least significant one `From`, `To`.
    pub lanes: Vec<Lane>,
    /// Words of a row without its summary: whole blocks.
    pub words: u32,
}

/// The most words of a row that are searched together, without a summary.
pub const WORDS_AT_ONCE: u32 = 4;

/// The most blocks of one word; there are 8 of them, or so many.
const MOST_SMALL_BLOCKS: u32 = 16;

/// Blocks of a row for which its summary has bits.
pub const MOST_BLOCKS: u32 = 64;

impl RowForm {
    /// The form of rows for so many positions.
    pub fn of_size(lanes: Vec<Lane>, positions: u64) -> RowForm {
        let words = positions.div_ceil(64).clamp(1, u32::MAX.into()) as u32;
        let words = match words {
            WORDS_AT_ONCE..=MOST_SMALL_BLOCKS => words.next_power_of_two(),
            _ => words.next_multiple_of(words_of_a_block(words)),
        };
        RowForm { lanes, words }
    }

    /// Words that are searched together.
    pub fn words_of_a_block(&self) -> u32 {
        words_of_a_block(self.words)
    }

    /// Blocks of a row, of which there is a summary if there is more than one.
    pub fn blocks(&self) -> u32 {
        self.words.div_ceil(self.words_of_a_block())
    }

    /// Words of a row that precede the positions: 1 if it has a summary.
    pub fn head(&self) -> u32 {
        u32::from(self.blocks() > 1)
    }

    /// Words of a row with its summary.
    pub fn stride(&self) -> u32 {
        self.head() + self.words
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.lanes.len() as u64 * 256 + 1
    }

    /// Bytes of a half.
    pub fn bytes(&self) -> u64 {
        self.rows() * u64::from(self.stride()) * 8
    }
}

/// The words of a block, of rows of so many words. A smaller block is seldom searched in vain, but the verifier follows the
/// search of each.
fn words_of_a_block(words: u32) -> u32 {
    match words {
        ..=WORDS_AT_ONCE => words.max(1),
        8 | MOST_SMALL_BLOCKS => 1,
        _ => WORDS_AT_ONCE,
    }
}

/// A question about a byte of the key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Lane {
    /// The P4 key that the byte belongs to.
    pub field: u32,
    /// Which byte of that key's value it is, the most significant one being 0.
    pub digit: u32,
    /// Where the byte is in the key, from its start.
    pub offset: u32,
    /// What is asked.
    pub test: Test,
}

/// What a lane asks about a byte. A key that is matched by ranges has, for each of its bytes, the other tests
/// instead of [`Test::Accepts`]: `Above`, `From`, `Below` and `To`, of the least significant byte only `From` and `To`. Its value
/// is not below a range if its first byte is above the one of the range's lower end, or at least not below and the
/// same is true of the bytes that follow; the upper end alike. Of a signed key the sign bit counts as inverted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// It is what the entry wants where the entry's mask has ones.
    Accepts,
    /// It is greater than the byte of the range's lower end.
    Above,
    /// It is that or greater.
    From,
    /// It is less than the byte of the range's upper end.
    Below,
    /// It is that or less.
    To,
}

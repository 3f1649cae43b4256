//! What user space must know to keep the tables of a loaded program: pure data, next to the object.
//!
//! Byte layouts here are what the generated C reads. All integers in map keys and values that have
//! no [`ByteOrder`] of their own (action numbers, priorities, tuple numbers, list heads, prefix
//! lengths, counters) are in the machine's own order. Bytes that no field covers are zero.

use crate::Layout;
use crate::uses::Use;
pub use emit::ByteOrder;
use serde::{Deserialize, Serialize};

/// The name of the section, and so of the map, that holds [`GlobalsAbi`].
pub const GLOBALS_SECTION: &str = ".data.onpath";

/// The name of the section, and so of the map, that holds the seed of the hash of flows: a `u64`, set before the
/// program is loaded. It exists if the program uses a `flow_state`.
pub const SEED_SECTION: &str = ".rodata.onpath";

/// The name of the section, and so of the map, that counts how often each table was changed: a `u64` for each
/// [`ir::Table`], which whoever changes a table raises before packets can meet the change. It exists as soon as the program
/// is specialized to the contents of its tables (`ir::passes::specialize`).
pub const CHANGES_SECTION: &str = ".data.changes";

/// A compiled program and everything it keeps in the kernel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Abi {
    /// The version of this description; [`Abi::VERSION`].
    pub version: u32,
    /// The P4 program's main file, as named on the command line.
    pub source: String,
    /// The architecture's package (`xdp`, `ebpfFilter`).
    pub arch: String,
    /// The functions in the object, one a hook.
    pub programs: Vec<ProgramAbi>,
    /// The maps in the object, but for [`GLOBALS_SECTION`].
    pub maps: Vec<MapAbi>,
    /// Data that the program reads and user space may change; `None` if there is none.
    pub globals: Option<GlobalsAbi>,
    /// Every table of the program, by [`ir::Table`] index.
    pub tables: Vec<TableAbi>,
    /// Every parser value set of the program, by [`ir::ValueSet`] index.
    pub value_sets: Vec<ValueSetAbi>,
    /// Counters that the program increments.
    pub counters: Vec<CounterAbi>,
    /// Per-flow state that the program reads or writes.
    #[serde(default)]
    pub flow_states: Vec<FlowStateAbi>,
    /// Ports.
    pub ports: PortsAbi,
    /// The perf event array for packets sent to user space.
    pub events: Option<String>,
    /// What the object needs of the kernel.
    #[serde(default)]
    pub uses: Vec<Use>,
}

impl Abi {
    /// Raised when a field changes its meaning.
    pub const VERSION: u32 = 1;

    /// The map with this name.
    pub fn map(&self, name: &str) -> Option<&MapAbi> {
        self.maps.iter().find(|m| m.name == name)
    }

    /// Maps that user space makes larger than the object has them, and how many elements they have then.
    pub fn resized(&self) -> impl Iterator<Item = (&str, u32)> {
        let tables = self.tables.iter().map(|t| &t.lookup);
        let lookups = tables.chain(self.value_sets.iter().map(|s| &s.lookup));
        lookups.filter_map(|lookup| match lookup {
            LookupAbi::TupleSpace(space) => Some((space.masks.as_str(), space.tally() + 1)),
            _ => None,
        })
    }
}

/// A function that the kernel runs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProgramAbi {
    /// Where it runs.
    pub hook: Hook,
    /// The C function's name.
    pub function: String,
    /// The ELF section it is in.
    pub section: String,
    /// Bytes of stack that the compiler expects it to need, of 512.
    pub stack_estimate: u32,
    /// Instructions that the compiler expects.
    pub instruction_estimate: u32,
    /// Whether the packet's head may move, so that the packet may grow or shrink.
    pub moves_head: bool,
}

/// Where a program runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hook {
    /// XDP at an interface.
    Xdp,
    /// Traffic control, packets that come in at an interface.
    TcIngress,
    /// Traffic control, packets that go out of an interface.
    TcEgress,
}

impl Hook {
    /// Every hook.
    pub const ALL: [Hook; 3] = [Hook::Xdp, Hook::TcIngress, Hook::TcEgress];

    /// As users call it, on the command line and in bundles.
    pub fn name(self) -> &'static str {
        match self {
            Hook::Xdp => "xdp",
            Hook::TcIngress => "tc-ingress",
            Hook::TcEgress => "tc-egress",
        }
    }

    /// The target that the hook belongs to, as the command line names it.
    pub fn target(self) -> &'static str {
        match self {
            Hook::Xdp => "xdp",
            Hook::TcIngress | Hook::TcEgress => "tc",
        }
    }
}

/// A map as the object declares it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MapAbi {
    /// At most 15 characters, unique in the object.
    pub name: String,
    /// The kernel's map type.
    pub kind: MapKind,
    /// Bytes of a key.
    pub key_size: u32,
    /// Bytes of a value (on one processor, for per-CPU kinds).
    pub value_size: u32,
    /// How many entries it holds.
    pub max_entries: u32,
    /// `BPF_F_NO_PREALLOC` is set.
    pub no_prealloc: bool,
    /// `BPF_F_MMAPABLE` is set: user space reads and writes an array's elements in memory, each at a multiple of 8 bytes.
    #[serde(default)]
    pub mmapable: bool,
}

/// The kernel's map types in use.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum MapKind {
    Array,
    PercpuArray,
    Hash,
    PercpuHash,
    LpmTrie,
    /// Key: port; value: interface index.
    DevmapHash,
    PerfEventArray,
}

/// One struct in its own data section, that the program reads and user space may change through the
/// section's memory map.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GlobalsAbi {
    /// [`GLOBALS_SECTION`].
    pub section: String,
    /// Bytes.
    pub size: u32,
    /// What the object holds at the start.
    pub initial: Vec<u8>,
}

/// A scalar in a key or value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FieldAbi {
    /// Its P4 name.
    pub name: String,
    /// Where it begins, in bytes from the start of the key or value.
    pub offset: u32,
    /// Bytes it takes: enough for `width`.
    pub size: u32,
    /// Bits that count.
    pub width: u32,
    /// The order of its bytes.
    pub order: ByteOrder,
}

/// The layout of a map's key for one P4 key.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeyAbi {
    /// Bytes in all.
    pub size: u32,
    /// One a P4 key, in P4 order (offsets need not ascend).
    pub fields: Vec<FieldAbi>,
}

/// An action and its parameters, as map values and default actions hold them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ValueAbi {
    /// Bytes in all.
    pub size: u32,
    /// Where the entry's priority is (`u32`), if the look-up needs it.
    pub priority_offset: Option<u32>,
    /// Where the action number is: `u32`, the index in the table's list plus one; 0 is no entry.
    pub action_offset: u32,
    /// For each action of the table's list, its parameters in order.
    pub actions: Vec<ActionAbi>,
}

/// An action's parameters in a [`ValueAbi`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ActionAbi {
    /// The action's control-plane name.
    pub name: String,
    /// Offsets are from the start of the value.
    pub params: Vec<FieldAbi>,
}

/// A table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TableAbi {
    /// Its [`ir::Table`] index.
    pub index: u32,
    /// Its control-plane name.
    pub name: String,
    /// How many P4 entries it may hold.
    pub capacity: u64,
    /// How entries are found.
    pub lookup: LookupAbi,
    /// Where the default action is.
    pub default: DefaultAbi,
    /// The program's own entries are to be put in by user space when the program is loaded, before
    /// it is attached. Otherwise they are compiled in, or there are none.
    pub preload: bool,
}

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
}

impl LookupAbi {
    /// The layout, of a table that may have several.
    pub fn layout(&self) -> Option<Layout> {
        match self {
            LookupAbi::TupleSpace(_) => Some(Layout::TupleSpace),
            LookupAbi::BitVectors(_) => Some(Layout::BitVectors),
            LookupAbi::Lpm { .. } => Some(Layout::Trie),
            LookupAbi::MultibitTrie(_) => Some(Layout::MultibitTrie),
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
/// has passed. User space maps the arrays ([`MapAbi::mmapable`]).
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
    /// Array map of two elements, the halves, each as [`RowForm`] has it. User space maps it ([`MapAbi::mmapable`]).
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
/// [`WORDS_OF_A_BLOCK`], a word with their summary precedes them: bit `i` is set if a bit of the block `i` is, and perhaps
/// if none is any more. The questions are combined by `and` and `or` alone, so that the summaries, combined alike, leave
/// out no block that has a match.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RowForm {
    /// The questions, by P4 key and byte; of a byte that is matched by ranges in the order `Above`, `From`, `Below`, `To`,
    /// of the least significant one `From`, `To`.
    pub lanes: Vec<Lane>,
    /// Words of a row without its summary.
    pub words: u32,
}

/// Words of a row that are searched together; a row has fewer or a multiple of so many.
pub const WORDS_OF_A_BLOCK: u32 = 4;

/// Blocks of a row for which its summary has bits.
pub const MOST_BLOCKS: u32 = 64;

impl RowForm {
    /// Blocks of a row, of which there is a summary if there is more than one.
    pub fn blocks(&self) -> u32 {
        self.words.div_ceil(WORDS_OF_A_BLOCK)
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

/// A default action.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DefaultAbi {
    /// Compiled in; the program made it `const`, or the table is never applied.
    Const,
    /// In the globals.
    Global {
        /// Where its values are: one if storing it is one 4-byte store, else two, of which the one
        /// that is not in use is written before it is selected.
        slots: Vec<u32>,
        /// Where the number (`u32`, 0 or 1) of the slot in use is.
        selector: Option<u32>,
        /// The layout of a slot.
        value: ValueAbi,
    },
}

/// A parser value set. Values are one `u32`, not zero, after the priority if there is one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ValueSetAbi {
    /// Its [`ir::ValueSet`] index.
    pub index: u32,
    /// Its control-plane name.
    pub name: String,
    /// How many members it may hold.
    pub capacity: u64,
    /// How members are found; the action number is always 1. All members have priority 0.
    pub lookup: LookupAbi,
}

/// A counter array, per processor, `u64` each.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CounterAbi {
    /// Its [`ir::ExternInst`] index.
    pub index: u32,
    /// Its control-plane name.
    pub name: String,
    /// Per-CPU array or per-CPU hash from `u32` to `u64`.
    pub map: String,
    /// How many counters.
    pub size: u64,
}

/// How ports and interfaces belong together. User space fills these maps before it attaches.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PortsAbi {
    /// From port to interface index, for redirects; absent if the program never redirects.
    pub devmap: Option<String>,
    /// From the interface index a packet came in on to its port (hash, `u32` to `u32`); absent if the
    /// program never reads its input port. An interface without an element has its index as port.
    pub input: Option<String>,
    /// From port to interface index (hash, `u32` to `u32`), for redirects and copies by traffic control;
    /// absent if the program makes none.
    #[serde(default)]
    pub egress: Option<String>,
    /// From a multicast group (`u32`) to `{u32 count, u32 port[MOST_PORTS_OF_A_GROUP]}`, for traffic
    /// control; absent if the program never sends to a group.
    #[serde(default)]
    pub groups: Option<String>,
}

/// Ports that a multicast group may have.
pub const MOST_PORTS_OF_A_GROUP: u32 = 32;

/// A `flow_state`: a set-associative table in an array map of sets. A set is
/// `{bpf_spin_lock, u32 lru, u32 tag[ways], u32 used[ways], way[ways]}` and is read and written under its lock
/// (from user space with `BPF_F_LOCK`). The hash that chooses the set and the tag is `externs::flow_state::hash` of the
/// key's bytes with the seed in [`SEED_SECTION`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FlowStateAbi {
    /// Its [`ir::ExternInst`] index.
    pub index: u32,
    /// Its control-plane name.
    pub name: String,
    /// The map.
    pub map: String,
    /// How many sets, a power of two.
    pub sets: u32,
    /// Ways per set.
    pub ways: u32,
    /// Where the tags are, a `u32` per way: the upper half of the key's hash, 0 for an empty way.
    pub tags_offset: u32,
    /// Where the uses are, a `u32` per way: the set's LRU counter (`lru`) when it was last used.
    pub used_offset: u32,
    /// Where the ways begin.
    pub ways_offset: u32,
    /// Bytes of a way.
    pub way_size: u32,
    /// Where in a way the time of its last use is (`u64`, nanoseconds of the monotonic clock), if unused
    /// flows end.
    pub seen_offset: Option<u32>,
    /// Nanoseconds after which an unused flow is gone; 0 is never.
    pub idle: u64,
    /// The key's fields; offsets are from the start of a way, values in network order.
    pub key: KeyAbi,
    /// The value's fields; offsets are from the start of a way.
    pub value: Vec<FieldAbi>,
}

//! What user space must know to keep the tables of a loaded program: pure data, next to the object.
//!
//! Byte layouts here are what the generated C reads. All integers in map keys and values that have
//! no [`ByteOrder`] of their own (action numbers, priorities, tuple numbers, list heads, prefix
//! lengths, counters) are in the machine's own order. Bytes that no field covers are zero.

mod lookup;
mod seeds;
mod traffic;

use crate::uses::Use;
use arch::Place;
pub use emit::ByteOrder;
pub use lookup::{
    BUCKET_PLACES, BitVectorsAbi, BucketsAbi, Lane, LookupAbi, MOST_BLOCKS, MultibitTrieAbi,
    RowForm, Test, TupleSpaceAbi, WORDS_AT_ONCE,
};
pub use seeds::{HashSeeds, SEED_SECTION};
use serde::{Deserialize, Serialize};
pub use traffic::{
    DROP_REASONS, GROUP_BYTES, MOST_REPLICAS, MOST_ROUNDS, ROUNDS_MAP, SESSION_BYTES, TrafficAbi,
    drops_map, groups_map, sessions_map,
};

/// The name of the section, and so of the map, that holds [`GlobalsAbi`].
pub const GLOBALS_SECTION: &str = ".data.onpath";

/// The name of the section, and so of the map, that counts how often each table was changed: a `u64` for each
/// [`ir::Table`], which whoever changes a table raises before packets can meet the change. It exists as soon as the program
/// is specialized to the contents of its tables (`ir::passes::specialize`).
pub const CHANGES_SECTION: &str = ".data.changes";

/// The section of programs at XDP that take packets in several buffers (libbpf loads them with `BPF_F_XDP_HAS_FRAGS`): those that read
/// payloads, and no more than the first bytes otherwise.
pub const FRAGMENTS_SECTION: &str = "xdp.frags";

/// The name of the map with the programs of an object that go on in each other: [`MapKind::ProgramArray`].
pub const PROGRAMS_MAP: &str = "programs";

/// A compiled program and everything it keeps in the kernel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Abi {
    /// The version of this description; [`Abi::VERSION`].
    pub version: u32,
    /// The P4 program's main file, as named on the command line.
    pub source: String,
    /// The architecture's package (`xdp`, `ebpfFilter`).
    pub arch: String,
    /// The functions in the object that hooks call, one a hook.
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
    /// Meters that the program executes.
    #[serde(default)]
    pub meters: Vec<MeterAbi>,
    /// Action selectors of tables that the program applies.
    #[serde(default)]
    pub member_groups: Vec<MemberGroupsAbi>,
    /// Registers that the program reads or writes.
    #[serde(default)]
    pub registers: Vec<RegisterAbi>,
    /// Per-flow state that the program reads or writes.
    #[serde(default)]
    pub flow_states: Vec<FlowStateAbi>,
    /// Figures by group that the program keeps.
    #[serde(default)]
    pub figures: Vec<FiguresAbi>,
    /// Ports.
    pub ports: PortsAbi,
    /// Copies of packets, and what is lost.
    #[serde(default)]
    pub traffic: TrafficAbi,
    /// The perf event array for packets sent to user space.
    pub events: Option<String>,
    /// How packets hand digests to user space; `None` if they do not.
    #[serde(default)]
    pub digests: Option<DigestsAbi>,
    /// What packets log; `None` if they log nothing.
    #[serde(default)]
    pub logs: Option<LogsAbi>,
    /// What the object needs of the kernel.
    #[serde(default)]
    pub uses: Vec<Use>,
    /// Dealings of the program with packets. Objects that were built before there was this are taken to do all of it.
    #[serde(default = "PacketsAbi::all")]
    pub packets: PacketsAbi,
}

impl Abi {
    /// Raised when a field changes its meaning.
    pub const VERSION: u32 = 3;

    /// The map with this name.
    pub fn map(&self, name: &str) -> Option<&MapAbi> {
        self.maps.iter().find(|m| m.name == name)
    }

    /// Whether [`SEED_SECTION`] exists.
    pub fn is_seeded(&self) -> bool {
        let hashes = |table: &TableAbi| matches!(table.lookup, LookupAbi::Buckets(_));
        !self.flow_states.is_empty() || !self.figures.is_empty() || self.tables.iter().any(hashes)
    }

    /// State that other programs may use too.
    pub fn states(&self) -> impl Iterator<Item = StateAbi<'_>> + Clone {
        let flows = self.flow_states.iter().map(StateAbi::Flows);
        flows.chain(self.figures.iter().map(StateAbi::Figures))
    }

    /// Maps that user space makes larger than the object has them, on a machine with so many processors, and how many elements
    /// they have then.
    pub fn resized(&self, processors: u32) -> impl Iterator<Item = (&str, u32)> {
        let tables = self.tables.iter().map(|t| &t.lookup);
        let lookups = tables.chain(self.value_sets.iter().map(|s| &s.lookup));
        let masks = lookups.filter_map(|lookup| match lookup {
            LookupAbi::TupleSpace(space) => Some((space.masks.as_str(), space.tally() + 1)),
            _ => None,
        });
        let sets = move |figures: &FiguresAbi| figures.sets.saturating_mul(processors);
        let figures = self.figures.iter().map(move |f| (f.map.as_str(), sets(f)));
        masks.chain(figures)
    }
}

/// State that several programs may have in common.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StateAbi<'a> {
    /// Of flows.
    Flows(&'a FlowStateAbi),
    /// Figures by group.
    Figures(&'a FiguresAbi),
}

impl<'a> StateAbi<'a> {
    /// Its control-plane name.
    pub fn name(self) -> &'a str {
        match self {
            StateAbi::Flows(flows) => &flows.name,
            StateAbi::Figures(figures) => &figures.name,
        }
    }

    /// The map.
    pub fn map(self) -> &'a str {
        match self {
            StateAbi::Flows(flows) => &flows.map,
            StateAbi::Figures(figures) => &figures.map,
        }
    }

    /// The fields of its keys.
    pub fn key(self) -> &'a [FieldAbi] {
        match self {
            StateAbi::Flows(flows) => &flows.key.fields,
            StateAbi::Figures(figures) => &figures.key.fields,
        }
    }

    /// The fields of its values, if they have some.
    pub fn value(self) -> &'a [FieldAbi] {
        match self {
            StateAbi::Flows(flows) => &flows.value,
            StateAbi::Figures(_) => &[],
        }
    }

    /// How many keys it has room for; of figures, on each processor.
    pub fn room(self) -> u64 {
        let (sets, ways) = match self {
            StateAbi::Flows(flows) => (flows.sets, flows.ways),
            StateAbi::Figures(figures) => (figures.sets, figures.ways),
        };
        u64::from(sets) * u64::from(ways)
    }

    /// Nanoseconds after which an unused key is gone; 0 is never.
    pub fn idle(self) -> u64 {
        match self {
            StateAbi::Flows(flows) => flows.idle,
            StateAbi::Figures(_) => 0,
        }
    }

    /// Whether everything lies where it does in the other, whatever its names.
    pub fn is_like(self, other: StateAbi<'_>) -> bool {
        let fields = |fields: &[FieldAbi]| -> Vec<_> {
            let field = |f: &FieldAbi| (f.offset, f.size, f.width, f.order);
            fields.iter().map(field).collect()
        };
        let offsets = |state: StateAbi<'_>| match state {
            StateAbi::Flows(f) => (
                [f.sets, f.ways, f.tags_offset, f.ways_offset, f.way_size],
                (f.used_offset, f.seen_offset),
            ),
            StateAbi::Figures(f) => (
                [f.sets, f.ways, f.tags_offset, f.ways_offset, f.way_size],
                (f.lost_offset, Some(f.figure_offset)),
            ),
        };
        matches!(self, StateAbi::Flows(_)) == matches!(other, StateAbi::Flows(_))
            && offsets(self) == offsets(other)
            && self.idle() == other.idle()
            && fields(self.key()) == fields(other.key())
            && fields(self.value()) == fields(other.value())
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

impl Abi {
    /// That of the same code at another hook (see [`same_code`](crate::same_code)).
    pub fn at(&self, hook: Hook) -> Abi {
        let mut abi = self.clone();
        abi.programs.iter_mut().for_each(|p| p.hook = hook);
        abi
    }
}

impl ProgramAbi {
    /// Whether it takes packets in several buffers, or as the network stack has them: of 64 KB.
    pub fn takes_fragments(&self) -> bool {
        self.hook != Hook::Xdp || self.section == FRAGMENTS_SECTION
    }
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

    /// The place of packets' path where it is.
    pub fn place(self) -> Place {
        match self {
            Hook::Xdp => Place::BeforeStack,
            Hook::TcIngress => Place::TrafficIn,
            Hook::TcEgress => Place::TrafficOut,
        }
    }

    /// The hook at a place.
    pub fn at(place: Place) -> Hook {
        match place {
            Place::BeforeStack => Hook::Xdp,
            Place::TrafficIn => Hook::TcIngress,
            Place::TrafficOut => Hook::TcEgress,
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

impl MapAbi {
    /// A map without flags.
    pub fn new(
        name: impl Into<String>,
        kind: MapKind,
        key_size: u32,
        value_size: u32,
        max_entries: u32,
    ) -> MapAbi {
        MapAbi {
            name: name.into(),
            kind,
            key_size,
            value_size,
            max_entries,
            no_prealloc: false,
            mmapable: false,
        }
    }
}

/// The kernel's map types in use.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum MapKind {
    Array,
    PercpuArray,
    Hash,
    /// Of which the kernel forgets the element that was used least recently where it is full.
    LruHash,
    PercpuHash,
    LpmTrie,
    /// Key: port; value: interface index.
    DevmapHash,
    PerfEventArray,
    /// `max_entries` is the ring's size in bytes.
    RingBuffer,
    /// The programs of an object that go on in each other. The kernel empties it with its last descriptor or pin, and each loading has its own.
    ProgramArray,
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
    /// Where the entry's number is (`u32`), if something is kept for each entry ([`DirectAbi`]): from 1 on; 0 in a default action.
    #[serde(default)]
    pub number_offset: Option<u32>,
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
    /// What is kept for each entry, if anything is.
    #[serde(default)]
    pub direct: Option<DirectAbi>,
    /// The members of its action profile, if entries may name them: by number what each runs, in the form of the entries' values.
    #[serde(default)]
    pub members: Option<LookupAbi>,
}

/// The groups of an action selector.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MemberGroupsAbi {
    /// The selector's [`ir::ExternInst`] index.
    pub index: u32,
    /// By number what each has: as one action with two parameters, how many members, and [`MOST_MEMBERS_OF_A_GROUP`] times a `u32`
    /// as they lie in memory, ascending.
    pub groups: LookupAbi,
}

/// Members that a group may have.
pub const MOST_MEMBERS_OF_A_GROUP: u32 = 256;

/// What is kept for each entry of a table: the element of arrays at the entry's number minus one. Entries that are compiled in
/// have the numbers of their order in the program.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DirectAbi {
    /// How many numbers there are.
    pub entries: u32,
    /// Per-CPU array of counts as those of a [`CounterAbi`].
    pub counter: Option<String>,
    /// Array of meters as those of a [`MeterAbi`].
    #[serde(default)]
    pub meter: Option<String>,
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

/// A counter array, per processor: a `u64` each, of packets or of bytes, or two, packets and bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CounterAbi {
    /// Its [`ir::ExternInst`] index.
    pub index: u32,
    /// Its control-plane name.
    pub name: String,
    /// Per-CPU array or per-CPU hash from `u32` to one or two `u64`, as its [`MapAbi::value_size`] says.
    pub map: String,
    /// How many counters.
    pub size: u64,
}

/// Meters with an index: an array of `{bpf_spin_lock, u32 limited, u64 last, bucket committed, bucket peak}`, a bucket being
/// `{u64 whole, u64 parts, u64 burst, u64 tokens, u64 part}`: whole tokens and millionths that a microsecond brings, the most that
/// it holds, and what it holds. `last` is in microseconds. All of it is read and written under the lock (from user space with
/// `BPF_F_LOCK`). A meter that is not `limited` is green.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MeterAbi {
    /// Its [`ir::ExternInst`] index.
    pub index: u32,
    /// Its control-plane name.
    pub name: String,
    /// Array map from `u32`.
    pub map: String,
    /// How many meters.
    pub size: u64,
}

/// A register: an array map of cells.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RegisterAbi {
    /// Its [`ir::ExternInst`] index.
    pub index: u32,
    /// Its control-plane name.
    pub name: String,
    /// Array map from `u32` to a cell.
    pub map: String,
    /// How many cells.
    pub size: u64,
    /// A cell's scalars in order.
    pub fields: Vec<FieldAbi>,
    /// A cell begins with a lock, under which it is read and written (from user space with `BPF_F_LOCK`).
    #[serde(default)]
    pub locked: bool,
}

/// Digests: records in a ring buffer, `{u32 number, u32 receiver, fields}`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DigestsAbi {
    /// The ring buffer.
    pub ring: String,
    /// An array of two `u64`: how many digests found no room, which packets raise, and how many of these user space has
    /// reported, which it writes.
    pub lost: String,
    /// Those that packets send.
    pub records: Vec<DigestAbi>,
}

/// Messages for a log: records in a ring buffer, `{u32 number, u32 0, values}`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LogsAbi {
    /// The ring buffer.
    pub ring: String,
    /// An array of two `{u64 second, u64 count, u64 lost}`: how many messages a second had, and how many were too many or found no
    /// room, in all; and, in `lost` of the other, how many of these user space has reported.
    pub limit: String,
    /// The messages by number.
    pub records: Vec<LogAbi>,
}

/// A message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LogAbi {
    /// Its text; each `{}` is the next value.
    pub text: String,
    /// Bytes of a record.
    pub size: u32,
    /// Its values in order; offsets are from the start of the record.
    pub fields: Vec<FieldAbi>,
    /// Says that the first of the fields is no value but when it was logged, in nanoseconds since the machine started.
    #[serde(default)]
    pub timed: bool,
}

/// A digest.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DigestAbi {
    /// Its index in the schema's list.
    pub number: u32,
    /// Bytes of a record.
    pub size: u32,
    /// Its scalars in order; offsets are from the start of the record.
    pub fields: Vec<FieldAbi>,
}

/// How ports and interfaces belong together. User space fills these maps before it attaches.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PortsAbi {
    /// Ports have numbers below this one, which the program cannot name; `None` if it can name all.
    #[serde(default)]
    pub below: Option<u32>,
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

/// A program's dealings with packets: what it may do to them and look for in them. By XDP it has their bytes alone, so what the kernel keeps beside these
/// is missed by one that looks for it, and lost by one that sends packets on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PacketsAbi {
    /// It sends packets to ports.
    pub redirects: bool,
    /// It sends packets back out of the interface that they came in on (`XDP_TX`).
    pub sends_back: bool,
    /// It updates checksums, perhaps those of transport headers.
    pub updates_checksums: bool,
    /// It has the EtherType of a VLAN tag among its constants.
    pub knows_tags: bool,
    /// At tc it puts headers in front of IP headers that the kernel knows no segmentation behind.
    pub unsegmented: bool,
}

impl PacketsAbi {
    /// It sends packets on itself.
    pub fn forwards(self) -> bool {
        self.redirects || self.sends_back
    }

    /// A program that does all of it.
    pub fn all() -> PacketsAbi {
        PacketsAbi {
            redirects: true,
            sends_back: true,
            updates_checksums: true,
            knows_tags: true,
            unsegmented: true,
        }
    }
}

/// Ports that a multicast group may have.
pub const MOST_PORTS_OF_A_GROUP: u32 = 32;

/// A `flow_state`: a set-associative table in an array map of sets. A set is
/// `{bpf_spin_lock, u32 lru, u32 tag[ways], u32 used[ways], way[ways]}` and is read and written under its lock
/// (from user space with `BPF_F_LOCK`). The hash that chooses the set and the tag is `externs::flow_state::hash` of the
/// key's bytes with the key in [`SEED_SECTION`].
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
    /// Offset of the number of flows that others have replaced (`u64`); an object of an older version has none.
    #[serde(default)]
    pub evicted_offset: Option<u32>,
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

/// Figures by group: an array map of sets, that user space maps. The processor `n` has the sets from `n * sets` on; the map is made as
/// large as the machine needs ([`Abi::resized`]). A set is `{u32 changes, u32 0, u64 lost, u32 tag[ways], way[ways]}`. Its `changes` is odd
/// while a group takes the place of another. The set and the tag of a group are chosen as those of a [`FlowStateAbi`]. What lies at
/// `figure_offset` of a way is `{u64 count, u64 sum, u64 least, u64 greatest}` of a tally, the counts of a histogram (`u64`), the
/// registers of a count of different items (bytes), or `{u64 weight, u64 error}` of one of the greatest keys.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FiguresAbi {
    /// Its [`ir::ExternInst`] index.
    pub index: u32,
    /// Its control-plane name.
    pub name: String,
    /// The map.
    pub map: String,
    /// How many sets each processor has, a power of two.
    pub sets: u32,
    /// Ways per set.
    pub ways: u32,
    /// Where a set has the number of what belonged to groups that found no place (`u64`).
    pub lost_offset: u32,
    /// Where a set has the tags, a `u32` per way: the upper half of the key's hash, 0 for an empty way.
    pub tags_offset: u32,
    /// Where the ways begin.
    pub ways_offset: u32,
    /// Bytes of a way.
    pub way_size: u32,
    /// Where a way has its figure.
    pub figure_offset: u32,
    /// The key's fields; offsets are from the start of a way, values in network order.
    pub key: KeyAbi,
}

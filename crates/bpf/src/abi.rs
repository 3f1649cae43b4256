//! ABI of an object: the description by which user space finds the tables and state of a loaded program. Pure data,
//! stored next to the object.

mod traffic;

use crate::uses::Use;
use arch::AttachPoint;
use layout::{Contents, Map};
use serde::{Deserialize, Serialize};
pub use traffic::{
    DROP_REASONS, GROUP_BYTES, MOST_REPLICAS, MOST_ROUNDS, ROUNDS_MAP, SESSION_BYTES, TrafficAbi,
    drops_map, groups_map, sessions_map,
};

/// The name of the section, and so of the map, that holds [`layout::HashSeeds`], set before the program is loaded. It
/// exists if [`Contents::is_seeded`].
pub const SEED_SECTION: &str = ".rodata.onpath";

/// Name of the section with the properties of the machine, set before the program is loaded: a `u32` that is 1 if its
/// processors keep loads and stores in order (`onpath/ordered.h`). Programs with flow states have it.
pub const MACHINE_SECTION: &str = ".rodata.machine";

/// The name of the section, and so of the map, that holds [`layout::GlobalsAbi`].
pub const GLOBALS_SECTION: &str = ".data.onpath";

/// Name of the section, and so of the map, that counts the changes of each table: a `u64` for each [`ir::Table`].
/// Whoever changes a table increments its count before packets can meet the change. The map exists as soon as the
/// program is specialized to the contents of its tables (`ir::passes::specialize`).
pub const CHANGES_SECTION: &str = ".data.changes";

/// Section of XDP programs that take packets in several buffers (libbpf loads them with `BPF_F_XDP_HAS_FRAGS`). These
/// programs read payloads, and otherwise no more than the first bytes of a packet.
pub const FRAGMENTS_SECTION: &str = "xdp.frags";

/// Name of the map with the programs of an object that are chained by tail calls: [`MapKind::ProgramArray`].
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
    /// State that the program keeps in them.
    #[serde(flatten)]
    pub contents: Contents,
    /// Ports.
    pub ports: PortsAbi,
    /// Copies of packets, and counts of lost packets.
    #[serde(default)]
    pub traffic: TrafficAbi,
    /// The perf event array for packets sent to user space.
    pub events: Option<String>,
    /// Constructs of the object that depend on features of the kernel.
    #[serde(default)]
    pub uses: Vec<Use>,
    /// Packet handling of the program. Objects that were built before this field existed are assumed to do all of it.
    #[serde(default = "PacketsAbi::all")]
    pub packets: PacketsAbi,
}

impl Abi {
    /// Version of this format, raised when a field changes its meaning.
    pub const VERSION: u32 = 6;

    /// The map with this name.
    pub fn map(&self, name: &str) -> Option<&MapAbi> {
        self.maps.iter().find(|m| m.name == name)
    }
}

/// A function that the kernel runs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProgramAbi {
    /// Hook at which it runs.
    pub hook: Hook,
    /// The C function's name.
    pub function: String,
    /// The ELF section it is in.
    pub section: String,
    /// Bytes of stack that the compiler expects it to need, of 512.
    pub stack_estimate: u32,
    /// Instructions that the compiler expects.
    pub instruction_estimate: u32,
    /// True if the packet's head may move, so that the packet may grow or shrink.
    pub moves_head: bool,
}

impl Abi {
    /// Returns the description of the same code at another hook (see [`same_code`](crate::same_code)).
    pub fn at(&self, hook: Hook) -> Abi {
        let mut abi = self.clone();
        abi.programs.iter_mut().for_each(|p| p.hook = hook);
        abi
    }
}

impl ProgramAbi {
    /// Returns true if it takes packets in several buffers, or packets of the network stack, which have up to 64 KB.
    pub fn takes_fragments(&self) -> bool {
        self.hook != Hook::Xdp || self.section == FRAGMENTS_SECTION
    }
}

/// Hook of the kernel at which a program runs.
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

    /// Returns the name for users, on the command line and in bundles.
    pub fn name(self) -> &'static str {
        match self {
            Hook::Xdp => "xdp",
            Hook::TcIngress => "tc-ingress",
            Hook::TcEgress => "tc-egress",
        }
    }

    /// Returns the point of a packet's path at which the hook is.
    pub fn place(self) -> AttachPoint {
        match self {
            Hook::Xdp => AttachPoint::BeforeStack,
            Hook::TcIngress => AttachPoint::TrafficIn,
            Hook::TcEgress => AttachPoint::TrafficOut,
        }
    }

    /// Returns the hook at a point of a packet's path.
    pub fn at(place: AttachPoint) -> Hook {
        match place {
            AttachPoint::BeforeStack => Hook::Xdp,
            AttachPoint::TrafficIn => Hook::TcIngress,
            AttachPoint::TrafficOut => Hook::TcEgress,
        }
    }

    /// Returns the target that the hook belongs to, as the command line names it.
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
    /// Name of at most 15 characters, unique in the object.
    pub name: String,
    /// The kernel's map type.
    pub kind: MapKind,
    /// Bytes of a key.
    pub key_size: u32,
    /// Bytes of a value (on one processor, for per-CPU kinds).
    pub value_size: u32,
    /// Number of entries that it holds.
    pub max_entries: u32,
    /// `BPF_F_NO_PREALLOC` is set.
    pub no_prealloc: bool,
    /// `BPF_F_MMAPABLE` is set: user space reads and writes an array's elements in memory, each at a multiple of 8
    /// bytes.
    #[serde(default)]
    pub mmapable: bool,
}

impl MapAbi {
    /// Makes a map without flags.
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

impl From<Map> for MapAbi {
    fn from(map: Map) -> MapAbi {
        MapAbi {
            name: map.name,
            kind: match map.kind {
                layout::MapKind::Array => MapKind::Array,
                layout::MapKind::PerCoreArray => MapKind::PercpuArray,
                layout::MapKind::Hash => MapKind::Hash,
                layout::MapKind::PerCoreHash => MapKind::PercpuHash,
                layout::MapKind::PrefixTrie => MapKind::LpmTrie,
                layout::MapKind::Ring => MapKind::RingBuffer,
            },
            key_size: map.key_size,
            value_size: map.value_size,
            max_entries: map.max_entries,
            no_prealloc: map.on_demand,
            mmapable: map.mapped,
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
    /// Hash that evicts its least recently used element when it is full.
    LruHash,
    PercpuHash,
    LpmTrie,
    /// Key: port; value: interface index.
    DevmapHash,
    PerfEventArray,
    /// `max_entries` is the ring's size in bytes.
    RingBuffer,
    /// Programs of an object that are chained by tail calls. The kernel empties the array when its last descriptor or
    /// pin is gone. Each loading has its own.
    ProgramArray,
}

impl MapKind {
    /// Returns the corresponding kind that every target has; `None` if other targets have no such maps.
    pub fn neutral(self) -> Option<layout::MapKind> {
        Some(match self {
            MapKind::Array => layout::MapKind::Array,
            MapKind::PercpuArray => layout::MapKind::PerCoreArray,
            MapKind::Hash => layout::MapKind::Hash,
            MapKind::PercpuHash => layout::MapKind::PerCoreHash,
            MapKind::LpmTrie => layout::MapKind::PrefixTrie,
            MapKind::RingBuffer => layout::MapKind::Ring,
            _ => return None,
        })
    }
}

/// Maps that relate ports and interfaces. User space fills them before it attaches the program.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PortsAbi {
    /// Bound of port numbers: the program can name no port from this number on. `None` if it can name all.
    #[serde(default)]
    pub below: Option<u32>,
    /// Map from port to interface index, for redirects; absent if the program never redirects.
    pub devmap: Option<String>,
    /// Map from the index of the interface a packet came in on to its port (hash, `u32` to `u32`); absent if the
    /// program never reads its input port. An interface without an element has its index as port.
    pub input: Option<String>,
    /// Map from port to interface index (hash, `u32` to `u32`), for redirects and copies by traffic control; absent if
    /// the program makes none.
    #[serde(default)]
    pub egress: Option<String>,
    /// Map from a multicast group (`u32`) to `{u32 count, u32 port[MOST_PORTS_OF_A_GROUP]}`, for traffic control;
    /// absent if the program never sends to a group.
    #[serde(default)]
    pub groups: Option<String>,
}

/// Packet handling of a program: what it may do to packets, and what it looks for in them. An XDP program has only the
/// bytes of packets. Data that the kernel keeps beside them is missing to a program that looks for it, and is lost
/// when the program sends the packet on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PacketsAbi {
    /// True if it sends packets to ports.
    pub redirects: bool,
    /// True if it sends packets back out of the interface that they came in on (`XDP_TX`).
    pub sends_back: bool,
    /// True if it updates checksums, perhaps those of transport headers.
    pub updates_checksums: bool,
    /// True if it has the EtherType of a VLAN tag among its constants.
    pub knows_tags: bool,
    /// True if at tc it inserts headers before IP headers, and the kernel knows no segmentation after those headers.
    pub unsegmented: bool,
}

impl PacketsAbi {
    /// Returns true if it forwards packets itself.
    pub fn forwards(self) -> bool {
        self.redirects || self.sends_back
    }

    /// Returns the packet handling of a program that does all of it.
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

/// Largest number of ports that a multicast group may have.
pub const MOST_PORTS_OF_A_GROUP: u32 = 32;

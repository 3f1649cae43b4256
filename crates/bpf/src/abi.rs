//! What user space must know to keep the tables of a loaded program: pure data, next to the object.

mod traffic;

use crate::uses::Use;
use arch::Place;
use layout::{Contents, Map};
use serde::{Deserialize, Serialize};
pub use traffic::{
    DROP_REASONS, GROUP_BYTES, MOST_REPLICAS, MOST_ROUNDS, ROUNDS_MAP, SESSION_BYTES, TrafficAbi,
    drops_map, groups_map, sessions_map,
};

/// The name of the section, and so of the map, that holds [`layout::HashSeeds`], set before the program is loaded. It exists if
/// [`Contents::is_seeded`].
pub const SEED_SECTION: &str = ".rodata.onpath";

/// The name of the section, and so of the map, that holds [`layout::GlobalsAbi`].
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
    /// Everything that the program keeps in them.
    #[serde(flatten)]
    pub contents: Contents,
    /// Ports.
    pub ports: PortsAbi,
    /// Copies of packets, and what is lost.
    #[serde(default)]
    pub traffic: TrafficAbi,
    /// The perf event array for packets sent to user space.
    pub events: Option<String>,
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

impl MapKind {
    /// The kind of maps that every target has; `None` if others have none such.
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

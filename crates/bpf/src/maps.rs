//! The maps and structs that an object declares.

use crate::abi::{
    CHANGES_SECTION, GLOBALS_SECTION, MapAbi, MapKind, PROGRAMS_MAP, PortsAbi, TrafficAbi,
};
use cgen::tree::{Expr as C, Item, Type};
use emit::memory::Kept;
use smol_str::SmolStr;

/// Declarations of maps so far.
#[derive(Clone, Default, Debug)]
pub(crate) struct Maps {
    /// Maps with their C text.
    pub items: Vec<Item>,
    /// Description of the same maps for user space.
    pub list: Vec<MapAbi>,
    /// State, as all targets describe it.
    pub kept: Kept,
    /// Map for pieces of the payload.
    pub payload: Option<SmolStr>,
    /// Port maps.
    pub ports: PortsAbi,
    /// Maps of the traffic manager.
    pub traffic: TrafficAbi,
    /// The perf event array.
    pub events: Option<String>,
}

/// Helper that finds the element of a map.
pub(crate) const LOOK_UP: &str = "bpf_map_lookup_elem";

/// Number of characters that a map's name may have.
pub(crate) const MAP_NAME: usize = 15;

/// Variable that holds everything, except maps, that user space may change.
pub(crate) const GLOBALS: &str = "onpath";

/// Variable that counts the changes of tables.
pub(crate) const CHANGES: &str = "onpath_changes";

/// Declares the change counts of this number of tables.
pub(crate) fn changes(tables: usize) -> [Item; 2] {
    let tables = u32::try_from(tables).unwrap_or(u32::MAX);
    [
        Item::Comment(vec!["How often each table was changed.".into()]),
        Item::Variable {
            ty: Type::U64.array(tables),
            name: CHANGES.into(),
            init: Some(C::Init(Vec::new())),
            attribute: Some(section(CHANGES_SECTION)),
            constant: false,
        },
    ]
}

/// Returns the attribute that puts a variable or function into an ELF section.
pub(crate) fn section(name: &str) -> String {
    format!("SEC(\"{name}\")")
}

impl Maps {
    /// Declares a map with keys and values of these types, unless another function of the file did.
    pub(crate) fn declare(&mut self, abi: MapAbi, types: Option<(Type, Type)>) {
        if self.list.contains(&abi) {
            return;
        }
        let number = |name: &str, value: C| C::call("__uint", vec![C::id(name), value]);
        let kind = match abi.kind {
            MapKind::Array => "BPF_MAP_TYPE_ARRAY",
            MapKind::PercpuArray => "BPF_MAP_TYPE_PERCPU_ARRAY",
            MapKind::Hash => "BPF_MAP_TYPE_HASH",
            MapKind::LruHash => "BPF_MAP_TYPE_LRU_HASH",
            MapKind::PercpuHash => "BPF_MAP_TYPE_PERCPU_HASH",
            MapKind::LpmTrie => "BPF_MAP_TYPE_LPM_TRIE",
            MapKind::DevmapHash => "BPF_MAP_TYPE_DEVMAP_HASH",
            MapKind::PerfEventArray => "BPF_MAP_TYPE_PERF_EVENT_ARRAY",
            MapKind::RingBuffer => "BPF_MAP_TYPE_RINGBUF",
            MapKind::ProgramArray => "BPF_MAP_TYPE_PROG_ARRAY",
        };
        let mut members = vec![number("type", C::id(kind))];
        if abi.no_prealloc {
            members.push(number("map_flags", C::id("BPF_F_NO_PREALLOC")));
        }
        if abi.mmapable {
            members.push(number("map_flags", C::id("BPF_F_MMAPABLE")));
        }
        if abi.kind != MapKind::PerfEventArray {
            members.push(number("max_entries", C::int(abi.max_entries.into())));
        }
        match types {
            Some((key, value)) => {
                for (name, ty) in [("key", key), ("value", value)] {
                    let ty = match ty {
                        Type::Struct(s) => C::id(format!("struct {s}")),
                        Type::U64 => C::id("u64"),
                        _ => C::id("u32"),
                    };
                    members.push(C::call("__type", vec![C::id(name), ty]));
                }
            }
            None if abi.kind == MapKind::RingBuffer => {}
            None => {
                members.push(number("key_size", C::int(abi.key_size.into())));
                members.push(number("value_size", C::int(abi.value_size.into())));
            }
        }
        self.items.push(Item::Described {
            members,
            name: abi.name.as_str().into(),
            attribute: section(".maps"),
            init: None,
        });
        self.list.push(abi);
    }

    /// Declares the array of the programs that are chained by tail calls, after their prototypes.
    pub(crate) fn declare_programs(&mut self, programs: &[SmolStr]) -> Item {
        let number = |name: &str, value: C| C::call("__uint", vec![C::id(name), value]);
        let count = programs.len() as u32;
        let abi = MapAbi::new(PROGRAMS_MAP, MapKind::ProgramArray, 4, 4, count);
        let address = |name: &SmolStr| C::id(name.clone()).addr().cast(Type::Void.ptr());
        let listed = programs.iter().map(|name| (None, address(name)));
        let item = Item::Described {
            members: vec![
                number("type", C::id("BPF_MAP_TYPE_PROG_ARRAY")),
                number("max_entries", C::int(count.into())),
                number("key_size", C::int(4)),
                C::call("__array", vec![C::id("values"), C::id("int(void *)")]),
            ],
            name: PROGRAMS_MAP.into(),
            attribute: section(".maps"),
            init: Some(C::Init(vec![(
                Some("values".into()),
                C::Init(listed.collect()),
            )])),
        };
        self.list.push(abi);
        item
    }

    /// Declares the single values, after all were added.
    pub(crate) fn finish_globals(&mut self) -> Vec<Item> {
        let Some(globals) = self.kept.finish_globals(GLOBALS_SECTION) else {
            return Vec::new();
        };
        let name: SmolStr = format!("{GLOBALS}_globals").into();
        vec![
            Item::Comment(vec![
                "What user space may change while the program runs.".into(),
            ]),
            Item::Struct {
                name: name.clone(),
                members: globals.record.members,
            },
            Item::Variable {
                ty: Type::Struct(name),
                name: GLOBALS.into(),
                init: Some(globals.initial),
                attribute: Some(section(GLOBALS_SECTION)),
                constant: false,
            },
        ]
    }
}

//! Program with a table of each structure, and its memory in a folder of the test's own.

use bpf::abi::Abi;
use control::{Change, EntryKey, Store as _};
use driver::Input;
use driver::bpf_target::{Request, generate};
use host::safe_dir::Dir;
use layout::{HashSeeds, Map, MapKind};
use schema::{
    ActionCall, Bits, Entry, KeyMatch, NameRule, Object, RuleValue, Schema, ScopedName, Table,
    ValueSet,
};
use shm::{Program, Shm};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use writers::Store;

const PROGRAM: &str = "
#include <core.p4>
#include <xdp_model.p4>
#include <payload.p4>

header ethernet_t { bit<112> all; }
header call_t { bit<8> kind; bit<32> key; bit<32> found; }
struct headers_t { ethernet_t eth; call_t call; }

parser prs(packet_in packet, out headers_t hdr) {
    value_set<bit<32>>(256) members;
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.call);
        transition select(hdr.call.key) {
            members: known;
            default: accept;
        }
    }
    state known { hdr.call.found = 1; transition accept; }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action give(bit<32> found) { hdr.call.found = found; }
    action none() { }
    action both(bit<32> found, bit<32> same) { hdr.call.found = found == same ? found : 0xffffffff; }
    @layout(\"hash_map\") table by_exact { key = { hdr.call.key : exact @name(\"key\"); } actions = { give; none; } default_action = none(); size = 256; }
    @layout(\"trie\") table by_lpm { key = { hdr.call.key : lpm @name(\"key\"); } actions = { give; none; } default_action = none(); size = 256; }
    @layout(\"bit_vectors\") table by_ternary { key = { hdr.call.key : ternary @name(\"key\"); } actions = { give; none; } default_action = none(); size = 256; }
    table by_index { key = { hdr.call.key[7:0] : exact @name(\"key\"); } actions = { give; none; } default_action = none(); size = 256; }
    @layout(\"tuple_space\") table by_masks { key = { hdr.call.key : ternary @name(\"key\"); } actions = { give; none; } default_action = none(); size = 256; }
    @layout(\"multibit_trie\") table by_routes { key = { hdr.call.key : lpm @name(\"key\"); } actions = { give; none; } default_action = none(); size = 256; }
    @layout(\"buckets\") table by_buckets { key = { hdr.call.key : exact @name(\"key\"); } actions = { give; none; } default_action = none(); size = 256; }
    table by_default { key = { hdr.call.key : exact @name(\"key\"); } actions = { both; none; } default_action = none(); size = 1; }
    name_set(256) names;
    apply {
        bit<32> lists;
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
        switch (hdr.call.kind) {
            0: { by_exact.apply(); }
            1: { by_lpm.apply(); }
            2: { by_ternary.apply(); }
            3: { by_index.apply(); }
            4: { by_masks.apply(); }
            5: { by_routes.apply(); }
            6: { by_buckets.apply(); }
            7: { by_default.apply(); }
            8: { names.find(0, hdr.call.key, hdr.call.found, lists); }
            default: { }
        }
    }
}

control dep(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.eth); packet.emit(hdr.call); }
}

xdp(prs(), sw(), dep()) main;
";

/// Tables by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TableKind {
    Exact,
    Lpm,
    BitVectors,
    Index,
    TupleSpace,
    Routes,
    Buckets,
}

impl TableKind {
    pub(crate) const ALL: [TableKind; 7] = [
        TableKind::Exact,
        TableKind::Lpm,
        TableKind::BitVectors,
        TableKind::Index,
        TableKind::TupleSpace,
        TableKind::Routes,
        TableKind::Buckets,
    ];

    pub(crate) fn table(self) -> Table {
        Table::from_u32(self as u32)
    }

    pub(crate) fn entry(self, number: u32, found: u32) -> Entry {
        let value = |v: u32| Bits::new(32, v);
        let (key, priority) = match self {
            TableKind::Exact | TableKind::Buckets => (KeyMatch::Exact(value(number << 8)), 0),
            TableKind::Lpm => (KeyMatch::Lpm(value(number << 8), 24), 0),
            TableKind::Routes => (KeyMatch::Lpm(value(number << 10), 22 + number % 3), 0),
            TableKind::BitVectors | TableKind::TupleSpace => {
                let mask = value(0xffff_ff00 | (number % 5));
                (KeyMatch::Ternary(value(number << 8), mask), 1 + number % 3)
            }
            TableKind::Index => (KeyMatch::Exact(Bits::new(8, number)), 0),
        };
        Entry {
            keys: vec![key],
            priority,
            action: ActionCall {
                action: 0,
                args: vec![value(found)],
            },
            is_const: false,
        }
    }
}

/// Returns the table of which only the default action matters.
pub(crate) fn by_default() -> Table {
    Table::from_u32(7)
}

/// Returns a default action with two equal arguments.
pub(crate) fn default_of(found: u32) -> ActionCall {
    ActionCall {
        action: 0,
        args: vec![Bits::new(32, found), Bits::new(32, found)],
    }
}

/// Returns true if a writer changes names, which are always replaced as a whole.
fn has_names(writer: u32) -> bool {
    writer.is_multiple_of(3)
}

/// Returns the name set of the program.
fn names() -> Object {
    Object::from_u32(0)
}

/// Returns the name of an entry, longer than a record for some.
fn name(number: u32) -> ScopedName {
    let label = "a".repeat(number as usize % 50);
    ScopedName::parse(&format!("n{number}-{label}.example")).expect("a name")
}

fn member(number: u32) -> Vec<KeyMatch> {
    vec![KeyMatch::Exact(Bits::new(32, number))]
}

/// Number of entries that a writer changes in one batch.
pub(crate) const BATCH: u32 = 4;

/// Returns the tables that a writer changes. A batch with several tables whose entries may overlap is made in new maps;
/// without them most tables are changed in place.
fn kinds(writer: u32) -> impl Iterator<Item = TableKind> {
    let is_mixed = writer % 3 != 1;
    let overlap = |kind: &TableKind| matches!(kind, TableKind::BitVectors | TableKind::TupleSpace);
    let all = TableKind::ALL.into_iter();
    all.filter(move |kind| is_mixed || !overlap(kind))
}

/// Returns a batch that adds, changes or removes all of a writer's entries, depending on its number.
pub(crate) fn batch(writer: u32, turn: u32) -> Vec<Change> {
    let numbers = writer * BATCH..(writer + 1) * BATCH;
    let mut changes = Vec::new();
    for kind in kinds(writer) {
        for number in numbers.clone() {
            let (table, entry) = (kind.table(), kind.entry(number, 1 + turn));
            changes.push(match turn % 3 {
                0 => Change::Insert(table, entry),
                1 => Change::Modify(table, entry),
                _ => Change::Remove(table, EntryKey::of(&entry)),
            });
        }
    }
    for number in numbers.clone().filter(|_| has_names(writer)) {
        let name = name(number);
        if !turn.is_multiple_of(3) {
            changes.push(Change::RemoveName(names(), name.clone()));
        }
        if turn % 3 != 2 {
            let value = RuleValue {
                number: 1 + turn,
                lists: 1,
            };
            changes.push(Change::InsertName(names(), NameRule { name, value }));
        }
    }
    changes.push(Change::SetDefault(by_default(), default_of(turn)));
    let members = ValueSet::from_u32(0);
    changes.extend(numbers.filter_map(|number| match turn % 3 {
        0 => Some(Change::InsertMember(members, member(number))),
        1 => None,
        _ => Some(Change::RemoveMember(members, member(number))),
    }));
    changes
}

/// Returns the value of all entries of a writer. `None` if none of them exists.
pub(crate) fn value(store: &Store<Shm>, writer: u32) -> Option<u32> {
    let mut values = Vec::new();
    for kind in kinds(writer) {
        let entries = store.entries(kind.table()).expect("reads");
        for number in writer * BATCH..(writer + 1) * BATCH {
            let keys = kind.entry(number, 0).keys;
            let entry = entries.iter().find(|entry| entry.keys == keys);
            let found = entry.and_then(|entry| entry.action.args[0].to_u64());
            values.push((kind, found.map(|found| found as u32)));
        }
    }
    let first = values[0].1;
    let rules = store.names(names()).expect("reads");
    for number in (writer * BATCH..(writer + 1) * BATCH).filter(|_| has_names(writer)) {
        let rule = rules.iter().find(|rule| rule.name == name(number));
        let found = rule.map(|rule| rule.value.number);
        assert_eq!(found, first, "half of a batch is there: {number}");
    }
    let whole = values.iter().all(|(_, value)| *value == first);
    assert!(whole, "half of a batch is there: {values:?}");
    first
}

/// Folder with the memory of a program, which other processes open by its path.
pub(crate) struct Machine {
    pub folder: TempDir,
}

impl Machine {
    pub(crate) fn new() -> Machine {
        let folder = tempfile::tempdir_in("/dev/shm").expect("a folder");
        let input = Input {
            file: "writers.p4".into(),
            text: Some(PROGRAM.into()),
            ..Input::default()
        };
        let elaborated = driver::elaborate(&input).ok().expect("a program");
        let output = generate(&elaborated.program, &elaborated.map, Request::default());
        let abi = output.expect("an output").abi;
        let described = (abi, Schema::of(&elaborated.program));
        let text = serde_json::to_vec(&described).expect("text");
        std::fs::write(folder.path().join("program"), text).expect("writes");
        let path = folder.path();
        let seeds = HashSeeds {
            key: [1, 2],
            buckets: 3,
        };
        Shm::create(dir(path), program(path), 2, seeds).expect("memory");
        Machine { folder }
    }

    pub(crate) fn open(&self) -> Store<Shm> {
        open(self.folder.path())
    }

    pub(crate) fn is_unfinished(&self) -> bool {
        self.folder.path().join("journal").exists()
    }
}

fn dir(folder: &Path) -> Dir {
    Dir::at(folder).expect("a folder")
}

fn program(folder: &Path) -> Arc<Program> {
    let text = std::fs::read(folder.join("program")).expect("reads");
    let (abi, schema): (Abi, Schema) = serde_json::from_slice(&text).expect("a description");
    let maps = abi.maps.iter().filter_map(|map| {
        let kind = map.kind.neutral()?;
        let entries = map.max_entries.into();
        Some(Map::new(
            &map.name,
            kind,
            map.key_size,
            map.value_size,
            entries,
        ))
    });
    // Map kinds that no table uses.
    let more = [
        Map::new("hash", MapKind::Hash, 12, 24, 64),
        Map::new("trie", MapKind::PrefixTrie, 8, 4, 16),
        Map::new("cores", MapKind::PerCoreArray, 4, 12, 3),
        Map::new("core_hash", MapKind::PerCoreHash, 4, 4, 4),
        Map::new("sets", MapKind::Array, 4, 28, 2),
        Map::new("ring", MapKind::Ring, 0, 0, 64),
    ];
    Arc::new(Program {
        maps: maps.chain(more).collect(),
        contents: abi.contents,
        schema: Arc::new(schema),
        groups: None,
        sessions: None,
        drops: None,
    })
}

/// Opens the memory as another process does.
pub(crate) fn open(folder: &Path) -> Store<Shm> {
    let memory = Shm::open(dir(folder), program(folder)).expect("memory");
    Store::new(memory, true)
}

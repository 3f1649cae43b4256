//! Test harness: a pinned program with a table of every kind, and packets that show the entries.

use crate::pair::compile_for;
use bpf::Outlining;
use bpf::abi::Hook;
use control::{Store, StoreError};
use diag::SourceMap;
use driver::Input;
use driver::bpf_target::{Compiled, Request};
use driver::specialize::Origin;
use host::safe_dir::Dir;
use ir::{ActionCall, Bits, Entry, KeyMatch, Program, Table, ValueSet};
use kernel::KernelStore;
use kernel::attachment::TcMethod;
use kernel::bundle::{self, LoadedProgram, Source};
use kernel::pins::Pins;
use kernel::port::Port;
use kernel::sys::{Prog, xdp_on};
use net::netns::NetNs;
use net::{interface, veth};
use nix::mount::{MntFlags, umount2};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const PROGRAM: &str = "
#include <core.p4>
#include <xdp_model.p4>
#include <flow_state.p4>

header ethernet_t { bit<112> all; }
header call_t { bit<8> kind; bit<32> key; bit<32> found; }
struct key_t { bit<32> number; }
struct headers_t { ethernet_t eth; call_t call; }

parser prs(packet_in packet, out headers_t hdr) {
    value_set<bit<32>>(256) members;
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.call);
        transition select(hdr.call.kind, hdr.call.key) {
            (7, _): asked;
            default: accept;
        }
    }
    state asked {
        transition select(hdr.call.key) {
            members: known;
            default: accept;
        }
    }
    state known {
        hdr.call.found = 1;
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action give(bit<32> found) { hdr.call.found = found; }
    action even(bit<32> found, bit<32> same) { hdr.call.found = found == same && found[0:0] == 0 ? found : 0xffffffff; }
    action odd(bit<32> found, bit<32> same) { hdr.call.found = found == same && found[0:0] == 1 ? found : 0xffffffff; }
    action none() { }
    action both(bit<32> found, bit<32> same) { hdr.call.found = found == same ? found : 0xffffffff; }
    table by_exact { key = { hdr.call.key : exact @name(\"key\"); } actions = { give; even; odd; none; } default_action = none(); size = 256; }
    @layout(\"trie\") table by_lpm { key = { hdr.call.key : lpm @name(\"key\"); } actions = { give; even; odd; none; } default_action = none(); size = 256; }
    table by_ternary { key = { hdr.call.key : ternary @name(\"key\"); } actions = { give; even; odd; none; } default_action = none(); size = 256; }
    table by_range { key = { hdr.call.key : range @name(\"key\"); } actions = { give; even; odd; none; } default_action = none(); size = 256; }
    table by_optional { key = { hdr.call.key : optional @name(\"key\"); } actions = { give; even; odd; none; } default_action = none(); size = 256; }
    table by_index { key = { hdr.call.key[7:0] : exact @name(\"key\"); } actions = { give; even; odd; none; } default_action = none(); size = 256; }
    table by_default { key = { hdr.call.key : exact @name(\"key\"); } actions = { both; none; } default_action = none(); size = 1; }
    @layout(\"tuple_space\") table by_masks { key = { hdr.call.key : ternary @name(\"key\"); } actions = { give; even; odd; none; } default_action = none(); size = 256; }
    @layout(\"tuple_space\") table by_pieces { key = { hdr.call.key : range @name(\"key\"); } actions = { give; even; odd; none; } default_action = none(); size = 256; }
    @layout(\"multibit_trie\") table by_routes { key = { hdr.call.key : lpm @name(\"key\"); } actions = { give; even; odd; none; } default_action = none(); size = 256; }
    @layout(\"buckets\") table by_buckets { key = { hdr.call.key : exact @name(\"key\"); } actions = { give; even; odd; none; } default_action = none(); size = 256; }
    flow_state<key_t, bit<32>>(64) flows;
    CounterArray(4, false) asked;
    apply {
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
        switch (hdr.call.kind) {
            0: { by_exact.apply(); }
            1: { by_lpm.apply(); }
            2: { by_ternary.apply(); }
            3: { by_range.apply(); }
            4: { by_optional.apply(); }
            5: { by_index.apply(); }
            6: { by_default.apply(); }
            8: { key_t key = { hdr.call.key }; flows.update(key, hdr.call.key); }
            9: { asked.increment(1); }
            10: { by_masks.apply(); }
            11: { by_pieces.apply(); }
            12: { by_routes.apply(); }
            13: { by_buckets.apply(); }
            default: { }
        }
        if (hdr.call.found == 0xffffffff) { asked.increment(2); }
    }
}

control dep(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.eth); packet.emit(hdr.call); }
}

xdp(prs(), sw(), dep()) main;
";

/// Kind of look-up. A packet selects it by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum LookUpKind {
    Exact,
    Lpm,
    Ternary,
    Range,
    Optional,
    Index,
    /// Ternary, by tuple space search.
    Masks = 10,
    /// Ranges, by tuple space search.
    Pieces = 11,
    /// Prefixes in a multibit trie.
    Routes = 12,
    /// Whole keys in buckets.
    Buckets = 13,
}

impl LookUpKind {
    pub(crate) const ALL: [LookUpKind; 10] = [
        LookUpKind::Exact,
        LookUpKind::Lpm,
        LookUpKind::Ternary,
        LookUpKind::Range,
        LookUpKind::Optional,
        LookUpKind::Index,
        LookUpKind::Masks,
        LookUpKind::Pieces,
        LookUpKind::Routes,
        LookUpKind::Buckets,
    ];

    pub(crate) fn table(self) -> Table {
        Table::from_u32(match self {
            LookUpKind::Masks => 7,
            LookUpKind::Pieces => 8,
            LookUpKind::Routes => 9,
            LookUpKind::Buckets => 10,
            other => other as u32,
        })
    }

    /// Returns an entry that only packets with its key meet.
    pub(crate) fn entry(self, number: u32, found: u32) -> Entry {
        let value = |v: u32| Bits::new(32, v);
        let (key, priority) = match self {
            LookUpKind::Exact | LookUpKind::Buckets => (KeyMatch::Exact(value(number << 8)), 0),
            LookUpKind::Lpm => (KeyMatch::Lpm(value(number << 8), 24), 0),
            // One, two or four slots of a node.
            LookUpKind::Routes => (KeyMatch::Lpm(value(number << 10), 22 + number % 3), 0),
            LookUpKind::Ternary | LookUpKind::Masks => {
                let mask = value(0xffff_ff00 | (number % 5));
                (KeyMatch::Ternary(value(number << 8), mask), 1 + number % 3)
            }
            LookUpKind::Range | LookUpKind::Pieces => {
                let (low, high) = (number << 8, (number << 8) + 0xd0 + number % 3);
                (KeyMatch::Range(value(low), value(high)), 1 + number % 3)
            }
            LookUpKind::Optional => (KeyMatch::Exact(value(number << 8)), 1 + number % 3),
            LookUpKind::Index => (KeyMatch::Exact(Bits::new(8, number)), 0),
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

    /// Returns the key of a packet that such an entry matches.
    pub(crate) fn key(self, number: u32) -> u32 {
        match self {
            LookUpKind::Index => number,
            LookUpKind::Routes => number << 10,
            _ => number << 8,
        }
    }
}

/// Returns the table of which only the default action matters.
pub(crate) fn by_default() -> Table {
    Table::from_u32(6)
}

/// Returns the parser's value set.
pub(crate) fn members() -> ValueSet {
    ValueSet::from_u32(0)
}

pub(crate) fn member(number: u32) -> Vec<KeyMatch> {
    vec![KeyMatch::Exact(Bits::new(32, number))]
}

/// Returns a default action with two equal arguments.
pub(crate) fn default_of(found: u32) -> ActionCall {
    ActionCall {
        action: 0,
        args: vec![Bits::new(32, found), Bits::new(32, found)],
    }
}

/// A running program, pinned below a folder of its own.
pub(crate) struct Machine {
    pub folder: PathBuf,
    /// Program as elaborated.
    pub ir: Arc<Program>,
    sources: SourceMap,
    built: Compiled,
}

impl Machine {
    /// Runs a test on a machine in its own network namespace.
    pub(crate) fn with(name: &str, work: impl FnOnce(&Machine) + Send) {
        Machine::cut(name, None, work);
    }

    /// Runs a test on a machine whose program is several, chained by tail calls.
    pub(crate) fn with_programs(name: &str, work: impl FnOnce(&Machine) + Send) {
        let outline = Outlining {
            size: 20,
            programs: 3,
        };
        Machine::cut(name, Some(outline), |machine| {
            assert_eq!(machine.built.decisions.programs, 3);
            work(machine);
        });
    }

    fn cut(name: &str, outline: Option<Outlining>, work: impl FnOnce(&Machine) + Send) {
        let folder = std::env::temp_dir().join(format!("onpath-{name}-{}", std::process::id()));
        let source = folder.join("writers.p4");
        std::fs::create_dir_all(folder.join("bpf")).expect("makes a folder");
        std::fs::write(&source, PROGRAM).expect("writes");
        let ns = NetNs::new().expect("this test needs root");
        ns.run(|| {
            let elaborated = driver::elaborate(&Input::file(&source));
            let elaborated = elaborated.ok().expect("a program");
            let (ir, sources) = (Arc::new(elaborated.program), elaborated.map);
            let request = Request {
                outline,
                ..Request::hook(Hook::Xdp)
            };
            let built = compile_for(&ir, &sources, request);
            veth::make_pairs(&[
                ("one".into(), "two".into()),
                ("three".into(), "four".into()),
            ])?;
            let machine = Machine {
                folder: folder.clone(),
                ir,
                sources,
                built,
            };
            machine.load(&["one"]);
            work(&machine);
            Ok(())
        })
        .expect("runs");
    }

    pub(crate) fn pins(&self) -> Pins {
        Pins::at(&self.folder.join("bpf"))
    }

    /// Loads the program at interfaces.
    pub(crate) fn load(&self, interfaces: &[&str]) {
        let source = Source {
            name: "writers",
            object: &self.built.object,
            abi: &self.built.abi,
            schema: &self.built.schema,
            sources: &self.sources,
        };
        let loaded = bundle::load(&[source], &[]);
        let loaded = loaded.unwrap_or_else(|r| panic!("{}", r.failure.diagnostic.message));
        let instance = loaded.into_iter().next().expect("one");
        let port = |(number, name): (usize, &&str)| Port {
            number: number as u32,
            name: (*name).into(),
            index: interface::index(name).expect("there"),
        };
        let members = [LoadedProgram {
            name: "writers".into(),
            instance,
            ports: interfaces.iter().enumerate().map(port).collect(),
            targets: vec![],
        }];
        let pins = self.pins();
        let begun = pins.begin("writers").expect("free");
        let attached = bundle::attach(&members, TcMethod::Best).expect("attaches");
        begun.commit(&members, attached).expect("pins");
    }

    /// Returns the source of the program, for a specializer.
    pub(crate) fn origin(&self) -> Origin {
        Origin {
            program: Arc::clone(&self.ir),
            sources: SourceMap::new(),
            hook: Hook::Xdp,
            externs: Vec::new(),
            table_memory: None,
        }
    }

    /// Unloads it.
    pub(crate) fn unload(&self) {
        self.pins().remove("writers").expect("is there");
    }

    /// Returns the program that packets meet now.
    pub(crate) fn program(&self) -> Prog {
        program(&self.folder)
    }

    /// Opens the program's state as another process does.
    pub(crate) fn open(&self) -> KernelStore {
        open(&self.folder)
    }

    /// Returns true if a killed writer has left an unfinished change.
    pub(crate) fn is_unfinished(&self) -> bool {
        let folder = self.folder.join("bpf/onpath/writers/member-0");
        ["journal", "next", "taken"]
            .iter()
            .any(|begun| folder.join(begun).exists())
    }

    /// Returns the kernel's ids of the pinned program and of those that run at interfaces.
    pub(crate) fn runs(&self, interfaces: &[&str]) -> (u32, Vec<u32>) {
        let at = |name: &&str| {
            let index = interface::index(name).expect("there");
            let seen = xdp_on(index).expect("can be asked");
            seen.expect("a program runs there").prog_id
        };
        let pinned = self.program().info().expect("is loaded").id;
        (pinned, interfaces.iter().map(at).collect())
    }

    /// Returns the value that a packet of a kind with a key finds, or 0 for none.
    pub(crate) fn ask(&self, kind: u8, key: u32) -> u32 {
        ask(&self.program(), kind, key, 1)
    }

    /// Checks for numbers below a limit that packets meet what a dump shows. Returns the dump.
    pub(crate) fn check(
        &self,
        store: &KernelStore,
        kind: LookUpKind,
        limit: u32,
    ) -> BTreeMap<u32, u32> {
        let entries = store.entries(kind.table()).expect("reads");
        let (pinned, running) = self.runs(&["one"]);
        assert_eq!(running, [pinned], "what is pinned is what runs");
        let mut found = BTreeMap::new();
        for number in 0..limit {
            let keys = kind.entry(number, 0).keys;
            let mut same = entries.iter().filter(|e| e.keys == keys);
            if let Some(entry) = same.next() {
                let value = entry.action.args[0].to_u64().expect("32 bits") as u32;
                found.insert(number, value);
            }
            assert_eq!(same.next(), None, "{kind:?} {number} is there twice");
            let met = self.ask(kind as u8, kind.key(number));
            let dumped = found.get(&number).copied().unwrap_or(0);
            assert_eq!(met, dumped, "{kind:?} {number}: packets and dump disagree");
        }
        assert_eq!(
            found.len(),
            entries.len(),
            "{kind:?}: entries without a writer"
        );
        found
    }
}

/// Opens the program that is pinned below a folder.
pub(crate) fn program(folder: &Path) -> Prog {
    let folder = Dir::at(&folder.join("bpf/onpath/writers/member-0"));
    Prog::open(&folder.expect("is there"), "program").expect("is pinned")
}

/// Runs a packet of a kind with a key `times` times. Returns the value that the last one finds, or 0 for none.
pub(crate) fn ask(program: &Prog, kind: u8, key: u32, times: u32) -> u32 {
    let mut packet = vec![0; 14];
    packet.push(kind);
    packet.extend(key.to_be_bytes());
    packet.extend([0; 41]);
    let mut out = vec![0; 256];
    program.run_xdp(&packet, &mut out, 0, times).expect("runs");
    u32::from_be_bytes(out[19..23].try_into().expect("four bytes"))
}

/// Opens the state of the program that is pinned below a folder.
pub(crate) fn open(folder: &Path) -> KernelStore {
    let pins = Pins::at(&folder.join("bpf"));
    let (_, store) = pins.open("writers", None).expect("opens");
    store
}

/// Checks that a change succeeded.
pub(crate) fn must(done: Result<(), StoreError>) {
    if let Err(error) = done {
        panic!("{error}");
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let pins = Pins::at(&self.folder.join("bpf"));
        let _ = pins.clear_all();
        let _ = umount2(&self.folder.join("bpf"), MntFlags::MNT_DETACH);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

//! Tests of a command whose program is unloaded between opening and use. If another program is loaded under the name
//! by then, the command neither reads nor changes it.

use super::machine::{LookUpKind, Machine, by_default, default_of, member, members, open};
use control::{Change, EntryKey, Store, StoreError};
use ir::Bits;
use kernel::KernelStore;
use schema::{Object, Schema};

type Command = fn(&mut KernelStore) -> Result<(), StoreError>;

fn flows(schema: &Schema) -> Object {
    object(schema, "flows")
}

fn object(schema: &Schema, name: &str) -> Object {
    let mut all = schema.objects.iter();
    all.find(|(_, o)| o.name.ends_with(name)).expect("there").0
}

/// Commands of every kind that read or change a running program.
const COMMANDS: [(&str, Command); 18] = [
    ("insert", |s| {
        s.change(Change::Insert(
            LookUpKind::Exact.table(),
            LookUpKind::Exact.entry(7, 7),
        ))
    }),
    ("modify", |s| {
        s.change(Change::Modify(
            LookUpKind::Exact.table(),
            LookUpKind::Exact.entry(1, 7),
        ))
    }),
    ("remove", |s| {
        let entry = LookUpKind::Ternary.entry(1, 1);
        s.change(Change::Remove(
            LookUpKind::Ternary.table(),
            EntryKey::of(&entry),
        ))
    }),
    ("batch", |s| {
        let add = Change::Insert(LookUpKind::Lpm.table(), LookUpKind::Lpm.entry(7, 7));
        let default = Change::SetDefault(by_default(), default_of(7));
        s.apply(&[add, default]).map_err(|rejected| rejected.error)
    }),
    ("entries", |s| {
        s.entries(LookUpKind::Range.table()).map(|_| ())
    }),
    ("default", |s| {
        s.change(Change::SetDefault(by_default(), default_of(7)))
    }),
    ("read default", |s| {
        s.default_action(by_default()).map(|_| ())
    }),
    ("member", |s| {
        s.change(Change::InsertMember(members(), member(7)))
    }),
    ("counter", |s| {
        let counter = object(s.schema(), "asked");
        s.counter(counter, 1).map(|_| ())
    }),
    ("counters", |s| {
        s.counters(object(s.schema(), "asked")).map(|_| ())
    }),
    ("reset", |s| {
        let counter = object(s.schema(), "asked");
        s.reset_counter(counter, Some(1))
    }),
    ("flows", |s| s.flows(flows(s.schema())).map(|_| ())),
    ("remove flow", |s| {
        let state = flows(s.schema());
        s.remove_flow(state, &[Bits::new(32, 5u32)])
    }),
    ("clear flows", |s| {
        let state = flows(s.schema());
        s.clear_flows(state)
    }),
    ("group", |s| {
        s.change(Change::Group(1, control::Replica::to_ports([0])))
    }),
    ("session", |s| s.change(Change::Session(1, None))),
    ("sessions", |s| s.clone_sessions().map(|_| ())),
    ("drops", |s| s.drops().map(|_| ())),
];

/// Fills each part of the state of a program that was just loaded.
fn fill(machine: &Machine) {
    let mut store = machine.open();
    for kind in [LookUpKind::Exact, LookUpKind::Ternary] {
        let entry = kind.entry(1, 3);
        store
            .change(Change::Insert(kind.table(), entry.clone()))
            .expect("room");
    }
    for kind in [8, 9] {
        machine.ask(kind, 5);
    }
}

/// Returns the complete state of a program.
fn state(store: &KernelStore) -> String {
    let tables: Vec<_> = store.schema().tables.keys().collect();
    let contents = store.contents(&tables).expect("reads");
    let counted = store.counters(object(store.schema(), "asked"));
    let flows = store.flows(flows(store.schema()));
    format!("{contents:?} {counted:?} {flows:?}")
}

#[test]
fn what_was_opened_before_an_unload_concerns_nothing_that_is_loaded_later() {
    Machine::with("loadings", |machine| {
        for (name, command) in COMMANDS {
            let mut early = machine.open();
            machine.unload();
            machine.load(&["one"]);
            fill(machine);
            let before = state(&machine.open());
            let done = command(&mut early);
            assert_eq!(done, Err(StoreError::Unloaded), "{name}");
            assert_eq!(state(&open(&machine.folder)), before, "{name}");
            assert_eq!(machine.ask(8, 5), 0);
        }
    });
}

#[test]
fn a_program_at_several_interfaces_too() {
    Machine::with("several", |machine| {
        machine.unload();
        machine.load(&["one", "three"]);
        let mut early = machine.open();
        machine.unload();
        machine.load(&["one", "three"]);
        fill(machine);
        for (name, command) in COMMANDS {
            assert!(command(&mut early).is_err(), "{name}");
        }
        let mut now = machine.open();
        now.change(Change::Insert(
            LookUpKind::Exact.table(),
            LookUpKind::Exact.entry(7, 7),
        ))
        .expect("it runs");
        assert_eq!(
            machine.ask(LookUpKind::Exact as u8, LookUpKind::Exact.key(7)),
            7
        );
    });
}

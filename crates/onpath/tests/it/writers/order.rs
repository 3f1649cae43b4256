//! Tests of the order of entries with equal priorities, on the interpreter and in the kernel. The earlier entry wins,
//! and an entry that a batch removes and adds again is a later one.

use super::machine::{LookUpKind, Machine};
use control::{Change, EntryKey, Store};
use interp::{Interpreter, Options};
use ir::{Bits, Entry, KeyMatch};
use std::sync::Arc;

/// Returns an entry of a ternary table that matches under this mask of the key's low byte.
fn entry(mask: u32, found: u32) -> Entry {
    let value = |v: u32| Bits::new(32, v);
    Entry {
        keys: vec![KeyMatch::Ternary(value(mask), value(mask))],
        priority: 5,
        ..LookUpKind::Ternary.entry(0, found)
    }
}

/// Returns the value for a packet with key 0xff, which all entries match, and the entries in order.
fn met(machine: &Machine, store: &dyn Store, kind: LookUpKind) -> (u32, Vec<Entry>) {
    let entries = store.entries(kind.table()).expect("reads");
    (machine.ask(kind as u8, 0xff), entries)
}

#[test]
fn an_entry_that_is_added_again_is_the_last_of_its_priority() {
    Machine::with("order", |machine| {
        for kind in [LookUpKind::Ternary, LookUpKind::Masks] {
            let table = kind.table();
            let (first, second) = (entry(0x0f, 1), entry(0xf0, 2));
            let add = |e: &Entry| Change::Insert(table, e.clone());
            let remove = |e: &Entry| Change::Remove(table, EntryKey::of(e));
            let batches = [
                vec![add(&first), add(&second)],
                vec![Change::Clear(table), add(&second), add(&first)],
                vec![remove(&second), add(&second)],
                vec![remove(&first), add(&first), remove(&second), add(&second)],
                vec![
                    Change::Clear(table),
                    add(&first),
                    remove(&first),
                    add(&second),
                    add(&first),
                ],
            ];
            let mut store = machine.open();
            let mut oracle =
                Interpreter::new(Arc::clone(&machine.ir), Options::default()).expect("runs");
            for (number, batch) in batches.iter().enumerate() {
                store.apply(batch).expect("applies");
                oracle.apply(batch).expect("applies");
                let wanted = oracle.entries(table).expect("reads");
                let (found, entries) = met(machine, &store, kind);
                assert_eq!(entries, wanted, "{kind:?}, batch {number}");
                let first = wanted[0].action.args[0].to_u64().expect("32 bits");
                assert_eq!(u64::from(found), first, "{kind:?}, batch {number}");
            }
        }
    });
}

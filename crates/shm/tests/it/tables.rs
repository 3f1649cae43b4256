//! Tests of tables of each structure through a store.

use crate::program::{BATCH, Machine, TableKind, batch, by_default, default_of, value};
use control::{Change, EntryKey, Store, StoreError};
use layout::LookupAbi;
use writers::Memory;

#[test]
fn every_structure_is_there() {
    let store = Machine::new().open();
    let tables = &store.memory.contents().tables;
    let structure = |kind: TableKind| &tables[kind as usize].lookup;
    assert!(matches!(
        structure(TableKind::Exact),
        LookupAbi::Hash { .. }
    ));
    assert!(matches!(structure(TableKind::Lpm), LookupAbi::Lpm { .. }));
    assert!(matches!(
        structure(TableKind::BitVectors),
        LookupAbi::BitVectors(_)
    ));
    assert!(matches!(
        structure(TableKind::Index),
        LookupAbi::Array { .. }
    ));
    assert!(matches!(
        structure(TableKind::TupleSpace),
        LookupAbi::TupleSpace(_)
    ));
    assert!(matches!(
        structure(TableKind::Routes),
        LookupAbi::MultibitTrie(_)
    ));
    assert!(matches!(
        structure(TableKind::Buckets),
        LookupAbi::Buckets(_)
    ));
}

#[test]
fn entries_come_change_and_go() {
    let machine = Machine::new();
    let mut store = machine.open();
    for kind in TableKind::ALL {
        let table = kind.table();
        for number in 0..256 {
            let entry = kind.entry(number, number);
            store.change(Change::Insert(table, entry)).expect("room");
        }
        let again = store.change(Change::Insert(table, kind.entry(7, 1)));
        assert_eq!(again, Err(StoreError::Duplicate), "{kind:?}");
        store
            .change(Change::Modify(table, kind.entry(7, 1000)))
            .expect("is there");
        let gone = EntryKey::of(&kind.entry(8, 0));
        store
            .change(Change::Remove(table, gone.clone()))
            .expect("is there");
        assert_eq!(
            store.change(Change::Remove(table, gone)),
            Err(StoreError::Missing)
        );
        // Reads as another process does.
        let mut found = machine.open().entries(table).expect("reads");
        let mut wanted: Vec<_> = (0..256)
            .filter(|number| *number != 8)
            .map(|number| kind.entry(number, if number == 7 { 1000 } else { number }))
            .collect();
        for all in [&mut found, &mut wanted] {
            all.sort_by_key(|entry| format!("{:?}", entry.keys));
        }
        assert_eq!(found, wanted, "{kind:?}");
        store.change(Change::Clear(table)).expect("clears");
        assert_eq!(machine.open().entries(table).expect("reads"), []);
    }
}

#[test]
fn a_batch_that_fails_midway_leaves_nothing() {
    let machine = Machine::new();
    let mut store = machine.open();
    store.apply(&batch(1, 0)).expect("applies");
    for turn in [0, 1] {
        let writer = 1 - turn;
        let mut changes = batch(writer, 3);
        let at = changes.len();
        changes.push(Change::Insert(
            TableKind::Exact.table(),
            TableKind::Exact.entry(BATCH, 9),
        ));
        let rejected = store.apply(&changes).expect_err("it is there");
        assert!(rejected.at <= at);
        assert_eq!(value(&machine.open(), 0), None);
        assert_eq!(value(&machine.open(), 1), Some(1));
        assert_eq!(store.default_action(by_default()), Ok(default_of(0)));
    }
}

#[test]
fn a_table_is_swapped_for_another() {
    let machine = Machine::new();
    let mut store = machine.open();
    for round in 0..4u32 {
        for kind in TableKind::ALL {
            let mut changes = vec![Change::Replace(kind.table())];
            let numbers = 10 * round..10 * round + 20;
            changes.extend(numbers.map(|n| Change::Insert(kind.table(), kind.entry(n, round))));
            store.apply(&changes).expect("applies");
            let found = machine.open().entries(kind.table()).expect("reads");
            assert_eq!(found.len(), 20, "{kind:?}");
            let is_new = |entry: &schema::Entry| entry.action == kind.entry(0, round).action;
            assert!(found.iter().all(is_new), "{kind:?}: {found:?}");
        }
    }
}

#[test]
fn changes_are_counted_once_somebody_wants_it() {
    let machine = Machine::new();
    let mut store = machine.open();
    assert!(store.changes().expect("reads").is_none());
    store.count_changes().expect("counts");
    let table = TableKind::Exact.table();
    store
        .change(Change::Insert(table, TableKind::Exact.entry(1, 1)))
        .expect("room");
    let counts = machine.open().changes().expect("reads").expect("counted");
    assert_eq!(counts.of(table), Ok(1));
}

#[test]
fn a_program_that_has_ended_is_unloaded() {
    let machine = Machine::new();
    let mut store = machine.open();
    std::fs::remove_dir_all(machine.folder.path()).expect("removes");
    let refused = store.change(Change::Clear(TableKind::Exact.table()));
    assert_eq!(refused, Err(StoreError::Unloaded));
}

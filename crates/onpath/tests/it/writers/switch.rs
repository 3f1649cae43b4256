//! Tests of a table's replacement in one switch that fails entirely or halfway. Packets meet what the error says, and
//! the next command of any kind completes the switch.

use super::machine::{LookUpKind, Machine, by_default, default_of};
use super::whole::{ENTRIES, replacement};
use control::{Change, Next, Store};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const KIND: LookUpKind = LookUpKind::Exact;

/// Returns the path of a file in the program's folder.
fn file(machine: &Machine, name: &str) -> PathBuf {
    let folder = machine.folder.join("bpf/onpath/writers/member-0");
    folder.join(name)
}

/// Returns the value that packets find for the first key.
fn found(machine: &Machine) -> u32 {
    machine.ask(KIND as u8, KIND.key(0))
}

#[test]
fn a_switch_that_is_stuck_at_an_interface_is_reported_and_completed_by_any_command() {
    Machine::with("stuck", |machine| {
        let mut store = machine.open();
        store.apply(&replacement(KIND, 1)).expect("applies");
        let (record, bad) = (file(machine, "../record"), file(machine, "../link-0-999"));
        // The file with a link's name cannot be opened as a link.
        fs::rename(&record, &bad).expect("renames");
        let refused = store.apply(&replacement(KIND, 2)).expect_err("no link");
        let left = refused.not_undone.expect("it may be half done");
        let left = left.to_string();
        assert!(left.contains("at some interfaces"), "{left}");
        assert!(machine.is_unfinished());
        fs::rename(&bad, &record).expect("renames");
        machine.pins().mend().expect("mends");
        assert!(!machine.is_unfinished());
        let (pinned, running) = machine.runs(&["one"]);
        assert_eq!(running, [pinned]);
        assert_eq!(found(machine), 2);
        machine.check(&store, KIND, ENTRIES);
    });
}

#[test]
fn nothing_leads_back_once_the_new_tables_are_in_force_everywhere() {
    Machine::with("taken", |machine| {
        let mut store = machine.open();
        store.apply(&replacement(KIND, 1)).expect("applies");
        let (program, bad) = (file(machine, "program"), file(machine, "../link-0-999"));
        fs::rename(&program, file(machine, "kept")).expect("renames");
        // A pin cannot replace a folder.
        fs::create_dir(&program).expect("makes");
        let refused = store.apply(&replacement(KIND, 2)).expect_err("in the way");
        let left = refused.not_undone.expect("it is done");
        assert!(
            left.to_string().starts_with("packets meet all of it"),
            "{left}"
        );
        assert!(file(machine, "taken").exists());
        let one = store.change(Change::SetDefault(by_default(), default_of(1)));
        let error = one.expect_err("still in the way").to_string();
        assert!(error.contains("killed command"), "{error}");
        fs::remove_dir(&program).expect("removes");
        // This would make another attachment of the program fail.
        fs::rename(file(machine, "kept"), &bad).expect("renames");
        store.entries(KIND.table()).expect("reads");
        fs::remove_file(&bad).expect("removes");
        assert!(!machine.is_unfinished());
        assert_eq!(found(machine), 2);
        machine.check(&store, KIND, ENTRIES);
    });
}

#[test]
fn a_switch_that_cannot_begin_changes_nothing_and_says_why() {
    Machine::with("begin", |machine| {
        let mut store = machine.open();
        store.apply(&replacement(KIND, 1)).expect("applies");
        fs::rename(file(machine, "object"), file(machine, "kept")).expect("renames");
        let refused = store.apply(&replacement(KIND, 2)).expect_err("no object");
        let error = refused.error.to_string();
        assert!(
            error.contains("what the program was loaded from"),
            "{error}"
        );
        assert_eq!(refused.not_undone, None);
        fs::rename(file(machine, "kept"), file(machine, "object")).expect("renames");
        // The limit of memory is the one at loading, independent of the free memory.
        assert_eq!(store.memory.allowance, None);
        store.memory.allowance = Some(1);
        let refused = store.apply(&replacement(KIND, 2)).expect_err("no memory");
        let error = refused.error.to_string();
        assert!(error.contains("memory"), "{error}");
        store.memory.allowance = None;
        assert_eq!(found(machine), 1);
        assert!(!machine.is_unfinished());
        store.apply(&replacement(KIND, 2)).expect("applies");
        assert_eq!(found(machine), 2);
    });
}

#[test]
fn no_command_waits_for_a_writer_who_lives_to_finish_its_change() {
    Machine::with("lives", |machine| {
        let mut store = machine.open();
        let next = file(machine, "next");
        store
            .apply_from(&mut || {
                fs::create_dir(&next).expect("makes");
                let started = Instant::now();
                machine.pins().mend().expect("has nothing to do");
                assert!(started.elapsed() < Duration::from_secs(2));
                assert!(next.exists(), "it is the writer's");
                Next::Abandon
            })
            .expect("applies nothing");
        machine.pins().mend().expect("mends");
        assert!(!next.exists(), "it is nobody's");
    });
}

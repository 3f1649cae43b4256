//! Tests with many writers of one program's tables, some of which are killed. No change may be lost or incomplete,
//! and packets must meet what a dump shows. Needs root.

mod loadings;
mod machine;
mod order;
mod specialized;
mod switch;
mod whole;

use control::{Change, EntryKey, Store};
use kernel::KernelStore;
use machine::{LookUpKind, Machine, by_default, default_of, member, members, must, open};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const WRITERS: u32 = 20;
const ROUNDS: u32 = 100;
/// Number by which packets ask the value set.
const MEMBERS: u8 = 7;
/// Number by which packets ask the default action.
const DEFAULT: u8 = 6;

/// Returns the value of a writer's entry after a round, as inserted or modified, or `None`. Writers do different
/// things in one round.
fn state(writer: u32, round: u32) -> Option<u32> {
    match (round + writer) % 3 {
        0 => Some(1000 * round + writer),
        1 if round > 0 => Some(500 + 1000 * round + writer),
        _ => None,
    }
}

/// Makes a writer's change to a kind of table in a round.
fn step(store: &mut KernelStore, kind: LookUpKind, writer: u32, round: u32) {
    let before = round
        .checked_sub(1)
        .and_then(|before| state(writer, before));
    let table = kind.table();
    let entry = |found| kind.entry(writer, found);
    match (before, state(writer, round)) {
        (None, None) => {}
        (None, Some(found)) => must(store.change(Change::Insert(table, entry(found)))),
        (Some(_), Some(found)) => must(store.change(Change::Modify(table, entry(found)))),
        (Some(_), None) => {
            let old = entry(0);
            must(store.change(Change::Remove(table, EntryKey::of(&old))));
        }
    }
}

fn member_step(store: &mut KernelStore, writer: u32, round: u32) {
    let is = |round: u32| state(writer, round).is_some();
    match (round.checked_sub(1).is_some_and(is), is(round)) {
        (false, true) => must(store.change(Change::InsertMember(members(), member(writer)))),
        (true, false) => must(store.change(Change::RemoveMember(members(), member(writer)))),
        _ => {}
    }
}

#[test]
fn twenty_writers_lose_nothing_in_a_hundred_rounds() {
    Machine::with("writers", |machine| {
        let (begin, end) = (
            Barrier::new(WRITERS as usize + 1),
            Barrier::new(WRITERS as usize + 1),
        );
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (begin, end, folder) = (&begin, &end, &machine.folder);
                scope.spawn(move || {
                    let mut store = open(folder);
                    // No packets come while they write, so they need not wait for any.
                    store.live = false;
                    for round in 0..ROUNDS {
                        begin.wait();
                        for kind in LookUpKind::ALL {
                            step(&mut store, kind, writer, round);
                        }
                        member_step(&mut store, writer, round);
                        let found = 1 + 1000 * round + writer;
                        must(store.change(Change::SetDefault(by_default(), default_of(found))));
                        end.wait();
                    }
                });
            }
            let store = machine.open();
            for round in 0..ROUNDS {
                begin.wait();
                end.wait();
                for kind in LookUpKind::ALL {
                    let found = machine.check(&store, kind, WRITERS);
                    for writer in 0..WRITERS {
                        let wanted = state(writer, round);
                        assert_eq!(found.get(&writer).copied(), wanted, "{kind:?} {round}");
                    }
                }
                for writer in 0..WRITERS {
                    let wanted = u32::from(state(writer, round).is_some());
                    assert_eq!(machine.ask(MEMBERS, writer), wanted, "{round}");
                }
                let met = machine.ask(DEFAULT, 0);
                let default = store.default_action(by_default()).expect("reads");
                assert_eq!(default, default_of(met));
                assert_eq!(met / 1000, round, "a default of an earlier round");
            }
        });
    });
}

/// Number of entries that a writer changes in one batch. All of them get the same value.
const BATCH: u32 = 8;

/// Returns a batch that inserts, modifies or removes all of a writer's entries of all kinds.
fn batch(writer: u32, iteration: u32) -> Vec<Change> {
    let numbers = writer * BATCH..(writer + 1) * BATCH;
    let mut changes = Vec::new();
    for kind in LookUpKind::ALL {
        for number in numbers.clone() {
            let (table, entry) = (kind.table(), kind.entry(number, 1 + iteration));
            let key = EntryKey::of(&entry);
            match iteration % 3 {
                0 => changes.push(Change::Insert(table, entry)),
                1 => changes.push(Change::Modify(table, entry)),
                _ => changes.push(Change::Remove(table, key)),
            }
        }
    }
    let found = 1 + iteration % 3 + 10 * writer;
    changes.push(Change::SetDefault(by_default(), default_of(found)));
    for number in numbers {
        match iteration % 3 {
            0 => changes.push(Change::InsertMember(members(), member(number))),
            1 => {}
            _ => changes.push(Change::RemoveMember(members(), member(number))),
        }
    }
    changes
}

/// Returns the value that all of a writer's entries have, or `None` if there are none. Fails if they differ.
fn whole(values: &[Option<u32>], what: &str) -> Option<u32> {
    assert!(
        values.iter().all(|v| v == &values[0]),
        "{what}: half of a batch is there: {values:?}"
    );
    values[0]
}

#[test]
fn readers_never_see_half_a_batch() {
    Machine::with("readers", |machine| {
        let (done, folder) = (AtomicBool::new(false), &machine.folder);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let store = open(folder);
                    while !done.load(Ordering::Relaxed) {
                        for kind in LookUpKind::ALL {
                            let entries = store.entries(kind.table()).expect("reads");
                            for writer in 0..3 {
                                let numbers = writer * BATCH..(writer + 1) * BATCH;
                                let values: Vec<Option<u32>> = numbers
                                    .map(|n| {
                                        let keys = kind.entry(n, 0).keys;
                                        let entry = entries.iter().find(|e| e.keys == keys)?;
                                        entry.action.args[0].to_u64().map(|v| v as u32)
                                    })
                                    .collect();
                                whole(&values, &format!("{kind:?}"));
                            }
                        }
                    }
                });
            }
            let writers: Vec<_> = (0..3)
                .map(|writer| {
                    scope.spawn(move || {
                        let mut store = open(folder);
                        for iteration in 0..30 {
                            store.apply(&batch(writer, iteration)).expect("applies");
                        }
                    })
                })
                .collect();
            for writer in writers {
                writer.join().expect("writes");
            }
            done.store(true, Ordering::Relaxed);
        });
    });
}

/// This is the child process of the test below, which writes batches until it is killed.
#[test]
fn write_until_killed() {
    let Ok(folder) = std::env::var("ONPATH_TEST_WRITER_FOLDER") else {
        return;
    };
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let writer = number("ONPATH_TEST_WRITER").expect("a number");
    let mut iteration: u32 = number("ONPATH_TEST_ITERATION").expect("a number");
    let mut store = open(&PathBuf::from(folder));
    println!("ready");
    loop {
        store.apply(&batch(writer, iteration)).expect("applies");
        iteration += 1;
    }
}

fn start_writer(folder: &Path, writer: u32, iteration: u32) -> Child {
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["writers::write_until_killed", "--exact", "--nocapture"])
        .env("ONPATH_TEST_WRITER_FOLDER", folder)
        .env("ONPATH_TEST_WRITER", writer.to_string())
        .env("ONPATH_TEST_ITERATION", iteration.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let ready = lines.any(|l| l.is_ok_and(|l| l.contains("ready")));
    assert!(ready, "the child ended by itself");
    child
}

#[test]
fn what_killed_writers_have_begun_is_undone_by_the_next() {
    Machine::with("killed", |machine| kill_writers(machine, 25));
}

#[test]
fn killed_writers_leave_programs_that_go_on_in_each_other_together() {
    Machine::with_programs("killed-programs", |machine| kill_writers(machine, 10));
}

fn kill_writers(machine: &Machine, rounds: u32) {
    const KILLED: u32 = 3;
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let mut iterations = [0; KILLED as usize];
    let mut unfinished = 0;
    // On a busy machine, writers may be killed before every change for a while.
    let at_most = 8 * rounds;
    for round in 0..at_most {
        if round >= rounds && unfinished > 0 {
            break;
        }
        let children: Vec<Child> = (0..KILLED)
            .map(|writer| start_writer(&machine.folder, writer, iterations[writer as usize]))
            .collect();
        thread::sleep(Duration::from_micros(random.random_range(0..40_000)));
        for mut child in children {
            kill(Pid::from_raw(child.id() as i32), Signal::SIGKILL).expect("kills");
            child.wait().expect("ended");
        }
        unfinished += u32::from(machine.is_unfinished());
        // The next command is a reader or a writer.
        let mut store = machine.open();
        if round % 2 == 0 {
            must(store.change(Change::SetDefault(by_default(), default_of(9))));
            assert_eq!(machine.ask(DEFAULT, 0), 9);
        }
        let limit = KILLED * BATCH;
        let tables = LookUpKind::ALL.map(|kind| machine.check(&store, kind, limit));
        assert!(!machine.is_unfinished());
        for (writer, iteration) in (0..KILLED).zip(&mut iterations) {
            let numbers = || writer * BATCH..(writer + 1) * BATCH;
            let values: Vec<Option<u32>> = tables
                .iter()
                .flat_map(|found| numbers().map(|n| found.get(&n).copied()))
                .collect();
            let value = whole(&values, &format!("writer {writer} in round {round}"));
            for number in numbers() {
                let is_member = machine.ask(MEMBERS, number) == 1;
                assert_eq!(is_member, value.is_some(), "member {number}");
            }
            // The value is the number of the next batch, from which the next writer continues.
            *iteration = value.map_or(0, |value| value);
        }
        let met = machine.ask(DEFAULT, 0);
        let default = store.default_action(by_default()).expect("reads");
        assert_eq!(default, default_of(met));
    }
    assert!(
        unfinished > 0,
        "no writer was killed in the middle of a change: the test shows nothing"
    );
}

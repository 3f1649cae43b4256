//! Tests of a program that is specialized while packets pass and writers change its tables. Each packet must meet
//! what the interpreter finds in the entries at some time between its sending and its arrival, and none may be lost.

use super::machine::{LookUpKind, Machine, by_default, default_of, must};
use super::{DEFAULT, start_writer};
use control::{Change, EntryKey, Store};
use driver::specialize::{Failed, Specializer};
use interp::{Interpreter, Options};
use kernel::KernelStore;
use kernel::pins::Owner;
use net::raw_socket::RawSocket;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Number of different entries that are changed.
const NUMBERS: u32 = 4;

/// Returns a specializer of the machine's program.
fn specializer(machine: &Machine) -> Specializer {
    let this = Owner::this().expect("/proc is there");
    match Specializer::new(machine.origin(), machine.open(), this) {
        Ok(specializer) => specializer,
        Err(failed) => panic!("{failed:?}"),
    }
}

/// Specializes the program until all of these tables are compiled in with their present contents.
fn settle(specializer: &mut Specializer, store: &KernelStore, wanted: &[&str]) {
    let begun = Instant::now();
    while !wanted.iter().all(|name| compiled_in(store).contains(*name)) {
        match specializer.step() {
            Ok(Some(_)) => {}
            Ok(None) => thread::sleep(Duration::from_millis(5)),
            Err(failed) => panic!("{failed:?}"),
        }
        let found = compiled_in(store);
        assert!(
            begun.elapsed().as_secs() < 100,
            "compiled in is only {found:?}"
        );
    }
}

/// Returns the tables that the program has compiled in with their present contents.
fn compiled_in(store: &KernelStore) -> BTreeSet<String> {
    let found = kernel::store::specialized(store).expect("reads");
    let (specialized, current) = found.unzip();
    let tables = specialized.map_or(Vec::new(), |specialized| specialized.tables);
    let current = tables.into_iter().zip(current.unwrap_or_default());
    let current = current.filter(|(_, current)| *current);
    current.map(|(table, _)| table.name).collect()
}

/// Names of all tables.
const ALL: [&str; 9] = [
    "sw.by_exact",
    "sw.by_lpm",
    "sw.by_ternary",
    "sw.by_range",
    "sw.by_optional",
    "sw.by_index",
    "sw.by_default",
    "sw.by_masks",
    "sw.by_pieces",
];

/// A change, with the times at which it began and ended.
struct Made {
    change: Vec<Change>,
    began: Instant,
    ended: Instant,
}

/// A packet: its question, the times at which it was sent and received, and the value that it found.
struct Met {
    kind: u8,
    key: u32,
    sent: Instant,
    came: Instant,
    found: u32,
}

fn question(kind: u8, key: u32, number: u32) -> Vec<u8> {
    let mut packet = vec![2; 14];
    packet.push(kind);
    packet.extend(key.to_be_bytes());
    packet.extend([0; 4]);
    packet.extend(b"specialized");
    packet.extend(number.to_be_bytes());
    packet.resize(60, 0);
    packet
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// Returns every kind and key that packets ask for.
fn questions() -> Vec<(u8, u32)> {
    let of = |kind: LookUpKind| (0..=NUMBERS).map(move |number| (kind as u8, kind.key(number)));
    let mut all: Vec<(u8, u32)> = LookUpKind::ALL.into_iter().flat_map(of).collect();
    all.push((DEFAULT, 0));
    all
}

/// Returns a random change of the tables, given their contents on an interpreter.
fn next_change(oracle: &Interpreter, random: &mut ChaCha8Rng, iteration: u32) -> Vec<Change> {
    let found = 1 + iteration;
    let kind = *LookUpKind::ALL.choose(random).expect("some");
    let table = kind.table();
    let entry = kind.entry(random.random_range(0..NUMBERS), found);
    match random.random_range(0..12) {
        0 => return vec![Change::SetDefault(by_default(), default_of(found))],
        // The table is replaced atomically: by another program, or by switching the halves of its bit vectors.
        1 => {
            let entries = (0..random.random_range(0..=NUMBERS)).map(|n| kind.entry(n, found));
            let all = entries.map(|entry| Change::Insert(table, entry));
            return [Change::Replace(table)].into_iter().chain(all).collect();
        }
        _ => {}
    }
    let entries = oracle.entries(table).expect("reads");
    let there = entries.iter().any(|other| other.keys == entry.keys);
    match (there, random.random_bool(0.5)) {
        (false, _) => vec![Change::Insert(table, entry)],
        (true, false) => vec![Change::Modify(table, entry)],
        (true, true) => vec![Change::Remove(table, EntryKey::of(&entry))],
    }
}

/// Sends packets while changes are made in bursts. Returns the changes, the packets, and the number of
/// specializations.
fn observe(machine: &Machine, bursts: u32) -> (Vec<Made>, Vec<Met>, u32) {
    let (out, into) = (
        RawSocket::open("two").expect("opens"),
        RawSocket::open("one").expect("opens"),
    );
    into.set_room(1 << 26).expect("there is room");
    let (done, over, specialized) = (
        AtomicBool::new(false),
        AtomicBool::new(false),
        AtomicU32::new(0),
    );
    let (made, sent, came) = thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut specializer = specializer(machine);
            while !done.load(Ordering::Relaxed) {
                match specializer.step() {
                    Ok(None) => thread::sleep(Duration::from_millis(5)),
                    Ok(Some(_)) => {
                        specialized.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(failed) => panic!("{failed:?}"),
                }
            }
        });
        let sender = scope.spawn(|| {
            let mut sent = Vec::new();
            for (kind, key) in questions().into_iter().cycle() {
                let number = sent.len() as u32;
                sent.push((kind, key, Instant::now()));
                out.send(&question(kind, key, number)).expect("sends");
                if done.load(Ordering::Relaxed) {
                    return sent;
                }
                thread::sleep(Duration::from_micros(30));
            }
            sent
        });
        let receiver = scope.spawn(|| {
            let mut came = BTreeMap::new();
            while into.wait(200).expect("waits") || !over.load(Ordering::Relaxed) {
                while let Some(packet) = into.receive().expect("receives") {
                    if packet.bytes.get(23..34) == Some(b"specialized") {
                        let (number, found) = (word(&packet.bytes, 34), word(&packet.bytes, 19));
                        came.insert(number, (Instant::now(), found));
                    }
                }
            }
            came
        });
        let (mut store, mut random) = (machine.open(), ChaCha8Rng::seed_from_u64(4));
        let mut oracle =
            Interpreter::new(Arc::clone(&machine.ir), Options::default()).expect("runs");
        let wait = |before: u32| {
            let begun = Instant::now();
            while specialized.load(Ordering::Relaxed) == before {
                assert!(begun.elapsed().as_secs() < 100, "it is not specialized");
                thread::sleep(Duration::from_millis(5));
            }
        };
        let mut made = Vec::new();
        for iteration in 0..bursts * 8 {
            // Some bursts change a specialized program, others one that is being specialized.
            match iteration % 16 {
                0 => wait(specialized.load(Ordering::Relaxed)),
                8 => thread::sleep(Duration::from_millis(random.random_range(200..500))),
                _ => {}
            }
            let change = next_change(&oracle, &mut random, iteration);
            oracle.apply(&change).expect("applies");
            let began = Instant::now();
            store.apply(&change).expect("applies");
            made.push(Made {
                change,
                began,
                ended: Instant::now(),
            });
        }
        let begun = Instant::now();
        while compiled_in(&store).len() < ALL.len() {
            assert!(begun.elapsed().as_secs() < 100, "it is not specialized");
            thread::sleep(Duration::from_millis(5));
        }
        done.store(true, Ordering::Relaxed);
        let sent = sender.join().expect("sends");
        over.store(true, Ordering::Relaxed);
        watcher.join().expect("specializes");
        (made, sent, receiver.join().expect("receives"))
    });
    assert_eq!(
        into.overflowed().expect("can be asked"),
        0,
        "the receiver was too slow"
    );
    let lost: Vec<u32> = (0..sent.len() as u32)
        .filter(|n| !came.contains_key(n))
        .collect();
    assert!(
        lost.is_empty(),
        "{} of {} packets were lost: {lost:?}",
        lost.len(),
        sent.len()
    );
    let met = sent
        .into_iter()
        .zip(came)
        .map(|((kind, key, sent), (_, (came, found)))| Met {
            kind,
            key,
            sent,
            came,
            found,
        });
    (made, met.collect(), specialized.into_inner())
}

#[test]
fn packets_meet_what_the_interpreter_finds_while_tables_change() {
    Machine::with("specialized", |machine| {
        let (made, met, specialized) = observe(machine, 10);
        assert!(specialized > 5, "specialized {specialized} times only");
        assert!(met.len() > 10_000, "{} packets only", met.len());
        let questions = questions();
        let mut oracle =
            Interpreter::new(Arc::clone(&machine.ir), Options::default()).expect("runs");
        let answers = |oracle: &mut Interpreter| -> Vec<u32> {
            let ask = |&(kind, key): &(u8, u32)| {
                let outcome = oracle.run(0, &question(kind, key, 0));
                word(&outcome.packets[0].bytes, 19)
            };
            questions.iter().map(ask).collect()
        };
        let mut states = vec![answers(&mut oracle)];
        for made in &made {
            oracle.apply(&made.change).expect("applies");
            states.push(answers(&mut oracle));
        }
        let mut during = 0;
        for Met {
            kind,
            key,
            sent,
            came,
            found,
        } in met
        {
            let asked = questions
                .iter()
                .position(|q| *q == (kind, key))
                .expect("asked");
            // A state may be seen from the beginning of the change that leads to it to the end of the next change.
            let there = (0..states.len()).filter(|state| {
                let began = state
                    .checked_sub(1)
                    .is_none_or(|last| made[last].began <= came);
                began && made.get(*state).is_none_or(|next| next.ended >= sent)
            });
            let possible: Vec<u32> = there.map(|state| states[state][asked]).collect();
            during += u32::from(possible.len() > 1);
            assert!(
                possible.contains(&found),
                "kind {kind}, key {key:#x}: found {found}, possible {possible:?}"
            );
        }
        assert!(during > 50, "{during} packets met a change only");
        let pinned = machine.runs(&["one"]);
        assert_eq!(pinned.1, [pinned.0]);
    });
}

#[test]
fn without_its_watcher_a_specialized_program_follows_every_change() {
    Machine::with("unwatched", |machine| {
        let mut store = machine.open();
        for kind in LookUpKind::ALL {
            must(store.change(Change::Insert(kind.table(), kind.entry(1, 5))));
        }
        let before = machine.runs(&["one"]).0;
        let mut watcher = specializer(machine);
        settle(&mut watcher, &store, &ALL);
        drop(watcher);
        assert_ne!(machine.runs(&["one"]).0, before, "another program");
        for kind in LookUpKind::ALL {
            machine.check(&store, kind, 4);
            must(store.change(Change::Insert(kind.table(), kind.entry(2, 6))));
            must(store.change(Change::Modify(kind.table(), kind.entry(1, 7))));
            machine.check(&store, kind, 4);
            must(store.change(Change::Remove(
                kind.table(),
                EntryKey {
                    keys: kind.entry(2, 0).keys,
                    priority: kind.entry(2, 0).priority,
                },
            )));
            machine.check(&store, kind, 4);
        }
        must(store.change(Change::SetDefault(by_default(), default_of(9))));
        assert_eq!(machine.ask(DEFAULT, 0), 9);
        assert_eq!(compiled_in(&store), BTreeSet::new());
        // The next watcher compiles in all changes.
        settle(&mut specializer(machine), &store, &ALL);
        for kind in LookUpKind::ALL {
            machine.check(&store, kind, 4);
        }
        assert_eq!(machine.ask(DEFAULT, 0), 9);
    });
}

#[test]
fn a_table_that_grows_is_looked_up_until_it_is_small_again() {
    Machine::with("grows", |machine| {
        let (mut store, mut watcher) = (machine.open(), specializer(machine));
        let kind = LookUpKind::Lpm;
        must(store.change(Change::Insert(kind.table(), kind.entry(1, 5))));
        settle(&mut watcher, &store, &["sw.by_lpm"]);
        let numbers = 2..40;
        for number in numbers.clone() {
            must(store.change(Change::Insert(
                kind.table(),
                kind.entry(number, 100 + number),
            )));
            let found = machine.ask(kind as u8, kind.key(number));
            assert_eq!(found, 100 + number);
        }
        // A change of another table makes the program be compiled again.
        must(store.change(Change::SetDefault(by_default(), default_of(3))));
        settle(&mut watcher, &store, &["sw.by_default"]);
        assert!(!compiled_in(&store).contains("sw.by_lpm"));
        machine.check(&store, kind, 41);
        for number in numbers {
            let entry = kind.entry(number, 0);
            must(store.change(Change::Remove(kind.table(), EntryKey::of(&entry))));
        }
        settle(&mut watcher, &store, &["sw.by_lpm"]);
        machine.check(&store, kind, 41);
    });
}

#[test]
fn where_a_table_is_replaced_by_a_large_one_the_others_are_compiled_in_again() {
    Machine::with("replaced-special", replaced_by_a_large_one);
}

/// The specialized program is a single one. The programs that it replaced come back.
#[test]
fn programs_that_go_on_in_each_other_come_back_where_a_table_is_replaced() {
    Machine::with_programs("programs-special", replaced_by_a_large_one);
}

fn replaced_by_a_large_one(machine: &Machine) {
    let (mut store, mut watcher) = (machine.open(), specializer(machine));
    settle(&mut watcher, &store, &ALL);
    let kind = LookUpKind::Lpm;
    let entries = (0..40).map(|number| Change::Insert(kind.table(), kind.entry(number, 5)));
    let changes: Vec<Change> = [Change::Replace(kind.table())]
        .into_iter()
        .chain(entries)
        .collect();
    store.apply(&changes).expect("applies");
    // The program that is not specialized is back.
    assert_eq!(compiled_in(&store), BTreeSet::new());
    let others = ALL.into_iter().filter(|name| *name != "sw.by_lpm");
    settle(&mut watcher, &store, &others.collect::<Vec<_>>());
    machine.check(&store, kind, 40);
}

#[test]
fn what_killed_writers_leave_is_never_compiled_in() {
    Machine::with("killed-special", |machine| {
        let (mut watcher, mut random) = (specializer(machine), ChaCha8Rng::seed_from_u64(7));
        let mut iteration = 0;
        for _ in 0..6 {
            let mut child = start_writer(&machine.folder, 0, iteration);
            // This lets the writer change a specialized program.
            thread::sleep(Duration::from_micros(random.random_range(0..40_000)));
            kill(Pid::from_raw(child.id() as i32), Signal::SIGKILL).expect("kills");
            child.wait().expect("ended");
            let store = machine.open();
            // This must succeed whether or not anything was changed.
            watcher.step().expect("reads what is complete");
            settle(&mut watcher, &store, &ALL);
            assert!(!machine.is_unfinished(), "the watcher has undone it");
            let tables = LookUpKind::ALL.map(|kind| machine.check(&store, kind, super::BATCH));
            iteration = tables[0].get(&0).copied().unwrap_or(0);
        }
    });
}

#[test]
fn what_is_unloaded_while_it_is_specialized_stays_unloaded() {
    Machine::with("unloaded-special", |machine| {
        for wait in [0, 40, 120] {
            let mut watcher = specializer(machine);
            let stepped = thread::scope(|scope| {
                let stepping = scope.spawn(|| watcher.step());
                thread::sleep(Duration::from_millis(wait));
                machine.unload();
                stepping.join().expect("steps")
            });
            match stepped {
                Ok(Some(_)) | Err(Failed::Unloaded) => {}
                other => panic!("{other:?}"),
            }
            let names = machine.pins().names().expect("reads");
            assert!(names.is_empty(), "{names:?}");
            machine.load(&["one"]);
        }
        let mut watcher = specializer(machine);
        machine.unload();
        assert!(matches!(watcher.step(), Err(Failed::Unloaded)));
        machine.load(&["one"]);
    });
}

#[test]
fn every_interface_runs_the_specialized_program() {
    Machine::with("special-ports", |machine| {
        machine.unload();
        machine.load(&["one", "three"]);
        settle(&mut specializer(machine), &machine.open(), &ALL);
        let (pinned, running) = machine.runs(&["one", "three"]);
        assert_eq!(running, [pinned; 2]);
    });
}

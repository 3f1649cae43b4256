//! Tests that changes are atomic for packets: each entry, and a table that is replaced in one switch.

use super::machine::{LookUpKind, Machine, ask, by_default, default_of, must, program};
use control::{Change, EntryKey, Store};
use host::safe_dir::Dir;
use ir::{ActionCall, Bits, Entry};
use kernel::KernelStore;
use kernel::sys::Map;
use net::raw_socket::RawSocket;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Number of entries of a table that is replaced.
pub(super) const ENTRIES: u32 = 8;

/// Returns a batch that replaces all entries of a table by entries with this value.
pub(super) fn replacement(kind: LookUpKind, found: u32) -> Vec<Change> {
    let insert = |number| Change::Insert(kind.table(), kind.entry(number, found));
    let entries = (0..ENTRIES).map(insert);
    [Change::Replace(kind.table())]
        .into_iter()
        .chain(entries)
        .collect()
}

/// Returns a packet that asks a table for a key.
fn question(kind: LookUpKind, key: u32) -> Vec<u8> {
    let mut packet = vec![2; 14];
    packet.push(kind as u8);
    packet.extend(key.to_be_bytes());
    packet.resize(60, 0);
    packet
}

/// Does `work` while packets ask a table for its entries in turn. The work can wait until more packets have passed.
/// Returns the values that packets found, in their order.
fn while_packets_pass(kind: LookUpKind, work: impl FnOnce(&dyn Fn())) -> Vec<u32> {
    let (out, into) = (
        RawSocket::open("two").expect("opens"),
        RawSocket::open("one").expect("opens"),
    );
    into.set_room(1 << 26).expect("there is room");
    let (done, passed) = (AtomicBool::new(false), AtomicU32::new(0));
    thread::scope(|scope| {
        let sender = scope.spawn(|| {
            for number in (0..ENTRIES).cycle() {
                out.send(&question(kind, kind.key(number))).expect("sends");
                if done.load(Ordering::Relaxed) {
                    return;
                }
                thread::sleep(Duration::from_micros(20));
            }
        });
        let receiver = scope.spawn(|| {
            let mut found = Vec::new();
            while into.wait(300).expect("waits") {
                while let Some(packet) = into.receive().expect("receives") {
                    if packet.bytes[..15] == question(kind, 0)[..15] {
                        passed.fetch_add(1, Ordering::Relaxed);
                        found.push(u32::from_be_bytes(
                            packet.bytes[19..23].try_into().expect("four"),
                        ));
                    }
                }
            }
            found
        });
        work(&|| {
            let before = passed.load(Ordering::Relaxed);
            while passed.load(Ordering::Relaxed) < before + 2 * ENTRIES {
                thread::sleep(Duration::from_micros(100));
            }
        });
        done.store(true, Ordering::Relaxed);
        sender.join().expect("sends");
        receiver.join().expect("receives")
    })
}

/// Replaces tables of these kinds while packets pass.
fn replace(machine: &Machine, kinds: &[LookUpKind]) {
    const GENERATIONS: u32 = 4;
    let mut store = machine.open();
    for &kind in kinds {
        store.apply(&replacement(kind, 1)).expect("applies");
        let found = while_packets_pass(kind, |wait_for_packets| {
            wait_for_packets();
            for generation in 2..=GENERATIONS {
                store
                    .apply(&replacement(kind, generation))
                    .expect("applies");
                wait_for_packets();
            }
        });
        assert!(
            found.is_sorted(),
            "{kind:?}: a packet met the old table after one had met the new: {:?}",
            found.windows(2).find(|w| w[0] > w[1])
        );
        let mut met = found;
        met.dedup();
        let all: Vec<u32> = (1..=GENERATIONS).collect();
        assert_eq!(met, all, "{kind:?}");
        machine.check(&store, kind, ENTRIES);
    }
}

#[test]
fn a_table_is_replaced_in_one_switch() {
    Machine::with("replace", |machine| replace(machine, &LookUpKind::ALL));
}

/// The kernel keeps none of the old programs.
#[test]
fn programs_that_go_on_in_each_other_are_replaced_in_one_switch() {
    Machine::with_programs("programs", |machine| {
        replace(machine, &[LookUpKind::Exact, LookUpKind::Lpm]);
        let folder = machine.folder.join("bpf/onpath/writers/member-0");
        let folder = Dir::at(&folder).expect("is there");
        let programs = Map::open(&folder, "map-programs").expect("is pinned");
        let first = programs.get(&0u32.to_ne_bytes()).expect("reads");
        let first = first.map(|id| u32::from_ne_bytes(id.try_into().expect("four bytes")));
        assert_eq!(first, Some(machine.runs(&["one"]).0));
        assert!(!machine.is_unfinished());
    });
}

#[test]
fn bit_vectors_are_replaced_in_place() {
    Machine::with("in-place", |machine| {
        let mut store = machine.open();
        let before = machine.runs(&["one"]).0;
        for kind in [LookUpKind::Ternary, LookUpKind::Range, LookUpKind::Optional] {
            must(store.change(Change::Insert(kind.table(), kind.entry(20, 9))));
            store.apply(&replacement(kind, 5)).expect("applies");
            let found = machine.check(&store, kind, 21);
            assert_eq!(found.len() as u32, ENTRIES, "{kind:?}");
        }
        assert_eq!(machine.runs(&["one"]).0, before, "no other program");
        // Two tables at once cannot be switched by one word.
        let both = [LookUpKind::Ternary, LookUpKind::Range].map(|kind| replacement(kind, 6));
        store.apply(&both.concat()).expect("applies");
        assert_ne!(machine.runs(&["one"]).0, before, "a switch of both");
        for kind in [LookUpKind::Ternary, LookUpKind::Range, LookUpKind::Optional] {
            machine.check(&store, kind, 21);
        }
        assert!(!machine.is_unfinished());
    });
}

/// Returns the program's data, which tell for each table which half of its bit vectors is in use.
fn data(machine: &Machine) -> Vec<u8> {
    let store = machine.open();
    let map = store.memory.maps.get(".data.onpath").expect("opens");
    let value = map.expect("there").get(&0u32.to_ne_bytes());
    value.expect("reads").expect("has one element")
}

#[test]
fn one_entry_of_bit_vectors_changes_in_the_half_in_use() {
    Machine::with("one-entry", |machine| {
        let mut store = machine.open();
        for kind in [LookUpKind::Ternary, LookUpKind::Range, LookUpKind::Optional] {
            let table = kind.table();
            for number in 0..3 {
                must(store.change(Change::Insert(table, kind.entry(number, 10 + number))));
            }
            let before = data(machine);
            let gone = kind.entry(0, 0);
            must(store.change(Change::Remove(table, EntryKey::of(&gone))));
            must(store.change(Change::Modify(table, kind.entry(1, 77))));
            for number in 3..9 {
                must(store.change(Change::Insert(table, kind.entry(number, 10 + number))));
            }
            assert_eq!(data(machine), before, "{kind:?}: the other half is in use");
            let found = machine.check(&store, kind, 10);
            assert_eq!((found.len(), found.get(&1)), (8, Some(&77)), "{kind:?}");
            // Positions are used once. When they are used up, all entries are written again.
            for iteration in 0..150 {
                must(store.change(Change::Modify(table, kind.entry(1, iteration))));
                let met = machine.ask(kind as u8, kind.key(1));
                assert_eq!(met, iteration, "{kind:?}");
            }
            assert_ne!(data(machine), before, "{kind:?}: positions were used twice");
            machine.check(&store, kind, 10);
        }
    });
}

#[test]
fn the_other_tables_and_all_interfaces_keep_up_with_a_switch() {
    Machine::with("keep-up", |machine| {
        machine.unload();
        machine.load(&["one", "three"]);
        let mut store = machine.open();
        for kind in LookUpKind::ALL {
            must(store.change(Change::Insert(
                kind.table(),
                kind.entry(1, 10 + kind as u32),
            )));
        }
        must(store.change(Change::SetDefault(by_default(), default_of(77))));
        machine.ask(9, 0);
        let before = machine.runs(&["one", "three"]).0;
        let mut batch = replacement(LookUpKind::Masks, 5);
        // All other changes of the batch are part of the switch, even those that could be made in place.
        for kind in [LookUpKind::Lpm, LookUpKind::Range] {
            batch.push(Change::Modify(kind.table(), kind.entry(1, 6)));
        }
        store.apply(&batch).expect("applies");
        let (pinned, running) = machine.runs(&["one", "three"]);
        assert_eq!(running, [pinned; 2]);
        assert_ne!(pinned, before);
        assert!(!machine.is_unfinished());
        for kind in LookUpKind::ALL {
            let wanted = match kind {
                LookUpKind::Masks => 5,
                LookUpKind::Lpm | LookUpKind::Range => 6,
                _ => 10 + kind as u32,
            };
            assert_eq!(machine.ask(kind as u8, kind.key(1)), wanted, "{kind:?}");
        }
        assert_eq!(machine.ask(6, 0), 77);
        let mut objects = store.schema().objects.iter();
        let (asked, _) = objects
            .find(|(_, o)| o.name.ends_with("asked"))
            .expect("there");
        assert_eq!(store.counter(asked, 1).map(|count| count.packets), Ok(1));
        // A store that was opened before the switch changes what packets meet now.
        must(store.change(Change::Insert(
            LookUpKind::Ternary.table(),
            LookUpKind::Ternary.entry(20, 9),
        )));
        assert_eq!(
            machine.ask(LookUpKind::Ternary as u8, LookUpKind::Ternary.key(20)),
            9
        );
        assert_eq!(
            machine.runs(&["one", "three"]).0,
            pinned,
            "one entry is no switch"
        );
        machine.unload();
    });
}

/// Returns one of two actions, with arguments that only this action accepts.
fn of(iteration: u32) -> ActionCall {
    ActionCall {
        action: 1 + iteration % 2,
        args: vec![Bits::new(32, iteration), Bits::new(32, iteration)],
    }
}

/// Makes one change in a cycle: the entry is inserted, modified and removed.
fn change(store: &mut KernelStore, kind: Option<LookUpKind>, iteration: u32) {
    let Some(kind) = kind else {
        return must(store.change(Change::SetDefault(
            by_default(),
            default_of(2 + iteration % 2),
        )));
    };
    let entry = Entry {
        action: of(2 + iteration),
        ..kind.entry(1, 0)
    };
    match iteration % 5 {
        4 => must(store.change(Change::Remove(kind.table(), EntryKey::of(&entry)))),
        0 => must(store.change(Change::Insert(kind.table(), entry))),
        _ => must(store.change(Change::Modify(kind.table(), entry))),
    }
}

#[test]
fn no_packet_meets_a_mix_of_what_an_entry_was_and_what_it_is() {
    const LONG: Duration = Duration::from_millis(1500);
    Machine::with("mix", |machine| {
        for kind in LookUpKind::ALL.map(Some).into_iter().chain([None]) {
            let mut store = machine.open();
            let (done, folder) = (AtomicBool::new(false), &machine.folder);
            let (number, key) = kind.map_or((6, 0), |kind| (kind as u8, kind.key(1)));
            let iterations = thread::scope(|scope| {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        let program = program(folder);
                        for _ in 0..50 {
                            ask(&program, number, key, 500);
                        }
                    }
                });
                let begun = Instant::now();
                let mut iterations = 0;
                while begun.elapsed() < LONG || iterations % 5 != 0 {
                    change(&mut store, kind, iterations);
                    iterations += 1;
                }
                done.store(true, Ordering::Relaxed);
                iterations
            });
            let mut objects = store.schema().objects.iter();
            let (asked, _) = objects
                .find(|(_, o)| o.name.ends_with("asked"))
                .expect("there");
            let torn = store.counter(asked, 2).map(|count| count.packets);
            assert_eq!(torn, Ok(0), "{kind:?} after {iterations} changes");
        }
    });
}

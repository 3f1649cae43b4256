//! Tests of single maps.

use crate::program::Machine;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use writers::Memory;
use writers::memory::{Map, SetWay};

fn map<'a>(memory: &'a dyn Memory, name: &str) -> &'a dyn Map {
    memory.map(name).expect("opens").expect("there")
}

#[test]
fn a_hash_holds_what_it_was_made_for() {
    let store = Machine::new().open();
    let hash = map(&store.memory, "hash");
    let key = |n: u32| [n.to_ne_bytes(), [1; 4], [2; 4]].concat();
    for round in 0..50 {
        for n in 0..64 {
            hash.set(&key(n), &[n as u8 + round; 24]).expect("room");
        }
        let full = hash.set(&key(64), &[0; 24]).expect_err("full");
        assert_eq!(full.kind(), std::io::ErrorKind::ArgumentListTooLong);
        for n in 0..64 {
            assert_eq!(
                hash.get(&key(n)).expect("reads"),
                Some(vec![n as u8 + round; 24])
            );
        }
        let mut count = 0;
        hash.each(&mut |_, _| count += 1).expect("reads");
        assert_eq!(count, 64);
        assert!(hash.has_more_than(63).expect("reads") && !hash.has_more_than(64).expect("reads"));
        for n in 0..32 {
            assert!(hash.delete(&key(n)).expect("writes"));
            assert!(!hash.delete(&key(n)).expect("writes"));
            assert_eq!(hash.get(&key(n)).expect("reads"), None);
        }
    }
}

#[test]
fn a_reader_without_a_lock_meets_whole_elements_always() {
    let machine = Machine::new();
    let (store, done) = (machine.open(), AtomicBool::new(false));
    let key = |n: u32| [n.to_ne_bytes(), [1; 4], [2; 4]].concat();
    let hash = map(&store.memory, "hash");
    hash.set(&key(0), &[0; 24]).expect("room");
    thread::scope(|scope| {
        scope.spawn(|| {
            let store = machine.open();
            let hash = map(&store.memory, "hash");
            while !done.load(Ordering::Relaxed) {
                let value = hash.get(&key(0)).expect("reads").expect("always there");
                assert!(value.iter().all(|byte| *byte == value[0]), "{value:?}");
            }
        });
        for n in 0..20_000u32 {
            hash.set(&key(0), &[n as u8; 24]).expect("room");
            hash.set(&key(n % 63 + 1), &[n as u8; 24]).expect("room");
            hash.delete(&key(n * 7 % 63 + 1)).expect("writes");
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_trie_finds_the_longest_prefix() {
    let store = Machine::new().open();
    let trie = map(&store.memory, "trie");
    let key = |length: u32, bytes: [u8; 4]| [length.to_ne_bytes(), bytes].concat();
    trie.set(&key(0, [0; 4]), &[1; 4]).expect("room");
    trie.set(&key(12, [10, 0x1f, 9, 9]), &[2; 4]).expect("room");
    trie.set(&key(32, [10, 0x10, 0, 1]), &[3; 4]).expect("room");
    let found = |bytes| {
        trie.get(&key(32, bytes))
            .expect("reads")
            .map(|value| value[0])
    };
    assert_eq!(found([10, 0x10, 0, 1]), Some(3));
    assert_eq!(found([10, 0x1a, 0, 1]), Some(2));
    assert_eq!(found([10, 0x20, 0, 1]), Some(1));
    assert_eq!(
        trie.get_exactly(&key(13, [10, 0x10, 0, 0])).expect("reads"),
        Some(None)
    );
    assert!(trie.delete(&key(12, [10, 0x10, 0, 0])).expect("writes"));
    assert_eq!(found([10, 0x1a, 0, 1]), Some(1));
}

#[test]
fn each_core_has_a_copy() {
    let store = Machine::new().open();
    let (cores, hash) = (map(&store.memory, "cores"), map(&store.memory, "core_hash"));
    cores.set(&1u32.to_ne_bytes(), &[7; 12]).expect("writes");
    let copy = [[7; 12].as_slice(), &[0; 4]].concat();
    let read = cores.get(&1u32.to_ne_bytes()).expect("reads");
    assert_eq!(read, Some([copy.as_slice(), &copy].concat()));
    assert_eq!(cores.get(&3u32.to_ne_bytes()).expect("reads"), None);
    hash.set(&[5; 4], &[6; 4]).expect("room");
    let read = hash.get(&[5; 4]).expect("reads");
    assert_eq!(read, Some([6, 6, 6, 6, 0, 0, 0, 0].repeat(2)));
}

#[test]
fn values_with_locks_are_read_and_written_under_them() {
    let store = Machine::new().open();
    let sets = map(&store.memory, "sets");
    let words = store.memory.words("sets").expect("opens").expect("there");
    let key = 1u32.to_ne_bytes();
    let value: Vec<u8> = (0..28).collect();
    sets.set_locked(&key, &value).expect("writes");
    let wanted = [&[0; 4], &value[4..]].concat();
    assert_eq!(sets.get_locked(&key).expect("reads"), Some(wanted));
    // The lock's holder was killed.
    words.set_u32(32u32, 1).expect("writes");
    let way = SetWay {
        set: 1,
        tag: u32::from_ne_bytes([8, 9, 10, 11]),
        tag_at: 8,
        key_at: 16,
        key: &value[16..24],
    };
    assert!(sets.empty_way(&way).expect("writes"));
    assert!(!sets.empty_way(&way).expect("writes"));
    assert_eq!(words.u32(32u32).expect("reads"), 0);
    sets.empty_sets(12, 2).expect("writes");
    let emptied = [&[0; 4], &value[4..8], &[0; 12], &value[20..]].concat();
    assert_eq!(sets.get_locked(&key).expect("reads"), Some(emptied));
}

#[test]
fn records_are_taken_in_order_around_the_end_of_a_ring() {
    let store = Machine::new().open();
    let ring = map(&store.memory, "ring");
    let words = store.memory.words("ring").expect("opens").expect("there");
    ring.wait(Duration::from_millis(2)).expect("waits");
    let mut produced = 0u64;
    for n in 0..20u8 {
        let mut record = [[12, 0, 0, 0, 0, 0, 0, 0].as_slice(), &[n; 12], &[0; 4]].concat();
        record[..4].copy_from_slice(&12u32.to_ne_bytes());
        for (at, word) in (produced..).step_by(8).zip(record.chunks(8)) {
            words.set_bytes(128 + at % 64, word).expect("writes");
        }
        produced += record.len() as u64;
        words.set_u64(0u32, produced).expect("writes");
        let mut taken = Vec::new();
        ring.take(9, &mut |record| taken.push(record.to_vec()))
            .expect("reads");
        assert_eq!(taken, [[n; 12]]);
    }
}

#[test]
fn who_waits_for_packets_waits_for_those_that_began_before() {
    let machine = Machine::new();
    let store = machine.open();
    let mut how = std::fs::File::options();
    let file = how
        .read(true)
        .write(true)
        .open(machine.folder.path().join("state"))
        .expect("opens");
    let length = file.metadata().expect("its length").len() as usize;
    let words = host::words::Words::of(std::os::fd::AsFd::as_fd(&file), length).expect("a mapping");
    let core = words.u64(56u32).expect("reads") + 64;
    words.set_u64(32u32, 5).expect("writes");
    words.set_u64(core, 5).expect("writes");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| store.memory.wait_for_packets());
        thread::sleep(Duration::from_millis(50));
        assert!(!waiting.is_finished());
        words.set_u64(core, 0).expect("writes");
        waiting.join().expect("waits");
    });
    assert_eq!(words.u64(32u32).expect("reads"), 6);
}

#[test]
fn what_a_killed_writer_has_left_in_a_hash_is_put_right_by_the_next() {
    let store = Machine::new().open();
    let hash = map(&store.memory, "hash");
    let words = store.memory.words("hash").expect("opens").expect("there");
    for n in 0..3 {
        hash.set(&[n; 12], &[n; 24]).expect("room");
    }
    // The element with the first key has replaced one with the second key, which is still linked: one key is there
    // twice.
    let nodes_at = words.length() as u64 - 80 * (8 + 16 + 24);
    let node = |number: u64| nodes_at + (number - 1) * 48;
    let links = (0..64u32).map(|head| 64 + 4 * head);
    let of = |number: u32| {
        links
            .clone()
            .find(|at| words.u32(*at).expect("reads") == number)
    };
    let (head, other) = (of(1).expect("a head"), of(2));
    words.set_u32(8u32, 1).expect("writes");
    let first = words.u32(node(1)).expect("reads");
    words.set_u32(node(3), first).expect("writes");
    words.set_bytes(node(3) + 8, &[0; 12]).expect("writes");
    if let Some(at) = of(3) {
        words.set_u32(at, 0u32).expect("writes");
    }
    words.set_u32(node(3), 1).expect("writes");
    words.set_u32(head, 3).expect("writes");
    assert!(other.is_some());
    // Readers find the newer one, once.
    assert_eq!(hash.get(&[0; 12]).expect("reads"), Some(vec![2; 24]));
    let mut count = 0;
    hash.each(&mut |_, _| count += 1).expect("reads");
    assert_eq!(count, 2);
    assert!(!hash.has_more_than(2).expect("reads"));
    hash.delete(&[1; 12]).expect("writes");
    assert_eq!(words.u32(8u32).expect("reads"), 0);
    assert_eq!(words.u32(12u32).expect("reads"), 1);
    for n in 10..73 {
        hash.set(&[n; 12], &[n; 24]).expect("room");
    }
    assert!(hash.set(&[100; 12], &[0; 24]).is_err());
    assert_eq!(hash.get(&[0; 12]).expect("reads"), Some(vec![2; 24]));
}

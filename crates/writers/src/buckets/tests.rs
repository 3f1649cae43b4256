//! Tests of buckets in maps of their own.

use super::bucket::{BucketSlot, Counts};
use super::*;
use crate::memory_for_tests::{Packets, Tree, words};
use host::words::Words;
use layout::{ActionAbi, BUCKET_PLACES, KeyAbi, MapKind};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

const KEY: usize = 4;
const VALUE: usize = 8;
const SEED: u64 = 77;

/// Maps of a table with a given capacity.
struct Maps {
    abi: BucketsAbi,
    memory: Words,
    overflow: Tree,
}

impl Maps {
    fn new(capacity: u32) -> Maps {
        let name = String::new;
        let value = ValueAbi {
            size: VALUE as u32,
            priority_offset: None,
            action_offset: 0,
            number_offset: None,
            actions: vec![ActionAbi {
                name: name(),
                params: Vec::new(),
            }],
        };
        let abi = BucketsAbi {
            buckets: name(),
            overflow: name(),
            count: capacity.div_ceil(2),
            size: 56,
            keys_offset: 8,
            values_offset: 24,
            key: KeyAbi {
                size: KEY as u32,
                fields: Vec::new(),
            },
            value,
        };
        let buckets = u64::from(abi.count + 1) * u64::from(abi.size);
        Maps {
            overflow: Tree::new(MapKind::Hash, KEY, 4, capacity),
            memory: words(buckets),
            abi,
        }
    }

    fn table(&self) -> Buckets<'_> {
        Buckets {
            abi: &self.abi,
            memory: Memory {
                memory: &self.memory,
                abi: &self.abi,
            },
            overflow: &self.overflow,
            seed: SEED,
            readers: Grace(None),
        }
    }

    /// Returns the table while packets run, whose grace periods the map of entries in other buckets heeds.
    fn read_by<'a>(&'a self, packets: &'a Packets<'a>) -> Buckets<'a> {
        Buckets {
            readers: Grace(Some(packets)),
            ..self.table()
        }
    }
}

type Model = BTreeMap<u32, u64>;

/// Asserts that the table has exactly these entries, each once and where packets find it, and that its counts are
/// right.
fn check(table: &Buckets<'_>, model: &Model) {
    let mut found = Model::new();
    let mut counts = vec![Counts::default(); table.abi.count as usize];
    let each = table.each(&mut |key, value| {
        let number = u32::from_ne_bytes(key.try_into().expect("a key"));
        let value = u64::from_ne_bytes(value.try_into().expect("a value"));
        assert_eq!(found.insert(number, value), None, "{number} is there twice");
        let homes = table.homes(key);
        let there = table.find(homes, key).expect("reads");
        let there = there.expect("packets find it");
        if let Some(place) = homes.elsewhere(there) {
            let count = &mut counts[homes.first as usize];
            *count = count.plus(place);
        }
    });
    each.expect("reads");
    assert_eq!(found, *model);
    let mut led = 0;
    let each = table.overflow.each(&mut |key, _| {
        let slot = table.find(table.homes(key), key).expect("reads");
        assert_eq!(slot, table.overflow_slot(key).expect("reads"));
        led += 1;
    });
    each.expect("reads");
    let of_others = |counts: &Counts| u32::from(counts.of(Elsewhere::Overflow));
    assert_eq!(counts.iter().map(of_others).sum::<u32>(), led);
    assert_eq!(table.memory.entries().expect("reads"), model.len() as u32);
    for (bucket, count) in (0..).zip(counts) {
        assert_eq!(table.memory.counts(bucket).expect("reads"), count);
    }
}

fn bytes(keys: &[u32]) -> Vec<u8> {
    keys.iter().flat_map(|key| key.to_ne_bytes()).collect()
}

fn value_bytes(values: &[u64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_ne_bytes())
        .collect()
}

fn added(keys: &[u32]) -> Differences {
    let values: Vec<u64> = keys.iter().map(|key| u64::from(*key) + 1).collect();
    Differences {
        added: bytes(keys),
        added_values: value_bytes(&values),
        added_origins: vec![0; keys.len()],
        ..Differences::default()
    }
}

/// Returns `count` numbers whose keys have the same two buckets, 0 and 1.
fn crowded(table: &Buckets<'_>, count: usize) -> Vec<u32> {
    let homes = |number: u32| {
        let Homes { first, second } = table.homes(&number.to_ne_bytes());
        [first, second]
    };
    (0..).filter(|n| homes(*n) == [0, 1]).take(count).collect()
}

#[test]
fn a_table_takes_as_many_entries_as_it_declares_whatever_their_keys_are() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for capacity in [1, 2, 3, 16, 500, 5_000] {
        let maps = Maps::new(capacity);
        let table = maps.table();
        let count = capacity as usize;
        let mut kinds = vec![
            (0..capacity).collect::<Vec<u32>>(),
            (0..capacity).map(|n| (n << 16) | (n % 7)).collect(),
            (0..capacity).map(|_| random.random()).collect(),
        ];
        if (3..=16).contains(&capacity) {
            kinds.push(crowded(&table, count));
        }
        for mut keys in kinds {
            keys.sort_unstable();
            keys.dedup();
            // Further keys come from the upper end of the range.
            let more = (0..)
                .map(|n| u32::MAX - n)
                .filter(|n| keys.binary_search(n).is_err());
            let more: Vec<u32> = more.take(count - keys.len()).collect();
            keys.extend(more);
            assert!(table.change(&added(&keys)).is_ok(), "{capacity}");
            let model: Model = keys.iter().map(|k| (*k, u64::from(*k) + 1)).collect();
            check(&table, &model);
            let other = (0..)
                .find(|n| !model.contains_key(n))
                .expect("there are more numbers");
            let refused = table.change(&added(&[other])).expect_err("it is full");
            assert_eq!(refused.entry, Some(0));
            let full = u64::from(capacity);
            assert_eq!(refused.error, StoreError::Full { capacity: full });
            table.restore(&[], &[], &bytes(&keys)).expect("removes all");
            check(&table, &Model::new());
        }
    }
}

#[test]
fn changes_in_any_order_leave_what_they_say() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    // If few keys have the same buckets, most of them are in the overflow map.
    for (capacity, crowd) in [(16, 16), (40, 12), (300, 0)] {
        let maps = Maps::new(capacity);
        let packets = Packets::reading(&maps.overflow);
        let table = maps.read_by(&packets);
        let mut all = crowded(&table, crowd);
        let known = all.clone();
        all.extend((0..capacity).filter(|n| !known.contains(n)));
        all.truncate(capacity as usize);
        let mut model = Model::new();
        for _ in 0..400 {
            let mut changes = Differences::default();
            let count = random.random_range(1..=all.len().min(20));
            let mut chosen: Vec<u32> = all.choose_multiple(&mut random, count).copied().collect();
            chosen.sort_unstable();
            for key in chosen {
                let value: u64 = random.random_range(1..1 << 40);
                let key_bytes = key.to_ne_bytes();
                match (model.get(&key).copied(), random.random_range(0..3)) {
                    (None, _) => {
                        changes.added.extend(key_bytes);
                        changes.added_values.extend(value.to_ne_bytes());
                        changes.added_origins.push(0);
                        model.insert(key, value);
                    }
                    (Some(old), 0) => {
                        changes.gone.extend(key_bytes);
                        changes.gone_values.extend(old.to_ne_bytes());
                        model.remove(&key);
                    }
                    (Some(old), _) => {
                        changes.changed.extend(key_bytes);
                        changes.changed_old.extend(old.to_ne_bytes());
                        changes.changed_new.extend(value.to_ne_bytes());
                        changes.changed_origins.push(0);
                        model.insert(key, value);
                    }
                }
            }
            assert!(table.change(&changes).is_ok());
            check(&table, &model);
        }
    }
}

#[test]
fn what_a_killed_writer_has_left_is_mended() {
    let maps = Maps::new(40);
    let table = maps.table();
    let keys = crowded(&table, 12);
    assert!(table.change(&added(&keys)).is_ok());
    let mut model: Model = keys.iter().map(|k| (*k, u64::from(*k) + 1)).collect();
    let at = |key: u32| {
        let key = key.to_ne_bytes();
        let found = table.find(table.homes(&key), &key).expect("reads");
        found.expect("it is there")
    };
    let first = |key: &u32| at(*key).bucket == 0;
    let second = |key: &u32| at(*key).bucket == 1;
    let [of_first, of_second] = [
        keys.iter().copied().find(first).expect("four of them"),
        keys.iter().copied().find(second).expect("four of them"),
    ];
    // One entry was being moved to a bucket of other keys: it is there, and still in its bucket. For another one only
    // the count was written.
    let mut put = Writer::new(&table).expect("reads");
    let new = (of_first.to_ne_bytes(), 9u64.to_ne_bytes());
    put.put([(&new.0[..], &new.1[..])].into_iter())
        .expect("writes");
    drop(put);
    table.memory.add(0, Elsewhere::Overflow).expect("writes");
    // One entry was being moved from its second bucket to its first, after an entry there was removed.
    let place = at(of_first);
    table.memory.show(0, None, Some(place)).expect("writes");
    let half = (of_second.to_ne_bytes(), 5u64.to_ne_bytes());
    table.memory.write(place, &half.0, &half.1).expect("writes");
    table.memory.show(0, Some(place), None).expect("writes");
    table.memory.set_entries(99).expect("writes");
    // All of it is undone, and an entry that had been added is removed.
    let gone = *keys
        .iter()
        .rfind(|key| at(**key).bucket > 1)
        .expect("four of them");
    let back = [of_first, of_second];
    let values: Vec<u64> = back.iter().map(|key| model[key]).collect();
    let restored = table.restore(&bytes(&back), &value_bytes(&values), &bytes(&[gone]));
    restored.expect("mends");
    model.remove(&gone);
    check(&table, &model);
}

/// A writer that is killed between any two steps of moving an entry among buckets of other keys.
#[test]
fn an_entry_that_the_overflow_map_leads_to_survives_a_kill_at_each_step() {
    let set = |table: &Buckets<'_>, key: &[u8], slot: BucketSlot| {
        table.overflow.set(key, &slot.number()).expect("writes");
    };
    let free = |table: &Buckets<'_>| {
        let vacant = |bucket| table.memory.vacant(bucket).expect("reads").next();
        (2..table.abi.count).find_map(vacant).expect("half are")
    };
    for step in 0..4 {
        let maps = Maps::new(40);
        let table = maps.table();
        let keys = crowded(&table, 12);
        assert!(table.change(&added(&keys)).is_ok());
        let moved = keys[11].to_ne_bytes();
        let old = table.overflow_slot(&moved).expect("reads");
        let old = old.expect("both buckets are full");
        let new = free(&table);
        let value = 5u64.to_ne_bytes();
        table.memory.write(new, &moved, &value).expect("writes");
        if step > 0 {
            table
                .memory
                .show(new.bucket, Some(new), None)
                .expect("writes");
        }
        if step > 1 {
            set(&table, &moved, new);
        }
        if step > 2 {
            table
                .memory
                .show(old.bucket, None, Some(old))
                .expect("writes");
        }
        // Packets find the old value or the new one at any time.
        table.mend().expect("mends");
        let now = if step > 1 { 5 } else { u64::from(keys[11]) + 1 };
        let mut model: Model = keys.iter().map(|k| (*k, u64::from(*k) + 1)).collect();
        model.insert(keys[11], now);
        check(&table, &model);
        let was = (u64::from(keys[11]) + 1).to_ne_bytes();
        table.restore(&moved, &was, &[]).expect("mends");
        let model = keys.iter().map(|k| (*k, u64::from(*k) + 1)).collect();
        check(&table, &model);
    }
}

#[test]
fn packets_find_each_entry_while_it_is_replaced_elsewhere() {
    let maps = Maps::new(16);
    let table = maps.table();
    let keys = crowded(&table, 2 * BUCKET_PLACES as usize);
    assert!(table.change(&added(&keys)).is_ok());
    let mut writers = Vec::new();
    for key in keys.iter().map(|key| key.to_ne_bytes()) {
        // A writer that has done nothing does not wait.
        let mut writer = Writer::new(&table).expect("reads");
        let new = 7u64.to_ne_bytes();
        writer
            .put([(&key[..], &new[..])].into_iter())
            .expect("writes");
        writers.push(writer);
        // Both buckets are full: the new value is in another one, and the old one is still found.
        let found = table.find(table.homes(&key), &key).expect("reads");
        assert!(found.is_some_and(|slot| slot.bucket < 2), "{found:?}");
        let new_slot = table.overflow_slot(&key).expect("reads");
        assert!(new_slot.is_some_and(|slot| slot.bucket > 1), "{new_slot:?}");
    }
    for writer in writers {
        writer.end().expect("writes");
    }
    check(&table, &keys.iter().map(|key| (*key, 7)).collect());
}

/// Returns the number of entries that packets do not find in their first bucket.
fn elsewhere(table: &Buckets<'_>) -> u32 {
    let of = |bucket| table.memory.counts(bucket).expect("reads");
    let counts = (0..table.abi.count).map(of);
    let both =
        |c: Counts| u32::from(c.of(Elsewhere::Second)) + u32::from(c.of(Elsewhere::Overflow));
    counts.map(both).sum()
}

/// All entries change at once. Most need slots that packets may still read.
#[test]
fn entries_stay_in_their_buckets_when_all_of_them_change() {
    let maps = Maps::new(10_000);
    let table = maps.table();
    let keys: Vec<u32> = (0..10_000).collect();
    assert!(table.change(&added(&keys)).is_ok());
    let first = elsewhere(&table);
    assert!((200..600).contains(&first), "{first}");
    for round in 0..3 {
        let values: Vec<u64> = keys.iter().map(|k| u64::from(*k) + 100 + round).collect();
        let changes = Differences {
            changed: bytes(&keys),
            changed_new: value_bytes(&values),
            changed_origins: vec![0; keys.len()],
            ..Differences::default()
        };
        assert!(table.change(&changes).is_ok());
        check(&table, &keys.iter().copied().zip(values).collect());
        let now = elsewhere(&table);
        assert!(now < 2 * first, "{first}, {now}");
    }
}

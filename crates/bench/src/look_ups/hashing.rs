//! Exact look-ups: the kernel's hash map against a table of our own in an array (`bench/tables/exact.c`, which says how it is built). They take
//! turns on the same random keys.

use crate::error::Error;
use crate::programs::{Ready, load_c_with, outcome};
use kernel::bench::{Effort, Subject, interleaved, undisturbed};
use kernel::sys::{Map, Update};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

const C: &str = "bench/tables/exact.c";

/// Bytes of keys.
const KEYS: [usize; 3] = [4, 8, 16];
/// Numbers of entries.
const ENTRIES: [u32; 3] = [1_000, 100_000, 1_000_000];
/// Places of a bucket.
const PLACES: usize = 4;
/// What a packet adds to the number of an entry for one that there is not.
const MISS: u32 = 0x4000_0000;

/// Rounds and runs of each: the least of these is what counts. Each run has another key.
const EFFORT: Effort = Effort {
    rounds: 9,
    runs: 50_000,
};

/// What look-ups took.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    key: usize,
    entries: u32,
    /// Nanoseconds above a program that makes the key and looks nothing up.
    kernel_hit: f64,
    kernel_miss: f64,
    own_hit: f64,
    own_miss: f64,
    /// Of our own buckets.
    own_kibibytes: u64,
}

/// Measures all of them.
pub(crate) fn measure(root: &Path) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for key in KEYS {
        for entries in ENTRIES {
            // Without optimisation a million entries take minutes and are not significant.
            if entries > 1_000 && cfg!(debug_assertions) {
                continue;
            }
            let row = one(root, key, entries)?;
            eprintln!("{row:?}");
            rows.push(row);
        }
    }
    Ok(rows)
}

fn one(root: &Path, key: usize, entries: u32) -> Result<Row, Error> {
    let table = Table::filled(key, entries)?;
    let load = |look_up: u32| {
        let (buckets, own) = (table.buckets.len(), look_up == 2);
        // The map that a program does not ask is as small as can be.
        let (kernels, buckets) = if own { (1, buckets) } else { (entries, 1) };
        let macros = format!(
            "#define KEY {key}\n#define ENTRIES {entries}\n#define CAPACITY {kernels}\n#define BUCKETS {buckets}\n#define LOOK_UP {look_up}\n"
        );
        load_c_with(root, C, &macros)
    };
    let (base, _) = load(0)?;
    let (kernels, maps) = load(1)?;
    let map = named(&maps, "entries")?;
    for number in 0..entries {
        let value = u64::from(number).to_ne_bytes();
        map.set(&key_of(number, key), &value, Update::Any)
            .map_err(Error::system("an entry"))?;
    }
    let (own, maps) = load(2)?;
    let map = named(&maps, "buckets")?;
    for (at, bucket) in (0u32..).zip(&table.buckets) {
        map.set(&at.to_ne_bytes(), &bucket.bytes(key), Update::Any)
            .map_err(Error::system("a bucket"))?;
    }
    let subjects = [&base, &kernels, &own];
    let [kernel_hit, own_hit] = nanoseconds(subjects, 0)?;
    let [kernel_miss, own_miss] = nanoseconds(subjects, MISS)?;
    Ok(Row {
        key,
        entries,
        kernel_hit,
        kernel_miss,
        own_hit,
        own_miss,
        own_kibibytes: (table.buckets.len() * bucket_bytes(key)) as u64 >> 10,
    })
}

fn named<'a>(maps: &'a [(String, Map)], name: &str) -> Result<&'a Map, Error> {
    let mut all = maps.iter();
    let found = all.find(|(of, _)| of == name).map(|(_, map)| map);
    found.ok_or_else(|| Error::new(format!("{C} has no map {name}")))
}

/// Nanoseconds of both look-ups, after each has found all that it should.
fn nanoseconds(subjects: [&Ready; 3], add: u32) -> Result<[f64; 2], Error> {
    let mut packet = vec![0; 64];
    packet[..4].copy_from_slice(&add.to_ne_bytes());
    let expected = if add == 0 { 2 } else { 1 };
    for ready in &subjects[1..] {
        for _ in 0..100 {
            let (verdict, _) = outcome(ready, &packet)?;
            if verdict != expected {
                return Err(Error::new(format!(
                    "verdict {verdict} in place of {expected}"
                )));
            }
        }
    }
    let subjects = subjects.map(|ready| Subject {
        prog: &ready.prog,
        packet: &packet,
        repeats: None,
    });
    let samples = interleaved(&subjects, EFFORT).map_err(Error::system("a test run"))?;
    let [base, kernels, own] = [0, 1, 2].map(|of: usize| undisturbed(&samples[of]));
    Ok([kernels - base, own - base])
}

/// As `mixed` of the C file.
fn mixed(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ x >> 16
}

/// As `key_of` of the C file: its words, each as it is in memory.
fn key_of(number: u32, bytes: usize) -> Vec<u8> {
    let words =
        (0..bytes as u32 / 4).map(|i| mixed(number.wrapping_add(i.wrapping_mul(0x9e37_79b9))));
    words.flat_map(u32::to_ne_bytes).collect()
}

/// As `hash_of` of the C file.
fn hash_of(key: &[u8]) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15u64;
    for word in key.chunks(8) {
        let word = word
            .chunks(4)
            .map(|half| u32::from_ne_bytes(half.try_into().unwrap_or_default()))
            .zip([0, 32])
            .fold(0, |word, (half, shift)| word | u64::from(half) << shift);
        hash = (hash ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash ^= hash >> 32;
    }
    hash
}

/// A bucket of `bench/tables/exact.c`.
#[derive(Clone, Default)]
struct Bucket {
    overflowed: bool,
    entries: Vec<u32>,
}

fn bucket_bytes(key: usize) -> usize {
    8 + PLACES * (key + 8)
}

impl Bucket {
    fn bytes(&self, key: usize) -> Vec<u8> {
        let used = (1u32 << self.entries.len()) - 1;
        let mut bytes = used.to_ne_bytes().to_vec();
        bytes.extend(u32::from(self.overflowed).to_ne_bytes());
        let keys = self.entries.iter().flat_map(|&number| key_of(number, key));
        bytes.extend(keys);
        bytes.resize(8 + PLACES * key, 0);
        let values = self.entries.iter().map(|&number| u64::from(number));
        bytes.extend(values.flat_map(u64::to_ne_bytes));
        bytes.resize(bucket_bytes(key), 0);
        bytes
    }
}

/// A table of our own with its entries.
struct Table {
    buckets: Vec<Bucket>,
}

impl Table {
    /// Filled at most by half; if an entry finds no room all the same, the table has twice as many buckets.
    fn filled(key: usize, entries: u32) -> Result<Table, Error> {
        let least = (entries as usize * 2).div_ceil(PLACES).next_power_of_two();
        let mut sizes = [least, least * 2, least * 4].into_iter();
        let filled = sizes.find_map(|buckets| Table::of(buckets, key, entries));
        filled.ok_or_else(|| Error::new(format!("{entries} entries have no room")))
    }

    fn of(buckets: usize, key: usize, entries: u32) -> Option<Table> {
        let mut table = Table {
            buckets: vec![Bucket::default(); buckets],
        };
        (0..entries)
            .all(|number| table.put(number, key))
            .then_some(table)
    }

    /// The first and the second bucket of an entry.
    fn places(&self, number: u32, key: usize) -> [usize; 2] {
        let mask = self.buckets.len() - 1;
        let hash = hash_of(&key_of(number, key));
        [hash as usize & mask, (hash >> 32) as usize & mask]
    }

    /// Puts an entry in its first bucket, or in its second; if both are full, an entry of the first moves to its other one.
    fn put(&mut self, number: u32, key: usize) -> bool {
        let own = self.places(number, key);
        if !self.has_room(own[0]) && !self.has_room(own[1]) {
            let there = self.buckets[own[0]].entries.clone();
            let other = |&moved: &u32| {
                let places = self.places(moved, key);
                let other = places[usize::from(places[0] == own[0])];
                (moved, other)
            };
            let mut others = there.iter().map(other);
            let Some((moved, to)) = others.find(|&(_, to)| self.has_room(to)) else {
                return false;
            };
            self.buckets[own[0]].entries.retain(|&entry| entry != moved);
            self.insert(moved, to, key);
        }
        let at = own[usize::from(!self.has_room(own[0]))];
        self.insert(number, at, key);
        true
    }

    fn has_room(&self, bucket: usize) -> bool {
        self.buckets[bucket].entries.len() < PLACES
    }

    fn insert(&mut self, number: u32, at: usize, key: usize) {
        let [first, _] = self.places(number, key);
        self.buckets[first].overflowed |= at != first;
        self.buckets[at].entries.push(number);
    }
}

/// The rows as a table.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut text = String::from(
        "\n## Exact look-ups in a table of our own\n\nThe kernel's hash map against buckets of four places in an array map (`bench/tables/exact.c`), with the same \
         random keys, another one for each packet; a prototype that nothing but this measurement uses. Nanoseconds above a program that makes the key and looks \
         nothing up; they took turns. The ratio is the kernel's time to that of our own.\n\n\
         | bytes of the key | entries | the kernel's, hit | miss | our own, hit | miss | ratio, hit | miss | KiB of our own |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for row in rows {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| {} | {} | {:.0} | {:.0} | {:.0} | {:.0} | {:.2} | {:.2} | {} |",
            row.key,
            row.entries,
            row.kernel_hit,
            row.kernel_miss,
            row.own_hit,
            row.own_miss,
            row.kernel_hit / row.own_hit,
            row.kernel_miss / row.own_miss,
            row.own_kibibytes
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_find_every_key_and_no_other() {
        let row = one(&crate::root(), 8, 1_000).expect("this test needs root and clang");
        assert!(row.kernel_hit > 0.0 && row.own_hit > 0.0, "{row:?}");
        assert!(markdown(&[row]).contains("\n| 8 | 1000 | "));
    }

    #[test]
    fn every_entry_has_room() {
        for entries in [1, 1_000, 1_000_000] {
            let table = Table::filled(4, entries).expect("room");
            let held: usize = table.buckets.iter().map(|b| b.entries.len()).sum();
            assert_eq!(held, entries as usize);
        }
    }
}

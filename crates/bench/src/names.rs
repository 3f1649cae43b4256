//! `bench names`: the firewall by names on DNS queries, against a hand-written one (`bench/names/dns.c`), by the number of
//! names on the list.

use crate::error::Error;
use crate::machine::Machine;
use crate::payload::net_of;
use crate::programs::{Baselines, Maps, Ready, from_p4, load_c_with, outcome};
use crate::specialized::taken_on;
use crate::timing::{LOADINGS, Pair};
use kernel::bench::Effort;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// Numbers of names on the list.
const COUNTS: [u32; 3] = [100, 10_000, 1_000_000];
/// Number of names in tests.
#[cfg(test)]
const FEW: u32 = 50;

const P4: &str = "programs/url_firewall/url_firewall.p4";
const C: &str = "bench/names/dns.c";
/// Seed of the hand-written program's hash.
const SEED: u64 = 0x5851_f42d_4c95_7f2d;
/// Slots of a bucket of the hand-written program, and names in it at the average.
const SLOTS: u32 = 8;
const LOAD: u32 = 5;
/// Size of a record of the hand-written program, and the bytes of a name in the first one.
const RECORD: usize = 32;
const FRONT: usize = 24;

/// Verdicts of programs at XDP.
const DROP: u32 = 1;
const PASS: u32 = 2;

/// Results of all measurements.
#[derive(Serialize)]
pub(crate) struct Results {
    machine: Machine,
    rows: Vec<Row>,
}

/// Query of one kind, with one list.
#[derive(Serialize)]
struct Row {
    names: u32,
    query: &'static str,
    /// Nanoseconds per packet, net of a program of two instructions.
    ours_ns: f64,
    hand_written_ns: f64,
    ratio: f64,
    /// Instructions that the verifier processed.
    ours_verified: u32,
    hand_written_verified: u32,
}

/// Measures all lists; the programs are interleaved.
pub(crate) fn measure(root: &Path, effort: Effort) -> Result<Results, Error> {
    measure_lists(root, &COUNTS, effort)
}

fn measure_lists(root: &Path, counts: &[u32], effort: Effort) -> Result<Results, Error> {
    let baseline = Baselines::build(root)?.drop;
    let mut rows = Vec::new();
    for count in counts {
        rows.extend(list(root, &baseline, *count, effort)?);
    }
    Ok(Results {
        machine: Machine::this(),
        rows,
    })
}

fn list(root: &Path, baseline: &Ready, count: u32, effort: Effort) -> Result<Vec<Row>, Error> {
    let names: Vec<String> = (0..count).map(name).collect();
    let listed = &names[names.len() / 2];
    let queries = [
        ("listed", listed.clone(), DROP),
        ("below a listed name", format!("www.some.{listed}"), DROP),
        (
            "not listed",
            "www.mail.not-on-any-list.example".into(),
            PASS,
        ),
        (
            "not listed, of six labels",
            "a.b.c.d.not-on-any-list.example".into(),
            PASS,
        ),
    ];
    let folder = tempfile::tempdir().map_err(Error::system("a folder"))?;
    let file = folder.path().join("names.p4");
    let program = root.join(P4);
    let text = format!(
        "#define MOST_RULES {count}\n#include \"{}\"\n",
        program.display()
    );
    std::fs::write(&file, text).map_err(|e| Error::file("write", &file, &e))?;
    let rules: Vec<String> = names
        .iter()
        .map(|name| format!("name_add names {name}"))
        .collect();
    let blocks = Blocks::of(&names);
    let mut times = vec![Vec::new(); queries.len()];
    let mut verified = [0; 2];
    // Of large lists the memory matters, not the address of the code.
    let loadings = if count > 100_000 { 1 } else { LOADINGS };
    for _ in 0..loadings {
        let ours = from_p4(root, &file.to_string_lossy(), &rules)?;
        let (hand_written, maps) = load_c_with(root, C, &blocks.macros())?;
        blocks.fill(&maps)?;
        for ((_, name, verdict), times) in queries.iter().zip(&mut times) {
            let packet = query(name);
            for (what, ready) in [("compiled", &ours), ("hand-written", &hand_written)] {
                let (found, _) = outcome(ready, &packet)?;
                if found != *verdict {
                    return Err(Error::new(format!(
                        "{what}, {count} names, {name}: verdict {found} in place of {verdict}"
                    )));
                }
            }
            times.push(net_of(baseline, [&ours, &hand_written], &packet, effort)?);
        }
        verified = [ours.verified, hand_written.verified];
    }
    let [ours_verified, hand_written_verified] = verified;
    let row = |((query, ..), times): (&(&'static str, String, u32), Vec<[f64; 2]>)| {
        let Pair {
            net_ns: [ours_ns, hand_written_ns],
            ratio,
        } = Pair::of(&times);
        Row {
            names: count,
            query,
            ours_ns,
            hand_written_ns,
            ratio,
            ours_verified,
            hand_written_verified,
        }
    };
    Ok(queries.iter().zip(times).map(row).collect())
}

/// Returns a name of a list: different for each number, and of 7 to 24 bytes.
fn name(number: u32) -> String {
    let letters = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    let count = 2 + (letters % 9) as usize;
    let letters: String = (0..count)
        .map(|at| char::from(b'g' + ((letters >> (4 * at)) % 16) as u8))
        .collect();
    let top = ["com", "net", "org", "de", "info"][number as usize % 5];
    format!("{letters}{number:x}.{top}")
}

/// Returns a DNS query for a name.
fn query(name: &str) -> Vec<u8> {
    let mut dns = vec![0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    dns.extend(wire(name));
    dns.extend([0, 0, 1, 0, 1]);
    let length = dns.len() as u16 + 8;
    let mut packet = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0];
    packet.extend((length + 20).to_be_bytes());
    packet.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    packet.extend([0x9c, 0x40, 0, 53]);
    packet.extend(length.to_be_bytes());
    packet.extend([0, 0]);
    packet.extend(dns);
    packet
}

/// Returns a name as packets have it: labels behind their lengths, without the root.
fn wire(name: &str) -> Vec<u8> {
    let labels = name.split('.');
    labels
        .flat_map(|label| std::iter::once(label.len() as u8).chain(label.bytes()))
        .collect()
}

/// Contents of the maps of a hand-written program that includes `bench/names/names.h`.
pub(crate) struct Blocks {
    slots: Vec<u64>,
    records: Vec<u8>,
}

impl Blocks {
    pub(crate) fn of(names: &[String]) -> Blocks {
        let buckets = (names.len() as u32).div_ceil(LOAD).max(1);
        let mut made = Blocks {
            slots: vec![0; (buckets * SLOTS) as usize],
            records: vec![0; RECORD],
        };
        for name in names {
            let bytes = wire(name);
            let hash = hash(name);
            let number = (made.records.len() / RECORD) as u64;
            let bucket = (u64::from(hash as u32) * u64::from(buckets)) >> 32;
            let first = bucket as usize * SLOTS as usize;
            let all = (first..made.slots.len()).chain(0..first);
            let free = all.into_iter().find(|at| made.slots[*at] == 0);
            if let Some(free) = free {
                made.slots[free] = (hash >> 32) << 32 | number;
            }
            made.records.extend(1u32.to_ne_bytes());
            made.records.extend((bytes.len() as u32).to_ne_bytes());
            made.records.extend(&bytes);
            let filled = made.records.len().max((number as usize + 1) * RECORD);
            made.records.resize(filled.next_multiple_of(RECORD), 0);
        }
        debug_assert_eq!(RECORD - FRONT, 8, "two numbers stand in front");
        made
    }

    pub(crate) fn macros(&self) -> String {
        let buckets = self.slots.len() as u32 / SLOTS;
        let records = self.records.len() / RECORD;
        format!("#define BUCKETS {buckets}\n#define RECORDS {records}\n")
    }

    pub(crate) fn fill(&self, maps: &Maps) -> Result<(), Error> {
        let slots: Vec<u8> = self
            .slots
            .iter()
            .flat_map(|slot| slot.to_ne_bytes())
            .collect();
        for (name, bytes) in [("buckets", &slots), ("records", &self.records)] {
            let map = maps.iter().find(|(known, _)| known == name);
            let (_, map) = map.ok_or_else(|| Error::new(format!("{C} has no map `{name}`")))?;
            let words = map.words().map_err(Error::system("mapping a map"))?;
            let wrote = words.set_bytes(0u64, bytes);
            wrote.map_err(Error::system("filling a map"))?;
        }
        Ok(())
    }
}

/// Returns the hash of the hand-written program.
fn hash(name: &str) -> u64 {
    name.split('.').rev().fold(SEED, |hash, label| {
        let bytes = wire(label);
        bytes.chunks(8).fold(hash, |hash, word| {
            let mut whole = [0; 8];
            whole[..word.len()].copy_from_slice(word);
            let mixed = (hash ^ u64::from_le_bytes(whole)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed ^ mixed >> 32
        })
    })
}

impl Results {
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!(
            "# The firewall by names\n\n{}. Written by `make bench-names`.\n\n\
             DNS queries at XDP, by the number of names on the list: `{P4}`, which reads TLS and HTTP too, and the hand-written `{C}`, which reads DNS over IPv4 \
             alone. Each query is one packet again and again, so its memory is in the caches. Nanoseconds are net of a program of two instructions.\n\n\
             | names | query | ns | hand-written | ratio | verified instructions | hand-written |\n|--:|---|--:|--:|--:|--:|--:|\n",
            taken_on(&self.machine)
        );
        for row in &self.rows {
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "| {} | {} | {:.0} | {:.0} | {:.2} | {} | {} |",
                row.names,
                row.query,
                row.ours_ns,
                row.hand_written_ns,
                row.ratio,
                row.ours_verified,
                row.hand_written_verified
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_programs_decide_alike_for_every_kind_of_query() {
        let effort = Effort {
            rounds: 3,
            runs: 100,
        };
        let results = measure_lists(&crate::root(), &[FEW], effort);
        let results = results.expect("this test needs root and clang");
        assert_eq!(results.rows.len(), 4);
    }

    #[test]
    fn names_of_a_list_differ() {
        let names: std::collections::BTreeSet<String> = (0..20_000).map(name).collect();
        assert_eq!(names.len(), 20_000);
    }
}

//! Time of a look-up, by match kind, by number of entries and masks, and by layout of the table. Tables with the same
//! entries and different layouts are measured in turn.

mod case;

use crate::error::Error;
use crate::tables::{apply, compile};
use case::{Case, KeyKind, cases};
use kernel::Instance;
use kernel::bench::{Effort, Subject, interleaved, undisturbed};
use layout::LookupAbi;
use serde::Serialize;
use std::fmt::Write;

/// Number of rounds, and of runs in each. The undisturbed round counts.
const EFFORT: Effort = Effort {
    rounds: 7,
    runs: 20_000,
};

/// Time of a look-up.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    kind: KeyKind,
    entries: u32,
    /// Number of distinct masks; 0 if the row does not depend on it.
    masks: u32,
    layout: &'static str,
    /// Nanoseconds above a program that makes the key and looks nothing up.
    hit: f64,
    miss: f64,
    kibibytes: u64,
    /// Seconds to insert the entries, from their text.
    seconds: f64,
}

/// Measures all cases.
pub(crate) fn measure() -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for case in cases() {
        for row in one(case)? {
            eprintln!("{row:?}");
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Table with its entries.
struct Table {
    instance: Instance,
    seconds: f64,
}

fn one(case: Case) -> Result<Vec<Row>, Error> {
    let (lines, numbers) = case.lines();
    let base = compile(&case.without_table(numbers))?;
    let mut tables = Vec::new();
    for layout in case.layouts {
        let mut instance = compile(&case.program(*layout, numbers))?;
        let seconds = apply(&mut instance, lines.clone())?;
        tables.push(Table { instance, seconds });
    }
    if case.is_const_too() {
        let instance = compile(&case.with_const_entries(numbers))?;
        let seconds = 0.0;
        tables.push(Table { instance, seconds });
    }
    let hits = nanoseconds(&base, &tables, 0)?;
    // Numbers that have no entry.
    let misses = nanoseconds(&base, &tables, 0x4000_0000)?;
    let rows = tables.iter().zip(hits.iter().zip(&misses));
    Ok(rows
        .map(|(table, (hit, miss))| Row {
            kind: case.kind,
            entries: case.entries,
            masks: case.masks,
            layout: table.layout(),
            hit: *hit,
            miss: *miss,
            kibibytes: table.bytes() >> 10,
            seconds: table.seconds,
        })
        .collect())
}

impl Table {
    /// Returns the name of the table's layout.
    fn layout(&self) -> &'static str {
        let lookups = self
            .instance
            .store
            .memory
            .abi
            .contents
            .tables
            .iter()
            .map(|t| &t.lookup);
        let mut named = lookups.map(|lookup| match lookup {
            LookupAbi::Array { .. } => "array",
            LookupAbi::Hash { .. } => "the kernel's hash map",
            LookupAbi::Compiled => "const, read-only data",
            other => other.structure().map_or("", bpf::table::title),
        });
        named.next_back().unwrap_or_default()
    }

    /// Returns the memory of its maps, in bytes.
    fn bytes(&self) -> u64 {
        kernel::memory::of_program(&self.instance.store.memory.abi)
            .iter()
            .filter(|map| map.role == "table")
            .map(|map| map.need.full)
            .sum()
    }
}

/// Returns the nanoseconds of a look-up of each table. The keys' numbers are `add` above those of the entries.
fn nanoseconds(base: &Instance, tables: &[Table], add: u32) -> Result<Vec<f64>, Error> {
    let mut packet = vec![0; 64];
    packet[14..18].copy_from_slice(&12_345u32.to_be_bytes());
    packet[18..22].copy_from_slice(&add.to_be_bytes());
    let all = [base].into_iter().chain(tables.iter().map(|t| &t.instance));
    let subjects: Vec<Subject<'_>> = all
        .map(|instance| Subject {
            prog: instance.program.prog(),
            packet: &packet,
            repeats: None,
        })
        .collect();
    let samples = interleaved(&subjects, EFFORT).map_err(Error::system("a test run"))?;
    let least: Vec<f64> = samples.iter().map(|s| undisturbed(s)).collect();
    Ok(least[1..].iter().map(|time| time - least[0]).collect())
}

/// Formats the rows as a table.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut text = String::from(
        "\n## Look-ups\n\nNanoseconds above a program that makes the key and looks nothing up. Keys are random, another one for each packet; \
         a miss is one that no entry was made for, which a short prefix may match all the same. \
         Ternary and range tables have two addresses, two ports and a protocol, 13 bytes, for a key; ranges are of both ports. Prefixes are about \
         as long as those of the Internet's routes. Tables with the same entries took turns.\n\n\
         | kind | entries | masks | layout | hit, ns | miss, ns | KiB | filled in, s |\n|---|--:|--:|---|--:|--:|--:|--:|\n",
    );
    for row in rows {
        let masks = match row.masks {
            0 => String::new(),
            masks => masks.to_string(),
        };
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| {} | {} | {masks} | {} | {:.0} | {:.0} | {} | {:.3} |",
            row.kind.name(),
            row.entries,
            row.layout,
            row.hit,
            row.miss,
            row.kibibytes,
            row.seconds
        );
    }
    text + PUBLISHED
}

/// Published results of the same search, in the unit of the rows.
const PUBLISHED: &str = "\nPublished for comparison: the classifier of Open vSwitch in user space, a tuple space search as well, makes 6.8 million hash look-ups a second \
    on one core in a random table of half a million flows, 680,000 classifications with 10 masks (Pfaff et al., NSDI 2015): 147 ns a mask, \
    1,470 ns a look-up. The rows with 10 masks and tuple space search compare with it.\n";

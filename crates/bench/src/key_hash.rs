//! Time of the hash of keys that packets insert (keys of flows, of streams and of groups), against the hash that
//! preceded it. Measurements are interleaved.

use crate::error::Error;
use bpf::abi::SEED_SECTION;
use clang::Source;
use kernel::bench::{Effort, Subject, interleaved, median};
use kernel::sys::{Adjust, Prog, load_object_with, random_numbers};
use layout::HashSeeds;
use serde::Serialize;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Source of the programs of all hashes.
const C: &str = "bench/tables/key_hash.c";

/// Lengths of keys in words of 8 bytes: one address and a port, two IPv4 addresses with ports, an IPv4 flow with
/// further fields, an IPv6 flow.
const WORDS: [u32; 4] = [1, 2, 3, 5];

/// Number of rounds, and of runs in each.
pub(crate) const EFFORT: Effort = Effort {
    rounds: 21,
    runs: 100_000,
};

/// Times for keys of one length.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    words: u32,
    /// Nanoseconds above a program that hashes nothing: the median of all rounds.
    former_ns: f64,
    keyed_ns: f64,
    /// Ratio of the keyed one's time to the former one's.
    ratio: f64,
}

/// Measures all lengths.
pub(crate) fn measure(root: &Path, effort: Effort) -> Result<Vec<Row>, Error> {
    let programs = load(root)?;
    let packet = [7; 64];
    let mut subjects = Vec::new();
    for words in WORDS {
        for name in ["none", "former", "keyed"] {
            let name = format!("{name}_{words}");
            let found = programs.iter().find(|(own, _)| *own == name);
            let (_, prog) = found.ok_or_else(|| Error::new(format!("{C} has no `{name}`")))?;
            subjects.push(Subject {
                prog,
                packet: &packet,
                repeats: None,
            });
        }
    }
    let samples = interleaved(&subjects, effort).map_err(Error::system("a test run"))?;
    let of_words = WORDS.into_iter().zip(samples.chunks_exact(3));
    Ok(of_words
        .map(|(words, times)| row(words, &times[0], &times[1], &times[2]))
        .collect())
}

/// Summarises the rounds.
fn row(words: u32, none: &[f64], former: &[f64], keyed: &[f64]) -> Row {
    let net = |times: &[f64]| {
        let nets: Vec<f64> = times.iter().zip(none).map(|(t, none)| t - none).collect();
        median(&nets)
    };
    let (former_ns, keyed_ns) = (net(former), net(keyed));
    Row {
        words,
        former_ns,
        keyed_ns,
        ratio: keyed_ns / former_ns,
    }
}

/// Compiles and loads the programs, with random secrets.
fn load(root: &Path) -> Result<Vec<(String, Prog)>, Error> {
    let path = root.join(C);
    let text = fs::read_to_string(&path).map_err(|e| Error::file("read", &path, &e))?;
    let source = Source {
        text: &text,
        headers: bpf::headers(),
        include_dirs: &[],
        defines: &[],
        effort: clang::Effort::Full,
        jumps: clang::Jumps::Short,
    };
    let object = clang::compile(&clang::find()?, source).map_err(|none| none.diagnostic)?;
    let random = random_numbers().map_err(Error::system("random numbers"))?;
    let [low, high, buckets] = random;
    let key = [low, high];
    let adjust = Adjust {
        data: &[(SEED_SECTION, &HashSeeds { key, buckets }.to_bytes())],
        ..Adjust::default()
    };
    let loaded = load_object_with(&object, adjust)
        .map_err(|f| Error::new(format!("{C}: {}\n{}{}", f.error, f.messages, f.log)))?;
    Ok(loaded.programs)
}

/// Formats the rows as a table.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut text = format!(
        "\n## The hash of keys that packets insert\n\nNanoseconds above a program that hashes nothing, medians of {} rounds in which all took turns. Before: products by secret \
         factors, under which keys could be chosen that collide whatever the secret is. Now: SipHash-1-3 under a key of 128 bits. Each \
         hash waits for the one before.\n\n\
         | words of 8 bytes | before, ns | now, ns | ratio |\n|--:|--:|--:|--:|\n",
        EFFORT.rounds
    );
    for row in rows {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| {} | {:.1} | {:.1} | {:.2} |",
            row.words, row.former_ns, row.keyed_ns, row.ratio
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_disturbs_a_round_disturbs_all_in_it() {
        let found = row(
            3,
            &[10.0, 50.0, 10.0],
            &[14.0, 54.0, 90.0],
            &[20.0, 60.0, 20.0],
        );
        assert_eq!((found.former_ns, found.keyed_ns), (4.0, 10.0));
        assert_eq!(found.ratio, 2.5);
    }

    #[test]
    fn each_length_has_its_programs() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let effort = Effort {
            rounds: 1,
            runs: 10,
        };
        let rows = measure(&root, effort).expect("this test needs root");
        let words: Vec<u32> = rows.iter().map(|row| row.words).collect();
        assert_eq!(words, WORDS);
        assert!(markdown(&rows).contains("\n| 5 | "));
    }
}

//! `bench payload`: parsers that search messages, compiled from P4, against hand-written ones. So far those that skip
//! attributes of known size, by how many kinds there are.

use crate::error::Error;
use crate::machine::Machine;
use crate::programs::{Baselines, Ready, from_p4, load_c_with, outcome};
use crate::specialized::taken_on;
use kernel::bench::{Effort, Subject, interleaved, undisturbed};
use lab::attributes::{Messages, VALUE};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

/// How many kinds of attributes there are, and a packet has.
const KINDS: [u16; 4] = [8, 16, 64, 512];

const C: &str = "bench/payload/skip_ahead.c";

/// Rounds and runs of each.
pub(crate) const EFFORT: Effort = Effort {
    rounds: 101,
    runs: 10_000,
};

/// The results.
#[derive(Serialize)]
pub(crate) struct Results {
    machine: Machine,
    skip_ahead: Vec<SkipAhead>,
}

/// A parser that skips attributes.
#[derive(Serialize)]
struct SkipAhead {
    kinds: u16,
    /// Bytes of the packet.
    bytes: usize,
    /// Nanoseconds a packet, net of a program of two instructions.
    ours_ns: f64,
    hand_written_ns: f64,
    /// Processed by the verifier.
    ours_verified: u32,
    hand_written_verified: u32,
    /// From the P4 text to a loaded program, clang included.
    compiled_ms: f64,
}

/// Measures all; the programs take turns.
pub(crate) fn measure(root: &Path, effort: Effort) -> Result<Results, Error> {
    let baseline = Baselines::build(root)?.drop;
    let skip_ahead = KINDS
        .into_iter()
        .map(|kinds| skip_ahead(root, &baseline, Messages { kinds }, effort))
        .collect::<Result<_, _>>()?;
    Ok(Results {
        machine: Machine::this(),
        skip_ahead,
    })
}

fn skip_ahead(
    root: &Path,
    baseline: &Ready,
    messages: Messages,
    effort: Effort,
) -> Result<SkipAhead, Error> {
    let kinds = messages.kinds;
    let folder = tempfile::tempdir().map_err(Error::system("a folder"))?;
    let file = folder.path().join(format!("skip_{kinds}.p4"));
    std::fs::write(&file, messages.program()).map_err(|e| Error::file("write", &file, &e))?;
    let started = Instant::now();
    let ours = from_p4(root, &file.to_string_lossy(), &[])?;
    let compiled_ms = started.elapsed().as_secs_f64() * 1e3;
    let sizes: Vec<String> = (1..kinds)
        .map(|tag| Messages::size(tag).to_string())
        .collect();
    let macros = format!(
        "#define KINDS {kinds}\n#define SIZES 0, {}\n",
        sizes.join(", ")
    );
    let (hand_written, _) = load_c_with(root, C, &macros)?;
    let packet = messages.packet(VALUE);
    for (packet, verdict) in [(&packet, 2), (&messages.packet(VALUE + 1), 1)] {
        for ready in [&ours, &hand_written] {
            let (found, _) = outcome(ready, packet)?;
            if found != verdict {
                return Err(Error::new(format!(
                    "{kinds} kinds: verdict {found} in place of {verdict}"
                )));
            }
        }
    }
    let subjects = [baseline, &ours, &hand_written].map(|ready| Subject {
        prog: &ready.prog,
        packet: &packet,
        repeats: None,
    });
    let samples = interleaved(&subjects, effort).map_err(Error::system("a test run"))?;
    let net = |of: usize| undisturbed(&samples[of]) - undisturbed(&samples[0]);
    Ok(SkipAhead {
        kinds,
        bytes: packet.len(),
        ours_ns: net(1),
        hand_written_ns: net(2),
        ours_verified: ours.verified,
        hand_written_verified: hand_written.verified,
        compiled_ms,
    })
}

impl Results {
    pub(crate) fn json(&self) -> Result<String, Error> {
        let json = serde_json::to_string_pretty(self);
        json.map_err(|e| Error::new(e.to_string()))
    }

    pub(crate) fn markdown(&self) -> String {
        let mut text = format!(
            "# Payload parsers\n\n{}. Written by `make bench-payload`.\n\n## Skip ahead and check\n\n\
             Attributes of known size, of so many kinds, in a packet with one of each, in front of the query attribute. The parser in P4 has a case for each \
             kind; the hand-written program (`bench/payload/skip_ahead.c`) has a table of sizes and one loop. Nanoseconds are net of a program of two \
             instructions; the time to compile is from P4 text to a loaded program.\n\n\
             | kinds | bytes | ns | hand-written | ratio | verified instructions | hand-written | compiled in ms |\n|--:|--:|--:|--:|--:|--:|--:|--:|\n",
            taken_on(&self.machine)
        );
        for one in &self.skip_ahead {
            let ratio = one.ours_ns / one.hand_written_ns;
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "| {} | {} | {:.0} | {:.0} | {ratio:.2} | {} | {} | {:.0} |",
                one.kinds,
                one.bytes,
                one.ours_ns,
                one.hand_written_ns,
                one.ours_verified,
                one.hand_written_verified,
                one.compiled_ms
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parsers_are_measured_for_every_number_of_kinds() {
        let effort = Effort {
            rounds: 3,
            runs: 100,
        };
        let results = measure(&crate::root(), effort).expect("this test needs root and clang");
        let text = results.markdown();
        for kinds in KINDS {
            assert!(text.contains(&format!("\n| {kinds} | ")), "{text}");
        }
        // What a parser costs the verifier does not grow with the kinds.
        assert!(
            results
                .skip_ahead
                .iter()
                .all(|one| one.ours_verified <= 200),
            "{text}"
        );
    }
}

//! `bench payload`: parsers that search messages, compiled from P4, against hand-written ones. Some skip attributes of
//! known size, and vary in the number of kinds. Others search for a value or run an automaton, and vary in the
//! distance.

use crate::error::Error;
use crate::machine::Machine;
use crate::programs::{Baselines, Maps, Ready, from_p4, load_c_with, outcome};
use crate::specialized::taken_on;
use crate::timing::{LOADINGS, Pair};
use kernel::bench::{Effort, Subject, interleaved, median, undisturbed};
use kernel::sys::Map;
use lab::attributes::{Messages, VALUE};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

/// Numbers of kinds of attributes. A packet has one attribute of each kind.
const KINDS: [u16; 4] = [8, 16, 64, 512];

const C: &str = "bench/payload/skip_ahead.c";

/// Sizes of the payloads that are searched, in bytes; the value is their last 25 bytes.
const PAYLOADS: [u16; 4] = [100, 400, 800, 1400];
/// Value that `programs/payload/byte_by_byte.p4` and the hand-written program search for.
const SOUGHT: &[u8] = b"city=Paris;country=France";
const SEARCH_P4: &str = "programs/payload/byte_by_byte.p4";
const SEARCH_C: &str = "bench/payload/byte_by_byte.c";

/// Example of an attribute that `programs/payload/automaton.p4` and the hand-written program search for.
const ATTRIBUTE: &[u8] = b"id=1234567;";
const AUTOMATON_P4: &str = "programs/payload/automaton.p4";
const AUTOMATON_C: &str = "bench/payload/automaton.c";

/// Lengths of other values in bytes, suffixes of [`SOUGHT`], that are searched for in the longest payload.
const LENGTHS: [usize; 6] = [1, 4, 8, 12, 16, 20];

/// Number of rounds, and of runs in each.
pub(crate) const EFFORT: Effort = Effort {
    rounds: 101,
    runs: 10_000,
};

/// Results of all measurements.
#[derive(Serialize)]
pub(crate) struct Results {
    machine: Machine,
    skip_ahead: Vec<SkipAhead>,
    search: Vec<Search>,
    lengths: Vec<Length>,
    automaton: Vec<Search>,
}

/// Search for a value of this length at the end of the longest payload.
#[derive(Serialize)]
struct Length {
    bytes: usize,
    filled_with: &'static str,
    /// Nanoseconds per packet, net of a program of two instructions.
    ours_ns: f64,
}

/// Parser that searches for a value of 25 bytes, or runs an automaton.
#[derive(Serialize)]
struct Search {
    /// Size of the payload in bytes; its last bytes are the value.
    payload: u16,
    /// Bytes before the value.
    filled_with: &'static str,
    /// Nanoseconds per packet, net of a program of two instructions.
    ours_ns: f64,
    hand_written_ns: f64,
    ratio: f64,
    /// Instructions that the verifier processed.
    ours_verified: u32,
    hand_written_verified: u32,
}

/// Parser that skips attributes.
#[derive(Serialize)]
struct SkipAhead {
    kinds: u16,
    /// Size of the packet in bytes.
    bytes: usize,
    /// Nanoseconds per packet, net of a program of two instructions.
    ours_ns: f64,
    hand_written_ns: f64,
    ratio: f64,
    /// Instructions that the verifier processed.
    ours_verified: u32,
    hand_written_verified: u32,
    /// Milliseconds from the P4 text to a loaded program, clang included.
    compiled_ms: f64,
}

/// Measures all parsers; the programs are interleaved.
pub(crate) fn measure(root: &Path, effort: Effort) -> Result<Results, Error> {
    let baseline = Baselines::build(root)?.drop;
    let skip_ahead = KINDS
        .into_iter()
        .map(|kinds| skip_ahead(root, &baseline, Messages { kinds }, effort))
        .collect::<Result<_, _>>()?;
    let search = searches(root, &baseline, (SEARCH_P4, SEARCH_C, SOUGHT), effort)?;
    let lengths = lengths(root, &baseline, effort)?;
    let automaton = (AUTOMATON_P4, AUTOMATON_C, ATTRIBUTE);
    let automaton = searches(root, &baseline, automaton, effort)?;
    Ok(Results {
        machine: Machine::this(),
        skip_ahead,
        search,
        lengths,
        automaton,
    })
}

/// Measures searches for a value at the end of payloads of each length, by a program in P4 and by one in C.
fn searches(
    root: &Path,
    baseline: &Ready,
    (p4, c, value): (&str, &str, &[u8]),
    effort: Effort,
) -> Result<Vec<Search>, Error> {
    let mut cases = Vec::new();
    for (filled_with, fill) in FILLS {
        for payload in PAYLOADS {
            let packet = searched(payload, fill, value);
            cases.push((filled_with, payload, packet, Vec::new()));
        }
    }
    let mut verified = [0; 2];
    for _ in 0..LOADINGS {
        let ours = from_p4(root, p4, &[])?;
        let (hand_written, maps) = load_c_with(root, c, "")?;
        for (_, _, packet, times) in &mut cases {
            times.push(net_of(baseline, [&ours, &hand_written], packet, effort)?);
        }
        counted_any(&maps)?;
        verified = [ours.verified, hand_written.verified];
    }
    let [ours_verified, hand_written_verified] = verified;
    let search = |(filled_with, payload, _, times): (_, _, Vec<u8>, Vec<[f64; 2]>)| {
        let Pair {
            net_ns: [ours_ns, hand_written_ns],
            ratio,
        } = Pair::of(&times);
        Search {
            payload,
            filled_with,
            ours_ns,
            hand_written_ns,
            ratio,
            ours_verified,
            hand_written_verified,
        }
    };
    Ok(cases.into_iter().map(search).collect())
}

/// Fails if the hand-written program counted no packet. Both programs pass every packet, so only their counters show
/// that they found the value. Tests check that for the P4 program.
fn counted_any(maps: &Maps) -> Result<(), Error> {
    let counted = |(_, map): &(String, Map)| map.get(&[0; 4]).ok().flatten();
    let counts = maps.iter().filter(|(name, _)| name == "found");
    if !counts
        .filter_map(counted)
        .any(|count| count != vec![0; count.len()])
    {
        return Err(Error::new("the hand-written search found no value"));
    }
    Ok(())
}

/// Measures searches for values of each length, by the example program with another value.
fn lengths(root: &Path, baseline: &Ready, effort: Effort) -> Result<Vec<Length>, Error> {
    let file = root.join(SEARCH_P4);
    let text = std::fs::read_to_string(&file).map_err(|e| Error::file("read", &file, &e))?;
    let folder = tempfile::tempdir().map_err(Error::system("a folder"))?;
    let longest = PAYLOADS[PAYLOADS.len() - 1];
    let mut rows = Vec::new();
    for bytes in LENGTHS {
        let value = &SOUGHT[SOUGHT.len() - bytes..];
        let digits: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
        let of = |line: &str| match line.split(" = ").next() {
            Some("const bit<16> VALUE_BYTES") => format!("const bit<16> VALUE_BYTES = {bytes};"),
            Some("const bit<200> VALUE") => {
                format!("const bit<{}> VALUE = 0x{digits};", 8 * bytes)
            }
            _ => line.replace("bit<200>", &format!("bit<{}>", 8 * bytes)),
        };
        let changed: Vec<String> = text.lines().map(of).collect();
        let file = folder.path().join(format!("value_{bytes}.p4"));
        let written = std::fs::write(&file, changed.join("\n"));
        written.map_err(|e| Error::file("write", &file, &e))?;
        let ours = from_p4(root, &file.to_string_lossy(), &[])?;
        for (filled_with, fill) in FILLS {
            // A text of lower-case letters has no digits and capitals. Among random bytes, a short value may be found
            // early.
            let packet = searched(longest, fill, SOUGHT);
            let [ours_ns, _] = net_of(baseline, [&ours, &ours], &packet, effort)?;
            rows.push(Length {
                bytes,
                filled_with,
                ours_ns,
            });
        }
    }
    Ok(rows)
}

/// Function that returns the byte at an offset before a value.
type Fill = fn(usize) -> u8;

/// Kinds of bytes before a value, by name.
const FILLS: [(&str, Fill); 2] = [
    ("lower-case letters", |at| b'a' + (mixed(at) % 26) as u8),
    ("any bytes", |at| mixed(at) as u8),
];

/// Returns pseudo-random numbers, the same in each run.
fn mixed(at: usize) -> u64 {
    let x = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
}

/// Returns a UDP packet whose payload has this size and ends with the value.
fn searched(payload: u16, fill: Fill, value: &[u8]) -> Vec<u8> {
    let mut packet = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0];
    packet.extend((payload + 28).to_be_bytes());
    packet.extend([
        0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x13, 0x88, 0x1b, 0x58,
    ]);
    packet.extend((payload + 8).to_be_bytes());
    packet.extend([0, 0]);
    packet.extend((0..usize::from(payload) - value.len()).map(fill));
    packet.extend(value);
    packet
}

/// Returns the nanoseconds per packet of two programs, net of the baseline's. They are interleaved.
pub(crate) fn net_of(
    baseline: &Ready,
    both: [&Ready; 2],
    packet: &[u8],
    effort: Effort,
) -> Result<[f64; 2], Error> {
    let subjects = [baseline, both[0], both[1]].map(|ready| Subject {
        prog: &ready.prog,
        packet,
        repeats: None,
    });
    let samples = interleaved(&subjects, effort).map_err(Error::system("a test run"))?;
    let net = |of: usize| undisturbed(&samples[of]) - undisturbed(&samples[0]);
    Ok([net(1), net(2)])
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
    let sizes: Vec<String> = (1..kinds)
        .map(|tag| Messages::size(tag).to_string())
        .collect();
    let macros = format!(
        "#define KINDS {kinds}\n#define SIZES 0, {}\n",
        sizes.join(", ")
    );
    let packet = messages.packet(VALUE);
    let (mut times, mut compiled_ms, mut verified) = (Vec::new(), Vec::new(), [0; 2]);
    for _ in 0..LOADINGS {
        let started = Instant::now();
        let ours = from_p4(root, &file.to_string_lossy(), &[])?;
        compiled_ms.push(started.elapsed().as_secs_f64() * 1e3);
        let (hand_written, _) = load_c_with(root, C, &macros)?;
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
        times.push(net_of(baseline, [&ours, &hand_written], &packet, effort)?);
        verified = [ours.verified, hand_written.verified];
    }
    let Pair {
        net_ns: [ours_ns, hand_written_ns],
        ratio,
    } = Pair::of(&times);
    let [ours_verified, hand_written_verified] = verified;
    Ok(SkipAhead {
        kinds,
        bytes: packet.len(),
        ours_ns,
        hand_written_ns,
        ratio,
        ours_verified,
        hand_written_verified,
        compiled_ms: median(&compiled_ms),
    })
}

impl Results {
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!(
            "# Payload parsers\n\n{}. Written by `make bench-payload`.\n\n## Skip ahead and check\n\n\
             Attributes of known size, of so many kinds, in a packet with one of each, in front of the query attribute. The parser in P4 has a case for each \
             kind; the hand-written program (`bench/payload/skip_ahead.c`) has a table of sizes and one loop. Nanoseconds are net of a program of two \
             instructions; the time to compile is from P4 text to a loaded program. Where two programs are compared, they are loaded {LOADINGS} times, as the addresses of their code \
             move their times by some nanoseconds: times and ratios are medians, each ratio of one loading.\n\n\
             | kinds | bytes | ns | hand-written | ratio | verified instructions | hand-written | compiled in ms |\n|--:|--:|--:|--:|--:|--:|--:|--:|\n",
            taken_on(&self.machine)
        );
        for one in &self.skip_ahead {
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "| {} | {} | {:.1} | {:.1} | {:.2} | {} | {} | {:.0} |",
                one.kinds,
                one.bytes,
                one.ours_ns,
                one.hand_written_ns,
                one.ratio,
                one.ours_verified,
                one.hand_written_verified,
                one.compiled_ms
            );
        }
        text += "\n## Byte by byte\n\n\
             A value of 25 bytes at the end of a payload, with other bytes in front of it. The parser in P4 (`programs/payload/byte_by_byte.p4`) compares at each \
             byte, which Onpath makes a search of; the hand-written program (`bench/payload/byte_by_byte.c`) is Boyer-Moore-Horspool's search.\n\n\
             | payload | in front of the value | ns | ns a byte | hand-written | ratio | verified instructions | hand-written |\n|--:|---|--:|--:|--:|--:|--:|--:|\n";
        rows(&self.search, &mut text);
        text += "\nValues of other lengths at the end of 1,400 bytes, of which a short one may be found earlier:\n\n| value | in front of it | ns | ns a byte |\n|--:|---|--:|--:|\n";
        for one in &self.lengths {
            let _ = writeln!(
                text,
                "| {} | {} | {:.0} | {:.2} |",
                one.bytes,
                one.filled_with,
                one.ours_ns,
                one.ours_ns / f64::from(PAYLOADS[PAYLOADS.len() - 1])
            );
        }
        text += "\n## Automata\n\n\
             An attribute that varies (`id=`, digits, `;`) at the end of a payload. The parser in P4 (`programs/payload/automaton.p4`) takes a byte in each of its states, which Onpath makes \
             an automaton of; the hand-written program (`bench/payload/automaton.c`) is one, too.\n\n\
             | payload | in front of the attribute | ns | ns a byte | hand-written | ratio | verified instructions | hand-written |\n|--:|---|--:|--:|--:|--:|--:|--:|\n";
        rows(&self.automaton, &mut text);
        text
    }
}

/// Formats searches as rows of a table.
fn rows(searches: &[Search], text: &mut String) {
    for one in searches {
        let _ = writeln!(
            text,
            "| {} | {} | {:.1} | {:.2} | {:.1} | {:.2} | {} | {} |",
            one.payload,
            one.filled_with,
            one.ours_ns,
            one.ours_ns / f64::from(one.payload),
            one.hand_written_ns,
            one.ratio,
            one.ours_verified,
            one.hand_written_verified
        );
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
        for payload in PAYLOADS {
            assert!(
                text.contains(&format!("\n| {payload} | any bytes | ")),
                "{text}"
            );
        }
        // The verifier's cost of a parser does not grow with the number of kinds.
        assert!(
            results
                .skip_ahead
                .iter()
                .all(|one| one.ours_verified <= 200),
            "{text}"
        );
    }
}

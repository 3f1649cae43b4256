//! Cost of a copy of a packet at tc: clones and multicast copies that differ from each other, made by a program for
//! `v1model`, against a hand-written loop.

use crate::error::Error;
use crate::programs::{Ready, from_p4_at, load_c};
use crate::workload::bytes;
use bpf::abi::Hook;
use kernel::bench::{Effort, undisturbed};
use kernel::sys::{Prog, TcContext, Update};
use net::netns::NetNs;
use net::veth;
use nix::net::if_::if_nametoindex;
use serde::Serialize;
use std::fmt::Write;
use std::io;
use std::path::Path;
use std::time::Instant;

/// Name that selects this measurement alone.
pub(crate) const NAME: &str = "copies";

const P4: &str = "bench/tc/copies.p4";
const C: &str = "bench/tc/copies.c";

/// Numbers of copies of a packet that are compared.
const COPIES: [u32; 2] = [1, 16];

/// Destination and source address. In place of the EtherType follow the way and the number of copies.
const PACKET: &str = "020000000002020000000001";
const PAYLOAD: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// Ways to make copies.
#[derive(Clone, Copy)]
enum Way {
    Clone = 1,
    Multicast = 2,
}

/// Nanoseconds per copy, from the difference between many copies and one.
#[derive(Debug, Serialize)]
pub(crate) struct Copies {
    /// Copies by a clone session.
    clone_ns: f64,
    /// Copies by a multicast group.
    multicast_ns: f64,
    /// Copies by the loop in C.
    hand_written_ns: f64,
    /// Instructions that the verifier processed.
    verified_instructions: u32,
}

/// Measures all variants, interleaved, in a network namespace of their own. The copies leave into a pair of devices, where
/// nobody receives them.
pub(crate) fn measure(root: &Path, effort: Effort) -> Result<Copies, Error> {
    let ns = NetNs::new().map_err(Error::system("a network namespace"))?;
    let measured = ns.run(|| {
        veth::make_pairs(&[("out".into(), "gone".into())])?;
        let out = if_nametoindex("out")?;
        Ok(in_namespace(root, out, effort))
    });
    measured.map_err(Error::system("a network namespace"))?
}

fn in_namespace(root: &Path, out: u32, effort: Effort) -> Result<Copies, Error> {
    let mut entries = Vec::new();
    for count in COPIES {
        let copies: Vec<String> = (0..count).map(|n| format!("1:{n}")).collect();
        let copies = copies.join(" ");
        entries.push(format!("clone_session {count} {copies}"));
        entries.push(format!("multicast_group {count} {copies}"));
    }
    let ours = from_p4_at(root, P4, &entries, Hook::TcIngress, &[(1, out)])?;
    let (by_hand, maps) = load_c(root, C)?;
    for (_, map) in maps.iter().filter(|(name, _)| name == "out") {
        let set = map.set(&0u32.to_ne_bytes(), &out.to_ne_bytes(), Update::Any);
        set.map_err(Error::system("filling a map"))?;
    }
    let mut subjects: Vec<(&Ready, Vec<u8>)> = Vec::new();
    for (ready, way) in [
        (&ours, Way::Clone),
        (&ours, Way::Multicast),
        (&by_hand, Way::Multicast),
    ] {
        for count in COPIES {
            let packet = format!("{PACKET}{:02x}{count:02x}{PAYLOAD}", way as u8);
            subjects.push((ready, bytes(&packet)?));
        }
    }
    let mut samples = vec![Vec::with_capacity(effort.rounds); subjects.len()];
    for round in 0..=effort.rounds {
        for ((ready, packet), samples) in subjects.iter().zip(&mut samples) {
            let sample =
                turn(&ready.prog, packet, effort.runs).map_err(Error::system("a test run"))?;
            // The first round warms caches and is not kept.
            if round > 0 {
                samples.push(sample);
            }
        }
    }
    let more = f64::from(COPIES[1] - COPIES[0]);
    let each =
        |way: usize| (undisturbed(&samples[2 * way + 1]) - undisturbed(&samples[2 * way])) / more;
    Ok(Copies {
        clone_ns: each(0),
        multicast_ns: each(1),
        hand_written_ns: each(2),
        verified_instructions: ours.verified,
    })
}

/// Returns the nanoseconds per run.
fn turn(prog: &Prog, packet: &[u8], runs: u32) -> io::Result<f64> {
    let mut out = vec![0; 4096];
    let started = Instant::now();
    prog.run_tc(packet, &mut out, &mut TcContext::default(), runs)?;
    Ok(started.elapsed().as_nanos() as f64 / f64::from(runs))
}

impl Copies {
    /// Formats the results as a Markdown table with an introduction.
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!(
            "Copies at tc, each with a number of its own in its header, into a pair of devices where nobody takes them: nanoseconds for one \
             more copy of a packet of 62 bytes, from the difference between {} and {}. The hand-written loop (`bench/tc/copies.c`) writes the number into \
             the packet and clones it; `bench/tc/copies.p4` runs egress and the deparser for each.\n\n\
             | copies | ns a copy | ratio |\n|---|--:|--:|\n",
            COPIES[1], COPIES[0]
        );
        for (name, ns) in [
            ("hand-written", self.hand_written_ns),
            ("of a clone session", self.clone_ns),
            ("of a multicast group", self.multicast_ns),
        ] {
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "| {name} | {ns:.0} | {:.2} |",
                ns / self.hand_written_ns
            );
        }
        let _ = writeln!(
            text,
            "\nProcessed by the verifier: {} instructions.",
            self.verified_instructions
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_measured() {
        let effort = Effort {
            rounds: 3,
            runs: 100,
        };
        let copies = measure(&crate::root(), effort).expect("this test needs root and clang");
        let text = copies.markdown();
        for name in ["hand-written", "of a clone session", "of a multicast group"] {
            assert!(text.contains(&format!("| {name} |")), "{text}");
        }
        assert!(
            copies.hand_written_ns > 0.0 && copies.clone_ns > 0.0,
            "{text}"
        );
    }
}

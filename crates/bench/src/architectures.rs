//! The same router for two architectures: cost of a program for `v1model` against one that was written for XDP.

use crate::error::Error;
use crate::programs::{Baselines, Ready, from_p4, outcome};
use crate::timing::{LOADINGS, Pair};
use crate::workload::bytes;
use kernel::bench::{Effort, Subject, interleaved, median, undisturbed};
use serde::Serialize;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Name that selects this measurement alone.
pub(crate) const NAME: &str = "architectures";

/// Routers for `xdp_model`, the reference, and for `v1model`.
const ROUTERS: [&str; 2] = ["bench/xdp/router.p4", "programs/v1model/router/router.p4"];
const ENTRIES: &str = "programs/v1model/router/entries.txt";

/// Packet, and the number of times that a router can forward it until its TTL expires.
struct Packet {
    name: &'static str,
    hex: &'static str,
    repeats: Option<u32>,
}

const PACKETS: [Packet; 3] = [
    Packet {
        name: "forwarded",
        hex: "02000000000202000000000108004500003200014000401123b00a0001020a00020903e807d0001e00006f6e7061746820363420627974657320696e20616c6c",
        repeats: Some(20),
    },
    Packet {
        name: "to the router",
        hex: "02000000000202000000000108004500003200014000401123b80a0001020a00020103e807d0001e00006f6e7061746820363420627974657320696e20616c6c",
        repeats: None,
    },
    Packet {
        name: "wrong checksum",
        hex: "02000000000202000000000108004500003200014000401123b10a0001020a00020903e807d0001e00006f6e7061746820363420627974657320696e20616c6c",
        repeats: None,
    },
];

/// Measurements of both routers: `xdp_model` first, then `v1model`.
#[derive(Debug, Serialize)]
pub(crate) struct Routers {
    instructions: [u32; 2],
    verified_instructions: [u32; 2],
    stack_bytes: [u32; 2],
    packets: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    packet: &'static str,
    baseline_ns: f64,
    /// Nanoseconds per packet, net of the baseline.
    net_ns: [f64; 2],
    /// Ratio of the second to the first.
    ratio: f64,
}

/// Measures both routers with the same entries, interleaved with the baseline.
pub(crate) fn measure(
    root: &Path,
    baselines: &Baselines,
    effort: Effort,
) -> Result<Routers, Error> {
    let path = root.join(ENTRIES);
    let entries = fs::read_to_string(&path).map_err(|e| Error::file("read", &path, &e))?;
    let entries: Vec<String> = entries.lines().map(str::to_owned).collect();
    let load = || {
        let [first, second] = ROUTERS.map(|p4| from_p4(root, p4, &entries));
        Ok::<_, Error>([first?, second?])
    };
    let mut times = PACKETS.map(|_| Vec::new());
    let mut routers = load()?;
    for loading in 0..LOADINGS {
        if loading > 0 {
            routers = load()?;
        }
        for (packet, times) in PACKETS.iter().zip(&mut times) {
            times.push(one(&routers, packet, baselines, effort)?);
        }
    }
    let rows = PACKETS.iter().zip(times);
    Ok(Routers {
        instructions: routers.each_ref().map(|r| r.budget.instructions()),
        verified_instructions: routers.each_ref().map(|r| r.verified),
        stack_bytes: routers.each_ref().map(|r| r.budget.stack()),
        packets: rows.map(|(packet, times)| row(packet, &times)).collect(),
    })
}

/// Summarises the times of a packet, by loading: of the baseline, and of both routers.
fn row(packet: &Packet, times: &[[f64; 3]]) -> Row {
    let net = |[baseline, first, second]: &[f64; 3]| [second - baseline, first - baseline];
    let pair = Pair::of(&times.iter().map(net).collect::<Vec<_>>());
    let [second, first] = pair.net_ns;
    Row {
        packet: packet.name,
        baseline_ns: median(
            &times
                .iter()
                .map(|[baseline, ..]| *baseline)
                .collect::<Vec<_>>(),
        ),
        net_ns: [first, second],
        ratio: pair.ratio,
    }
}

/// Measures a packet with programs as they are loaded: the baseline, and both routers.
fn one(
    routers: &[Ready; 2],
    packet: &Packet,
    baselines: &Baselines,
    effort: Effort,
) -> Result<[f64; 3], Error> {
    let name = packet.name;
    let bytes = bytes(packet.hex)?;
    let [first, second] = routers.each_ref().map(|ready| outcome(ready, &bytes));
    let (first, second) = (first?, second?);
    if first != second {
        return Err(Error::new(format!(
            "{name}: the routers do not do the same: for xdp_model {first:x?}, for v1model {second:x?}"
        )));
    }
    let programs = [&baselines.drop.prog, &routers[0].prog, &routers[1].prog];
    let subjects = programs.map(|prog| Subject {
        prog,
        packet: &bytes,
        repeats: packet.repeats,
    });
    let samples = interleaved(&subjects, effort).map_err(Error::system("a test run"))?;
    Ok([0, 1, 2].map(|n: usize| undisturbed(&samples[n])))
}

impl Routers {
    /// Formats the results as a Markdown table with an introduction.
    pub(crate) fn markdown(&self) -> String {
        let mut text = String::from(
            "A router that verifies the IPv4 header checksum and computes that of a forwarded packet anew, written for `xdp_model` \
             (`bench/xdp/router.p4`) and for `v1model` (`programs/v1model/router`), with the same entries and packets: \
             nanoseconds as above, net of the baseline. Medians of several loadings; each ratio is of one.\n\n\
             | packet | baseline | `xdp_model` | `v1model` | ratio |\n|---|--:|--:|--:|--:|\n",
        );
        for row in &self.packets {
            let [first, second] = row.net_ns;
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "| {} | {:.1} | {first:.1} | {second:.1} | {:.2} |",
                row.packet, row.baseline_ns, row.ratio
            );
        }
        let [instructions, verified, stack] = [
            self.instructions,
            self.verified_instructions,
            self.stack_bytes,
        ]
        .map(|[first, second]| format!("{first} and {second}"));
        let _ = writeln!(
            text,
            "\nInstructions: {instructions}; processed by the verifier: {verified}; bytes of stack: {stack}."
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_routers_do_the_same_and_are_measured() {
        let root = crate::root();
        let baselines = Baselines::build(&root).expect("this test needs root and clang");
        let effort = Effort {
            rounds: 3,
            runs: 1000,
        };
        let routers = measure(&root, &baselines, effort).expect("they run");
        let text = routers.markdown();
        for packet in PACKETS {
            assert!(text.contains(&format!("| {} |", packet.name)), "{text}");
        }
        assert!(routers.packets.iter().all(|row| row.baseline_ns > 0.0));
    }
}

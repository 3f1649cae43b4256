//! The figures as JSON and as Markdown.

use super::Rounds;
use super::network::{self, Latency, Line};
use super::programs::Version;
use super::single::{self, Single};
use super::statistics::{self, Statistics};
use crate::machine::Machine;
use kernel::bench::{median, undisturbed};
use lab::traffic::iperf::Load;
use serde::Serialize;
use std::fmt::Write;

/// What others published of an eBPF prototype and of an implementation in the kernel, on other machines.
#[derive(Clone, Copy, Debug, Serialize)]
struct Published {
    ebpf_egress_us: f64,
    ebpf_ingress_us: f64,
    ebpf_throughput_loss_percent: f64,
    kernel_us: f64,
    kernel_throughput_loss_percent: f64,
}

const PUBLISHED: Published = Published {
    ebpf_egress_us: 1.28,
    ebpf_ingress_us: 0.55,
    ebpf_throughput_loss_percent: 4.1,
    kernel_us: 0.7,
    kernel_throughput_loss_percent: 1.5,
};

/// Most nanoseconds beyond an empty program: egress, ingress.
const GOALS: [f64; 2] = [300.0, 200.0];

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub struct Report {
    machine: Machine,
    published: Published,
    /// By test runs.
    test_run: [Time; 2],
    /// By the kernel's statistics.
    statistics: [Time; 2],
    verified_instructions: Vec<Verified>,
    traffic: Vec<Rate>,
    latency: Vec<Delay>,
}

/// Nanoseconds beyond an empty program.
#[derive(Debug, Serialize)]
struct Time {
    direction: &'static str,
    empty_ns: f64,
    onpath_net_ns: f64,
    by_hand_net_ns: f64,
    ratio: f64,
    goal_ns: f64,
    /// From the medians of all turns.
    onpath_median_net_ns: f64,
    by_hand_median_net_ns: f64,
}

#[derive(Debug, Serialize)]
struct Verified {
    version: &'static str,
    egress: u32,
    ingress: u32,
}

#[derive(Debug, Serialize)]
struct Rate {
    scenario: &'static str,
    unit: &'static str,
    without: f64,
    onpath: f64,
    by_hand: f64,
    /// Medians of the losses of each round against the same round without.
    onpath_loss_percent: f64,
    by_hand_loss_percent: f64,
}

#[derive(Debug, Serialize)]
struct Delay {
    version: &'static str,
    median_us: f64,
    slowest_hundredth_us: f64,
}

impl Time {
    /// `of_turns` makes one figure of all turns.
    fn new(
        direction: &'static str,
        goal_ns: f64,
        rounds: &Rounds,
        of_turns: fn(&[f64]) -> f64,
    ) -> Time {
        let [empty, onpath, by_hand] = [0, 1, 2].map(|n: usize| of_turns(&rounds[n]));
        let middle = [0, 1, 2].map(|n: usize| median(&rounds[n]));
        Time {
            direction,
            empty_ns: empty,
            onpath_net_ns: onpath - empty,
            by_hand_net_ns: by_hand - empty,
            ratio: (onpath - empty) / (by_hand - empty),
            goal_ns,
            onpath_median_net_ns: middle[1] - middle[0],
            by_hand_median_net_ns: middle[2] - middle[0],
        }
    }
}

impl Rate {
    fn new(line: &Line) -> Rate {
        let loss = |n: usize| {
            let each = line.rates[0].iter().zip(&line.rates[n]);
            let losses: Vec<f64> = each
                .map(|(without, with)| 100.0 * (1.0 - with / without))
                .collect();
            median(&losses)
        };
        let (unit, scale) = match line.scenario.load {
            Load::Tcp => ("Gbit/s", 1e9),
            Load::Udp { .. } => ("1000 packets/s", 1e3),
        };
        let [without, onpath, by_hand] = [0, 1, 2].map(|n: usize| median(&line.rates[n]) / scale);
        Rate {
            scenario: line.scenario.title,
            unit,
            without,
            onpath,
            by_hand,
            onpath_loss_percent: loss(1),
            by_hand_loss_percent: loss(2),
        }
    }
}

impl Report {
    /// Puts the figures together.
    pub fn new(
        single: Single,
        statistics: Statistics,
        lines: Vec<Line>,
        latency: Latency,
    ) -> Report {
        let pair = |egress: &Rounds, ingress: &Rounds, of_turns: fn(&[f64]) -> f64| {
            [
                Time::new("egress", GOALS[0], egress, of_turns),
                Time::new("ingress", GOALS[1], ingress, of_turns),
            ]
        };
        let versions = network::VERSIONS
            .iter()
            .zip(latency.middle.iter().zip(&latency.slow));
        debug_assert_eq!(single::VERSIONS, statistics::VERSIONS);
        Report {
            machine: Machine::this(),
            published: PUBLISHED,
            test_run: pair(&single.egress, &single.ingress, undisturbed),
            statistics: pair(&statistics.egress, &statistics.ingress, median),
            verified_instructions: single::VERSIONS
                .iter()
                .zip(&single.verified)
                .filter(|(version, _)| **version != Version::Empty)
                .map(|(version, [egress, ingress])| Verified {
                    version: version.name(),
                    egress: *egress,
                    ingress: *ingress,
                })
                .collect(),
            traffic: lines.iter().map(Rate::new).collect(),
            latency: versions
                .map(|(version, (middle, slow))| Delay {
                    version: version.name(),
                    median_us: median(middle),
                    slowest_hundredth_us: median(slow),
                })
                .collect(),
        }
    }

    /// As JSON, with a line end.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// As Markdown tables.
    pub fn markdown(&self) -> String {
        let m = &self.machine;
        let mut text = format!(
            "# PDM: compiled against written by hand\n\n\
             {}, Linux {}, {} × {}, clang {}. Written by `make bench-pdm`.\n\n\
             RFC 8250's option is put on every packet that goes out and taken off every packet that comes in, at both ends \
             of a pair of virtual devices. *Conformant*: each packet on the wire has an option and a number of its own. \
             *Marked once*: a TCP packet that segmentation offload will take apart has one, which all its segments get.\n",
            m.date, m.kernel, m.processors, m.processor, m.clang
        );
        self.times(&mut text);
        self.rates(&mut text);
        text
    }

    fn times(&self, text: &mut String) {
        let tables = [
            (
                "Time by test runs",
                "Nanoseconds a packet (UDP, 64 bytes) in `BPF_PROG_TEST_RUN` beyond an empty program, one run a system call, in \
                 turn, the undisturbed time (the 20th part from below); in brackets from the medians.",
                &self.test_run,
            ),
            (
                "Time by the kernel's statistics",
                "The same by `BPF_ENABLE_STATS` under real traffic (datagrams of 64 bytes, as fast as they go), medians: \
                 the sender's egress, the receiver's ingress.",
                &self.statistics,
            ),
        ];
        for (title, what, times) in tables {
            let _ = write!(
                text,
                "\n## {title}\n\n{what}\n\n\
                 | | empty | Onpath | by hand | ratio | goal |\n|---|--:|--:|--:|--:|--:|\n"
            );
            for t in times {
                let _ = writeln!(
                    text,
                    "| {} | {:.0} | {:.0} ({:.0}) | {:.0} ({:.0}) | {:.2} | {:.0} |",
                    t.direction,
                    t.empty_ns,
                    t.onpath_net_ns,
                    t.onpath_median_net_ns,
                    t.by_hand_net_ns,
                    t.by_hand_median_net_ns,
                    t.ratio,
                    t.goal_ns
                );
            }
        }
        let p = &self.published;
        let _ = write!(
            text,
            "\nPublished of an eBPF prototype on other machines: {} µs on egress, {} µs on ingress; of an implementation in \
             the kernel: {} µs.\n\nInstructions that the verifier walked through: ",
            p.ebpf_egress_us, p.ebpf_ingress_us, p.kernel_us
        );
        let verified: Vec<String> = self
            .verified_instructions
            .iter()
            .map(|v| format!("{} {} and {}", v.version, v.egress, v.ingress))
            .collect();
        let _ = writeln!(text, "{} (egress and ingress).", verified.join(", "));
    }

    fn rates(&self, text: &mut String) {
        let p = &self.published;
        let _ = write!(
            text,
            "\n## Throughput\n\n\
             `iperf3` over IPv6 at an MTU of 1500, both ends on this machine, which all versions take in turn; medians, and \
             the median of the losses against the same round without PDM. Published losses: {} % of the eBPF prototype, \
             {} % in the kernel.\n\n\
             | | unit | without | Onpath | loss | by hand | loss |\n|---|---|--:|--:|--:|--:|--:|\n",
            p.ebpf_throughput_loss_percent, p.kernel_throughput_loss_percent
        );
        for r in &self.traffic {
            let _ = writeln!(
                text,
                "| {} | {} | {:.2} | {:.2} | {:.1} % | {:.2} | {:.1} % |",
                r.scenario,
                r.unit,
                r.without,
                r.onpath,
                r.onpath_loss_percent,
                r.by_hand,
                r.by_hand_loss_percent
            );
        }
        let [untouched, conformant] = [0, 1].map(|n: usize| self.traffic.get(n).map(|r| r.without));
        if let (Some(untouched), Some(conformant)) = (untouched, conformant) {
            let _ = write!(
                text,
                "\nThe conformant mode has a cost of its own, which is in its column *without* too: a stream that hands each packet \
                 over alone goes at {conformant:.2} Gbit/s here, one that leaves segmentation to the device at \
                 {untouched:.2}.\n"
            );
        }
        *text += "\n## Latency\n\n\
                  Microseconds from a request of 64 bytes by UDP to its answer, so of two packets with four programs on their way; \
                  medians over the rounds.\n\n\
                  | | median | 99th of 100 |\n|---|--:|--:|\n";
        for d in &self.latency {
            let _ = writeln!(
                text,
                "| {} | {:.1} | {:.1} |",
                d.version, d.median_us, d.slowest_hundredth_us
            );
        }
    }
}

//! Results of `bench xdp`, as JSON and as Markdown.

use crate::architectures::Routers;
use crate::compile_time::CompileTime;
use crate::copies::Copies;
use crate::machine::Machine;
use crate::programs::{Built, Ready};
use crate::throughput::Rates;
use crate::timing::{RESOLUTION, Times};
use kernel::bench::median;
use serde::Serialize;
use std::fmt::Write;

/// Losses of rate against the baseline that p4c-xdp's paper published, in percent.
const PUBLISHED_LOSSES: [(&str, f64); 2] = [("xdp1", 44.0), ("xdp6", 83.0)];

/// All results.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    machine: Machine,
    programs: Vec<Row>,
    /// Median over the programs of the ratio of times, net of the baseline: ours to hand-written. Programs that cannot
    /// be distinguished from the baseline count as equal.
    median_ratio: f64,
    /// Largest of these ratios.
    worst_ratio: f64,
    /// Time from P4 text to a program in the kernel.
    compile_milliseconds: CompileTime,
    /// Results of the router for two architectures.
    routers: Routers,
    /// Results of copies at tc.
    copies: Copies,
}

#[derive(Debug, Serialize)]
struct Row {
    name: String,
    baseline_ns: f64,
    ours: Side,
    hand_written: Side,
    ratio: Option<f64>,
    instruction_ratio: f64,
    p4c_instructions: Option<u32>,
    p4c_net_ns: Option<f64>,
    published_loss_percent: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Side {
    net_ns: f64,
    /// Nanoseconds by the medians of all turns.
    median_net_ns: f64,
    instructions: u32,
    verified_instructions: u32,
    stack_bytes: u32,
    packets_per_second: f64,
    loss_percent: f64,
}

impl Side {
    fn new(ready: &Ready, net_ns: f64, median_net_ns: f64, rates: &Rates, rate: f64) -> Side {
        Side {
            net_ns,
            median_net_ns,
            instructions: ready.budget.instructions(),
            verified_instructions: ready.verified,
            stack_bytes: ready.budget.stack(),
            packets_per_second: rate,
            loss_percent: rates.loss(rate),
        }
    }
}

impl Report {
    /// Combines the measurements.
    pub(crate) fn new(
        built: &[Built],
        times: &[Times],
        rates: &[Rates],
        compile_milliseconds: CompileTime,
        routers: Routers,
        copies: Copies,
    ) -> Report {
        let programs: Vec<Row> = built
            .iter()
            .zip(times)
            .zip(rates)
            .map(|((b, times), rates)| {
                let ours = Side::new(&b.ours, times.ours, times.medians[0], rates, rates.ours);
                let hand_written = Side::new(
                    &b.hand_written,
                    times.hand_written,
                    times.medians[1],
                    rates,
                    rates.hand_written,
                );
                let published = PUBLISHED_LOSSES.iter().find(|(n, _)| *n == b.workload.name);
                Row {
                    name: b.workload.name.clone(),
                    baseline_ns: times.baseline,
                    ratio: times.ratio(),
                    instruction_ratio: f64::from(ours.instructions)
                        / f64::from(hand_written.instructions),
                    p4c_instructions: b.workload.p4c.map(|p| p.instructions),
                    p4c_net_ns: b.workload.p4c.map(|p| p.ns - 7.0),
                    published_loss_percent: published.map(|(_, loss)| *loss),
                    ours,
                    hand_written,
                }
            })
            .collect();
        let ratios: Vec<f64> = programs.iter().map(|p| p.ratio.unwrap_or(1.0)).collect();
        Report {
            machine: Machine::this(),
            median_ratio: median(&ratios),
            worst_ratio: ratios.iter().copied().fold(f64::NAN, f64::max),
            programs,
            compile_milliseconds,
            routers,
            copies,
        }
    }

    /// Formats the results as JSON, with a line end.
    pub(crate) fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Formats the results as Markdown tables.
    pub(crate) fn markdown(&self) -> String {
        let m = &self.machine;
        let mut text = format!(
            "# XDP: compiled against hand-written\n\n\
             {}, Linux {}, {} × {}, clang {}. Written by `make bench-xdp`.\n\n\
             ## Time\n\n\
             Nanoseconds a packet in `BPF_PROG_TEST_RUN`, thousands of short turns, one after the other, of each the \
             undisturbed time (the 20th part from below), net of a program of two instructions; in brackets from the \
             medians of all turns.\n\n\
             | program | baseline | Onpath | hand-written | ratio | p4c 1.2.5.16 |\n|---|--:|--:|--:|--:|--:|\n",
            m.date, m.kernel, m.processors, m.processor, m.clang
        );
        for p in &self.programs {
            let ratio = p.ratio.map_or(String::from("–"), |r| format!("{r:.2}"));
            let p4c = p
                .p4c_net_ns
                .map_or(String::from("–"), |ns| format!("{ns:.0}"));
            let _ = writeln!(
                text,
                "| {} | {:.1} | {:.1} ({:.1}) | {:.1} ({:.1}) | {ratio} | {p4c} |",
                p.name,
                p.baseline_ns,
                p.ours.net_ns,
                p.ours.median_net_ns,
                p.hand_written.net_ns,
                p.hand_written.median_net_ns
            );
        }
        let _ = write!(
            text,
            "\nMedian ratio {:.2}, worst {:.2}; a dash stands for two programs that are both within {RESOLUTION} ns of the \
             baseline, and counts as 1. p4c's figures are those of its own programs on the same kind \
             of machine, net of a baseline of 7 ns.\n\n\
             ## Size\n\n\
             Instructions in the object, instructions that the verifier processed, bytes of stack.\n\n\
             | program | Onpath | hand-written | ratio | p4c | verified: Onpath | hand-written | stack: Onpath | hand-written |\n\
             |---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
            self.median_ratio, self.worst_ratio
        );
        for p in &self.programs {
            let p4c = p
                .p4c_instructions
                .map_or(String::from("–"), |n| n.to_string());
            let _ = writeln!(
                text,
                "| {} | {} | {} | {:.2} | {p4c} | {} | {} | {} | {} |",
                p.name,
                p.ours.instructions,
                p.hand_written.instructions,
                p.instruction_ratio,
                p.ours.verified_instructions,
                p.hand_written.verified_instructions,
                p.ours.stack_bytes,
                p.hand_written.stack_bytes
            );
        }
        text += "\n## Rate\n\n\
                 Million packets a second through a pair of virtual devices, from a generator in the kernel on the same \
                 processor, and how much less that is than with a program of two instructions that has the same verdict: \
                 what the network stack does with a packet is in all of them. The published losses are p4c-xdp's against \
                 a drop on hardware.\n\n\
                 | program | Onpath | loss | hand-written | loss | published loss of p4c-xdp |\n|---|--:|--:|--:|--:|--:|\n";
        for p in &self.programs {
            let published = p
                .published_loss_percent
                .map_or(String::from("–"), |l| format!("{l:.0} %"));
            let _ = writeln!(
                text,
                "| {} | {:.2} | {:.0} % | {:.2} | {:.0} % | {published} |",
                p.name,
                p.ours.packets_per_second / 1e6,
                p.ours.loss_percent,
                p.hand_written.packets_per_second / 1e6,
                p.hand_written.loss_percent
            );
        }
        let c = &self.compile_milliseconds;
        let _ = write!(
            text,
            "\n## Compiling\n\n\
             The router from P4 text to a program in the kernel, medians: {:.0} ms in all: compiler {:.1} ms, clang \
             {:.0} ms, loading and the kernel's verifier {:.0} ms.\n",
            c.all, c.compiler, c.clang, c.load
        );
        text += "\n## Architectures\n\n";
        text += &self.routers.markdown();
        text + "\n## Copies\n\n" + &self.copies.markdown()
    }
}

/// Formats time and size of one workload as a Markdown table.
pub(crate) fn of_one(built: &Built, times: &Times) -> String {
    let ratio = times
        .ratio()
        .map_or(String::from("–"), |r| format!("{r:.2}"));
    let mut text = format!(
        "| {} | ns | from medians | instructions | verified | stack |\n|---|--:|--:|--:|--:|--:|\n",
        built.workload.name
    );
    let sides = [
        ("Onpath", &built.ours, times.ours),
        ("hand-written", &built.hand_written, times.hand_written),
    ];
    for ((name, ready, net), median) in sides.into_iter().zip(times.medians) {
        let _ = writeln!(
            text,
            "| {name} | {net:.1} | {median:.1} | {} | {} | {} |",
            ready.budget.instructions(),
            ready.verified,
            ready.budget.stack()
        );
    }
    let _ = writeln!(text, "\nratio {ratio}, baseline {:.1} ns", times.baseline);
    text
}

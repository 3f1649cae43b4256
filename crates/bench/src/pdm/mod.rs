//! `make bench-pdm`: what Performance and Diagnostic Metrics cost, compiled from P4 and written by hand in C, at
//! both ends of a pair of devices. Results go to `bench/results/pdm.{json,md}`.
//!
//! The machine has neighbours, which take time from it as they like. So versions take turns of a moment, in an order that
//! changes, what is compared was measured one right after the other, and of many turns the undisturbed ones count.

mod account;
mod alike;
mod delays;
mod figures;
mod json;
mod network;
mod packets;
mod programs;
mod rates;
mod report;
mod single;
mod statistics;
mod stream;
mod times;
mod turns;

use crate::error::Error;
use network::Effort;
use programs::Codes;
use std::path::Path;

/// Figures of one measurement, `[version][round]`.
type Rounds = Vec<Vec<f64>>;

/// A part of the benchmark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Single packets by test runs.
    Single,
    /// The kernel's statistics under traffic.
    Statistics,
    /// `iperf3`
    Throughput,
    /// Requests and answers.
    Latency,
}

impl Part {
    /// All, in the order in which they are measured.
    pub const ALL: [Part; 4] = [
        Part::Single,
        Part::Statistics,
        Part::Throughput,
        Part::Latency,
    ];

    /// As the command line has it.
    pub fn name(self) -> &'static str {
        match self {
            Part::Single => "single",
            Part::Statistics => "statistics",
            Part::Throughput => "throughput",
            Part::Latency => "latency",
        }
    }

    /// By the name that [`Part::name`] gives.
    pub fn by_name(name: &str) -> Option<Part> {
        Part::ALL.into_iter().find(|part| part.name() == name)
    }
}

/// Measures everything and returns the two texts: JSON, Markdown.
pub fn measure(root: &Path) -> Result<(String, String), Error> {
    let codes = Codes::build(root)?;
    let effort = Effort::from_environment();
    let report = report::Report::new(
        single(&codes)?,
        under_traffic(&codes, effort)?,
        throughput(&codes, effort)?,
        latency(&codes, effort)?,
    );
    Ok((report.json(), report.markdown()))
}

/// Measures a part and returns its section of the report.
pub fn measure_part(root: &Path, part: Part) -> Result<String, Error> {
    let codes = Codes::build(root)?;
    let effort = Effort::from_environment();
    Ok(match part {
        Part::Single => single(&codes)?.markdown(),
        Part::Statistics => under_traffic(&codes, effort)?.markdown(),
        Part::Throughput => throughput(&codes, effort)?.markdown(),
        Part::Latency => latency(&codes, effort)?.markdown(),
    })
}

fn single(codes: &Codes) -> Result<times::TestRuns, Error> {
    eprintln!("single packets by test runs, in turn ...");
    let single = single::measure(codes, single::ROUNDS)?;
    Ok(times::TestRuns::new(single))
}

fn under_traffic(codes: &Codes, effort: Effort) -> Result<times::UnderTraffic, Error> {
    eprintln!("the kernel's own statistics, under traffic ...");
    let found = statistics::measure(codes, effort.slices())?;
    Ok(times::UnderTraffic::new(found))
}

fn throughput(codes: &Codes, effort: Effort) -> Result<rates::Throughput, Error> {
    let mut lines = Vec::new();
    for scenario in network::SCENARIOS {
        eprintln!("{} ...", scenario.title());
        lines.extend(network::measure(codes, scenario, effort)?);
    }
    Ok(rates::Throughput::new(lines))
}

fn latency(codes: &Codes, effort: Effort) -> Result<delays::Delays, Error> {
    eprintln!("requests and answers ...");
    let latency = delays::measure(codes, effort)?;
    Ok(delays::Delays::new(latency))
}

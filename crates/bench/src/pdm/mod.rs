//! `make bench-pdm`: what Performance and Diagnostic Metrics cost, compiled from P4 and written by hand in C, at
//! both ends of a pair of devices. Results go to `bench/results/pdm.{json,md}`.

mod network;
mod programs;
mod report;
mod single;
mod statistics;

use crate::error::Error;
use programs::Codes;
use std::path::Path;

/// Figures of one measurement, `[version][round]`.
type Rounds = Vec<Vec<f64>>;

/// Measures everything and returns the two texts: JSON, Markdown.
pub fn measure(root: &Path) -> Result<(String, String), Error> {
    let effort = network::Effort::from_environment();
    let codes = Codes::build(root)?;
    eprintln!("single packets by test runs, in turn ...");
    let single = single::measure(&codes, single::ROUNDS)?;
    eprintln!("the kernel's own statistics, under traffic ...");
    let statistics = statistics::measure(&codes, effort)?;
    let mut lines = Vec::new();
    for scenario in network::SCENARIOS {
        eprintln!("{} ...", scenario.title);
        lines.push(network::measure(&codes, scenario, effort)?);
    }
    eprintln!("requests and answers ...");
    let latency = network::latency(&codes, effort)?;
    let report = report::Report::new(single, statistics, lines, latency);
    Ok((report.json(), report.markdown()))
}

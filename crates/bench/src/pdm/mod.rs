//! `make bench-pdm`: cost of Performance and Diagnostic Metrics, compiled from P4 and hand-written in C, at both ends
//! of a pair of devices. Results go to `bench/results/pdm.{json,md}`.
//!
//! The machine has neighbours, which take processor time unpredictably. So versions take short turns in a varying
//! order, and measurements that are compared follow each other directly. Of many turns only the undisturbed ones count,
//! or the median.

mod account;
mod alike;
mod bulk;
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

/// Values of one measurement, `[version][round]`.
type Rounds = Vec<Vec<f64>>;

/// A part of the benchmark.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BenchmarkPart {
    /// Single packets by test runs
    Single,
    /// The kernel's statistics under traffic
    Statistics,
    /// iperf3, and TCP in turns of a moment
    Throughput,
    /// Requests and answers
    Latency,
}

/// Measures everything and returns two texts: JSON, Markdown.
pub(crate) fn measure(root: &Path) -> Result<(String, String), Error> {
    let codes = Codes::build(root)?;
    let effort = Effort::from_environment();
    alike::check(&codes)?;
    let mut times = Times::default();
    times.visit(&codes, effort)?;
    let throughput = throughput(&codes, effort, || times.visit(&codes, effort))?;
    let latency = latency(&codes, effort)?;
    times.visit(&codes, effort)?;
    let report = report::Report::new(
        times::TestRuns::new(times.single),
        times::UnderTraffic::new(times.statistics),
        throughput,
        latency,
    );
    Ok((report.json(), report.markdown()))
}

/// Number of times that the times are measured, between the other measurements: neighbours are quiet for minutes, then
/// loud for minutes.
const VISITS: usize = network::SCENARIOS.len() + 2;

/// Times of all such measurements.
#[derive(Default)]
struct Times {
    single: Vec<single::Single>,
    statistics: Vec<statistics::Statistics>,
}

impl Times {
    fn visit(&mut self, codes: &Codes, effort: Effort) -> Result<(), Error> {
        self.visit_single(codes)?;
        self.visit_statistics(codes, effort)
    }

    fn visit_single(&mut self, codes: &Codes) -> Result<(), Error> {
        eprintln!("single packets by test runs, in turn ...");
        for _ in 0..2 {
            self.single.push(single::measure(codes, single::ROUNDS)?);
        }
        Ok(())
    }

    fn visit_statistics(&mut self, codes: &Codes, effort: Effort) -> Result<(), Error> {
        eprintln!("the kernel's own statistics, under traffic ...");
        let slices = effort.slices().div_ceil(VISITS);
        self.statistics.extend(statistics::measure(codes, slices)?);
        Ok(())
    }
}

/// Measures a part and returns its section of the report.
pub(crate) fn measure_part(root: &Path, part: BenchmarkPart) -> Result<String, Error> {
    let codes = Codes::build(root)?;
    let effort = Effort::from_environment();
    Ok(match part {
        BenchmarkPart::Single => {
            alike::check(&codes)?;
            let mut times = Times::default();
            for _ in 0..VISITS {
                times.visit_single(&codes)?;
            }
            times::TestRuns::new(times.single).markdown()
        }
        BenchmarkPart::Statistics => {
            let mut times = Times::default();
            for _ in 0..VISITS {
                times.visit_statistics(&codes, effort)?;
            }
            times::UnderTraffic::new(times.statistics).markdown()
        }
        BenchmarkPart::Throughput => throughput(&codes, effort, || Ok(()))?.markdown(),
        BenchmarkPart::Latency => latency(&codes, effort)?.markdown(),
    })
}

/// Measures each kind of traffic, and calls `behind` after each.
fn throughput(
    codes: &Codes,
    effort: Effort,
    mut behind: impl FnMut() -> Result<(), Error>,
) -> Result<rates::Throughput, Error> {
    let mut lines = Vec::new();
    for scenario in network::SCENARIOS {
        eprintln!("{} ...", scenario.title());
        lines.extend(network::measure(codes, scenario, effort)?);
        behind()?;
    }
    Ok(rates::Throughput::new(lines))
}

fn latency(codes: &Codes, effort: Effort) -> Result<delays::Delays, Error> {
    eprintln!("requests and answers ...");
    let latency = delays::measure(codes, effort)?;
    Ok(delays::Delays::new(latency))
}

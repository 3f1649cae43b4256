//! Latency of requests that are answered immediately.

use super::Rounds;
use super::figures::quantile;
use super::network::{self, Effort, networks, order};
use super::programs::{Codes, Version};
use crate::error::Error;
use kernel::bench::median;
use lab::traffic::udp;
use lab::{Pair, Route, SERVER};
use serde::Serialize;
use std::fmt::Write;
use std::io;
use std::time::Duration;

/// Microseconds from a request to its answer, in each round: the median and the 99th percentile.
pub(crate) struct Latency {
    /// Medians, by version, then by round.
    pub middle: Rounds,
    /// 99th percentiles, by version, then by round.
    pub slow: Rounds,
}

/// Measures requests of 64 bytes, one after the other, which are answered immediately.
pub(crate) fn measure(codes: &Codes, effort: Effort) -> Result<Latency, Error> {
    // The scenario of small datagrams; its load is replaced by requests.
    let nets = networks(codes, &network::SCENARIOS[network::SCENARIOS.len() - 1])?;
    let mut latency = Latency {
        middle: vec![Vec::new(); nets.len()],
        slow: vec![Vec::new(); nets.len()],
    };
    for round in 0..effort.rounds {
        for version in order::<{ network::VERSIONS.len() }>(round) {
            let times = round_trips(&nets[version].0, effort.requests)
                .map_err(Error::system("requests and answers"))?;
            latency.middle[version].push(median(&times));
            latency.slow[version].push(quantile(&times, 0.99));
        }
    }
    Ok(latency)
}

/// Returns the times of round trips, in microseconds.
fn round_trips(net: &Pair, requests: u64) -> io::Result<Vec<f64>> {
    let to = (SERVER, 7000).into();
    let _server = udp::Server::start(net.server(), to, Duration::ZERO)?;
    let plan = udp::Exchange {
        count: requests,
        ..udp::Exchange::default()
    };
    let seen = udp::exchange(net.client(), to, plan)?;
    if seen.round_trips.is_empty() {
        return Err(io::Error::other("nothing was answered"));
    }
    let microseconds = |time: &Duration| time.as_secs_f64() * 1e6;
    Ok(seen.round_trips.iter().map(microseconds).collect())
}

/// Latencies by version.
#[derive(Debug, Serialize)]
pub(crate) struct Delays(Vec<Delay>);

#[derive(Debug, Serialize)]
struct Delay {
    version: &'static str,
    /// Median over the rounds.
    median_us: f64,
    slowest_hundredth_us: f64,
    /// Value of each round.
    medians_us: Vec<f64>,
    slowest_hundredths_us: Vec<f64>,
}

impl Delays {
    /// Summarises the measurements.
    pub(crate) fn new(latency: Latency) -> Delays {
        let times = latency.middle.into_iter().zip(latency.slow);
        let versions = network::VERSIONS.iter().zip(times);
        let delay = |(version, (middle, slow)): (&Version, (Vec<f64>, Vec<f64>))| Delay {
            version: version.name(),
            median_us: median(&middle),
            slowest_hundredth_us: median(&slow),
            medians_us: middle,
            slowest_hundredths_us: slow,
        };
        Delays(versions.map(delay).collect())
    }

    /// Formats the results as a section.
    pub(crate) fn markdown(&self) -> String {
        let mut text = "\n## Latency\n\n\
             Microseconds from a 64-byte UDP request to its answer: two packets, four programs; \
             medians over the rounds.\n\n\
             | | median | 99th of 100 |\n|---|--:|--:|\n"
            .to_owned();
        for d in &self.0 {
            let _ = writeln!(
                text,
                "| {} | {:.1} | {:.1} |",
                d.version, d.median_us, d.slowest_hundredth_us
            );
        }
        text
    }
}

//! Latency of requests that are answered at once.

use super::network::{self, Latency};
use kernel::bench::median;
use serde::Serialize;
use std::fmt::Write;

/// By version.
#[derive(Debug, Serialize)]
pub struct Delays(Vec<Delay>);

#[derive(Debug, Serialize)]
struct Delay {
    version: &'static str,
    /// Medians over the rounds.
    median_us: f64,
    slowest_hundredth_us: f64,
    /// Each round's.
    medians_us: Vec<f64>,
    slowest_hundredths_us: Vec<f64>,
}

impl Delays {
    /// Puts the figures together.
    pub fn new(latency: Latency) -> Delays {
        let times = latency.middle.into_iter().zip(latency.slow);
        let versions = network::VERSIONS.iter().zip(times);
        let delay =
            |(version, (middle, slow)): (&super::programs::Version, (Vec<f64>, Vec<f64>))| Delay {
                version: version.name(),
                median_us: median(&middle),
                slowest_hundredth_us: median(&slow),
                medians_us: middle,
                slowest_hundredths_us: slow,
            };
        Delays(versions.map(delay).collect())
    }

    /// As a section.
    pub fn markdown(&self) -> String {
        let mut text = "\n## Latency\n\n\
             Microseconds from a request of 64 bytes by UDP to its answer, so of two packets with four programs on their way; \
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

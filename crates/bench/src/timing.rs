//! Nanoseconds a packet by interleaved test runs.

use crate::error::Error;
use crate::programs::{Built, Floors};
use kernel::bench::{Effort, Subject, interleaved, median, net};

/// How long to measure; `ONPATH_BENCH_ROUNDS` gives another number of rounds.
fn effort() -> Effort {
    let rounds = std::env::var("ONPATH_BENCH_ROUNDS").ok();
    Effort {
        rounds: rounds.and_then(|r| r.parse().ok()).unwrap_or(41),
        runs: 200_000,
    }
}

/// Times of one workload in nanoseconds, net of the floor.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The floor itself.
    pub floor: f64,
    /// Compiled from P4.
    pub ours: f64,
    /// By hand.
    pub by_hand: f64,
}

impl Times {
    /// Ours to theirs.
    pub fn ratio(&self) -> f64 {
        self.ours / self.by_hand
    }
}

/// Measures every workload; its three programs take turns.
pub fn measure(built: &[Built], floors: &Floors) -> Result<Vec<Times>, Error> {
    built
        .iter()
        .map(|b| {
            let packet = b.workload.packet()?;
            let programs = [floors.of(&b.workload), &b.ours, &b.by_hand];
            let subjects = programs.map(|ready| Subject {
                prog: &ready.prog,
                packet: &packet,
                grows: b.workload.grows(),
            });
            let samples = interleaved(&subjects, effort()).map_err(Error::system("a test run"))?;
            Ok(Times {
                floor: median(&samples[0]),
                ours: net(&samples[1], &samples[0]),
                by_hand: net(&samples[2], &samples[0]),
            })
        })
        .collect()
}

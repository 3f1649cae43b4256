//! Nanoseconds per packet by interleaved test runs.

use crate::error::Error;
use crate::programs::{Baselines, Built};
use kernel::bench::{Effort, Subject, interleaved, median, undisturbed};

/// Returns the extent of the measurement; `ONPATH_BENCH_ROUNDS` gives another number of rounds.
pub(crate) fn effort() -> Effort {
    let rounds = std::env::var("ONPATH_BENCH_ROUNDS").ok();
    Effort {
        rounds: rounds.and_then(|r| r.parse().ok()).unwrap_or(601),
        runs: 10_000,
    }
}

/// Resolution in nanoseconds: smaller differences are not significant.
pub(crate) const RESOLUTION: f64 = 0.5;

/// Number of times that short programs are loaded. The addresses of their code alone move their times by nanoseconds, so
/// a ratio of one loading says little about programs that take ten.
pub(crate) const LOADINGS: usize = 9;

/// Times of two programs that were loaded several times, in nanoseconds net of the baseline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// Median time of each.
    pub net_ns: [f64; 2],
    /// Median of the ratio of the first to the second, by loading.
    pub ratio: f64,
}

impl Pair {
    /// Summarises the times, one pair of them for each loading.
    pub(crate) fn of(loadings: &[[f64; 2]]) -> Pair {
        let each = |of: fn(&[f64; 2]) -> f64| median(&loadings.iter().map(of).collect::<Vec<_>>());
        Pair {
            net_ns: [each(|[first, _]| *first), each(|[_, second]| *second)],
            ratio: each(|[first, second]| first / second),
        }
    }
}

/// Times of one workload in nanoseconds, net of the baseline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// Time of the baseline itself.
    pub baseline: f64,
    /// Time of the program compiled from P4.
    pub ours: f64,
    /// Time of the hand-written program.
    pub hand_written: f64,
    /// Times by the medians of all turns instead of the undisturbed ones: ours, hand-written.
    pub medians: [f64; 2],
}

impl Times {
    /// Returns the ratio of ours to theirs; `None` if neither can be distinguished from the baseline.
    pub(crate) fn ratio(&self) -> Option<f64> {
        let resolved = self.ours > RESOLUTION || self.hand_written > RESOLUTION;
        resolved.then(|| self.ours / self.hand_written.max(RESOLUTION))
    }
}

/// Measures every workload; its three programs are interleaved.
pub(crate) fn measure(built: &[Built], baselines: &Baselines) -> Result<Vec<Times>, Error> {
    built
        .iter()
        .map(|b| {
            let packet = b.workload.packet()?;
            let programs = [baselines.of(&b.workload), &b.ours, &b.hand_written];
            let subjects = programs.map(|ready| Subject {
                prog: &ready.prog,
                packet: &packet,
                repeats: b.workload.repeats,
            });
            let samples = interleaved(&subjects, effort()).map_err(Error::system("a test run"))?;
            let [baseline, ours, hand_written] = [0, 1, 2].map(|n: usize| undisturbed(&samples[n]));
            let middle = [0, 1, 2].map(|n: usize| median(&samples[n]));
            Ok(Times {
                baseline,
                ours: ours - baseline,
                hand_written: hand_written - baseline,
                medians: [middle[1] - middle[0], middle[2] - middle[0]],
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_of_one_loading_and_the_middle_one_counts() {
        let pair = Pair::of(&[[9.0, 3.0], [4.0, 4.0], [6.0, 5.0]]);
        assert_eq!((pair.net_ns, pair.ratio), ([6.0, 4.0], 1.2));
    }
}

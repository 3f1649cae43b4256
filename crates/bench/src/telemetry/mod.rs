//! `bench telemetry`: cost of reading messages on the packets' path, in the application that receives them, and off the
//! path. Packets are UDP through a pair of devices. Published results stand beside.

mod cores;
mod flow;
mod generator;
mod look;
mod message;
mod network;
mod parser;
mod plots;
mod published;
mod rates;
mod report;
mod round_trip;
mod visible;

use crate::error::Error;
use crate::machine::Machine;
use flow::{Bench, Times};
use generator::Generator;
use kernel::bench::median;
use lab::precedence;
use network::{Network, Polling};
use nix::unistd::gettid;
use serde::Serialize;
use std::time::Duration;

/// Extent of the measurements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Number of rounds.
    rounds: usize,
    /// Durations of one measurement.
    times: Times,
    /// Numbers of bytes that are parsed.
    bytes: &'static [usize],
    /// Numbers of attributes of a message.
    attributes: &'static [usize],
    /// Number of single packets, and of requests in a round.
    packets: usize,
}

impl Effort {
    /// Returns the full extent, with this number of rounds.
    pub(crate) fn of_rounds(rounds: usize) -> Effort {
        Effort {
            rounds,
            times: Times {
                warm: Duration::from_millis(15),
                measured: Duration::from_millis(60),
            },
            bytes: &[200, 400, 800, 1200, 1400],
            attributes: &[2, 4, 8, 16, 32, 56],
            packets: 500,
        }
    }
}

/// Default number of rounds.
pub(crate) const ROUNDS: u16 = 21;

/// The kernel's `XDP_PASS`.
const PASS: i32 = 2;

/// Median and quartiles of several rounds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
struct Spread {
    median: f64,
    lower: f64,
    upper: f64,
}

impl Spread {
    fn of(mut samples: Vec<f64>) -> Spread {
        samples.sort_by(f64::total_cmp);
        let quarter = |n: usize| samples.get(samples.len() * n / 4).or(samples.last());
        Spread {
            median: median(&samples),
            lower: quarter(1).copied().unwrap_or(f64::NAN),
            upper: quarter(3).copied().unwrap_or(f64::NAN),
        }
    }
}

/// Results of all measurements.
#[derive(Serialize)]
pub(crate) struct Results {
    machine: Machine,
    rounds: usize,
    rates: rates::Rates,
    cores: Vec<cores::Cores>,
    visible: Vec<visible::Visible>,
    round_trip: Vec<round_trip::RoundTrip>,
}

/// Measures everything. It uses the processors 0 and 1 with priority over other work on the machine.
pub(crate) fn measure(effort: &Effort) -> Result<Results, Error> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    if processors < 2 {
        return Err(Error::new(
            "this takes two processors: one sends, one receives",
        ));
    }
    let _session = precedence::FirstSession::new().map_err(Error::system("a priority"))?;
    precedence::first(gettid()).map_err(Error::system("a priority"))?;
    let network = Network::new(0, Polling::Thread(0)).map_err(Error::system("a network"))?;
    let generator = Generator::new()?;
    let bench = Bench {
        network: &network,
        generator: &generator,
        receiving: 0,
        sending: 1,
    };
    eprintln!("what a socket takes, by place and technique ...");
    let rates = rates::measure(&bench, effort)?;
    eprintln!("one processor and both ...");
    let cores = cores::measure(effort)?;
    eprintln!("until a count is seen ...");
    let visible = visible::measure(&network, effort)?;
    eprintln!("round trips ...");
    let round_trip = round_trip::measure(effort)?;
    Ok(Results {
        machine: Machine::this(),
        rounds: effort.rounds,
        rates,
        cores,
        visible,
        round_trip,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_measured_and_shown() {
        let effort = Effort {
            rounds: 1,
            times: Times {
                warm: Duration::from_millis(5),
                // Beside other tests, some threads wait this long for a processor.
                measured: Duration::from_millis(60),
            },
            bytes: &[200],
            attributes: &[2],
            packets: 5,
        };
        let results = measure(&effort).expect("this test needs root, clang and two processors");
        let text = results.markdown();
        for line in [
            "| 200 | ",
            "| on the path | ",
            "| direct jump | ",
            "| attributes | 2 |",
        ] {
            assert!(text.contains(&format!("\n{line}")), "{line}: {text}");
        }
        for plot in results.plots().expect("plots") {
            assert!(plot.1.starts_with("<svg "), "{}", plot.1);
        }
    }

    #[test]
    fn a_spread_has_half_of_all_rounds() {
        let spread = Spread::of((1..=9).rev().map(f64::from).collect());
        assert_eq!((spread.lower, spread.median, spread.upper), (3.0, 5.0, 7.0));
        assert_eq!(Spread::of(vec![2.0]).upper, 2.0);
    }
}

//! Continuous TCP stream on whose devices the versions take short turns. Both of its ends share a processor, which does
//! all the work and is never idle. So the rate drops by the time that a version takes.

use super::Rounds;
use super::bulk::Bulk;
use super::network::{Scenario, attach, load, order, pair, replace};
use super::programs::{Codes, End, Version};
use crate::error::Error;
use kernel::sys::Link;
use lab::Pair;
use std::thread;
use std::time::{Duration, Instant};

/// Versions that are measured, in this order.
pub(crate) const VERSIONS: [Version; 4] = [
    Version::None,
    Version::Onpath,
    Version::HandWritten,
    Version::Headroom,
];

/// Index of the version whose programs see the stream begin, so that its segments leave space for the option.
const FIRST: usize = 1;

/// Number of times that everything is set up again: the addresses of code, state and packets matter.
const LOADINGS: usize = 3;

/// Duration of a version's turn.
pub(crate) const TURN: Duration = Duration::from_millis(50);
/// Pause from a change of programs to the measurement, in which packets under way arrive.
const SETTLE: Duration = Duration::from_millis(10);

/// Measures the bits per second of each version in each round.
pub(crate) fn measure(codes: &Codes, scenario: &Scenario, rounds: usize) -> Result<Rounds, Error> {
    let mut rates = vec![Vec::new(); VERSIONS.len()];
    for _ in 0..LOADINGS {
        let net = pair(scenario.offloads, scenario.one_segment)?;
        let mut versions = [const { None }; VERSIONS.len()];
        for (version, code) in versions.iter_mut().zip(codes.of(&VERSIONS)) {
            *version = load(code, scenario.offloaded)?;
        }
        let found = in_turn(&net, &versions, rounds.div_ceil(LOADINGS))?;
        for (rates, found) in rates.iter_mut().zip(found) {
            rates.extend(found);
        }
    }
    Ok(rates)
}

/// Measures the versions in turn. Each has its ends' programs, if it has any.
fn in_turn<const COUNT: usize>(
    net: &Pair,
    versions: &[Option<Vec<End>>; COUNT],
    rounds: usize,
) -> Result<Rounds, Error> {
    let mut rates = vec![Vec::new(); versions.len()];
    let mut attached = None;
    take_over(&mut attached, net, &versions[FIRST])?;
    let stream = Bulk::start(net).map_err(Error::system("a TCP stream"))?;
    for round in 0..=rounds {
        for version in order::<COUNT>(round) {
            take_over(&mut attached, net, &versions[version])?;
            thread::sleep(SETTLE);
            let (started, before) = (Instant::now(), stream.received());
            thread::sleep(TURN - SETTLE);
            let bytes = stream.received() - before;
            if bytes == 0 {
                stream.finish().map_err(Error::system("a TCP stream"))?;
                return Err(Error::new("in a turn of TCP nothing arrived"));
            }
            // The first round lets TCP find its rate and is not kept.
            if round > 0 {
                rates[version].push(8.0 * bytes as f64 / started.elapsed().as_secs_f64());
            }
        }
    }
    stream.finish().map_err(Error::system("a TCP stream"))?;
    Ok(rates)
}

/// Attaches a version's programs to the devices.
fn take_over(
    attached: &mut Option<Vec<[Link; 2]>>,
    net: &Pair,
    version: &Option<Vec<End>>,
) -> Result<(), Error> {
    match (version, &attached) {
        (None, _) => {
            // Closing is not enough: a process that is being started may hold the links' descriptors for a moment
            // longer.
            for link in attached.take().into_iter().flatten().flatten() {
                link.detach().map_err(Error::system("detaching"))?;
            }
        }
        (Some(ends), Some(links)) => replace(links, ends)?,
        (Some(ends), None) => *attached = Some(attach(net, ends)?),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdm::network::SCENARIOS;
    use crate::pdm::programs::Code;

    #[test]
    fn a_stream_goes_on_under_each_version() {
        for scenario in &SCENARIOS[..2] {
            let net = pair(scenario.offloads, scenario.one_segment).expect("this test needs root");
            let versions =
                [Version::None, Version::HandWritten, Version::Headroom].map(|version| {
                    let code = Code::build(&crate::root(), version);
                    load(&code.expect("this test needs clang"), scenario.offloaded).expect("loads")
                });
            let rates = in_turn(&net, &versions, 3).expect("works");
            assert!(rates.iter().all(|rounds| rounds.len() == 3), "{rates:?}");
            // No packet is too long for the device: it would be sent again only after a while.
            assert!(rates.iter().flatten().all(|r| *r > 1e7), "{rates:?}");
        }
    }
}

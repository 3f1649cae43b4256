//! Nanoseconds a run by the kernel's own statistics, under traffic that goes on. One pair of devices has the programs of
//! one version after the other, for moments: whatever else is slow or fast just then is so for all of them. What the kernel
//! needs to read its clock is in each figure: the empty programs show how much that is.

use super::Rounds;
use super::network::{attach, load, pair, replace};
use super::programs::{Codes, End, Offloaded, Version};
use super::stream::{Kind, Stream};
use crate::error::Error;
use kernel::sys::{Prog, count_runs};
use lab::{Offloads, Pair};
use std::thread;
use std::time::Duration;

/// What is measured, in this order.
pub(crate) const VERSIONS: [Version; 3] = [Version::Empty, Version::Onpath, Version::HandWritten];

/// The streams that go on meanwhile.
pub(crate) const KINDS: [Kind; 2] = [Kind::OneWay, Kind::Answered];

/// From a change of programs to the measurement: caches get to know them.
const SETTLE: Duration = Duration::from_millis(5);
/// Of a measurement.
const SLICE: Duration = Duration::from_millis(20);
/// Slices with fewer runs are not significant.
const FEWEST_RUNS: u64 = 50;

/// Nanoseconds a run: each slice's mean, of both ends' programs together. With datagrams that go one way only the client's
/// egress and the server's ingress run.
pub(crate) struct Statistics {
    /// What was sent.
    pub kind: Kind,
    /// Packets that go out.
    pub egress: Rounds,
    /// Packets that come in.
    pub ingress: Rounds,
}

/// Loads all versions and measures them in turn, so many slices each, under each kind of traffic.
pub(crate) fn measure(codes: &Codes, slices: usize) -> Result<Vec<Statistics>, Error> {
    let net = pair(Offloads::All, false)?;
    // For each version one end a device.
    let mut ends = Vec::new();
    for code in codes.of(&VERSIONS) {
        let loaded = load(code, Offloaded::Left)?;
        ends.push(loaded.ok_or_else(|| Error::new("there is nothing to measure"))?);
    }
    // The kernel measures for as long as this lives.
    let _counting = count_runs().map_err(Error::system("the kernel's statistics"))?;
    KINDS
        .into_iter()
        .map(|kind| under(&net, &ends, kind, slices))
        .collect()
}

fn under(net: &Pair, ends: &[Vec<End>], kind: Kind, slices: usize) -> Result<Statistics, Error> {
    let mut found = Statistics {
        kind,
        egress: vec![Vec::new(); ends.len()],
        ingress: vec![Vec::new(); ends.len()],
    };
    let stream = Stream::start(net, kind).map_err(Error::system("datagrams"))?;
    let attached = attach(net, &ends[0])?;
    for slice in 0..=slices {
        for turn in 0..ends.len() {
            let version = (slice + turn) % ends.len();
            let programs = &ends[version];
            replace(&attached, programs)?;
            thread::sleep(SETTLE);
            let before = both(programs)?;
            let after = after_slice(programs, before)?;
            // The first slice warms caches and is not kept.
            if slice > 0 {
                let [egress, ingress] = [0, 1].map(|n: usize| each(before[n], after[n]));
                found.egress[version].extend(egress);
                found.ingress[version].extend(ingress);
            }
        }
    }
    stream.finish().map_err(Error::system("datagrams"))?;
    let short = |rounds: &Rounds| rounds.iter().any(|turns| turns.len() * 2 < slices.max(1));
    if short(&found.egress) || short(&found.ingress) {
        return Err(Error::new(format!(
            "there was no traffic to measure ({kind:?})"
        )));
    }
    Ok(found)
}

/// What [`both`] gives after a slice: longer than others where the machine is too busy for enough packets.
fn after_slice(
    programs: &[End],
    before: [(u64, Duration); 2],
) -> Result<[(u64, Duration); 2], Error> {
    const LONGEST: u32 = 100;
    let mut after = before;
    for _ in 0..LONGEST {
        thread::sleep(SLICE);
        after = both(programs)?;
        let enough = |n: usize| each(before[n], after[n]).is_some();
        if enough(0) && enough(1) {
            break;
        }
    }
    Ok(after)
}

/// Runs and their time: egress and ingress, at both ends together.
fn both(programs: &[End]) -> Result<[(u64, Duration); 2], Error> {
    let mut sums = [(0, Duration::ZERO); 2];
    for end in programs {
        for (sum, prog) in sums.iter_mut().zip([&end.egress, &end.ingress]) {
            let (runs, time) = times(prog)?;
            *sum = (sum.0 + runs, sum.1 + time);
        }
    }
    Ok(sums)
}

fn times(prog: &Prog) -> Result<(u64, Duration), Error> {
    prog.run_time()
        .map_err(Error::system("a program's statistics"))
}

/// Nanoseconds of a run between two looks; `None` if there were too few.
fn each(before: (u64, Duration), after: (u64, Duration)) -> Option<f64> {
    let runs = after.0.saturating_sub(before.0);
    let time = after.1.saturating_sub(before.1);
    (runs >= FEWEST_RUNS).then(|| time.as_nanos() as f64 / runs as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdm::programs::Code;

    #[test]
    fn a_few_runs_tell_nothing() {
        let at = |runs, nanoseconds| (runs, Duration::from_nanos(nanoseconds));
        assert_eq!(each(at(10, 500), at(110, 20_500)), Some(200.0));
        assert_eq!(each(at(10, 500), at(59, 20_500)), None);
        assert_eq!(each(at(10, 500), at(10, 500)), None);
    }

    #[test]
    fn programs_take_turns_under_both_kinds_of_traffic() {
        let net = pair(Offloads::All, false).expect("this test needs root");
        let hand_written =
            Code::build(&crate::root(), Version::HandWritten).expect("this test needs clang");
        let ends: Vec<Vec<End>> = [&Code::Empty, &hand_written]
            .map(|code| {
                load(code, Offloaded::Left)
                    .expect("loads")
                    .expect("is there")
            })
            .into();
        let _counting = count_runs().expect("counts");
        for kind in KINDS {
            let found = under(&net, &ends, kind, 4).expect("measures");
            for times in found.egress.iter().chain(&found.ingress) {
                assert!(times.iter().all(|time| *time > 0.0), "{kind:?}: {times:?}");
            }
        }
    }
}

//! Nanoseconds per run, from the kernel's statistics of programs, under continuous traffic. The versions of the
//! programs alternate in short slices on one pair of devices, so disturbances affect all of them alike. Each value
//! includes the time in which the kernel reads its clock; the empty programs show how long that is.

use super::Rounds;
use super::network::{attach, load, pair, replace};
use super::programs::{Codes, End, Offloaded, Version};
use super::stream::{Stream, TrafficKind};
use crate::error::Error;
use kernel::sys::{Prog, count_runs};
use lab::{Offloads, Pair};
use std::thread;
use std::time::Duration;

/// Versions that are measured, in this order.
pub(crate) const VERSIONS: [Version; 3] = [Version::Empty, Version::Onpath, Version::HandWritten];

/// Kinds of traffic during the measurement.
pub(crate) const KINDS: [TrafficKind; 2] = [TrafficKind::OneWay, TrafficKind::Answered];

/// Pause from a change of programs to the measurement, in which caches warm up.
const SETTLE: Duration = Duration::from_millis(5);
/// Duration of a measurement.
const SLICE: Duration = Duration::from_millis(20);
/// Fewest runs that make a slice significant.
const FEWEST_RUNS: u64 = 50;

/// Nanoseconds per run: the mean of each slice over the programs of both ends. If datagrams go in one direction only,
/// these are the client's egress program and the server's ingress program.
pub(crate) struct Statistics {
    /// Kind of traffic.
    pub kind: TrafficKind,
    /// Times for outgoing packets.
    pub egress: Rounds,
    /// Times for incoming packets.
    pub ingress: Rounds,
}

/// Loads all versions and measures them in turn, with this number of slices for each, under each kind of traffic.
pub(crate) fn measure(codes: &Codes, slices: usize) -> Result<Vec<Statistics>, Error> {
    let net = pair(Offloads::All, false)?;
    // One end for each device, by version.
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

fn under(
    net: &Pair,
    ends: &[Vec<End>],
    kind: TrafficKind,
    slices: usize,
) -> Result<Statistics, Error> {
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

/// Waits for the end of a slice, and returns the counts of [`both`]. The slice is extended if the machine is too busy
/// for enough packets.
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

/// Returns the number of runs and their time, of egress and ingress, summed over both ends.
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

/// Returns the nanoseconds per run between two readings; `None` if there were too few runs.
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

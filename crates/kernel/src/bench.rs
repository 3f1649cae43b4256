//! Timing of XDP programs. The programs are measured in alternation, so that a disturbance affects all of them.

use crate::sys::{Link, Prog, XdpMode};
use net::netns::NetNs;
use net::veth::make_pairs;
use nix::net::if_::if_nametoindex;
use std::io;
use std::time::Instant;

/// Program to be timed, with its packet.
#[derive(Debug)]
pub struct Subject<'a> {
    /// The program.
    pub prog: &'a Prog,
    /// Packet of the first repetition. Each later repetition gets the packet as the one before left it.
    pub packet: &'a [u8],
    /// Maximum number of repetitions on one packet, for a program that can change a packet only so often. `None` if
    /// there is no limit.
    pub repeats: Option<u32>,
}

/// Extent of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Number of rounds whose times are kept. Each round times every program once.
    pub rounds: usize,
    /// Number of runs of a program in one round.
    pub runs: u32,
}

/// Measures nanoseconds per run for each subject and round, as `[subject][round]`. The kernel's overhead per run is
/// included: subtract an empty program's time.
pub fn interleaved(subjects: &[Subject<'_>], effort: Effort) -> io::Result<Vec<Vec<f64>>> {
    let progs: Vec<&Prog> = subjects.iter().map(|subject| subject.prog).collect();
    let _attached = attached(&progs)?;
    let mut out = vec![0; 4096];
    let mut samples = vec![Vec::with_capacity(effort.rounds); subjects.len()];
    for round in 0..=effort.rounds {
        for (subject, samples) in subjects.iter().zip(&mut samples) {
            let sample = turn(subject, effort.runs, &mut out)?;
            // The first round warms caches and is not kept.
            if round > 0 {
                samples.push(sample);
            }
        }
    }
    Ok(samples)
}

/// Programs, each attached to an idle device of its own for as long as this value lives.
#[derive(Debug)]
pub struct Attached {
    _ns: NetNs,
    _links: Vec<Link>,
}

/// Attaches every program to an idle device. For a program that is attached to none, the kernel changes its XDP
/// dispatcher at each repeated test run, which takes milliseconds.
pub fn attached(progs: &[&Prog]) -> io::Result<Attached> {
    let ns = NetNs::new()?;
    let names = |n: usize| (format!("a{n}"), format!("b{n}"));
    let links = ns.run(|| {
        make_pairs(&(0..progs.len()).map(names).collect::<Vec<_>>())?;
        let mut links = Vec::with_capacity(progs.len());
        for (n, prog) in progs.iter().enumerate() {
            let index = if_nametoindex(names(n).0.as_str())?;
            links.push(Link::attach_xdp(prog, index, XdpMode::Native)?);
        }
        Ok(links)
    })?;
    Ok(Attached {
        _ns: ns,
        _links: links,
    })
}

fn turn(subject: &Subject<'_>, runs: u32, out: &mut [u8]) -> io::Result<f64> {
    let Some(repeats) = subject.repeats else {
        // The kernel's own figure is in whole nanoseconds; the time around so many runs is finer.
        let started = Instant::now();
        subject.prog.run_xdp(subject.packet, out, 0, runs)?;
        return Ok(started.elapsed().as_nanos() as f64 / f64::from(runs));
    };
    let calls = runs.div_ceil(repeats).max(1);
    let mut total = 0.0;
    for _ in 0..calls {
        let ran = subject.prog.run_xdp(subject.packet, out, 0, repeats)?;
        // It was rounded down from something between this and one more.
        total += f64::from(ran.nanoseconds) + 0.5;
    }
    Ok(total / f64::from(calls))
}

/// Returns the median; for an even number of values, the mean of the two in the middle.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// Returns the time of an undisturbed round: the fifth percentile. A busy machine only ever makes rounds longer.
pub fn undisturbed(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 20).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_and_even_counts() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        let turns: Vec<f64> = (0..40).map(f64::from).collect();
        assert_eq!(undisturbed(&turns), 2.0);
    }

    #[test]
    fn each_program_gets_its_turn_in_each_round() {
        let prog = Prog::constant_xdp(1).expect("this test needs root");
        let packet = [0; 64];
        let subject = |repeats| Subject {
            prog: &prog,
            packet: &packet,
            repeats,
        };
        let effort = Effort {
            rounds: 3,
            runs: 1000,
        };
        let samples = interleaved(&[subject(None), subject(Some(20))], effort).expect("runs");
        assert_eq!(samples.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3]);
        assert!(samples.iter().flatten().all(|s| *s > 0.0));
    }
}

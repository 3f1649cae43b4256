//! Timing of XDP programs: many against each other in turn, so that what disturbs one disturbs all.

use crate::sys::{Link, Prog, XdpMode};
use net::netns::NetNs;
use net::veth::make_pairs;
use nix::net::if_::if_nametoindex;
use std::io;
use std::time::Instant;

/// A program to be timed, with the packet it is given.
#[derive(Debug)]
pub struct Subject<'a> {
    /// The program.
    pub prog: &'a Prog,
    /// The packet; each repetition sees what the one before made of it.
    pub packet: &'a [u8],
    /// How often it can be repeated, where the packet changes each time and sometime cannot any more.
    pub repeats: Option<u32>,
}

/// How long to measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// How often each program gets its turn.
    pub rounds: usize,
    /// Runs of a program in one turn.
    pub runs: u32,
}

/// Nanoseconds a run for each subject and round, as `[subject][round]`. What the kernel does around
/// a run is in it: subtract an empty program's time.
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

/// Programs that are each on an idle device, as long as this lives.
#[derive(Debug)]
pub struct Attached {
    _ns: NetNs,
    _links: Vec<Link>,
}

/// Attaches every program to an idle device. For a program that is on none, the kernel makes each
/// repeated test run a change of its XDP dispatcher, which takes milliseconds.
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

/// The middle value; the mean of the two in the middle of an even number.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// The time of an undisturbed turn: the smallest but for the luckiest twentieth. On a busy machine
/// turns are only ever made longer.
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

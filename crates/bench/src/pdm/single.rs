//! Nanoseconds for one packet by `BPF_PROG_TEST_RUN`. A program that grows packets cannot run again on its own result.
//! So each run is a separate system call, and finds the caches as that left them.

use super::Rounds;
use super::packets::{PSNLR, PSNTP, answer, run, udp};
use super::programs::{Codes, End, Offloaded, Version};
use super::stream::SIZE;
use crate::error::Error;
use kernel::bench::median;
use std::io;

/// Number of turns of each program in one loading.
pub(crate) const ROUNDS: usize = 100;
/// Number of runs in a turn; their median counts.
const RUNS: usize = 31;
/// Versions that are measured, in this order.
pub(crate) const VERSIONS: [Version; 4] = [
    Version::Empty,
    Version::Onpath,
    Version::HandWritten,
    Version::WeakerHash,
];

/// Nanoseconds of a run, including the kernel's work around it, which the empty program measures.
#[derive(Clone, Debug)]
pub(crate) struct Single {
    /// Times for outgoing packets.
    pub egress: Rounds,
    /// Times for incoming packets.
    pub ingress: Rounds,
    /// Instructions that the verifier processed: egress, ingress.
    pub verified: Vec<[u32; 2]>,
}

/// Loads all versions and measures them in turn.
pub(crate) fn measure(codes: &Codes, rounds: usize) -> Result<Single, Error> {
    let ends = codes
        .of(&VERSIONS)
        .into_iter()
        .map(|code| {
            code.load(Offloaded::Left)?
                .ok_or_else(|| Error::new("there is nothing to measure"))
        })
        .collect::<Result<Vec<_>, _>>()?;
    measure_in_turn(&ends, rounds).map_err(Error::system("a test run"))
}

fn measure_in_turn(ends: &[End], rounds: usize) -> io::Result<Single> {
    let mut single = Single {
        egress: vec![Vec::new(); ends.len()],
        ingress: vec![Vec::new(); ends.len()],
        verified: ends.iter().map(|e| e.verified).collect(),
    };
    let mut out = Vec::new();
    let mut psn = 0u16;
    let template = {
        run(&ends[1].egress, &udp(SIZE), &mut out)?;
        answer(&out)
    };
    for round in 0..=rounds {
        for (n, end) in ends.iter().enumerate() {
            let mut times = [0.0; RUNS];
            for time in &mut times {
                *time = run(&end.egress, &udp(SIZE), &mut out)?;
            }
            let egress = median(&times);
            // Each incoming packet is the next of its flow and acknowledges our last one, so no work is left out.
            let mut coming = template.clone();
            if out.len() == template.len() {
                coming[PSNLR..PSNLR + 2].copy_from_slice(&out[PSNTP..PSNTP + 2]);
            }
            for time in &mut times {
                psn = psn.wrapping_add(1);
                coming[PSNTP..PSNTP + 2].copy_from_slice(&psn.to_be_bytes());
                *time = run(&end.ingress, &coming, &mut out)?;
            }
            // The first round warms caches and is not kept.
            if round > 0 {
                single.egress[n].push(egress);
                single.ingress[n].push(median(&times));
            }
        }
    }
    Ok(single)
}

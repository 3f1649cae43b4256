//! Nanoseconds of one packet by `BPF_PROG_TEST_RUN`. A program that makes room cannot be repeated on its own result: each
//! run is a system call of its own and finds caches as that left them.

use super::Rounds;
use super::programs::{Codes, End, Offloaded, Version};
use crate::error::Error;
use kernel::bench::median;
use kernel::sys::Prog;
use std::io;

/// Turns that each program gets.
pub const ROUNDS: usize = 1000;
/// Runs in a turn; the median counts.
const RUNS: usize = 31;
/// What is measured, in this order.
pub const VERSIONS: [Version; 3] = [Version::Empty, Version::Onpath, Version::ByHand];

/// Nanoseconds with what the kernel does around a run in them: that is what the empty program shows.
#[derive(Clone, Debug)]
pub struct Single {
    /// Packets that go out.
    pub egress: Rounds,
    /// Packets that come in.
    pub ingress: Rounds,
    /// Instructions that the verifier walked through: egress, ingress.
    pub verified: Vec<[u32; 2]>,
}

const PSNTP: usize = 60;
const PSNLR: usize = 62;
const NEXT_HEADER: usize = 20;
const DESTINATION_OPTIONS: u8 = 60;

/// UDP over IPv6 with 64 bytes of payload.
fn packet() -> Vec<u8> {
    let mut packet = vec![
        2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd, 0x60, 0, 0, 0, 0, 72, 17, 64,
    ];
    for host in [1, 2] {
        packet.extend([0xfd, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]);
    }
    packet.extend([0x9c, 0x40, 0x14, 0x51, 0, 72, 0, 0]);
    packet.extend([0x5a; 64]);
    packet
}

/// The answer of the other host: addresses and ports the other way around.
fn answer(to: &[u8]) -> Vec<u8> {
    let mut answer = to.to_vec();
    answer[22..38].copy_from_slice(&to[38..54]);
    answer[38..54].copy_from_slice(&to[22..38]);
    answer[70..72].copy_from_slice(&to[72..74]);
    answer[72..74].copy_from_slice(&to[70..72]);
    answer
}

fn run(prog: &Prog, packet: &[u8], out: &mut Vec<u8>) -> io::Result<f64> {
    out.resize(4096, 0);
    let ran = prog.run_tc(packet, out, &mut Default::default(), 1)?;
    out.truncate(ran.length);
    Ok(f64::from(ran.nanoseconds))
}

/// Measures all versions in turn, after having seen that they do the same.
pub fn measure(codes: &Codes, rounds: usize) -> Result<Single, Error> {
    let ends = codes
        .of(&VERSIONS)
        .into_iter()
        .map(|code| {
            code.load(Offloaded::Left)?
                .ok_or_else(|| Error::new("there is nothing to measure"))
        })
        .collect::<Result<Vec<_>, _>>()?;
    for (version, end) in VERSIONS.iter().zip(&ends).skip(1) {
        check(end).map_err(|e| Error::new(format!("{}: {e}", version.name())))?;
    }
    measure_in_turn(&ends, rounds).map_err(Error::system("a test run"))
}

/// The option goes on and comes off again.
fn check(end: &End) -> Result<(), Error> {
    let mut out = Vec::new();
    run(&end.egress, &packet(), &mut out).map_err(Error::system("a test run"))?;
    if out.len() != packet().len() + 16 || out[NEXT_HEADER] != DESTINATION_OPTIONS {
        return Err(Error::new(format!("egress made {out:x?}")));
    }
    let coming = answer(&out);
    run(&end.ingress, &coming, &mut out).map_err(Error::system("a test run"))?;
    let mut expected = packet();
    expected[22..38].copy_from_slice(&packet()[38..54]);
    expected[38..54].copy_from_slice(&packet()[22..38]);
    expected[54..56].copy_from_slice(&packet()[56..58]);
    expected[56..58].copy_from_slice(&packet()[54..56]);
    if out == expected {
        Ok(())
    } else {
        Err(Error::new(format!("ingress made {out:x?}")))
    }
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
        run(&ends[1].egress, &packet(), &mut out)?;
        answer(&out)
    };
    for round in 0..=rounds {
        for (n, end) in ends.iter().enumerate() {
            let mut times = [0.0; RUNS];
            for time in &mut times {
                *time = run(&end.egress, &packet(), &mut out)?;
            }
            let egress = median(&times);
            // Each packet that comes in is the next of its flow and answers our last: all of the work is done.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdm::programs::Code;

    #[test]
    fn the_programs_by_hand_put_the_option_on_and_take_it_off() {
        let code = Code::build(&crate::root(), Version::ByHand).expect("this test needs clang");
        for offloaded in [Offloaded::Left, Offloaded::MarkedOnce] {
            let end = code.load(offloaded).expect("this test needs root");
            let end = end.expect("there are programs");
            check(&end).expect("does its work");
        }
    }
}

//! Programs that empty slots (ways) of sets under the sets' locks. User space itself can only replace a whole set, and
//! with it what packets have just written to other slots, or are reading without the lock.

use super::Map;
use super::prog::{Prog, instruction};
use libbpf_sys::bpf_insn;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use writers::memory::SetWay;

/// Meaning of the constant of an instruction: it is a map's descriptor.
const PSEUDO_MAP_FD: u8 = 1;

/// Number of sets that one run of [`Prog::empty_sets`] empties.
pub const SETS_A_RUN: u32 = 256;

impl Prog {
    /// Loads an XDP program that empties all slots of the sets from the one on whose index is in a packet's first four
    /// bytes. The tags of a set, a `u32` for each slot, are at `tags_at`.
    pub fn empty_sets(sets: &Map, tags_at: u32, ways: u32) -> io::Result<Prog> {
        let too_far = |_| io::Error::from(io::ErrorKind::InvalidInput);
        // r6 is the set, r7 the number of sets that are left, r8 the set's index.
        let mut code = vec![
            at(instruction(0x61, 2, 1, 0), 4),
            at(instruction(0x61, 1, 1, 0), 0),
            instruction(0xbf, 3, 1, 0),
            instruction(0x07, 3, 0, 4),
            at(instruction(0xbd, 3, 2, 0), 2),
            instruction(0xb7, 0, 0, 0),
            instruction(0x95, 0, 0, 0),
            at(instruction(0x61, 8, 1, 0), 0),
            instruction(0xb7, 7, 0, SETS_A_RUN.cast_signed()),
        ];
        let mut turn = vec![
            at(instruction(0x63, 10, 8, 0), -4),
            instruction(0xbf, 2, 10, 0),
            instruction(0x07, 2, 0, -4),
        ];
        turn.extend(wide(1, PSEUDO_MAP_FD, sets.as_fd().as_raw_fd() as u64));
        turn.extend([
            call(libbpf_sys::BPF_FUNC_map_lookup_elem),
            // Behind the last set the run ends.
            at(instruction(0x55, 0, 0, 0), 2),
            instruction(0xb7, 0, 0, 1),
            instruction(0x95, 0, 0, 0),
            instruction(0xbf, 6, 0, 0),
            instruction(0xbf, 1, 6, 0),
            call(libbpf_sys::BPF_FUNC_spin_lock),
        ]);
        for way in 0..ways {
            let tag_at = i16::try_from(tags_at + 4 * way).map_err(too_far)?;
            turn.push(at(instruction(0x62, 6, 0, 0), tag_at));
        }
        turn.extend([
            instruction(0xbf, 1, 6, 0),
            call(libbpf_sys::BPF_FUNC_spin_unlock),
            instruction(0x07, 8, 0, 1),
            instruction(0x07, 7, 0, -1),
        ]);
        let back = i16::try_from(turn.len() + 1).map_err(too_far)?;
        turn.push(at(instruction(0x55, 7, 0, 0), -back));
        code.extend(turn);
        code.extend([instruction(0xb7, 0, 0, 1), instruction(0x95, 0, 0, 0)]);
        Prog::from_instructions(libbpf_sys::BPF_PROG_TYPE_XDP, c"empty_sets", &code)
    }

    /// Loads an XDP program that empties the slot if it has this tag and key. The program returns 1 if it had, else 0.
    pub fn empty_way(sets: &Map, way: &SetWay<'_>) -> io::Result<Prog> {
        let too_far = |_| io::Error::from(io::ErrorKind::InvalidInput);
        let tag_at = i16::try_from(way.tag_at).map_err(too_far)?;
        // r6 is the set, r7 the answer, r8 the way's key.
        let mut code = vec![
            at(instruction(0x62, 10, 0, way.set.cast_signed()), -4),
            instruction(0xbf, 2, 10, 0),
            instruction(0x07, 2, 0, -4),
        ];
        code.extend(wide(1, PSEUDO_MAP_FD, sets.as_fd().as_raw_fd() as u64));
        code.push(call(libbpf_sys::BPF_FUNC_map_lookup_elem));
        // The array has the set, but the verifier requires a check.
        code.push(at(instruction(0x55, 0, 0, 0), 1));
        code.push(instruction(0x95, 0, 0, 0));
        code.extend([
            instruction(0xbf, 6, 0, 0),
            instruction(0xbf, 8, 0, 0),
            instruction(0x07, 8, 0, way.key_at.cast_signed()),
            instruction(0xb7, 7, 0, 0),
            instruction(0xbf, 1, 6, 0),
            call(libbpf_sys::BPF_FUNC_spin_lock),
        ]);
        let mut compared = vec![
            at(instruction(0x61, 1, 6, 0), tag_at),
            instruction(0xb4, 2, 0, way.tag.cast_signed()),
            at(instruction(0x5d, 1, 2, 0), 0),
        ];
        for (i, word) in way.key.chunks_exact(8).enumerate() {
            let word = word.try_into().map_or(0, u64::from_ne_bytes);
            let offset = i16::try_from(8 * i).map_err(too_far)?;
            compared.push(at(instruction(0x79, 1, 8, 0), offset));
            compared.extend(wide(2, 0, word));
            compared.push(at(instruction(0x5d, 1, 2, 0), 0));
        }
        compared.push(at(instruction(0x62, 6, 0, 0), tag_at));
        compared.push(instruction(0xb7, 7, 0, 1));
        // Mismatches jump to after the last of these.
        let end = compared.len();
        for (i, one) in compared.iter_mut().enumerate() {
            if one.code == 0x5d {
                one.off = (end - i - 1) as i16;
            }
        }
        code.extend(compared);
        code.extend([
            instruction(0xbf, 1, 6, 0),
            call(libbpf_sys::BPF_FUNC_spin_unlock),
            instruction(0xbf, 0, 7, 0),
            instruction(0x95, 0, 0, 0),
        ]);
        Prog::from_instructions(libbpf_sys::BPF_PROG_TYPE_XDP, c"empty_way", &code)
    }
}

/// Sets the offset of an instruction.
fn at(mut one: bpf_insn, offset: i16) -> bpf_insn {
    one.off = offset;
    one
}

fn call(function: u32) -> bpf_insn {
    instruction(0x85, 0, 0, function.cast_signed())
}

/// Makes the instructions that load a 64-bit constant into a register.
fn wide(register: u8, meaning: u8, value: u64) -> [bpf_insn; 2] {
    let (low, high) = (value as u32, (value >> 32) as u32);
    [
        instruction(0x18, register, meaning, low.cast_signed()),
        instruction(0, 0, 0, high.cast_signed()),
    ]
}

//! `xdp_model`: update of an Internet checksum when a word that it covers changes.
//!
//! ```p4
//! extern bit<16> csum_replace2(in bit<16> csum, in bit<16> old, in bit<16> new);
//! extern bit<16> csum_replace4(in bit<16> csum, in bit<32> old, in bit<32> new);
//! ```
//!
//! RFC 1624, equation 3: the complement of `~csum + ~old + new` in one's complement arithmetic, every term in 16-bit
//! words. The sum is folded until it fits. So it is 0 only if all words are, and the result is 0xffff only then: a
//! target that adds the same words gets the same bits.

use crate::call::{Arg, Env, Fault, Reply, index};
use crate::{Extern, Meaning};
use ir::Bits;

/// `csum_replace2`
pub(crate) const TWO: Extern = Extern {
    name: "csum_replace2",
    meaning: Meaning::Function(replace),
};

/// `csum_replace4`
pub(crate) const FOUR: Extern = Extern {
    name: "csum_replace4",
    meaning: Meaning::Function(replace),
};

pub(crate) fn replace(args: &[Arg], _: &mut Env<'_>) -> Result<Reply, Fault> {
    let (sum, old, new) = (index(args, 0)?, index(args, 1)?, index(args, 2)?);
    let words = |value: u64| (value & 0xffff) + (value >> 16 & 0xffff);
    // The high word of a 16-bit `old` is no term; its complement must not become one.
    let old = match crate::call::scalar(args, 1)?.width() {
        16 => !old & 0xffff,
        _ => words(!old & 0xffff_ffff),
    };
    let new = fold((!sum & 0xffff) + old + words(new));
    Ok(Reply::value(Bits::new(16, u32::from(!new))))
}

/// Folds a sum of 16-bit words, in one's complement arithmetic.
pub(crate) fn fold(mut sum: u64) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::{arg, with_env};
    use crate::hash::Algorithm;
    use proptest::prelude::*;

    fn run(sum: u16, width: u32, old: u64, new: u64) -> u64 {
        let args = [arg(16, sum.into()), arg(width, old), arg(width, new)];
        let reply = with_env(&[], 0, |env| replace(&args, env)).0.unwrap();
        reply.result[0].to_u64().unwrap()
    }

    #[test]
    fn the_example_of_rfc_1624() {
        assert_eq!(run(0xdd2f, 16, 0x5555, 0x3285), 0x0000);
    }

    proptest! {
        #[test]
        fn it_agrees_with_computing_anew(words in any::<[u32; 5]>(), new in any::<u32>()) {
            let sum = |words: &[u32; 5]| {
                let values: Vec<Bits> = words.iter().map(|&w| Bits::new(32, w)).collect();
                Algorithm::Csum16.compute(&values) as u16
            };
            let mut changed = words;
            changed[2] = new;
            // Both forms of zero are the same checksum; only one of the two can be computed from scratch.
            let got = run(sum(&words), 32, words[2].into(), new.into());
            let want = u64::from(sum(&changed));
            prop_assert!(got == want || got.is_multiple_of(0xffff) && want.is_multiple_of(0xffff));
        }
    }
}

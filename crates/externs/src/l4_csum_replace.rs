//! `tc_model`: update of the checksum of a transport header when a word that it covers changes.
//!
//! ```p4
//! extern bit<16> l4_csum_replace2(in bit<16> csum, in bit<16> old, in bit<16> new, in bool pseudo);
//! extern bit<16> l4_csum_replace4(in bit<16> csum, in bit<32> old, in bit<32> new, in bool pseudo);
//! ```
//!
//! The interpreter's packets are as they are on the wire: no device is to fill in a checksum later. So it makes no
//! difference whether the word is in the pseudo header.

use crate::csum_replace::replace;
use crate::{Extern, Meaning};

/// `l4_csum_replace2`
pub(crate) const TWO: Extern = Extern {
    name: "l4_csum_replace2",
    meaning: Meaning::Function(replace),
};

/// `l4_csum_replace4`
pub(crate) const FOUR: Extern = Extern {
    name: "l4_csum_replace4",
    meaning: Meaning::Function(replace),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::{arg, with_env};

    #[test]
    fn a_word_of_the_pseudo_header_counts_like_any_other() {
        let run = |pseudo| {
            let args = [arg(16, 0xdd2f), arg(16, 0x5555), arg(16, 0x3285), pseudo];
            with_env(&[], 0, |env| replace(&args, env)).0.unwrap()
        };
        assert_eq!(run(arg(1, 0)), run(arg(1, 1)));
        assert_eq!(run(arg(1, 1)).result[0].to_u64(), Some(0));
    }
}

//! `v1model`: assertions and assumptions.
//!
//! ```p4
//! extern void assert(in bool check);
//! extern void assume(in bool check);
//! ```
//!
//! A failure ends the packet.

use crate::call::{Arg, Env, Fault, Reply, scalar};
use crate::{Extern, Meaning};

/// `assert`
pub(crate) const ASSERT: Extern = Extern {
    name: "assert",
    meaning: Meaning::Function(check),
};

/// `assume`
pub(crate) const ASSUME: Extern = Extern {
    name: "assume",
    meaning: Meaning::Function(check),
};

fn check(args: &[Arg], _: &mut Env<'_>) -> Result<Reply, Fault> {
    if scalar(args, 0)?.is_zero() {
        Err(Fault::AssertionFailed)
    } else {
        Ok(Reply::none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::{arg, with_env};

    #[test]
    fn only_false_ends_the_packet() {
        let run = |value| with_env(&[], 0, |env| check(&[arg(1, value)], env)).0;
        assert_eq!(run(1), Ok(Reply::none()));
        assert_eq!(run(0), Err(Fault::AssertionFailed));
    }
}

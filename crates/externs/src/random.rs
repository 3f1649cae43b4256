//! `v1model`: random numbers.
//!
//! ```p4
//! extern void random<T>(out T result, in T lo, in T hi);
//! ```
//!
//! From `lo` to `hi`, both included; `lo` where `lo` is above `hi`.

use crate::call::{Arg, Env, Fault, Reply, scalar};
use crate::{Extern, Meaning};
use ir::Bits;
use num_bigint::BigUint;

/// `random`
pub(crate) const EXTERN: Extern = Extern {
    name: "random",
    meaning: Meaning::Function(random),
};

fn random(args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let (lo, hi) = (scalar(args, 1)?, scalar(args, 2)?);
    let value = if lo.value() > hi.value() {
        lo.value().clone()
    } else {
        let span = hi.value() - lo.value() + 1u32;
        lo.value() + drawn(env, lo.width()) % span
    };
    Ok(Reply::out(0, vec![Bits::new(lo.width(), value)]))
}

/// Draws 64 random bits, and for wider numbers as many more as they are wide. The number that is drawn first has the
/// highest bits.
fn drawn(env: &mut Env<'_>, width: u32) -> BigUint {
    let draws = match width {
        0..=64 => 2,
        _ => width.div_ceil(32) + 2,
    };
    (0..draws).fold(BigUint::ZERO, |number, _| {
        (number << 32) + env.numbers.draw()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::{arg, with_env};

    #[test]
    fn numbers_stay_between_the_bounds_and_reach_them() {
        let mut seen = [false; 3];
        with_env(&[], 0, |env| {
            for _ in 0..200 {
                let reply = random(&[arg(8, 0), arg(8, 254), arg(8, 255)], env).unwrap();
                let value = reply.outs[0].1[0].to_u64().unwrap();
                assert!(value >= 254);
                seen[(value - 254) as usize] = true;
            }
            let reply = random(&[arg(8, 0), arg(8, 9), arg(8, 3)], env).unwrap();
            assert_eq!(reply.outs[0].1, [Bits::new(8, 9u32)]);
        });
        assert_eq!(seen, [true, true, false]);
    }
}

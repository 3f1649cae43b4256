//! `v1model`: checksums of received packets and of packets that leave.
//!
//! ```p4
//! extern void verify_checksum<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);
//! extern void verify_checksum_with_payload<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);
//! extern void update_checksum<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);
//! extern void update_checksum_with_payload<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);
//! ```
//!
//! With the payload, the checksum covers `data`, filled to whole bytes, and then every byte after the parser.

use crate::call::{Arg, Effect, Env, Fault, Reply, member, packed, scalar, values};
use crate::hash::Algorithm;
use crate::{Extern, Meaning};
use ir::Bits;

/// `verify_checksum`
pub(crate) const VERIFY: Extern = Extern {
    name: "verify_checksum",
    meaning: Meaning::Function(|args, env| verify(args, env, false)),
};

/// `verify_checksum_with_payload`
pub(crate) const VERIFY_WITH_PAYLOAD: Extern = Extern {
    name: "verify_checksum_with_payload",
    meaning: Meaning::Function(|args, env| verify(args, env, true)),
};

/// `update_checksum`
pub(crate) const UPDATE: Extern = Extern {
    name: "update_checksum",
    meaning: Meaning::Function(|args, env| update(args, env, false)),
};

/// `update_checksum_with_payload`
pub(crate) const UPDATE_WITH_PAYLOAD: Extern = Extern {
    name: "update_checksum_with_payload",
    meaning: Meaning::Function(|args, env| update(args, env, true)),
};

/// Computes the checksum that the arguments ask for, at the width of the `checksum` argument; `None` if the condition
/// does not hold.
fn compute(args: &[Arg], env: &Env<'_>, payload: bool) -> Result<Option<Bits>, Fault> {
    if scalar(args, 0)?.is_zero() {
        return Ok(None);
    }
    let width = scalar(args, 2)?.width();
    let algorithm = Algorithm::of_member(member(args, 3)?).ok_or(Fault::Malformed)?;
    let mut bytes = packed(values(args, 1)?);
    if payload {
        bytes.extend_from_slice(env.payload());
    }
    Ok(Some(Bits::new(width, algorithm.compute_bytes(&bytes))))
}

fn verify(args: &[Arg], env: &mut Env<'_>, payload: bool) -> Result<Reply, Fault> {
    if let Some(right) = compute(args, env, payload)?
        && right != *scalar(args, 2)?
    {
        env.effects.push(Effect::ChecksumError);
    }
    Ok(Reply::none())
}

fn update(args: &[Arg], env: &mut Env<'_>, payload: bool) -> Result<Reply, Fault> {
    Ok(match compute(args, env, payload)? {
        Some(right) => Reply::out(2, vec![right]),
        None => Reply::none(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::{arg, with_env};

    fn call(condition: u64, checksum: u64) -> [Arg; 4] {
        let data = Arg::Values(vec![Bits::new(16, 0x0001u32), Bits::new(16, 0xf203u32)]);
        let algorithm = Arg::member("csum16", 0);
        [arg(1, condition), data, arg(16, checksum), algorithm]
    }

    #[test]
    fn a_wrong_checksum_is_reported_only_where_the_condition_holds() {
        let run = |args: [Arg; 4]| with_env(&[], 0, |env| verify(&args, env, false)).1;
        assert_eq!(run(call(1, 0x0dfb)), []);
        assert_eq!(run(call(1, 0x0dfc)), [Effect::ChecksumError]);
        assert_eq!(run(call(0, 0x0dfc)), []);
    }

    #[test]
    fn the_payload_counts_if_asked_for() {
        let run = |payload| with_env(&[9, 0, 1], 1, |env| update(&call(1, 0), env, payload)).0;
        let new = |value: u32| Ok(Reply::out(2, vec![Bits::new(16, value)]));
        assert_eq!(run(false), new(0x0dfb));
        assert_eq!(run(true), new(0x0dfa));
        let kept = with_env(&[], 0, |env| update(&call(0, 7), env, false)).0;
        assert_eq!(kept, Ok(Reply::none()));
    }
}

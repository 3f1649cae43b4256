//! `v1model`: values for the control plane.
//!
//! ```p4
//! extern void digest<T>(in bit<32> receiver, in T data);
//! ```
//!
//! A third argument, which elaboration adds, is the number of the digest among those of the program.

use crate::call::{Arg, Effect, Env, Fault, Reply, index, values};
use crate::{Extern, Meaning};

/// `digest`
pub(crate) const EXTERN: Extern = Extern {
    name: "digest",
    meaning: Meaning::Function(digest),
};

fn digest(args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    env.effects.push(Effect::Digest {
        receiver: index(args, 0)?,
        data: values(args, 1)?.to_vec(),
        number: index(args, 2)? as u32,
    });
    Ok(Reply::none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::{arg, with_env};
    use ir::Bits;

    #[test]
    fn the_values_are_handed_over() {
        let (_, effects) = with_env(&[], 0, |env| {
            digest(&[arg(32, 1), arg(48, 2), arg(32, 3)], env)
        });
        let wanted = Effect::Digest {
            receiver: 1,
            data: vec![Bits::new(48, 2u32)],
            number: 3,
        };
        assert_eq!(effects, [wanted]);
    }
}

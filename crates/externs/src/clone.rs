//! `v1model`: copies of the packet and further passes through the pipeline.
//!
//! ```p4
//! extern void clone(in CloneType type, in bit<32> session);
//! extern void clone_preserving_field_list(in CloneType type, in bit<32> session, bit<8> index);
//! extern void recirculate_preserving_field_list(bit<8> index);
//! extern void resubmit_preserving_field_list(bit<8> index);
//! ```
//!
//! A call only makes a request: the traffic manager executes it when ingress or egress has ended, and the last call
//! counts. A clone is made at the end of the block that asks for it, whatever its `CloneType`.
//!
//! `clone3`, `resubmit` and `recirculate`, which name the preserved fields themselves, do not reach a target:
//! elaboration makes a field list of the fields.

use crate::call::{Arg, Effect, Env, Fault, Reply, index};
use crate::{Extern, Meaning};

const fn function(
    name: &'static str,
    meaning: fn(&[Arg], &mut Env<'_>) -> Result<Reply, Fault>,
) -> Extern {
    Extern {
        name,
        meaning: Meaning::Function(meaning),
    }
}

/// `clone`
pub(crate) const CLONE: Extern = function("clone", |args, env| {
    let session = index(args, 1)?;
    ask(env, Effect::Clone { session, list: 0 })
});

/// `clone_preserving_field_list`
pub(crate) const CLONE_PRESERVING: Extern = function("clone_preserving_field_list", |args, env| {
    let (session, list) = (index(args, 1)?, index(args, 2)?);
    ask(env, Effect::Clone { session, list })
});

/// `recirculate_preserving_field_list`
pub(crate) const RECIRCULATE_PRESERVING: Extern =
    function("recirculate_preserving_field_list", |args, env| {
        let list = index(args, 0)?;
        ask(env, Effect::Recirculate { list })
    });

/// `resubmit_preserving_field_list`
pub(crate) const RESUBMIT_PRESERVING: Extern =
    function("resubmit_preserving_field_list", |args, env| {
        let list = index(args, 0)?;
        ask(env, Effect::Resubmit { list })
    });

fn ask(env: &mut Env<'_>, effect: Effect) -> Result<Reply, Fault> {
    env.effects.push(effect);
    Ok(Reply::none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::{arg, with_env};

    #[test]
    fn calls_ask_with_the_list_of_what_is_kept() {
        let kind = || Arg::member("I2E", 0);
        let cases: [(Extern, Vec<Arg>, Effect); 4] = [
            (
                CLONE,
                vec![kind(), arg(32, 5)],
                Effect::Clone {
                    session: 5,
                    list: 0,
                },
            ),
            (
                CLONE_PRESERVING,
                vec![kind(), arg(32, 5), arg(8, 2)],
                Effect::Clone {
                    session: 5,
                    list: 2,
                },
            ),
            (
                RECIRCULATE_PRESERVING,
                vec![arg(8, 3)],
                Effect::Recirculate { list: 3 },
            ),
            (
                RESUBMIT_PRESERVING,
                vec![arg(8, 4)],
                Effect::Resubmit { list: 4 },
            ),
        ];
        for (item, args, effect) in cases {
            let Meaning::Function(function) = item.meaning else {
                panic!("{} is a function", item.name);
            };
            let (_, effects) = with_env(&[], 0, |env| function(&args, env));
            assert_eq!(effects, [effect], "{}", item.name);
        }
    }
}

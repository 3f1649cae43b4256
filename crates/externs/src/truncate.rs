//! `v1model`: truncates the packet when it leaves.
//!
//! ```p4
//! extern void truncate(in bit<32> length);
//! ```
//!
//! At most `length` bytes are left, headers included.

use crate::call::{Arg, Effect, Env, Fault, Reply, index};
use crate::{Extern, Meaning};

/// `truncate`
pub(crate) const EXTERN: Extern = Extern {
    name: "truncate",
    meaning: Meaning::Function(truncate),
};

fn truncate(args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    env.effects.push(Effect::Truncate(index(args, 0)?));
    Ok(Reply::none())
}

//! `xdp_model`: sends the packet, as it came in, to user space.
//!
//! ```p4
//! extern bit<32> BPF_PERF_EVENT_OUTPUT();
//! ```
//!
//! The result is 0: the interpreter's buffer does not fill up.

use crate::call::Effect;
use crate::{Extern, Meaning, Reply};
use ir::Bits;

/// `BPF_PERF_EVENT_OUTPUT`
pub(crate) const EXTERN: Extern = Extern {
    name: "BPF_PERF_EVENT_OUTPUT",
    meaning: Meaning::Function(|_, env| {
        env.effects.push(Effect::PerfEvent(env.packet.to_vec()));
        Ok(Reply::value(Bits::zero(32)))
    }),
};

//! `v1model`: the packet is to be dropped at the end of the control.
//!
//! ```p4
//! extern void mark_to_drop(inout standard_metadata_t standard_metadata);
//! extern void mark_to_drop();
//! ```
//!
//! It writes `egress_spec` and `mcast_grp`. The architecture knows which of the argument's scalars those are.

use crate::call::Effect;
use crate::{Extern, Meaning, Reply};

/// `mark_to_drop`
pub(crate) const EXTERN: Extern = Extern {
    name: "mark_to_drop",
    meaning: Meaning::Function(|_, env| {
        env.effects.push(Effect::Drop);
        Ok(Reply::none())
    }),
};

//! `v1model`: copies of the packet and further passes through the pipeline. Each is refused before a
//! packet runs, so that none is silently ignored. Making one of them work begins by giving it a
//! [`Meaning::Function`] that asks for an [`Effect`](crate::Effect); the interpreter's `v1model` module
//! then carries that out after ingress or egress.
//!
//! ```p4
//! extern void clone(in CloneType type, in bit<32> session);
//! extern void clone3<T>(in CloneType type, in bit<32> session, in T data);
//! extern void clone_preserving_field_list(in CloneType type, in bit<32> session, bit<8> index);
//! extern void recirculate<T>(in T data);
//! extern void recirculate_preserving_field_list(bit<8> index);
//! extern void resubmit<T>(in T data);
//! extern void resubmit_preserving_field_list(bit<8> index);
//! ```

use crate::{Extern, Meaning};

const fn refused(name: &'static str, instead: &'static str) -> Extern {
    Extern {
        name,
        meaning: Meaning::Refused { instead },
    }
}

const NO_COPIES: &str = "remove the call: the program runs without copies of the packet";
const NO_PASSES: &str =
    "do the work in one pass: apply the tables of the second pass after those of the first";

/// `clone`
pub(crate) const CLONE: Extern = refused("clone", NO_COPIES);
/// `clone3`
pub(crate) const CLONE3: Extern = refused("clone3", NO_COPIES);
/// `clone_preserving_field_list`
pub(crate) const CLONE_PRESERVING: Extern = refused("clone_preserving_field_list", NO_COPIES);
/// `recirculate`
pub(crate) const RECIRCULATE: Extern = refused("recirculate", NO_PASSES);
/// `recirculate_preserving_field_list`
pub(crate) const RECIRCULATE_PRESERVING: Extern =
    refused("recirculate_preserving_field_list", NO_PASSES);
/// `resubmit`
pub(crate) const RESUBMIT: Extern = refused("resubmit", NO_PASSES);
/// `resubmit_preserving_field_list`
pub(crate) const RESUBMIT_PRESERVING: Extern = refused("resubmit_preserving_field_list", NO_PASSES);

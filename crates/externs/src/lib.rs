//! Extern objects and functions: their semantics in the interpreter.
//!
//! There is one file per extern (or family with common semantics), with the extern's P4 signature and a pure function
//! over its arguments, its object's [`ExternState`] and an [`Env`]. Crate `arch` knows which architecture declares an
//! extern; its C for a target is in that target under the same name.
//!
//! To add one: a file with an [`Extern`], and a line in [`ALL`].

mod action_profile;
mod assert;
mod call;
mod checksum;
mod checksum16;
mod clone;
mod counter;
mod counter_array;
mod csum_replace;
mod digest;
mod direct_counter;
mod direct_meter;
pub mod flow_state;
pub mod hash;
mod ipv4_checksum;
mod ktime;
mod l4_csum_replace;
pub mod log_msg;
mod mark_to_drop;
pub mod message;
pub mod meter;
pub mod metrics;
pub mod name_set;
pub mod pattern_set;
pub mod payload;
mod perf_event;
pub mod quic;
mod random;
mod random32;
mod register;
pub mod stream_bytes;
mod table_size;
mod truncate;

pub use action_profile::Profile;
pub use call::{Arg, Effect, Env, Fault, Reply};
pub use counter::{Counted, Counters};
pub use flow_state::Flows;
pub use message::Message;
pub use meter::Meters;
pub use metrics::Metrics;
pub use quic::Connections;
pub use random32::Numbers;
pub use register::Registers;
pub use stream_bytes::StreamBytes;

use ir::ExternData;
use patterns::PatternRules;
use schema::NameRules;
use std::sync::Arc;

/// An extern that a program may use.
#[derive(Clone, Copy, Debug)]
pub struct Extern {
    /// Extern's name in P4.
    pub name: &'static str,
    /// Extern's semantics.
    pub meaning: Meaning,
}

/// Semantics of an extern.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    /// A function.
    Function(Function),
    /// An object with state and methods.
    Object {
        /// The state of an instance before the first packet.
        create: fn(&ExternData) -> ExternState,
        /// Object's methods by name.
        methods: &'static [(&'static str, Method)],
    },
}

/// Semantics of a function: its arguments to its results.
pub type Function = fn(&[Arg], &mut Env<'_>) -> Result<Reply, Fault>;

/// Semantics of a method: its object and arguments to its results.
pub type Method = fn(&mut ExternState, &[Arg], &mut Env<'_>) -> Result<Reply, Fault>;

/// State that an extern object keeps from packet to packet.
#[derive(Clone, Debug, PartialEq)]
pub enum ExternState {
    /// Nothing.
    Stateless,
    /// Counters by index.
    Counters(Counters),
    /// Cells by index.
    Registers(Registers),
    /// Meters by index.
    Meters(Meters),
    /// Values by flow.
    Flows(Flows),
    /// Metrics by group.
    Metrics(Metrics),
    /// Members and groups of actions.
    Profile(Profile),
    /// Message of the packet, as far as it was read.
    Message(Box<Message>),
    /// Rules of a name set.
    Names(Arc<NameRules>),
    /// Rules of a pattern set.
    Patterns(Arc<PatternRules>),
    /// Bytes of streams.
    Streams(Arc<StreamBytes>),
    /// Bytes of QUIC connections.
    Quic(Arc<Connections>),
}

/// Every extern that the interpreter implements.
pub const ALL: &[Extern] = &[
    action_profile::ACTION_PROFILE,
    action_profile::ACTION_SELECTOR,
    assert::ASSERT,
    assert::ASSUME,
    checksum::VERIFY,
    checksum::VERIFY_WITH_PAYLOAD,
    checksum::UPDATE,
    checksum::UPDATE_WITH_PAYLOAD,
    checksum16::EXTERN,
    clone::CLONE,
    clone::CLONE_PRESERVING,
    clone::RECIRCULATE_PRESERVING,
    clone::RESUBMIT_PRESERVING,
    counter::EXTERN,
    counter_array::EXTERN,
    csum_replace::TWO,
    csum_replace::FOUR,
    digest::EXTERN,
    direct_counter::EXTERN,
    direct_meter::EXTERN,
    flow_state::EXTERN,
    hash::EXTERN,
    ipv4_checksum::EXTERN,
    ktime::WHOLE,
    ktime::LOW,
    l4_csum_replace::TWO,
    l4_csum_replace::FOUR,
    log_msg::EXTERN,
    mark_to_drop::EXTERN,
    message::EXTERN,
    meter::EXTERN,
    metrics::TALLIES,
    metrics::HISTOGRAMS,
    metrics::DISTINCT_COUNTS,
    metrics::TOP_KEYS,
    name_set::EXTERN,
    pattern_set::EXTERN,
    payload::LENGTH_OF,
    payload::READING,
    payload::MATCHING,
    payload::FINDING,
    payload::MATCHING_PATTERN,
    payload::PASSING_CHUNKS,
    payload::WRITING,
    payload::TRUNCATING,
    payload::RESTORING,
    payload::SUMMING,
    perf_event::EXTERN,
    quic::EXTERN,
    random::EXTERN,
    random32::EXTERN,
    register::EXTERN,
    stream_bytes::EXTERN,
    table_size::ARRAY_TABLE,
    table_size::HASH_TABLE,
    truncate::EXTERN,
];

/// Returns the extern of a name, function or object. `None` for externs that only the program declares.
pub fn find(name: &str) -> Option<&'static Extern> {
    ALL.iter().find(|e| e.name == name)
}

/// Returns a method of an extern object by name.
pub fn find_method(object: &str, name: &str) -> Option<Method> {
    match find(object)?.meaning {
        Meaning::Object { methods, .. } => methods
            .iter()
            .find(|(method, _)| *method == name)
            .map(|&(_, method)| method),
        _ => None,
    }
}

/// Creates an object without state.
fn stateless(_: &ExternData) -> ExternState {
    ExternState::Stateless
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_extern_of_every_architecture_has_a_meaning() {
        for arch in arch::all() {
            // Elaboration replaces them.
            let by_fields = arch.anew.map_or(&[][..], |anew| anew.by_fields);
            let replaced = |name: &str| by_fields.iter().any(|(by_fields, _)| *by_fields == name);
            for declared in arch.externs().filter(|name| !replaced(name)) {
                assert!(find(declared).is_some(), "{declared}");
            }
        }
    }

    #[test]
    fn every_extern_is_declared_by_an_architecture_and_listed_once() {
        let mut seen = HashSet::new();
        for item in ALL {
            assert!(seen.insert(item.name), "{} twice", item.name);
            assert!(
                arch::all().any(|a| a.externs().any(|name| name == item.name)),
                "{}",
                item.name
            );
        }
    }
}

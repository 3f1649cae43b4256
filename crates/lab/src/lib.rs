//! Networks for tests and measurements: namespaces joined by virtual Ethernet, a relay between them that delays,
//! drops, reorders and rejects packets and reports what it did, and traffic that checks what arrives. And messages of attributes, with a parser for them; and Prometheus' checker of metrics.
//!
//! Everything is gone with the values that stand for it, also when a test panics. Addresses and link addresses are
//! fixed and known to both ends, so that every packet on the wire was sent on purpose.

pub mod attributes;
mod machine;
mod net;
pub mod precedence;
pub mod promtool;
mod relay;
mod space;
mod task;
pub mod traffic;
mod watch;
pub mod worker;

pub use machine::Machine;
pub use net::{CLIENT, CLIENT_V4, Ends, Offloads, Pair, Relayed, Route, SERVER, SERVER_V4};
pub use relay::{Conditions, Counts, Pick, Relay, TRANSPORT_TRAFFIC};
pub use space::Space;
pub use task::Task;
pub use watch::Watch;

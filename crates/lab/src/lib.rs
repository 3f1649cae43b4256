//! Networks for tests and measurements: namespaces joined by virtual Ethernet, a relay between them, and traffic whose
//! receiver checks it. The relay delays, drops, reorders and rejects packets, and counts what it did. The crate also
//! has messages of attributes with a parser for them, and runs Prometheus' checker of metrics.
//!
//! Dropping a value removes what it stands for, also when a test panics. IP and link addresses are fixed and known to
//! both ends, so every packet on the wire was sent on purpose.

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

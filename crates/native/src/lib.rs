//! Target that needs nothing but a C compiler. A process of its own has the packet in a buffer. State between packets
//! is in shared memory, which the control plane changes concurrently.
//!
//! Tests run on this target, without root and on any machine. It is also the minimum that a target in C must provide:
//! everything outside of this crate is common to all targets.

mod device;
mod externs;
mod fate;
mod file;
mod target;

pub use device::Device;
pub use file::{Built, Options, build};

//! A target that needs nothing but a C compiler: the packet is in a buffer of a process of its own, and what the program keeps between packets is in
//! shared memory, which the control plane changes meanwhile.
//!
//! Tests run on it, without root and on any machine; and it is the least that a target in C has to have: all but this crate is common to
//! targets.

mod device;
mod externs;
mod fate;
mod file;
mod target;

pub use device::Device;
pub use file::{Built, Options, build};

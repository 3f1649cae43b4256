//! Programs in the kernel: loading, attaching, pins, the memory of maps, probes.
//!
//! An object that [`clang`] made passes through these modules:
//! - [`build`] reports whether the verifier accepts it, and [`budget`] reads its costs.
//! - [`load`] loads it into the kernel and returns an [`Instance`]. Its [`KernelStore`] is the control plane's view of
//!   the object's maps, and its [`HookProg`] knows where the program may run.
//! - [`bundle`] attaches it to interfaces ([`attach`], [`tc`]), together with the other programs of its bundle.
//!   [`pins`] keeps all of them after the process ends, or none.
//! - Alternatively, a test device runs it: [`test_run`] without a network, or [`veth_device`] between ports of its own.
//!
//! [`probe`] reports what the machine supports.
//!
//! Nothing here prints, exits, or knows P4 syntax. Unsafe code is in [`sys`] and the
//! single system calls of [`features`], [`keeper`] and `xdp`.

pub mod attach;
pub mod attachment;
pub mod bench;
pub mod budget;
pub mod build;
pub mod bundle;
pub mod contents;
pub mod errors;
pub mod features;
pub mod guard;
pub mod keeper;
pub mod load;
pub mod loss;
pub mod memory;
pub mod pins;
pub mod port;
pub mod ports;
pub mod probe;
pub mod program;
pub mod store;
pub mod sys;
pub mod tc;
pub mod test_run;
pub mod verifier_log;
pub mod veth_device;
mod xdp;

pub use load::{Failure, Instance, Verified, load, verify};
pub use pins::{Pins, Record};
pub use program::HookProg;
pub use store::KernelStore;
pub use test_run::TestRun;
pub use veth_device::VethDevice;

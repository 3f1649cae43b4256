//! Programs in the kernel: loading, attaching, pins, the memory of maps, probes.
//!
//! The path of an object that [`clang`] made: [`build`] says whether the verifier takes it, [`budget`] reads what it will
//! cost, [`load`] brings it into the kernel and yields an [`Instance`], whose [`KernelStore`] is the
//! control plane's view of its maps, and whose [`HookProg`] knows where it may run. Then either [`bundle`] attaches it
//! to interfaces with those that it runs together with ([`attach`], [`tc`]), and [`pins`] lets them
//! outlive the process, all of them or none; or a device for tests takes it: [`test_run`] without a network,
//! [`veth_device`] between ports of its own. [`probe`] reports what the machine supports.
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

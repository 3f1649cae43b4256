//! Phases joined: from a program's text to IR, to an object for the kernel, to a loaded bundle, and to the result of
//! an STF test.
//!
//! A command line, a server, an editor and the tests can all use it: nothing here prints, reads flags or ends the
//! process. [`frontend`] reads and checks, [`bpf_target`] compiles, [`built`] reads what was compiled earlier,
//! [`bundle`] reads and writes bundle files, [`run`] starts programs and bundles, [`specialize`] keeps a running
//! program specialized to its tables, [`declared`] reads what STF tests declare, [`stf`] runs tests, and [`replay`]
//! runs the packets of captures.

pub mod bpf_target;
pub mod built;
pub mod bundle;
pub mod declared;
pub mod examples;
mod frontend;
pub mod hooks;
pub mod instance_name;
mod loader;
mod native;
pub mod replay;
pub mod run;
pub mod specialize;
mod stack;
pub mod stf;
pub mod strategy;

pub use frontend::{Elaborated, Input, Refused, elaborate, macro_of, optimise};
pub use loader::{BUILT_IN_FOLDER, FileLoader, HEADERS};

//! The reference interpreter: what a program means, packet by packet.
//!
//! It runs an [`ir::Program`] as it is, before passes or after them, and is the oracle for every
//! target: [`Interpreter::run`] gives one packet's disposition, and the packets that come out. It is also a
//! [`control::Store`] and a [`control::Device`], so that STF and the control plane's commands run on
//! it without any privileges. What surrounds the blocks of a program is one module an architecture,
//! in `models`.
//!
//! It never panics on a packet, and nothing runs for ever: each packet has a budget of steps.

mod check;
mod decode;
mod device;
pub mod errors;
mod interpreter;
mod models;
mod options;
mod outcome;
mod packet;
mod run;
mod storage;
mod store;
mod table;
pub mod trace;

pub use decode::{Decoded, DecodedField, DecodedHeader, decode};
pub use interpreter::{Interpreter, Supplied, SuppliedFunction};
pub use options::{Clock, Options};
pub use outcome::{Disposition, Fault, Marks, Outcome};
pub use table::DEFAULT_CAPACITY;

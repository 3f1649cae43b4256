//! Reference interpreter: the definition of a program's behaviour, packet by packet.
//!
//! It runs an [`ir::Program`] as it is, before or after passes, and is the oracle for every target.
//! [`Interpreter::run`] returns a packet's disposition, and the packets that come out. The interpreter is also a
//! [`control::Store`] and a [`control::Device`], so that STF and the control plane's commands run on it without any
//! privileges. Each architecture has a module in `models`, which runs the blocks of a program.
//!
//! The interpreter never panics on a packet. Every packet ends, since it has a budget of steps.

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

//! C to objects, by the newest clang of this machine. [`compile`] makes BPF objects, and [`object_cache`] keeps them
//! for the next time. [`compile_program`] makes programs for this machine. [`compile_shared`] compiles the user's C of
//! extern functions for this machine, to an object that [`SharedObject`] loads.
//!
//! Messages of the compiler are explained in terms of P4 ([`errors`]). Unsafe code is in `shared_object`.

mod compile;
mod compiler;
pub mod errors;
mod find;
pub mod object_cache;
mod shared_object;
mod source;

pub use compile::{Cause, NoObject, compile, compile_program, compile_shared};
pub use compiler::{CLANG_VARIABLE, Clang, LONG_JUMPS, OLDEST, SECONDS_VARIABLE};
pub use find::{find, installed};
pub use shared_object::{NativeFunction, SharedObject};
pub use source::{Effort, Jumps, LONG, NOWHERE, Source};

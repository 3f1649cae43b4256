//! Pipeline IR: a program's behaviour, monomorphic and flat.
//!
//! Elaboration makes it, passes rewrite it, the interpreter and every target read it. Its invariants:
//!
//! - **Scalars and headers only.** Structs, tuples and unions are split into scalar variables
//!   ([`Var`]) and header instances ([`Header`]) with dotted names (`meta.port`, `hdr.ipv4`). A header
//!   stack is its elements plus a variable that holds its next index.
//! - **Expressions are pure.** Calls, table applications and everything else with an effect are
//!   statements; evaluation order was settled by elaboration.
//! - **No recursion, no closures.** Every routine's parameters and locals are variables of the
//!   program; a call copies arguments in, runs the body, copies results out.
//! - **One storage for the whole pipeline.** An architecture passes headers and metadata from block to block in the
//!   same variables ([`Program::slots`]).
//! - **Undefined values are defined**, so that every target can agree bit for bit. A variable that was never set is
//!   zero. An invalid header's fields hold the value last written to them, or zero. A push or pop inserts headers that
//!   are all zero. A copy of an invalid header is invalid, with the same fields. A failed extract changes nothing. An
//!   index out of a stack's bounds reads an invalid, all-zero header and writes nothing.

pub mod analysis;
pub mod atomic;
pub mod automaton;
mod bits;
pub mod build;
pub mod eval;
mod expr;
mod objects;
pub mod passes;
mod program;
pub mod rewrite;
mod skip_table;
mod stage;
mod stmt;
mod table;
pub mod text;
pub mod types;
pub mod verify;
pub mod visit;

pub use automaton::Automaton;
pub use bits::Bits;
pub use eval::Value;
pub use expr::*;
pub use objects::*;
pub use program::*;
pub use skip_table::SkipTable;
pub use stage::Stage;
pub use stmt::*;
pub use table::*;
pub use verify::verify;

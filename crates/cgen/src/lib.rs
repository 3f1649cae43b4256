//! A typed C tree, its printer, and IR expressions as C.
//!
//! [`tree`] can only express well-formed C; [`print()`] writes it with the parentheses it needs and
//! leads back to the P4 source by `#line`. [`lower`] turns the IR's pure expressions into C given a
//! [`lower::Leaves`] that knows where variables and header fields lie. Nothing here knows which target or
//! process runs the result.

pub mod lower;
pub mod outline;
pub mod print;
pub mod tidy;
pub mod tree;

pub use print::print;

//! Lists of domain names, and the automata and programs that block packets by them.
//!
//! [`list`] reads lists. [`automaton`] makes of their names the automaton of the published P4 program, and [`deep4r`]
//! writes that program with its entries. [`rules`] makes of lists the rules of a name set. [`config`] reads groups of
//! sources, which have lists of their own, and [`page`] writes responses to blocked requests. Nothing here loads a program.

pub mod automaton;
pub mod config;
pub mod deep4r;
pub mod errors;
pub mod list;
pub mod page;
pub mod rules;

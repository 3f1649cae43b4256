//! Static analyses, one per file. Each file documents its guarantee. Those that follow control flow are analyses of
//! [`dataflow`].

pub mod dataflow;
pub mod facts;
pub mod frame;
pub mod known;
mod known_vars;
pub mod liveness;
pub mod mentions;
pub mod parser_loops;
pub mod point_facts;

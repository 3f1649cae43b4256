//! Static analyses, one per file. Each file documents what it
//! guarantees. All that follow paths through a program are analyses of [`dataflow`].

pub mod dataflow;
pub mod facts;
pub mod frame;
pub mod known;
mod known_vars;
pub mod liveness;
pub mod mentions;
pub mod parser_loops;
pub mod point_facts;

//! A second target, natively compiled, against the interpreter; and that the emitter knows no target.

mod compare;
mod neutral;
mod run;
mod target;

//! Costs of programs: clang's in time, the verifier's in instructions, the kernel's in stack, length and maps.
//!
//! [`weights`] has every number. The others are functions over it: [`code`] estimates C, [`walk`] the instructions of
//! IR that the verifier may process, and [`forecast`] those that it processes at the least. [`limits`] decides by the
//! results of a compilation.

pub(crate) mod code;
pub mod forecast;
pub mod limits;
pub(crate) mod walk;
pub mod weights;

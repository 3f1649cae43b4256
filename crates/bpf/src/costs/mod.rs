//! Costs of programs: clang's in time, the verifier's in instructions, the kernel's in stack, length and maps.
//!
//! [`weights`] has every number. The others are functions over it: [`code`] estimates C, [`walk`] what the verifier may walk of IR,
//! [`forecast`] what it processes of IR at the least; [`limits`] decides by what a compilation came to.

pub(crate) mod code;
pub mod forecast;
pub mod limits;
pub(crate) mod walk;
pub mod weights;

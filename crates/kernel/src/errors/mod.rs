//! What can go wrong between the generated C and a running program, one function a kind.

pub mod bundle;
pub mod capture;
pub mod clang;
pub mod contents;
pub mod device;
pub mod load;
pub mod native;
pub mod paths;
pub mod ports;
pub mod verifier;

//! Failures between an object and a running program, one function a kind.

pub mod bundle;
pub mod contents;
pub mod device;
pub mod load;
pub mod ports;
pub mod verifier;

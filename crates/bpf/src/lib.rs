//! IR to BPF C and a description of its maps: pure, deterministic, no kernel.

pub mod abi;

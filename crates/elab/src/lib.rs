//! Instantiation: HIR to monomorphic IR.

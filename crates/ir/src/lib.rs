//! The pipeline IR: entities, text form, verifier, analyses and passes.

//! The summaries against exact answers, within the errors that they state.

mod avalanche;
mod collisions;
mod distinct;
mod distribution;
mod frequent;

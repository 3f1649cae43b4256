//! The summaries against exact answers, within the errors that they state.

mod avalanche;
mod distinct;
mod distribution;
mod frequent;

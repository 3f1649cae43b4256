//! Summaries, compared with exact answers, within their stated errors.

mod avalanche;
mod collisions;
mod distinct;
mod distribution;
mod frequent;

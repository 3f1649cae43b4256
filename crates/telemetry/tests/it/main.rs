//! Query language, from text to metrics.

mod bodies;
mod capture_forms;
mod captures;
mod described;
mod errors;
mod evaluation;
mod examples;
mod exchanges;
mod frames;
mod program;
mod schemas;
mod sequences;
mod several;
mod streams;
mod toy;
mod views;

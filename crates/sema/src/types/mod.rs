//! Types: resolution, sizes, rules and names.

mod measure;
mod resolve;
mod rules;
mod show;

pub(crate) use measure::Measure;
pub(crate) use resolve::{MAX_WIDTH, container_of};
pub(crate) use rules::Container;

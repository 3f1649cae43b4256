//! Data-flow analyses of the statements that a lock is held for.

pub(crate) mod in_place;
pub(crate) mod redundant_stores;

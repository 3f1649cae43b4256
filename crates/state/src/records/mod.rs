//! Records in rings: digests, and messages for the log.

pub(crate) mod digest;
pub(crate) mod log;
mod record;

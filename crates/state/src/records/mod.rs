//! Records in ring buffers: digests and log messages.

pub(crate) mod digest;
pub(crate) mod log;
mod record;

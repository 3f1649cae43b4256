//! The integration tests, in one binary: a module a subject.

mod bundles;
mod copies;
mod devices;
mod errors;
mod hand_written;
mod hand_written_tc;
mod key_hash;
mod modes;
mod ports;
mod refusals;
mod store;
mod strangers;
mod tc;

//! `onpath pdm` against what it cannot know: a relay that delays, loses and reorders and keeps book of it, a server that
//! waits, and streams of which every byte is checked. Needs root.
//!
//! `make soak` runs the traffic for a minute each (`ONPATH_SOAK_SECONDS`).

mod account;
mod measured;
mod traffic;
mod truth;

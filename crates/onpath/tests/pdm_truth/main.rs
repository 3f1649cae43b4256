//! Tests of `onpath pdm` against independent counts: a relay delays, loses and reorders packets and counts that, a
//! server waits, and every byte of streams is checked. Needs root.
//!
//! `make soak` runs each kind of traffic for a minute (`ONPATH_SOAK_SECONDS`).

mod account;
mod losses;
mod measured;
mod traffic;
mod truth;

use std::time::Duration;

/// Returns the time that each kind of traffic runs, if it is set.
fn soak_time() -> Option<Duration> {
    let seconds = std::env::var("ONPATH_SOAK_SECONDS").ok()?;
    Some(Duration::from_secs(seconds.parse().ok()?))
}

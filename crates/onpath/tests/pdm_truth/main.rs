//! `onpath pdm` against what it cannot know: a relay that delays, loses and reorders and counts it, a server that
//! waits, and streams of which every byte is checked. Needs root.
//!
//! `make soak` runs each kind of traffic for a minute (`ONPATH_SOAK_SECONDS`).

mod account;
mod losses;
mod measured;
mod traffic;
mod truth;

use std::time::Duration;

/// How long each kind of traffic runs if that was asked for.
fn soak_time() -> Option<Duration> {
    let seconds = std::env::var("ONPATH_SOAK_SECONDS").ok()?;
    Some(Duration::from_secs(seconds.parse().ok()?))
}

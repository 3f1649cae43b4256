//! The machine's clock as people read it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// A time in the machine's time zone, as `2026-11-28 21:30:16`.
pub fn local_time(since_1970: Duration) -> String {
    let seconds = since_1970.as_secs() as libc::time_t;
    // SAFETY: all of its members may be zero.
    let mut parts: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both are of the types that the function takes, and outlive the call.
    let known = unsafe { libc::localtime_r(&raw const seconds, &raw mut parts) };
    if known.is_null() {
        return format!("second {}", since_1970.as_secs());
    }
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
        parts.tm_year + 1900,
        parts.tm_mon + 1,
        parts.tm_mday,
        parts.tm_hour,
        parts.tm_min,
        parts.tm_sec
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_later_is_the_next_day_at_the_same_time() {
        let (one, next) = (
            local_time(Duration::from_secs(1_800_000_000)),
            local_time(Duration::from_secs(1_800_086_400)),
        );
        assert_eq!(one.len(), "2027-01-15 08:00:00".len());
        assert!(one.starts_with("2027-01-1"), "{one}");
        assert_eq!(one[11..], next[11..]);
        assert_ne!(one, next);
    }
}

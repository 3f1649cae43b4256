//! The machine's clock as people read it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Returns the number of seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// Formats a time in the machine's time zone, as `2026-11-28 21:30:16`.
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

    /// Set in the child process of the test.
    const ZONED: &str = "ONPATH_TEST_ZONED";

    #[test]
    fn a_time_is_that_of_the_machines_zone() {
        const TIME: Duration = Duration::from_secs(1_800_000_000);
        if std::env::var_os(ZONED).is_some() {
            return println!("<{}>", local_time(TIME));
        }
        // The zone belongs to a whole process. POSIX zones give the offset that is to be added to get UTC.
        for (zone, expected) in [
            ("UTC0", "<2027-01-15 08:00:00>"),
            ("IST-5:30", "<2027-01-15 13:30:00>"),
            ("PST8PDT", "<2027-01-15 00:00:00>"),
        ] {
            let this = std::env::current_exe().expect("it runs");
            let mut child = std::process::Command::new(this);
            let name = concat!(module_path!(), "::a_time_is_that_of_the_machines_zone");
            let name = name.split_once("::").expect("behind the crate").1;
            child.args([name, "--exact", "--nocapture"]);
            let output = child.env("TZ", zone).env(ZONED, "1").output();
            let output = String::from_utf8(output.expect("runs").stdout).expect("text");
            assert!(output.contains(expected), "{zone}: {output}");
        }
    }
}

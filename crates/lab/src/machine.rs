//! When and where a result came about.

use std::fs;
use std::process::Command;

/// The day, the kernel and the processors, as `2026-01-31, Linux 6.12.0, 2 × Some Processor`.
pub fn machine() -> String {
    let information = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = information
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
        .map_or("unknown processor", |(_, name)| name.trim());
    let date = Command::new("date").args(["-u", "+%F"]).output();
    let date = date.map_or(String::new(), |output| {
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    });
    format!(
        "{date}, Linux {}, {} × {processor}",
        kernel::probe::release(),
        std::thread::available_parallelism().map_or(1, usize::from)
    )
}

//! When and where figures were taken.

use std::fs;
use std::process::Command;

/// The machine, as far as it matters to a figure.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Machine {
    /// The day, as `2026-01-31`.
    pub date: String,
    /// The kernel's release.
    pub kernel: String,
    /// The processor's name.
    pub processor: String,
    /// How many there are.
    pub processors: usize,
    /// The compiler's major version.
    pub clang: u32,
}

impl Machine {
    /// This one, now.
    pub fn this() -> Machine {
        let information = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let processor = information
            .lines()
            .find_map(|l| l.strip_prefix("model name")?.split_once(':'))
            .map_or("unknown", |(_, name)| name.trim());
        let date = Command::new("date").args(["-u", "+%F"]).output();
        Machine {
            date: date.map_or(String::new(), |o| {
                String::from_utf8_lossy(&o.stdout).trim().to_owned()
            }),
            kernel: kernel::probe::release(),
            processor: processor.to_owned(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            clang: kernel::clang::find().map_or(0, |c| c.version),
        }
    }
}

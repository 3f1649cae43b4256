//! Machine and date of a result.

use std::fmt;
use std::fs;
use std::process::Command;

/// Machine and date of a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    /// The day, as `2026-01-31`.
    pub date: String,
    /// The kernel's release.
    pub kernel: String,
    /// The processor's name.
    pub processor: String,
    /// Number of processors.
    pub processors: usize,
}

impl Machine {
    /// Describes this machine, today.
    pub fn this() -> Machine {
        let information = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let processor = information
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
            .map_or("unknown processor", |(_, name)| name.trim());
        let date = Command::new("date").args(["-u", "+%F"]).output();
        let date = date.map_or(String::new(), |output| {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        });
        Machine {
            date,
            kernel: host::linux::release(),
            processor: processor.to_owned(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Formats it as `2026-01-31, Linux 6.12.0, 2 × Some Processor`.
impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine {
            date,
            kernel,
            processor,
            processors,
        } = self;
        write!(f, "{date}, Linux {kernel}, {processors} × {processor}")
    }
}

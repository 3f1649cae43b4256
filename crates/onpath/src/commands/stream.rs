//! Output of commands that print a running program's reports as they come.

use crate::output::{Done, Reading, Stop, err_line, write_watched};
use diag::shown;
use std::process::ExitCode;
use std::time::Duration;

/// Maximum time that one read waits, before the next one checks the program again.
const PATIENCE: Duration = Duration::from_secs(1);

/// The result of one read.
pub(super) struct Found {
    /// Lines to print, one for each report.
    pub(super) lines: Vec<String>,
    /// Warning, if reports were lost before these.
    pub(super) lost: Option<String>,
}

/// Prints lines until there were `count`, or until the output is no longer read. `read` receives the maximum number
/// of reports and the time to wait for them.
pub(super) fn print_lines(
    count: Option<u64>,
    mut read: impl FnMut(u64, Duration) -> Result<Found, Stop>,
) -> Done {
    let mut left = count.unwrap_or(u64::MAX);
    while left > 0 {
        let found = read(left, PATIENCE)?;
        if let Some(lost) = found.lost {
            err_line!("warning: {lost}");
        }
        for line in found.lines {
            left -= 1;
            if write_watched(format_args!("{}\n", shown(&line))) == Reading::Over {
                return Ok(ExitCode::SUCCESS);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

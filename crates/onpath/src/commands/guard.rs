//! `onpath guard`, which `onpath pdm` runs beside itself.

use crate::output::{Done, refused};
use std::process::ExitCode;

/// Waits for the end of the parent process.
pub(crate) fn run() -> Done {
    kernel::guard::keep().map_err(refused)?;
    Ok(ExitCode::SUCCESS)
}

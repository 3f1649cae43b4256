//! `onpath guard`, which `onpath pdm` runs beside itself, and `onpath keep`, which `onpath run --detach` leaves behind.

use crate::output::{Done, refused};
use kernel::Pins;
use std::process::ExitCode;

/// Waits for the end of the parent process.
pub(crate) fn run() -> Done {
    kernel::guard::keep().map_err(refused)?;
    Ok(ExitCode::SUCCESS)
}

/// Reattaches a running instance whenever an interface of the same name as a deleted one appears, until it is
/// unloaded.
pub(crate) fn keep(name: &str) -> Done {
    kernel::keeper::keep(&Pins::default(), name, &mut std::io::stdout()).map_err(refused)?;
    Ok(ExitCode::SUCCESS)
}

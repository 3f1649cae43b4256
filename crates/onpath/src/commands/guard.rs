//! `onpath guard`, which `onpath pdm` runs beside itself, and `onpath keep`, which `onpath run --detach` leaves behind.

use crate::output::{Done, refused};
use kernel::Pins;
use std::process::ExitCode;

/// Waits for the end of the parent process.
pub(crate) fn run() -> Done {
    kernel::guard::keep().map_err(refused)?;
    Ok(ExitCode::SUCCESS)
}

/// Attaches what runs under a name to interfaces that appear by the names of those which are gone, until it is unloaded.
pub(crate) fn keep(name: &str) -> Done {
    kernel::keeper::keep(&Pins::default(), name, &mut std::io::stdout()).map_err(refused)?;
    Ok(ExitCode::SUCCESS)
}

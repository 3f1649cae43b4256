//! Replacements of programs, for tests.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes an executable shell script.
pub(crate) fn program(file: &Path, script: &str) {
    fs::write(file, format!("#!/bin/sh\n{script}")).expect("written");
    fs::set_permissions(file, Permissions::from_mode(0o755)).expect("set");
}

/// Returns the search path of programs, with this folder first.
pub(crate) fn path(folder: &Path) -> String {
    format!(
        "{}:{}",
        folder.display(),
        std::env::var("PATH").expect("set")
    )
}

//! Whether programs that were built before run at drivers that are not veth.

use super::script;
use crate::plan::Part;
use crate::trial::Sink;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A trial takes half a minute where the machine is emulated, and several if it fails.
const PATIENCE: Duration = Duration::from_secs(300);

/// Runs the script once a trial.
pub(super) fn run(part: &Part, onpath: &Path, sink: &mut dyn Sink) {
    for name in &part.trials {
        let mut command = Command::new(&part.binary);
        command
            .arg(onpath)
            .arg(&part.folder)
            .arg(name)
            .env("ONPATH_CLANG", "/nonexistent");
        script::run(part, name, &mut command, PATIENCE, sink);
    }
}

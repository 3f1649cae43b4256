//! What the suite `drivers` needs: programs that `onpath build` wrote, and the names of the script's trials.

use crate::built;
use crate::error::{Error, output_of};
use std::path::Path;
use std::process::Command;

/// The test, from the repository's root.
pub(crate) const SCRIPT: &str = "scripts/try-drivers";
/// The programs that it takes, by the names of their folders.
const PROGRAMS: [(&str, &str); 4] = [
    ("guard", "programs/guard/guard.toml"),
    ("ipv4_counter", "programs/ipv4_counter/ipv4_counter.p4"),
    ("l2_switch", "programs/l2_switch/l2_switch.p4"),
    ("xdp11", "programs/xdp11/xdp11.p4"),
];

/// Builds the programs in a folder, and returns the names of trials.
pub(crate) fn prepare(
    root: &Path,
    onpath: &Path,
    objects: &Path,
    folder: &Path,
) -> Result<Vec<String>, Error> {
    built::build(root, onpath, objects, folder, &PROGRAMS)?;
    let listed = output_of(Command::new(root.join(SCRIPT)).arg("--list"))?;
    Ok(listed.lines().map(String::from).collect())
}

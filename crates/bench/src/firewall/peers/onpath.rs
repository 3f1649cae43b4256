//! `onpath firewall`, as a user runs it. All its command lines are here.

use super::place::{Parts, Place};
use crate::error::Error;
use crate::firewall::network::INSIDE_DEVICE;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Place of the firewall.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hook {
    Xdp,
    Tc,
}

/// Text that it prints when packets meet its rules.
const READY: &str = "running; interrupt to end";
/// The program, built for release.
const PROGRAM: &str = "target/release/onpath";

/// Starts a firewall at the router's interface towards the client.
pub(super) fn start(place: &Place, hook: Hook) -> Result<Parts, Error> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("bench-{}-{number}", std::process::id());
    let list = place.list()?;
    let hook = match hook {
        Hook::Xdp => "xdp",
        Hook::Tc => "tc-ingress",
    };
    let program = place.starter.root.join(PROGRAM);
    let mut process = place.start(&[
        &program.display().to_string(),
        "firewall",
        "--dev",
        INSIDE_DEVICE,
        "--hook",
        hook,
        "--block",
        &list,
        "--name",
        &name,
    ])?;
    process.wait(|text| text.contains(READY))?;
    std::fs::write(place.folder.join("name"), name).map_err(Error::system("a file"))?;
    Ok(Parts {
        process: Some(process),
        ..Parts::default()
    })
}

/// Lets a firewall read its list again, and waits until it has.
pub(crate) fn reload(root: &Path, folder: &Path) -> Result<(), Error> {
    let name = std::fs::read_to_string(folder.join("name")).map_err(Error::system("a file"))?;
    let output = Command::new(root.join(PROGRAM))
        .args(["firewall", "reload", &name])
        .output()
        .map_err(Error::system("onpath"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(Error::new(
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )),
    }
}

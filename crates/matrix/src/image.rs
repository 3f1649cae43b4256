//! The initial RAM disk of a guest: busybox, the modules that it needs to reach the host's files, and a script that
//! makes these its root. All else a guest has from there.

use crate::cpio::Archive;
use crate::error::{Error, output_of};
use crate::packages::Kernel;
use crate::share::Share;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const INIT: &str = include_str!("init.sh");
const BUSYBOX: &str = "/bin/busybox";
/// What the host's files come by. What is built into a kernel is no module of it.
const MODULES: [&str; 3] = ["virtio_pci", "virtiofs", "overlay"];

/// The RAM disk of a guest with these folders to write, which runs this command.
pub(crate) fn image(kernel: &Kernel, shares: &[Share], command: &str) -> Result<Vec<u8>, Error> {
    let mut archive = Archive::default();
    for folder in [
        "bin", "proc", "sys", "dev", "modules", "lower", "written", "root",
    ] {
        archive.folder(folder);
    }
    archive.program("bin/busybox", &read(Path::new(BUSYBOX))?);
    archive.link("bin/sh", "busybox");
    archive.program("init", INIT.as_bytes());
    let mut order = String::new();
    for module in modules(kernel)? {
        let name = module
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let name = name.trim_end_matches(".xz");
        archive.file(&format!("modules/{name}"), &decompressed(&module)?);
        order += &format!("{name}\n");
    }
    archive.file("modules/order", order.as_bytes());
    archive.file(
        "modules/folder",
        kernel.modules().as_os_str().as_encoded_bytes(),
    );
    let shares: String = shares
        .iter()
        .map(|s| format!("{} {}\n", s.tag, s.folder.display()))
        .collect();
    archive.file("shares", shares.as_bytes());
    archive.file("command", command.as_bytes());
    Ok(archive.finish())
}

/// The files of [`MODULES`] and of what they need, in the order in which they are loaded.
fn modules(kernel: &Kernel) -> Result<Vec<PathBuf>, Error> {
    let mut command = Command::new("modprobe");
    command
        .arg("-d")
        .arg(&kernel.root)
        .args(["-S", &kernel.release, "-a", "--show-depends"]);
    let printed = output_of(command.args(MODULES))?;
    let mut files: Vec<PathBuf> = Vec::new();
    for line in printed.lines() {
        // Options may stand behind a file.
        let file = line
            .strip_prefix("insmod ")
            .and_then(|rest| rest.split_whitespace().next());
        files.extend(file.map(PathBuf::from).filter(|file| !files.contains(file)));
    }
    Ok(files)
}

/// A module as the kernel loads it.
fn decompressed(module: &Path) -> Result<Vec<u8>, Error> {
    if module.extension().is_none_or(|e| e != "xz") {
        return read(module);
    }
    let unpacked = Command::new("xz").arg("-dc").arg(module).output();
    let unpacked = unpacked.map_err(Error::file("unpack", module))?;
    if unpacked.status.success() {
        return Ok(unpacked.stdout);
    }
    Err(Error::new(format!(
        "`xz` could not unpack `{}`",
        module.display()
    )))
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(Error::file("read", path))
}

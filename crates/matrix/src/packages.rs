//! Kernels from Debian's packages: found by apt, unpacked in a folder, never installed.

use crate::error::{Error, output_of};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A kernel that can be booted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Kernel {
    /// What it was asked for by, such as `6.1`.
    pub name: String,
    /// What it says of itself (`uname -r`), such as `6.1.0-56-cloud-amd64`.
    pub release: String,
    /// The package's files.
    pub root: PathBuf,
}

impl Kernel {
    /// The kernel's own file.
    pub(crate) fn image(&self) -> PathBuf {
        self.root.join(format!("boot/vmlinuz-{}", self.release))
    }

    /// The folder of its modules.
    pub(crate) fn modules(&self) -> PathBuf {
        self.root.join("lib/modules").join(&self.release)
    }
}

/// Which of Debian's packages of a version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flavour {
    /// For virtual machines: drivers for what clouds have.
    Cloud,
    /// With the drivers of all devices.
    Full,
}

impl Flavour {
    /// The end of a package's name.
    fn suffix(self) -> &'static str {
        match self {
            Flavour::Cloud => "-cloud-amd64",
            Flavour::Full => "-amd64",
        }
    }

    /// The folder of a kernel of this name.
    pub(crate) fn folder(self, name: &str) -> String {
        match self {
            Flavour::Cloud => name.to_string(),
            Flavour::Full => format!("{name}-full"),
        }
    }
}

const PREFIX: &str = "linux-image-";

/// The kernel of this name (a version such as `6.1`), from `cache`, or from apt if it is not there yet.
/// A newer package is fetched if the one in the cache is removed.
pub(crate) fn fetch(name: &str, flavour: Flavour, cache: &Path) -> Result<Kernel, Error> {
    let folder = cache.join(flavour.folder(name));
    if let Some(kernel) = unpacked(name, &folder) {
        return Ok(kernel);
    }
    let known = output_of(Command::new("apt-cache").args([
        "search",
        "--names-only",
        "^linux-image-.*-amd64$",
    ]))?;
    let package = newest(name, flavour, &known).ok_or_else(|| {
        let suffix = flavour.suffix();
        Error::new(format!(
            "apt knows no package of Linux {name} (`{PREFIX}{name}.…{suffix}`): run `apt-get update`, or add the \
             Debian release that has it to apt's sources (bookworm for 6.1; bookworm-backports or trixie for 6.12)"
        ))
    })?;
    // Renamed when it is complete, so that an interrupted one is made again.
    let parts = cache.join(format!("{}.part", flavour.folder(name)));
    if parts.exists() {
        fs::remove_dir_all(&parts).map_err(Error::file("remove", &parts))?;
    }
    fs::create_dir_all(&parts).map_err(Error::file("make", &parts))?;
    // apt drops privileges for what it fetches where its user may write, and warns where not.
    output_of(
        Command::new("apt-get")
            .args(["download", "-q", "-o", "APT::Sandbox::User=root", &package])
            .current_dir(&parts),
    )?;
    let deb = files(&parts)?
        .into_iter()
        .find(|path| path.extension().is_some_and(|e| e == "deb"))
        .ok_or_else(|| Error::new(format!("`apt-get download {package}` wrote no package")))?;
    output_of(Command::new("dpkg-deb").arg("-x").arg(&deb).arg(&parts))?;
    fs::remove_file(&deb).map_err(Error::file("remove", &deb))?;
    let release = package.trim_start_matches(PREFIX);
    output_of(Command::new("depmod").arg("-b").arg(&parts).arg(release))?;
    fs::rename(&parts, &folder).map_err(Error::file("make", &folder))?;
    unpacked(name, &folder)
        .ok_or_else(|| Error::new(format!("the package {package} has no kernel of that name")))
}

fn unpacked(name: &str, folder: &Path) -> Option<Kernel> {
    let mut releases = files(&folder.join("lib/modules")).ok()?;
    let release = releases.pop()?.file_name()?.to_string_lossy().into_owned();
    let kernel = Kernel {
        name: name.to_string(),
        release,
        root: folder.to_path_buf(),
    };
    (releases.is_empty() && kernel.image().exists()).then_some(kernel)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(folder).map_err(Error::file("read", folder))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    paths
        .collect::<Result<_, _>>()
        .map_err(Error::file("read", folder))
}

/// The newest package of this kernel among what `apt-cache search` lists.
fn newest(name: &str, flavour: Flavour, list: &str) -> Option<String> {
    let packages = list.lines().filter_map(|line| {
        let package = line.split_whitespace().next()?;
        let version = package
            .strip_prefix(PREFIX)?
            .strip_suffix(flavour.suffix())?;
        let rest = version.strip_prefix(name)?;
        let next = rest.strip_prefix('.')?;
        // Another flavour has a word.
        let mut parts = next.split('-');
        parts
            .all(|part| part.starts_with(|c: char| c.is_ascii_digit()))
            .then(|| (numbers(version), package.to_string()))
    });
    packages.max().map(|(_, package)| package)
}

/// The numbers in a version, in order.
fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split(|c: char| !c.is_ascii_digit());
    parts.filter_map(|digits| digits.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\
linux-image-6.1.0-9-cloud-amd64 - Linux 6.1 for x86-64 cloud (signed)
linux-image-6.1.0-56-cloud-amd64 - Linux 6.1 for x86-64 cloud (signed)
linux-image-6.1.0-57-cloud-amd64-dbg - Debug symbols
linux-image-6.1.0-58-cloud-amd64-unsigned - Linux 6.1
linux-image-6.1.0-55-amd64 - Linux 6.1 for 64-bit PCs (signed)
linux-image-6.1.0-57-rt-amd64 - Linux 6.1 for 64-bit PCs, PREEMPT_RT (signed)
linux-image-6.12-cloud-amd64 - Linux for x86-64 cloud (meta-package)
linux-image-6.12.9+deb12-cloud-amd64 - Linux 6.12
linux-image-6.12.117+deb12-cloud-amd64 - Linux 6.12
linux-image-cloud-amd64 - Linux (meta-package)";

    #[test]
    fn the_newest_signed_package_of_a_version_is_taken() {
        let full = newest("6.1", Flavour::Full, LIST);
        assert_eq!(full.as_deref(), Some("linux-image-6.1.0-55-amd64"));
        let newest = |name| newest(name, Flavour::Cloud, LIST);
        assert_eq!(
            newest("6.1").as_deref(),
            Some("linux-image-6.1.0-56-cloud-amd64")
        );
        assert_eq!(
            newest("6.12").as_deref(),
            Some("linux-image-6.12.117+deb12-cloud-amd64")
        );
        assert_eq!(newest("6.6"), None);
    }

    #[test]
    fn a_folder_without_a_kernel_is_not_one() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(unpacked("6.1", folder.path()), None);
        let modules = folder.path().join("lib/modules/6.1.0-56-cloud-amd64");
        fs::create_dir_all(&modules).expect("made");
        assert_eq!(unpacked("6.1", folder.path()), None);
        fs::create_dir(folder.path().join("boot")).expect("made");
        fs::write(folder.path().join("boot/vmlinuz-6.1.0-56-cloud-amd64"), "").expect("written");
        let kernel = unpacked("6.1", folder.path()).expect("a kernel");
        assert_eq!(kernel.release, "6.1.0-56-cloud-amd64");
        assert_eq!(kernel.modules(), modules);
    }
}

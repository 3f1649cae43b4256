//! Kernels from Debian's packages. Apt finds them, and they are unpacked in a folder, never installed.

use crate::error::{Error, output_of, script};
use std::fs;
use std::path::{Path, PathBuf};

const SCRIPT: &str = include_str!("packages.sh");

/// Kernel that can be booted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Kernel {
    /// Its release (`uname -r`), such as `6.1.0-56-cloud-amd64`.
    pub release: String,
    /// Folder with the package's files.
    pub root: PathBuf,
}

impl Kernel {
    /// Returns the path of the kernel's image.
    pub(crate) fn image(&self) -> PathBuf {
        self.root.join(format!("boot/vmlinuz-{}", self.release))
    }
}

/// Variant of Debian's packages of a kernel version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flavour {
    /// Package for virtual machines, with the drivers of cloud platforms.
    Cloud,
    /// Package for all machines, with the drivers of all devices.
    Full,
}

impl Flavour {
    /// Returns the end of the package's name.
    fn suffix(self) -> &'static str {
        match self {
            Flavour::Cloud => "-cloud-amd64",
            Flavour::Full => "-amd64",
        }
    }

    /// Returns the name of the folder for a kernel of this name.
    pub(crate) fn folder(self, name: &str) -> String {
        match self {
            Flavour::Cloud => name.to_string(),
            Flavour::Full => format!("{name}-full"),
        }
    }
}

/// Returns the kernel of this name (a version such as `6.1`) from `cache`. If it is not there, apt downloads it. To get
/// a newer package, remove the one in the cache.
pub(crate) fn fetch(name: &str, flavour: Flavour, cache: &Path) -> Result<Kernel, Error> {
    let folder = cache.join(flavour.folder(name));
    if let Some(kernel) = unpacked(&folder) {
        return Ok(kernel);
    }
    output_of(
        script("packages.sh", SCRIPT)
            .args([name, flavour.suffix()])
            .arg(&folder),
    )?;
    unpacked(&folder)
        .ok_or_else(|| Error::new(format!("{} has no kernel of that name", folder.display())))
}

fn unpacked(folder: &Path) -> Option<Kernel> {
    let mut releases = fs::read_dir(folder.join("lib/modules")).ok()?;
    let release = releases.next()?.ok()?.file_name().into_string().ok()?;
    let kernel = Kernel {
        release,
        root: folder.to_path_buf(),
    };
    (releases.next().is_none() && kernel.image().exists()).then_some(kernel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;

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

    /// Returns the release of the package that is fetched. Scripts replace apt: one lists packages, one makes a package
    /// of the name.
    fn fetched(name: &str, flavour: Flavour) -> Result<String, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let tools = folder.path().join("tools");
        fs::create_dir(&tools).expect("made");
        fs::write(tools.join("list"), LIST).expect("written");
        let tool = |name: &str, script: &str| fake::program(&tools.join(name), script);
        tool(
            "apt-cache",
            r#"sed 's/ .*//' "${0%/*}/list" | grep -E "$3""#,
        );
        tool(
            "apt-get",
            r#"set -e
            release=${5#linux-image-}
            mkdir -p p/DEBIAN p/boot "p/lib/modules/$release"
            touch "p/boot/vmlinuz-$release"
            printf '%s\n' 'Package: k' 'Version: 1' 'Architecture: all' 'Maintainer: m <m@m>' 'Description: d' >p/DEBIAN/control
            dpkg-deb -b p k.deb
            rm -r p"#,
        );
        tool("depmod", r#"touch "$2/lib/modules/$3/modules.dep""#);
        let cache = folder.path().join("cache");
        let to = cache.join(flavour.folder(name));
        let mut fetch = script("packages.sh", SCRIPT);
        fetch
            .args([name, flavour.suffix()])
            .arg(&to)
            .env("PATH", fake::path(&tools));
        output_of(&mut fetch).map_err(|e| e.to_string())?;
        let left: Vec<_> = fs::read_dir(&to).expect("there").collect();
        assert_eq!(left.len(), 2, "{left:?}");
        // It is not fetched again.
        let kernel = super::fetch(name, flavour, &cache).map_err(|e| e.to_string())?;
        let modules = to.join("lib/modules").join(&kernel.release);
        assert!(modules.join("modules.dep").exists());
        Ok(kernel.release)
    }

    #[test]
    fn the_newest_signed_package_of_a_version_is_taken() {
        let fetched = |name, flavour| fetched(name, flavour).expect("fetched");
        assert_eq!(fetched("6.1", Flavour::Full), "6.1.0-55-amd64");
        assert_eq!(fetched("6.1", Flavour::Cloud), "6.1.0-56-cloud-amd64");
        assert_eq!(
            fetched("6.12", Flavour::Cloud),
            "6.12.117+deb12-cloud-amd64"
        );
    }

    #[test]
    fn a_version_that_apt_does_not_know_is_named() {
        let refused = fetched("6.6", Flavour::Cloud).expect_err("there is none");
        assert!(
            refused.contains("apt knows no package of Linux 6.6"),
            "{refused}"
        );
    }

    #[test]
    fn a_folder_without_a_kernel_is_not_one() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(unpacked(folder.path()), None);
        let modules = folder.path().join("lib/modules/6.1.0-56-cloud-amd64");
        fs::create_dir_all(&modules).expect("made");
        assert_eq!(unpacked(folder.path()), None);
        fs::create_dir(folder.path().join("boot")).expect("made");
        fs::write(folder.path().join("boot/vmlinuz-6.1.0-56-cloud-amd64"), "").expect("written");
        let kernel = unpacked(folder.path()).expect("a kernel");
        assert_eq!(kernel.release, "6.1.0-56-cloud-amd64");
    }
}

//! Programs that `onpath build` wrote, and binaries of `onpath` that run them, for the suites `built` and `drivers`.

use crate::error::{Error, output_of};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs: the name of the folder for the objects, and the source.
const PROGRAMS: [(&str, &str); 4] = [
    ("guard", "programs/guard/guard.toml"),
    ("ipv4_counter", "programs/ipv4_counter/ipv4_counter.p4"),
    ("l2_switch", "programs/l2_switch/l2_switch.p4"),
    ("xdp11", "programs/xdp11/xdp11.p4"),
];
/// Folder of binaries, each named as its trial.
pub(crate) const BINARIES: &str = "bin";
/// Oldest kernel that objects are built for: they load on every newer one.
const OLDEST: &str = "6.1";

/// Makes an empty folder, and builds the programs there for the oldest kernel.
pub(crate) fn prepare(
    root: &Path,
    onpath: &Path,
    objects: &Path,
    folder: &Path,
) -> Result<(), Error> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(Error::file("remove", folder))?;
    }
    fs::create_dir_all(folder).map_err(Error::file("make", folder))?;
    for (name, program) in PROGRAMS {
        let mut build = Command::new(onpath);
        build
            .args(["build", program, "--kernel", OLDEST, "-o"])
            .arg(folder.join(name))
            .env("ONPATH_OBJECT_CACHE", objects)
            .current_dir(root);
        output_of(&mut build)?;
    }
    Ok(())
}

/// Links the binaries of `onpath` into their folder, and returns their names: this build, and those that `make dist`
/// left.
pub(crate) fn binaries(root: &Path, onpath: &Path, folder: &Path) -> Result<Vec<String>, Error> {
    let binaries = folder.join(BINARIES);
    fs::create_dir_all(&binaries).map_err(Error::file("make", &binaries))?;
    let mut found = distributed(&root.join("target/dist"), folder)?;
    found.insert(0, ("debug", onpath.to_path_buf()));
    for (name, binary) in &found {
        let link = binaries.join(name);
        symlink(binary, &link).map_err(Error::file("make", &link))?;
    }
    Ok(found.iter().map(|(name, _)| name.to_string()).collect())
}

/// Unpacks the packages that `make dist` left in a folder, and returns their binaries. Packages that do not exist are
/// left out.
fn distributed(dist: &Path, folder: &Path) -> Result<Vec<(&'static str, PathBuf)>, Error> {
    let version = env!("CARGO_PKG_VERSION");
    let machine = std::env::consts::ARCH;
    let tarball = dist.join(format!("onpath-{version}-{machine}-linux.tar.gz"));
    let package = dist.join(format!("onpath_{version}_amd64.deb"));
    let mut found = Vec::new();
    if tarball.exists() {
        let to = folder.join("tarball");
        fs::create_dir_all(&to).map_err(Error::file("make", &to))?;
        let mut tar = Command::new("tar");
        tar.args(["--strip-components=1", "-C"])
            .arg(&to)
            .arg("-xf")
            .arg(tarball);
        output_of(&mut tar)?;
        found.push(("tarball", to.join("bin/onpath")));
    }
    if package.exists() {
        let to = folder.join("package");
        output_of(Command::new("dpkg-deb").arg("-x").args([&package, &to]))?;
        found.push(("package", to.join("usr/bin/onpath")));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;

    #[test]
    fn programs_are_built_and_every_binary_is_a_trial() {
        let root = tempfile::tempdir().expect("a folder");
        let dist = root.path().join("target/dist");
        let tree = root.path().join("onpath-any/bin");
        for folder in [&dist, &tree] {
            fs::create_dir_all(folder).expect("made");
        }
        let onpath = root.path().join("onpath");
        let script =
            "mkdir -p \"$6\" && echo \"$1 $2 $3 $4 $5 $ONPATH_OBJECT_CACHE\" >\"$6/log\"\n";
        fake::program(&onpath, script);
        let folder = root.path().join("built");
        let prepare = || {
            prepare(root.path(), &onpath, Path::new("/objects"), &folder).expect("made");
            binaries(root.path(), &onpath, &folder).expect("made")
        };
        assert_eq!(prepare(), ["debug"]);
        fs::write(tree.join("onpath"), "released").expect("written");
        let tarball = format!(
            "onpath-{}-{}-linux.tar.gz",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::ARCH
        );
        let mut tar = Command::new("tar");
        tar.current_dir(root.path()).args([
            "-czf",
            &format!("target/dist/{tarball}"),
            "onpath-any",
        ]);
        output_of(&mut tar).expect("packed");
        assert_eq!(prepare(), ["debug", "tarball"]);
        let read = |path: &str| fs::read_to_string(folder.join(path)).expect("there");
        assert_eq!(read("bin/tarball"), "released");
        assert_eq!(
            read("ipv4_counter/log"),
            "build programs/ipv4_counter/ipv4_counter.p4 --kernel 6.1 -o /objects\n"
        );
    }
}

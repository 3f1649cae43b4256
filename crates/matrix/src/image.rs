//! Initial RAM disk of a guest, with a script that mounts the host's files as its root.

use crate::error::{Error, output_of, script};
use crate::packages::Kernel;
use std::path::Path;
use std::process::Command;

/// Path of the static BusyBox in Debian's package.
const BUSYBOX: &str = "/bin/busybox";

/// Writes the RAM disk of a guest. It mounts these folders writable, by their tags, and runs this command.
pub(crate) fn write(
    disk: &Path,
    kernel: &Kernel,
    shares: &[(&str, &Path)],
    command: &str,
) -> Result<(), Error> {
    output_of(&mut make(BUSYBOX, disk, kernel, shares, command)).map(drop)
}

fn make(
    busybox: &str,
    disk: &Path,
    kernel: &Kernel,
    shares: &[(&str, &Path)],
    command: &str,
) -> Command {
    let lines = shares
        .iter()
        .map(|(tag, folder)| format!("{tag} {}\n", folder.display()));
    let shares: String = lines.collect();
    let mut make = script("image.sh", include_str!("image.sh"));
    make.arg(busybox)
        .arg(&kernel.root)
        .args([&kernel.release, include_str!("init.sh"), &shares, command])
        .arg(disk);
    make
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;

    /// Runs with fake tools: one lists the modules that are needed, one unpacks, one lists the files that it would
    /// pack.
    #[test]
    fn a_disk_has_the_modules_in_order_and_what_its_script_reads() {
        let folder = tempfile::tempdir().expect("a folder");
        let tool = |name: &str, script: &str| fake::program(&folder.path().join(name), script);
        tool(
            "modprobe",
            r#"[ "$1 $2 $3 $4" = "-d ${0%/*} -S 6.1.0" ] || exit
            printf 'insmod %s\n' "$2/fuse.ko.xz" "$2/virtiofs.ko" "$2/fuse.ko.xz" "$2/overlay.ko some=option"
            echo builtin virtio_pci"#,
        );
        tool("xz", r#"[ "$1" = -dc ] && echo "unpacked $(cat "$2")""#);
        tool(
            "busybox",
            r#"echo "$*"; sort | while read -r file; do [ ! -f "$file" ] || echo "$file: $(head -n 1 "$file")"; done"#,
        );
        for module in ["fuse.ko.xz", "virtiofs.ko", "overlay.ko"] {
            std::fs::write(folder.path().join(module), module).expect("written");
        }
        let kernel = Kernel {
            release: "6.1.0".to_string(),
            root: folder.path().to_path_buf(),
        };
        let disk = folder.path().join("disk");
        let busybox = folder.path().join("busybox").display().to_string();
        let mut make = make(
            &busybox,
            &disk,
            &kernel,
            &[("results", Path::new("/a b"))],
            "run it",
        );
        output_of(make.env("PATH", fake::path(folder.path()))).expect("made");
        let packed = std::fs::read_to_string(disk).expect("written");
        let root = folder.path().display();
        let expected = format!(
            "cpio -o -H newc\n./bin/busybox: #!/bin/sh\n./bin/sh: #!/bin/sh\n./command: run it\n./init: #!/bin/sh\n\
             ./modules/folder: {root}/lib/modules/6.1.0\n./modules/fuse.ko: unpacked fuse.ko.xz\n\
             ./modules/order: fuse.ko\n./modules/overlay.ko: overlay.ko\n./modules/virtiofs.ko: virtiofs.ko\n\
             ./shares: results /a b\n"
        );
        assert_eq!(packed, expected);
    }
}

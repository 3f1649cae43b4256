//! A kernel in an emulated machine, with the host's files as its own.

use crate::accelerator::Accelerator;
use crate::error::Error;
use crate::image::image;
use crate::packages::Kernel;
use crate::share::{Cache, Served, Share, spawn};
use crate::wires;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The memory of a guest, as QEMU writes sizes. It takes from the host only what it uses.
const MEMORY: &str = "4G";
const PROCESSORS: &str = "2";
const QEMU: &str = "qemu-system-x86_64";

/// What a guest is to do.
#[derive(Debug)]
pub(crate) struct Order<'a> {
    /// Folders that it may write; the host's other files it sees, and writes copies of them that are gone with it.
    pub writes: &'a [PathBuf],
    /// A command for its shell. The guest ends with it.
    pub command: &'a str,
    /// Where its console and its RAM disk are kept.
    pub logs: &'a Path,
    /// Whether it has the interfaces of [`wires`].
    pub wires: bool,
}

/// A running guest. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Guest {
    qemu: Child,
    /// What its kernel and its first process print.
    pub console: PathBuf,
    _served: Vec<Served>,
    _sockets: tempfile::TempDir,
}

impl Guest {
    /// Boots a kernel.
    pub(crate) fn boot(
        kernel: &Kernel,
        accelerator: Accelerator,
        order: &Order<'_>,
    ) -> Result<Guest, Error> {
        const TAGS: [&str; 3] = ["results", "objects", "more"];
        let writes: Vec<Share> = TAGS
            .iter()
            .zip(order.writes)
            .map(|(tag, folder)| Share {
                tag,
                folder: folder.clone(),
                cache: Cache::Auto,
            })
            .collect();
        assert_eq!(writes.len(), order.writes.len(), "a tag for each");
        let disk = order.logs.join("initrd");
        let bytes = image(kernel, &writes, order.command)?;
        fs::write(&disk, bytes).map_err(Error::file("write", &disk))?;
        let root = Share {
            tag: "root",
            folder: PathBuf::from("/"),
            cache: Cache::Always,
        };
        // Paths of sockets have at most 107 bytes.
        let sockets = tempfile::Builder::new()
            .prefix("matrix")
            .tempdir_in("/tmp")
            .map_err(Error::file("make a folder in", Path::new("/tmp")))?;
        let mut served = Vec::new();
        let console = order.logs.join("console.log");
        let mut qemu = match order.wires {
            true => wires::start(QEMU),
            false => Command::new(QEMU),
        };
        if order.wires {
            qemu.args(wires::arguments());
        }
        qemu.args(accelerator.arguments())
            .args(["-smp", PROCESSORS, "-m", MEMORY])
            // The daemons read and write the guest's memory.
            .args([
                "-object",
                &format!("memory-backend-memfd,id=memory,size={MEMORY},share=on"),
            ])
            .args(["-numa", "node,memdev=memory"])
            .args([
                "-display",
                "none",
                "-monitor",
                "none",
                "-nic",
                "none",
                "-no-reboot",
            ])
            .args(["-serial", &format!("file:{}", console.display())])
            .arg("-kernel")
            .arg(kernel.image())
            .arg("-initrd")
            .arg(&disk)
            .args(["-append", "console=ttyS0 panic=-1 quiet"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit());
        for share in std::iter::once(&root).chain(&writes) {
            let daemon = Served::start(share, sockets.path())?;
            let tag = share.tag;
            qemu.args([
                "-chardev",
                &format!("socket,id={tag},path={}", daemon.socket.display()),
            ])
            .args([
                "-device",
                &format!("vhost-user-fs-pci,chardev={tag},tag={tag}"),
            ]);
            served.push(daemon);
        }
        Ok(Guest {
            qemu: spawn(qemu, QEMU)?,
            console,
            _served: served,
            _sockets: sockets,
        })
    }

    /// Whether it still runs.
    pub(crate) fn runs(&mut self) -> bool {
        matches!(self.qemu.try_wait(), Ok(None))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

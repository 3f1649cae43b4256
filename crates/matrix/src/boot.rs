//! Boots a kernel in a virtual machine that has the host's files.

use crate::accelerator::Accelerator;
use crate::error::Error;
use crate::image;
use crate::packages::Kernel;
use crate::share::{Running, serve};
use crate::wires;
use std::path::{Path, PathBuf};
use std::process::Command;

const QEMU: &str = "qemu-system-x86_64";
/// Hardware of a guest. It takes from the host only the memory that it uses; the daemons share that memory.
const MACHINE: &str = "-smp 2 -m 4G -object memory-backend-memfd,id=memory,size=4G,share=on -numa node,memdev=memory \
                       -display none -monitor none -nic none -no-reboot";

/// Work of a guest. The guest writes to two folders of the host; its changes to other files are discarded.
#[derive(Debug)]
pub(crate) struct Order<'a> {
    /// Command for its shell. The guest ends with it.
    pub command: &'a str,
    /// Folder that it may write to. Its console's output and its RAM disk are kept there, too.
    pub logs: &'a Path,
    /// Folder of compiled objects, which it may write to.
    pub objects: &'a Path,
    /// True if it has the interfaces of [`wires`].
    pub wires: bool,
}

/// Running guest. Dropping the value ends it.
#[derive(Debug)]
pub(crate) struct Guest {
    /// QEMU's process.
    pub qemu: Running,
    /// File with the output of its kernel and its first process.
    pub console: PathBuf,
    _served: Vec<Running>,
    _sockets: tempfile::TempDir,
}

/// Boots a kernel.
pub(crate) fn boot(kernel: &Kernel, order: &Order<'_>) -> Result<Guest, Error> {
    let writes = [("results", order.logs), ("objects", order.objects)];
    let disk = order.logs.join("initrd");
    image::write(&disk, kernel, &writes, order.command)?;
    // Paths of sockets have at most 107 bytes.
    let tmp = Path::new("/tmp");
    let mut sockets = tempfile::Builder::new();
    let sockets = sockets.prefix("matrix").tempdir_in(tmp);
    let sockets = sockets.map_err(Error::file("make a folder in", tmp))?;
    let console = order.logs.join("console.log");
    let mut qemu = match order.wires {
        true => wires::start(QEMU),
        false => Command::new(QEMU),
    };
    if order.wires {
        qemu.args(wires::arguments());
    }
    qemu.args(Accelerator::of_this_machine().arguments)
        .args(MACHINE.split_whitespace())
        .args(["-serial", &format!("file:{}", console.display())])
        .arg("-kernel")
        .arg(kernel.image())
        .arg("-initrd")
        .arg(&disk)
        .args(["-append", "console=ttyS0 panic=-1 quiet"]);
    let mut served = Vec::new();
    let root = [("root", Path::new("/"), "always")];
    for (tag, folder, cache) in root
        .into_iter()
        .chain(writes.map(|(tag, to)| (tag, to, "auto")))
    {
        let (daemon, socket) = serve(tag, folder, cache, sockets.path())?;
        qemu.args([
            "-chardev",
            &format!("socket,id={tag},path={}", socket.display()),
        ])
        .args([
            "-device",
            &format!("vhost-user-fs-pci,chardev={tag},tag={tag}"),
        ]);
        served.push(daemon);
    }
    Ok(Guest {
        qemu: Running::start(qemu)?,
        console,
        _served: served,
        _sockets: sockets,
    })
}

//! Folders of the host that a guest sees: a daemon each, which ends with this process.

use crate::error::Error;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A folder that a guest sees at the same path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Share {
    /// The name by which the guest mounts it.
    pub tag: &'static str,
    /// The folder.
    pub folder: PathBuf,
    /// How long the guest may believe what it read: for files that change meanwhile, not long.
    pub cache: Cache,
}

/// What a guest keeps of a folder's files and names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cache {
    /// All it ever read.
    Always,
    /// For a moment.
    Auto,
}

/// Where Debian's packages have the daemon: `virtiofsd`, and before that QEMU's.
const DAEMONS: [&str; 2] = ["/usr/libexec/virtiofsd", "/usr/lib/qemu/virtiofsd"];
/// A daemon listens after milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// A daemon that serves a folder. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Served {
    child: Child,
    /// Where it listens.
    pub socket: PathBuf,
}

impl Served {
    /// Serves a folder by a socket in another one; what the daemon prints goes there too.
    pub(crate) fn start(share: &Share, sockets: &Path) -> Result<Served, Error> {
        let daemon = DAEMONS
            .iter()
            .find(|path| Path::new(path).exists())
            .ok_or_else(|| {
                Error::new(format!(
                    "{} is missing: `scripts/setup-kernels` installs it",
                    DAEMONS.join(" or ")
                ))
            })?;
        let socket = sockets.join(share.tag);
        let log = sockets.join(format!("{}.log", share.tag));
        let log = File::create(&log).map_err(Error::file("write", &log))?;
        let cache = match share.cache {
            Cache::Always => "always",
            Cache::Auto => "auto",
        };
        let mut command = Command::new(daemon);
        command
            .arg(format!("--socket-path={}", socket.display()))
            .args(["-o", &format!("source={}", share.folder.display())])
            .args(["-o", &format!("cache={cache}"), "-o", "sandbox=chroot"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        let child = spawn(command, daemon)?;
        let served = Served { child, socket };
        let begun = Instant::now();
        while !served.socket.exists() {
            if begun.elapsed() > PATIENCE {
                let path = share.folder.display();
                return Err(Error::new(format!(
                    "`{daemon}` does not serve `{path}`: it needs root"
                )));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(served)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a process that ends with this one, also if this one is killed.
pub(crate) fn spawn(mut command: Command, name: &str) -> Result<Child, Error> {
    // SAFETY: between fork and exec there is one system call.
    unsafe {
        command.pre_exec(|| set_pdeathsig(Signal::SIGKILL).map_err(std::io::Error::from));
    }
    let started = command.spawn();
    started.map_err(|error| {
        Error::new(format!(
            "could not run `{name}`: {error}; `scripts/setup-kernels` installs it"
        ))
    })
}

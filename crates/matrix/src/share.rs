//! Folders of the host that a guest sees. A daemon serves each, and ends with this process.

use crate::error::Error;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Paths of the daemon in Debian's packages: `virtiofsd`, and in older releases QEMU's.
const DAEMONS: [&str; 2] = ["/usr/libexec/virtiofsd", "/usr/lib/qemu/virtiofsd"];
/// Time limit for a daemon to listen, which takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// Process that this one started. It ends when the value is dropped, and when this process ends, even if it is killed.
#[derive(Debug)]
pub(crate) struct Running(Child);

impl Running {
    /// Starts it.
    pub(crate) fn start(mut command: Command) -> Result<Running, Error> {
        let name = command.get_program().display().to_string();
        // SAFETY: between fork and exec there is one system call.
        unsafe {
            command.pre_exec(|| set_pdeathsig(Signal::SIGKILL).map_err(std::io::Error::from));
        }
        let started = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        let hint = "`scripts/setup-kernels` installs it";
        started
            .map(Running)
            .map_err(|error| Error::new(format!("could not run `{name}`: {error}; {hint}")))
    }

    /// Returns true until it has ended.
    pub(crate) fn runs(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Serves a folder by a socket in the folder `sockets`, where the daemon's output goes, too. `cache` sets how long the
/// guest may trust what it read: `always`, or `auto` for files that change meanwhile.
pub(crate) fn serve(
    tag: &str,
    folder: &Path,
    cache: &str,
    sockets: &Path,
) -> Result<(Running, PathBuf), Error> {
    let missing = || {
        format!(
            "{} is missing: `scripts/setup-kernels` installs it",
            DAEMONS.join(" or ")
        )
    };
    let daemon = DAEMONS.iter().find(|path| Path::new(path).exists());
    let daemon = daemon.ok_or_else(|| Error::new(missing()))?;
    let socket = sockets.join(tag);
    let log = sockets.join(format!("{tag}.log"));
    let folder = folder.display();
    let mut command = Command::new(daemon);
    command
        .arg(format!("--socket-path={}", socket.display()))
        .args([
            "-o",
            &format!("source={folder}"),
            "-o",
            &format!("cache={cache}"),
        ])
        .args(["-o", "sandbox=chroot"])
        .stderr(File::create(&log).map_err(Error::file("write", &log))?);
    let running = Running::start(command)?;
    let begun = Instant::now();
    while !socket.exists() {
        if begun.elapsed() > PATIENCE {
            return Err(Error::new(format!(
                "`{daemon}` does not serve `{folder}`: it needs root"
            )));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok((running, socket))
}

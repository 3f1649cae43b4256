//! Lock by which one command at a time changes pins.

use super::Pins;
use crate::errors::{device, load as load_errors};
use diag::Diagnostic;
use host::safe_dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

/// Right to change what is in a folder, or mounted on it. It ends with the process.
#[derive(Debug)]
pub(super) struct Lock {
    _folder: Flock<File>,
}

impl Pins {
    /// Takes the lock on Onpath's folder.
    pub(super) fn lock(&self, root: &Dir) -> Result<Lock, Box<Diagnostic>> {
        let file = root.opened_again();
        let file = file.map_err(|e| load_errors::pins(root.shown(), "lock", &e))?;
        self.lock_file(file, root.shown())
    }

    /// Locks a file or folder. Waits for another command that holds the lock, up to the patience of these pins.
    pub(super) fn lock_file(&self, mut file: File, at: &Path) -> Result<Lock, Box<Diagnostic>> {
        let started = Instant::now();
        loop {
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(folder) => return Ok(Lock { _folder: folder }),
                Err((back, Errno::EWOULDBLOCK)) if started.elapsed() < self.patience => file = back,
                Err((_, Errno::EWOULDBLOCK)) => return Err(device::busy()),
                Err((_, error)) => return Err(load_errors::pins(at, "lock", &error.into())),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

//! A process that detaches what its parent leaves behind when it is killed.
//!
//! It is this program, run anew with [`ARGUMENT`], in a process group of its own, and heeds no signal that can be
//! blocked. Its standard input is a pipe whose other end is the parent's alone: it ends with the parent, however that
//! ends. If the guard is killed too, the next command does what it would have done: see [`Pins::mend`].

use crate::Pins;
use crate::pins::Owner;
use diag::Diagnostic;
use nix::sys::signal::SigSet;
use nix::unistd::getppid;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The command of this program that runs [`keep`].
pub const ARGUMENT: &str = "guard";
/// How long a process may take to end whose files are closed already.
const PATIENCE: Duration = Duration::from_secs(10);

/// A guard of this process. Dropping it ends it, after whatever the process still has is detached.
#[derive(Debug)]
pub struct Guard {
    child: Child,
}

impl Guard {
    /// Starts one. Only what says that it [ends with this process](Owner) is guarded.
    pub fn start() -> io::Result<Guard> {
        let mut command = Command::new("/proc/self/exe");
        command
            .arg0("onpath")
            .arg(ARGUMENT)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        Ok(Guard {
            child: command.spawn()?,
        })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Waits for the parent to let go of standard input, and detaches what it has left if it has ended.
pub fn keep() -> Result<(), Box<Diagnostic>> {
    // What cannot be blocked ends this process too.
    let _ = SigSet::all().thread_block();
    let parent = Owner::of(getppid().as_raw() as u32);
    let _ = io::stdin().read_to_end(&mut Vec::new());
    // A process that ends closes its files first.
    let begun = Instant::now();
    if let Ok(parent) = parent {
        while !parent.has_ended() && is_left(&parent, begun)? {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    Pins::default().mend_at_last()
}

/// Whether it is worth waiting: the parent holds something, and may still end.
fn is_left(parent: &Owner, begun: Instant) -> Result<bool, Box<Diagnostic>> {
    Ok(begun.elapsed() < PATIENCE && Pins::default().has_owned_by(parent)?)
}

//! Process that detaches the programs of its parent when the parent is killed.
//!
//! It is this executable, started with [`ARGUMENT`] in a process group of its own. It blocks all signals that can be
//! blocked. Its standard input is a pipe whose other end only the parent holds, so the pipe closes however the parent
//! ends. If the guard is killed too, the next command detaches the programs: see [`Pins::mend`].

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
/// Longest wait for a process to end after it has closed its files.
const PATIENCE: Duration = Duration::from_secs(10);

/// Guard of this process. Dropping it ends the guard, after the programs that this process still owns are detached.
#[derive(Debug)]
pub struct Guard {
    child: Child,
}

impl Guard {
    /// Starts a guard. It guards only instances that [end with this process](Owner).
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

/// Waits until the parent closes its end of standard input. Then detaches the programs of the parent, if it has ended.
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

/// Returns true if waiting is worth it: the parent still owns an instance, and may still end.
fn is_left(parent: &Owner, begun: Instant) -> Result<bool, Box<Diagnostic>> {
    Ok(begun.elapsed() < PATIENCE && Pins::default().has_owned_by(parent)?)
}

//! Programs of peers that run in the router's namespace.

use crate::error::Error;
use host::interrupt::Interrupts;
use lab::Space;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Time for a program to be ready.
const PATIENCE: Duration = Duration::from_secs(90);
/// Time for a program to end.
const LAST: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(3);

/// Running program. Dropping the value ends it, and waits until it has ended.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    output: PathBuf,
}

impl Process {
    /// Starts a program. What it writes goes to a file in the folder.
    pub(crate) fn start(
        space: &Space,
        interrupts: &Interrupts,
        folder: &Path,
        words: &[String],
    ) -> Result<Process, Error> {
        let output = folder.join("output");
        let started = space.run(|| {
            let file = File::create(&output)?;
            let mut command = Command::new(&words[0]);
            interrupts.spare(&mut command);
            command
                .args(&words[1..])
                .stdin(Stdio::null())
                .stdout(file.try_clone()?)
                .stderr(file);
            command.spawn()
        });
        let child = started.map_err(|e| Error::new(format!("{}: {e}", words[0])))?;
        Ok(Process { child, output })
    }

    /// Waits until `is_ready` says so.
    pub(crate) fn wait(&mut self, mut is_ready: impl FnMut(&str) -> bool) -> Result<(), Error> {
        let begun = Instant::now();
        loop {
            let text = fs::read(&self.output).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            if is_ready(&text) {
                return Ok(());
            }
            let ended = self.child.try_wait().map_err(Error::system("a program"))?;
            if ended.is_some() || begun.elapsed() > PATIENCE {
                let last: Vec<&str> = text.lines().rev().take(3).collect();
                return Err(Error::new(format!("it is not ready: {}", last.join("; "))));
            }
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// Returns the most memory that it has had, in bytes.
    pub(crate) fn peak_memory(&self) -> io::Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
        let kibibytes = line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok());
        Ok(kibibytes.unwrap_or(0) << 10)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = kill(Pid::from_raw(self.child.id() as i32), Signal::SIGINT);
        let begun = Instant::now();
        while begun.elapsed() < LAST {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(LOOK_AGAIN);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! A network namespace, and work done in it.

use crate::task::Task;
use kernel::netns::NetNs;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Command, Output, Stdio};

/// A network namespace of our own with a loopback device that is up. Sockets belong to the namespace in which they were
/// made, whichever thread uses them later.
#[derive(Debug)]
pub struct Space {
    ns: NetNs,
}

impl Space {
    /// Makes one; it takes root.
    pub fn new() -> io::Result<Space> {
        let space = Space { ns: NetNs::new()? };
        space.ip("link set dev lo up\n")?;
        Ok(space)
    }

    /// Runs something in the namespace, on a thread of its own.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        self.ns.run(work)
    }

    /// Runs commands of `ip`, one a line.
    pub fn ip(&self, commands: &str) -> io::Result<()> {
        self.ns.run(|| kernel::veth::ip_batch(commands))
    }

    /// Runs a program to its end, which must be a success.
    pub fn output<S: AsRef<OsStr> + Sync>(&self, words: &[S]) -> io::Result<Output> {
        let output = self.ns.run(|| command(words)?.output())?;
        if output.status.success() {
            return Ok(output);
        }
        Err(io::Error::other(format!(
            "`{}` failed: {}{}",
            shown(words),
            String::from_utf8_lossy(&output.stderr).trim(),
            String::from_utf8_lossy(&output.stdout).trim()
        )))
    }

    /// Starts a program, which is killed when the returned value is dropped. Its standard output is a pipe.
    pub fn start<S: AsRef<OsStr> + Sync>(&self, words: &[S]) -> io::Result<Task> {
        self.ns.run(|| {
            let mut command = command(words)?;
            command.stdin(Stdio::null()).stdout(Stdio::piped());
            Ok(Task::new(command.spawn()?))
        })
    }

    /// Writes a setting below `/proc/sys/net/`.
    pub fn set(&self, name: &str, value: &str) -> io::Result<()> {
        let path = format!("/proc/sys/net/{name}");
        self.ns.run(|| {
            std::fs::write(&path, value).map_err(|e| io::Error::other(format!("{path}: {e}")))
        })
    }

    /// A counter of a device, as `rx_packets` or `tx_dropped`.
    pub fn counter(&self, device: &str, name: &str) -> io::Result<u64> {
        let output = self.output(&["ip", "-json", "-stats", "link", "show", "dev", device])?;
        let links: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        let (way, what) = name.split_once('_').unwrap_or((name, ""));
        links[0]["stats64"][way][what]
            .as_u64()
            .ok_or_else(|| io::Error::other(format!("`{device}` has no counter `{name}`: {links}")))
    }

    /// A path that names the namespace to other programs while this value lives.
    pub(crate) fn path(&self) -> String {
        format!(
            "/proc/{}/fd/{}",
            std::process::id(),
            self.ns.as_fd().as_raw_fd()
        )
    }
}

fn command<S: AsRef<OsStr>>(words: &[S]) -> io::Result<Command> {
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}

fn shown<S: AsRef<OsStr>>(words: &[S]) -> String {
    let words: Vec<_> = words.iter().map(|w| w.as_ref().to_string_lossy()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_run_inside_and_say_why_they_failed() {
        let space = Space::new().expect("this test needs root");
        let output = space
            .output(&["ip", "-oneline", "link", "show"])
            .expect("runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains("LOOPBACK,UP"), "{text}");
        let error = space
            .output(&["ip", "link", "show", "dev", "none"])
            .expect_err("fails");
        assert!(error.to_string().contains("does not exist"), "{error}");
        assert_eq!(space.counter("lo", "rx_packets").expect("there"), 0);
        assert!(space.counter("lo", "rx_wrong").is_err());
    }
}

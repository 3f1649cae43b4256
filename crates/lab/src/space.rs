//! Network namespace, and work done in it.

use crate::task::Task;
use net::link::{self, Setup, Statistics};
use net::link_settings::{self, Change, InterfaceLocation};
use net::netns::NetNs;
use nix::net::if_::if_nametoindex;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Command, Output, Stdio};

/// Network namespace of our own, with a loopback device that is up. Sockets belong to the namespace in which they were
/// made, whichever thread uses them later.
#[derive(Debug)]
pub struct Space {
    ns: NetNs,
}

impl Space {
    /// Makes one, which needs root.
    pub fn new() -> io::Result<Space> {
        let space = Space { ns: NetNs::new()? };
        space.run(|| link::set_up("lo", Setup::default()))?;
        Ok(space)
    }

    /// Runs a function in the namespace, on a thread of its own.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        self.ns.run(work)
    }

    /// Runs a program to its end. An exit status other than success is an error.
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

    /// Writes a kernel setting below `/proc/sys/net/`.
    pub fn set(&self, name: &str, value: &str) -> io::Result<()> {
        let path = format!("/proc/sys/net/{name}");
        self.ns.run(|| {
            std::fs::write(&path, value).map_err(|e| io::Error::other(format!("{path}: {e}")))
        })
    }

    /// Returns a device's counters.
    pub fn statistics(&self, device: &str) -> io::Result<Statistics> {
        self.run(|| link::statistics(device))
    }

    /// Makes the stack give a device packets of one segment only.
    pub fn one_segment(&self, device: &str) -> io::Result<()> {
        let one = Change::segments(1);
        self.run(|| {
            link_settings::change(
                &InterfaceLocation::here(device, if_nametoindex(device)?),
                one,
            )
        })
    }
}

/// Descriptor of the namespace, as [`net::link::End`] takes it.
impl AsFd for Space {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ns.as_fd()
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
    }

    #[test]
    fn devices_count() {
        let space = Space::new().expect("this test needs root");
        assert_eq!(space.statistics("lo").expect("there").rx_packets, 0);
        space
            .output(&["ping", "-c1", "127.0.0.1"])
            .expect("answers");
        let counted = space.statistics("lo").expect("there");
        assert_eq!((counted.rx_packets, counted.tx_packets), (2, 2));
        assert_eq!((counted.rx_bytes, counted.rx_dropped), (2 * 84, 0));
        let error = space.statistics("none").expect_err("no such device");
        assert!(error.to_string().contains("`none`"), "{error}");
    }
}

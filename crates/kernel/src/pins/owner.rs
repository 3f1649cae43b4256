//! The process that an instance ends with.
//!
//! Pinned programs outlive their process. An instance must not if its process changed settings that slow the machine
//! down. It records the process, and any command that finds the process ended detaches the instance.

use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

/// A process, distinct from later ones with its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Owner {
    pid: u32,
    /// Start time, in clock ticks since the machine started.
    started: u64,
    /// The number of the namespace that `pid` belongs to.
    pid_namespace: u64,
}

impl Owner {
    /// Returns this process.
    pub fn this() -> io::Result<Owner> {
        Owner::of(std::process::id())
    }

    /// Returns a process of this one's PID namespace.
    pub(crate) fn of(pid: u32) -> io::Result<Owner> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        let (_, started) = state_and_start(&stat).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Owner {
            pid,
            started,
            pid_namespace: pid_namespace()?,
        })
    }

    /// Returns true if it has ended. A process of another PID namespace cannot be seen from here, and counts as
    /// running.
    pub fn has_ended(&self) -> bool {
        if !pid_namespace().is_ok_and(|ours| ours == self.pid_namespace) {
            return false;
        }
        match fs::read_to_string(format!("/proc/{}/stat", self.pid)) {
            Ok(stat) => state_and_start(&stat).is_some_and(|(state, started)| {
                // A zombie's status has not been collected yet.
                started != self.started || matches!(state, 'Z' | 'X')
            }),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    }
}

fn pid_namespace() -> io::Result<u64> {
    Ok(fs::metadata("/proc/self/ns/pid")?.ino())
}

/// Reads the state and the start time from `/proc/PID/stat`: the third field and the twenty-second. The second is a
/// name, which may have blanks and parentheses.
fn state_and_start(stat: &str) -> Option<(char, u64)> {
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(18)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_process_has_ended_once_it_is_killed_whether_or_not_its_status_was_asked_for() {
        assert!(!Owner::this().expect("there is one").has_ended());
        let mut child = Command::new("sleep").arg("60").spawn().expect("starts");
        let owner = Owner::of(child.id()).expect("it runs");
        assert!(!owner.has_ended());
        child.kill().expect("it runs");
        let begun = std::time::Instant::now();
        while !owner.has_ended() {
            assert!(begun.elapsed().as_secs() < 30, "it was killed");
            std::thread::yield_now();
        }
        child.wait().expect("it has ended");
        assert!(owner.has_ended());
        let later = Owner {
            started: 0,
            ..Owner::this().expect("there is one")
        };
        assert!(later.has_ended(), "another one has its number");
        let elsewhere = Owner {
            pid_namespace: 0,
            ..owner
        };
        assert!(!elsewhere.has_ended());
    }

    #[test]
    fn a_name_may_look_like_a_field() {
        let stat = "7 (a) R 1) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4711 1 1";
        assert_eq!(state_and_start(stat), Some(('S', 4711)));
    }
}

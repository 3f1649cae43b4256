//! Network namespaces without a name: they and all devices in them are gone with the last descriptor
//! and the last thread in them, however a process ends.

use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;

/// A network namespace of our own.
#[derive(Debug)]
pub struct NetNs {
    file: File,
}

impl NetNs {
    /// Makes a new one; it takes CAP_SYS_ADMIN.
    pub fn new() -> io::Result<NetNs> {
        // A thread of its own, so that this one stays where it is.
        thread::scope(|scope| {
            scope
                .spawn(|| {
                    unshare(CloneFlags::CLONE_NEWNET)?;
                    Ok(NetNs {
                        file: File::open("/proc/thread-self/ns/net")?,
                    })
                })
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("the namespace's thread ended")))
        })
    }

    /// Runs something in the namespace, on a thread of its own. Sockets, links and child processes
    /// that it makes stay there.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        thread::scope(|scope| {
            scope
                .spawn(|| {
                    setns(&self.file, CloneFlags::CLONE_NEWNET)?;
                    work()
                })
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("the namespace's thread ended")))
        })
    }
}

/// What `setns` and `ip link … netns` take.
impl AsFd for NetNs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_namespace_has_a_loopback_device_only() {
        let ns = NetNs::new().expect("this test needs root");
        let names = ns.run(|| Ok(crate::interface::names())).expect("runs");
        assert_eq!(names, ["lo"]);
        assert_ne!(crate::interface::names(), Vec::<String>::new());
    }
}

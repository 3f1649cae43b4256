//! Network namespaces. A namespace that is made here has no name: it and all its devices are gone with the last
//! descriptor and the last thread in it, however a process ends.

use crate::errors;
use crate::link_events::netns_cookie;
use diag::Diagnostic;
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::thread;

/// Folder in which `ip netns` has the namespaces to which it gave names.
const NAMED: &str = "/run/netns";
/// Network namespace of the first process.
const FIRST: &str = "/proc/1/ns/net";

/// A network namespace.
#[derive(Debug)]
pub struct NetNs {
    file: File,
}

/// Returns the number of this thread's network namespace. No other one has it while this one exists.
pub fn current() -> io::Result<u64> {
    Ok(fs::metadata("/proc/thread-self/ns/net")?.ino())
}

/// Finds the network namespace of this number, if a process is in it or it has a name.
pub fn by_number(number: u64) -> Option<NetNs> {
    find(|ns| ns.number().is_ok_and(|n| n == number))
}

/// Finds the first network namespace for which `is_it` returns true, of those that a process is in or that have a
/// name. Each is tested at least once.
pub fn find(mut is_it: impl FnMut(&NetNs) -> bool) -> Option<NetNs> {
    let [named, of_processes] = paths();
    let mut all = of_processes.into_iter().chain(named);
    all.find_map(|path| {
        // Opened first, so that the namespace that is tested is the one that is used.
        let file = File::open(path).ok()?;
        let ns = NetNs { file };
        is_it(&ns).then_some(ns)
    })
}

/// Returns a path by which the network namespace of this number can be entered now: that of its name, if it has one,
/// or of a process in it.
pub fn path_of(number: u64) -> Option<PathBuf> {
    let is_it = |path: &PathBuf| fs::metadata(path).is_ok_and(|ns| ns.ino() == number);
    paths().into_iter().flatten().find(is_it)
}

/// Lists the paths of network namespaces: by their names, and by the processes in them.
fn paths() -> [Vec<PathBuf>; 2] {
    let paths = |folder: &str, inside: &str| -> Vec<PathBuf> {
        let list = fs::read_dir(folder).into_iter().flatten();
        list.filter_map(|entry| Some(entry.ok()?.path().join(inside)))
            .collect()
    };
    // Joining an empty path adds a slash, which a file does not have.
    let trimmed = |path: PathBuf| path.components().collect::<PathBuf>();
    let named = paths(NAMED, "").into_iter().map(trimmed);
    [named.collect(), paths("/proc", "ns/net")]
}

/// Returns the names that `ip netns` gave namespaces.
pub fn names() -> Vec<String> {
    let there = fs::read_dir(NAMED).into_iter().flatten().flatten();
    let mut names: Vec<String> = there
        .map(|named| named.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Opens the namespace to which `ip netns` gave a name. It does not wait for a named pipe.
pub(crate) fn named(name: &str) -> io::Result<NetNs> {
    let mut open = fs::OpenOptions::new();
    let open = open.read(true).custom_flags(libc::O_NONBLOCK);
    let file = open.open(Path::new(NAMED).join(name))?;
    Ok(NetNs { file })
}

/// Moves this thread, and those that it starts from now on, to a network namespace, given by a path or by a name for
/// `ip netns`. The mount namespace stays, and with it the BPF file system.
///
/// # Errors
/// E0711: there is no such namespace, or this process may not enter it.
pub fn enter(name: &Path) -> Result<(), Box<Diagnostic>> {
    let mut parts = name.components();
    let path = match (parts.next(), parts.next()) {
        (Some(Component::Normal(name)), None) => Path::new(NAMED).join(name),
        _ => name.to_owned(),
    };
    // The open does not wait for a named pipe.
    let mut open = fs::OpenOptions::new();
    let file = open.read(true).custom_flags(libc::O_NONBLOCK).open(&path);
    let entered = file.and_then(|file| Ok(setns(file, CloneFlags::CLONE_NEWNET)?));
    entered.map_err(|error| errors::not_entered(name, &names(), &error))
}

/// Moves this thread to a new, empty network namespace, so that it does not keep the present one alive. In the
/// namespace of the first process, which lasts as long as any does, the thread stays.
///
/// # Errors
/// The thread stays: this process may not make a namespace (CAP_SYS_ADMIN).
pub fn leave() -> io::Result<()> {
    /// Cookie of the machine's first network namespace.
    const FIRST_COOKIE: u64 = 1;
    let is_first = match fs::metadata(FIRST) {
        Ok(first) => current()? == first.ino(),
        // Reading it takes CAP_SYS_PTRACE.
        Err(_) => netns_cookie()? == FIRST_COOKIE,
    };
    match is_first {
        true => Ok(()),
        false => Ok(unshare(CloneFlags::CLONE_NEWNET)?),
    }
}

/// Tests whether no process is in the network namespace of this number and it has no name. Returns `false` too if some
/// of them may not be inspected.
pub fn is_gone(number: u64) -> bool {
    let is_another = |path: PathBuf| match fs::metadata(path) {
        Ok(ns) => ns.ino() != number,
        // A process that has ended meanwhile.
        Err(error) => matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESRCH)),
    };
    // Where processes are hidden, the first one is too.
    fs::metadata(FIRST).is_ok() && paths().into_iter().flatten().all(is_another)
}

/// Runs work in the network namespace of this number; 0 means the present one. Returns `None` if the namespace is not
/// found: it [is gone](is_gone), and its interfaces with it, or this process may not see it.
pub fn run_in<T: Send>(
    number: u64,
    work: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<Option<T>> {
    if number == 0 || number == current()? {
        return work().map(Some);
    }
    by_number(number).map(|there| there.run(work)).transpose()
}

impl NetNs {
    /// Makes a new namespace; it takes CAP_SYS_ADMIN.
    pub fn new() -> io::Result<NetNs> {
        // In a thread of its own, so that this one stays where it is.
        thread::scope(|scope| {
            scope
                .spawn(|| {
                    unshare(CloneFlags::CLONE_NEWNET)?;
                    NetNs::here()
                })
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("the namespace's thread ended")))
        })
    }

    /// Returns the namespace that this thread is in.
    pub fn here() -> io::Result<NetNs> {
        let file = File::open("/proc/thread-self/ns/net")?;
        Ok(NetNs { file })
    }

    /// Moves this thread to it; it takes CAP_SYS_ADMIN.
    pub fn enter(&self) -> io::Result<()> {
        Ok(setns(&self.file, CloneFlags::CLONE_NEWNET)?)
    }

    /// Returns its number, see [`current`].
    pub fn number(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.ino())
    }

    /// Runs work in the namespace, on a thread of its own. Sockets, links and child processes that it makes stay
    /// there.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        thread::scope(|scope| {
            scope
                .spawn(|| {
                    self.enter()?;
                    work()
                })
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("the namespace's thread ended")))
        })
    }
}

/// Gives the descriptor that `setns` and `ip link … netns` take.
impl AsFd for NetNs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_new_namespace_has_a_loopback_device_only() {
        let ns = NetNs::new().expect("this test needs root");
        let names = ns.run(|| Ok(crate::interface::names())).expect("runs");
        assert_eq!(names, ["lo"]);
        assert_ne!(crate::interface::names(), Vec::<String>::new());
    }
    #[test]
    fn a_namespace_is_found_by_its_number() {
        let ns = NetNs::new().expect("this test needs root");
        let number = ns.run(current).expect("runs");
        assert_ne!(number, current().expect("here"));
        let inside = ns.run(|| Command::new("sleep").arg("60").spawn());
        let mut inside = inside.expect("a process in it");
        let found = by_number(number).expect("a process is in it");
        assert_eq!(found.run(current).expect("runs"), number);
        drop(found);
        inside.kill().expect("it runs");
        inside.wait().expect("it ends");
        drop(ns);
        assert!(by_number(number).is_none(), "no process is in it any more");
    }
}

//! Readiness of thousands of descriptors.

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

/// Descriptors that this process may open.
const DESCRIPTORS: u64 = 100_000;

/// Set of descriptors that are waited for. An event names its descriptor by the number.
#[derive(Debug)]
pub(super) struct Poll(Epoll);

impl Poll {
    pub(super) fn new() -> io::Result<Poll> {
        Ok(Poll(Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?))
    }

    /// Waits for what can be read, until the descriptor is closed.
    pub(super) fn add_reader(&self, of: &(impl AsFd + AsRawFd)) -> io::Result<()> {
        self.add(of, EpollFlags::EPOLLIN)
    }

    /// Waits for the next moment at which it can be read or written, once each.
    pub(super) fn add_both(&self, of: &(impl AsFd + AsRawFd)) -> io::Result<()> {
        self.add(
            of,
            EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT | EpollFlags::EPOLLET,
        )
    }

    fn add(&self, of: &(impl AsFd + AsRawFd), flags: EpollFlags) -> io::Result<()> {
        Ok(self
            .0
            .add(of, EpollEvent::new(flags, of.as_raw_fd() as u64))?)
    }

    /// Waits at most this long, and returns the descriptors that are ready.
    pub(super) fn wait(&self, longest: Duration) -> io::Result<Vec<u64>> {
        let mut events = [EpollEvent::empty(); 512];
        let longest = EpollTimeout::try_from(longest).unwrap_or(EpollTimeout::MAX);
        let count = match self.0.wait(&mut events, longest) {
            Err(nix::errno::Errno::EINTR) => 0,
            waited => waited?,
        };
        Ok(events[..count].iter().map(EpollEvent::data).collect())
    }
}

/// Raises the number of descriptors that this process may open, as far as it may, and returns it.
pub(super) fn raise_descriptors() -> io::Result<u64> {
    let (now, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    // Not every root may raise the hard limit.
    if now < DESCRIPTORS
        && setrlimit(Resource::RLIMIT_NOFILE, DESCRIPTORS, most.max(DESCRIPTORS)).is_err()
    {
        setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
    }
    Ok(getrlimit(Resource::RLIMIT_NOFILE)?.0)
}

//! One writer at a time, in whichever process and thread, and nothing half done where one was killed.
//!
//! The lock is on the folder in which the program is pinned: it belongs to this loading, only root can open it, and
//! the kernel releases it when its holder dies. Before a change of more than one element a journal is pinned beside
//! the maps that records how to undo it; when the change is complete, the journal is removed. So a command that takes
//! the lock and finds a journal, reader or writer, first undoes what a killed writer has begun.

use super::steps::{Undo, settle};
use super::successor;
use super::{KernelStore, system};
use crate::pins::JOURNAL;
use crate::sys::Map;
use control::StoreError;
use host::safe_dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// How long a command waits for others: the largest batches take seconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// The longest pause before the lock is tried again.
const PAUSE: Duration = Duration::from_millis(4);
/// Bytes of one element of a long journal.
const PART: usize = 1 << 16;

/// The folder of a pinned program, whose lock its writers hold in turn.
#[derive(Debug)]
pub struct Guard {
    folder: Arc<Dir>,
    instance: Arc<Dir>,
    member: usize,
}

/// The lock, as long as this lives.
#[derive(Debug)]
pub(crate) struct HeldLock {
    _lock: Flock<File>,
}

impl Guard {
    /// Guards the program of that number in its instance: it is pinned in a folder of the instance's.
    pub(crate) fn new(folder: Dir, instance: Arc<Dir>, member: usize) -> Guard {
        Guard {
            folder: Arc::new(folder),
            instance,
            member,
        }
    }

    /// The program's number in its instance.
    pub(super) fn member(&self) -> usize {
        self.member
    }

    /// The folder of the program's pins.
    pub(crate) fn folder(&self) -> &Arc<Dir> {
        &self.folder
    }

    /// The instance's folder, which has its attachments.
    pub(super) fn instance(&self) -> &Dir {
        &self.instance
    }

    /// Waits until no other writer and no reader is left.
    pub(super) fn write(&self, patience: Duration) -> Result<HeldLock, StoreError> {
        self.lock(FlockArg::LockExclusiveNonblock, patience)
    }

    /// As a writer, for somebody who goes on without the lock if others do not end in time.
    pub(crate) fn write_within(&self, patience: Duration) -> Option<HeldLock> {
        self.write(patience).ok()
    }

    /// Waits until no writer is left.
    pub(super) fn read(&self) -> Result<HeldLock, StoreError> {
        self.lock(FlockArg::LockSharedNonblock, PATIENCE)
    }

    fn lock(&self, how: FlockArg, patience: Duration) -> Result<HeldLock, StoreError> {
        let failed = system("lock the program's tables");
        let started = Instant::now();
        let mut pause = Duration::from_micros(100);
        let mut folder = self.folder.opened_again().map_err(&failed)?;
        loop {
            match Flock::lock(folder, how) {
                Ok(lock) => {
                    // A folder that was removed has no links left.
                    if lock.metadata().map_err(&failed)?.nlink() == 0 {
                        return Err(StoreError::Unloaded);
                    }
                    return Ok(HeldLock { _lock: lock });
                }
                Err((back, Errno::EWOULDBLOCK)) if started.elapsed() < patience => folder = back,
                Err((_, Errno::EWOULDBLOCK)) => {
                    return Err(StoreError::System {
                        what: format!(
                            "another process has been changing the program's tables for {} seconds; try again later",
                            patience.as_secs()
                        ),
                    });
                }
                Err((_, error)) => return Err(failed(error.into())),
            }
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSE);
        }
    }

    /// Whether a writer was killed in the middle of a change.
    pub(super) fn is_unfinished(&self) -> bool {
        self.has_journal() || successor::is_waiting(self)
    }

    /// Whether it was, and nobody has come since who undoes or finishes the change.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.is_unfinished() && self.write_within(Duration::ZERO).is_some() && self.is_unfinished()
    }

    fn has_journal(&self) -> bool {
        self.folder.has(JOURNAL)
    }

    /// Writes down how a change is undone, in the order in which that is to happen.
    pub(super) fn begin(&self, undo: &[Undo<'_>]) -> Result<(), StoreError> {
        let write = || -> io::Result<()> {
            let mut bytes = vec![0; size_of::<u64>()];
            bytes = postcard::to_extend(undo, bytes).map_err(io::Error::other)?;
            let length = bytes.len() as u64;
            bytes[..size_of::<u64>()].copy_from_slice(&length.to_ne_bytes());
            let part = bytes.len().next_multiple_of(8).min(PART);
            bytes.resize(bytes.len().next_multiple_of(part), 0);
            let parts = (bytes.len() / part) as u32;
            let map = Map::create(
                libbpf_sys::BPF_MAP_TYPE_ARRAY,
                "onpath_journal",
                4,
                part as u32,
                parts,
                0,
            )?;
            let keys: Vec<u8> = (0..parts).flat_map(u32::to_ne_bytes).collect();
            map.set_many(&keys, &bytes).map_err(|p| p.error)?;
            map.pin(&self.folder, JOURNAL)
        };
        write().map_err(system("write down how to undo the change"))
    }

    /// The change is complete, or undone.
    pub(super) fn end(&self) -> Result<(), StoreError> {
        self.folder
            .remove_file(JOURNAL)
            .map_err(system("end the change"))
    }

    /// Undoes or finishes what a killed writer has begun. The caller holds the lock for writing.
    pub(super) fn recover(&self, store: &KernelStore) -> Result<(), StoreError> {
        if successor::is_waiting(self) {
            successor::recover(self)?;
        }
        if !self.has_journal() {
            return Ok(());
        }
        let failed = system("read how to undo what a killed command has begun");
        let map = Map::open(&self.folder, JOURNAL).map_err(&failed)?;
        let mut bytes = Vec::new();
        map.each(|_, part| bytes.extend_from_slice(part))
            .map_err(&failed)?;
        let (length, rest) = bytes.split_first_chunk().unwrap_or((&[0; 8], &[]));
        let length = u64::from_ne_bytes(*length) as usize;
        let body = rest.get(..length.saturating_sub(8)).unwrap_or_default();
        let undo: Vec<Undo<'_>> =
            postcard::from_bytes(body).map_err(|e| failed(io::Error::other(e)))?;
        for step in &undo {
            step.run(store)?;
        }
        settle(store);
        self.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    /// A guard of a folder that is removed when this goes, if it is still there.
    struct Folder(PathBuf, Guard);

    impl Folder {
        fn new(name: &str) -> Folder {
            let name = format!("onpath-guard-{}-{name}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir(&path).expect("a folder of this test's own");
            let open = || Dir::at(&path).expect("it is there");
            let guard = Guard::new(open(), Arc::new(open()), 0);
            Folder(path, guard)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir(&self.0);
        }
    }

    /// Takes the lock in another thread, if that is possible now.
    fn elsewhere(guard: &Guard, how: FlockArg) -> Result<HeldLock, StoreError> {
        let take = || guard.lock(how, Duration::ZERO);
        thread::scope(|scope| scope.spawn(take).join().expect("it does not panic"))
    }

    #[test]
    fn threads_of_one_process_keep_each_other_away() {
        use FlockArg::{LockExclusiveNonblock as WRITE, LockSharedNonblock as READ};
        let Folder(_, guard) = &Folder::new("threads");
        let writer = guard.write(Duration::ZERO).expect("nobody has it");
        assert!(elsewhere(guard, WRITE).is_err());
        assert!(elsewhere(guard, READ).is_err());
        // What others have tried has not ended it.
        assert!(elsewhere(guard, WRITE).is_err());
        drop(writer);
        let readers = [READ, READ].map(|how| elsewhere(guard, how).expect("only readers have it"));
        assert!(elsewhere(guard, WRITE).is_err());
        let [first, second] = readers;
        drop(first);
        assert!(elsewhere(guard, WRITE).is_err());
        drop(second);
        assert!(elsewhere(guard, WRITE).is_ok());
    }

    #[test]
    fn the_lock_of_a_folder_that_was_removed_is_refused() {
        let folder = Folder::new("removed");
        fs::remove_dir(&folder.0).expect("it is empty");
        let refused = folder.1.write(Duration::ZERO);
        assert_eq!(refused.err(), Some(StoreError::Unloaded));
    }
}

//! Lock on a folder. It belongs to the process that opened the folder, and ends with its holder, however that ends.

use super::Dir;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::thread;
use std::time::{Duration, Instant};

/// The longest pause before the lock is tried again.
const PAUSE: Duration = Duration::from_millis(4);

/// Mode of a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hold {
    /// Exclusive.
    Alone,
    /// Shared with others that hold it in this mode.
    Together,
}

/// Lock of a folder, held as long as this value lives.
#[derive(Debug)]
pub struct FolderLock {
    _lock: Flock<File>,
}

impl FolderLock {
    /// Takes the lock of a folder, against other threads and processes. Returns `None` if others did not release it in
    /// time.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`]: the folder was removed.
    pub fn take(folder: &Dir, how: Hold, patience: Duration) -> io::Result<Option<FolderLock>> {
        let how = match how {
            Hold::Alone => FlockArg::LockExclusiveNonblock,
            Hold::Together => FlockArg::LockSharedNonblock,
        };
        let started = Instant::now();
        let mut pause = Duration::from_micros(100);
        let mut folder = folder.opened_again()?;
        loop {
            match Flock::lock(folder, how) {
                // A folder that was removed has no links left.
                Ok(lock) if lock.metadata()?.nlink() == 0 => {
                    return Err(io::ErrorKind::NotFound.into());
                }
                Ok(lock) => return Ok(Some(FolderLock { _lock: lock })),
                Err((back, Errno::EWOULDBLOCK)) if started.elapsed() < patience => folder = back,
                Err((_, Errno::EWOULDBLOCK)) => return Ok(None),
                Err((_, error)) => return Err(error.into()),
            }
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Takes the lock in another thread, if that is possible now.
    fn elsewhere(folder: &Dir, how: Hold) -> Option<FolderLock> {
        let take = || FolderLock::take(folder, how, Duration::ZERO).expect("it is there");
        thread::scope(|scope| scope.spawn(take).join().expect("it does not panic"))
    }

    #[test]
    fn threads_of_one_process_keep_each_other_away() {
        use Hold::{Alone, Together};
        let path = tempfile::tempdir().expect("a folder of this test's own");
        let folder = &Dir::at(path.path()).expect("it is there");
        let writer = elsewhere(folder, Alone).expect("nobody has it");
        assert!(elsewhere(folder, Alone).is_none());
        assert!(elsewhere(folder, Together).is_none());
        // The other attempts have not ended it.
        assert!(elsewhere(folder, Alone).is_none());
        drop(writer);
        let readers = [Together, Together].map(|how| elsewhere(folder, how).expect("only readers"));
        assert!(elsewhere(folder, Alone).is_none());
        let [first, second] = readers;
        drop(first);
        assert!(elsewhere(folder, Alone).is_none());
        drop(second);
        assert!(elsewhere(folder, Alone).is_some());
    }

    #[test]
    fn the_lock_of_a_folder_that_was_removed_is_refused() {
        let path = tempfile::tempdir().expect("a folder of this test's own");
        let folder = Dir::at(path.path()).expect("it is there");
        fs::remove_dir(path.path()).expect("it is empty");
        let refused = FolderLock::take(&folder, Hold::Alone, Duration::ZERO);
        let kind = refused.err().map(|error| error.kind());
        assert_eq!(kind, Some(io::ErrorKind::NotFound));
    }
}

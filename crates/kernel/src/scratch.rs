//! A folder for the compiler's files, which no end of this process leaves behind for good.
//!
//! It goes with the value. A process that is killed leaves it, but not the lock on a file in it: the next one that makes
//! such a folder removes it.

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::unistd::Uid;
use std::fs::{self, DirEntry, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// What the names of all such folders begin with.
const PREFIX: &str = "onpath-cc-";
/// The file that the folder's process keeps locked. It has this name only once it is locked.
const OWNER: &str = "owner";
/// A folder without [`OWNER`] is that of a process about to lock it, or of one killed at that moment.
const LONG_ENOUGH_TO_LOCK: Duration = Duration::from_secs(60);

/// A folder of this process, for its user only.
#[derive(Debug)]
pub(crate) struct Scratch {
    // Removed before the lock is let go.
    folder: TempDir,
    _owner: Flock<File>,
}

impl Scratch {
    /// A new one in the folder for temporary files, from which those of dead processes are removed.
    pub(crate) fn new() -> io::Result<Scratch> {
        Scratch::within(&std::env::temp_dir())
    }

    fn within(above: &Path) -> io::Result<Scratch> {
        sweep(above);
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(above)?;
        let unlocked = folder.path().join("unlocked");
        let owner = lock(File::create(&unlocked)?)?;
        fs::rename(&unlocked, folder.path().join(OWNER))?;
        Ok(Scratch {
            folder,
            _owner: owner,
        })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn lock(file: File) -> io::Result<Flock<File>> {
    Flock::lock(file, FlockArg::LockExclusiveNonblock)
        .map_err(|(_, error): (_, Errno)| error.into())
}

/// Removes what dead processes of this user left in the folder for temporary files. What cannot be removed stays.
pub fn sweep_temporary() {
    sweep(&std::env::temp_dir());
}

fn sweep(above: &Path) {
    let Ok(list) = fs::read_dir(above) else {
        return;
    };
    for entry in list.filter_map(Result::ok) {
        if is_left_behind(&entry) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_left_behind(entry: &DirEntry) -> bool {
    if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
        return false;
    }
    let Ok(about) = entry.metadata() else {
        return false;
    };
    if !about.is_dir() || about.uid() != Uid::effective().as_raw() {
        return false;
    }
    match File::open(entry.path().join(OWNER)) {
        Ok(owner) => lock(owner).is_ok(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => about
            .modified()
            .is_ok_and(|at| at.elapsed().is_ok_and(|age| age > LONG_ENOUGH_TO_LOCK)),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let list = fs::read_dir(folder).expect("a folder");
        let mut names: Vec<String> = list
            .map(|e| {
                e.expect("readable")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_folder_of_a_dead_process_is_removed_and_that_of_a_living_one_stays() {
        let above = tempfile::tempdir().expect("a folder");
        let alive = Scratch::within(above.path()).expect("room");
        let dead = above.path().join("onpath-cc-dead");
        fs::create_dir(&dead).expect("room");
        fs::write(dead.join(OWNER), "").expect("room");
        fs::write(dead.join("prog.c"), "int x;").expect("room");
        // Somebody else's, whatever is in it, and one whose process has not locked it yet.
        fs::create_dir(above.path().join("onpath-src")).expect("room");
        fs::write(above.path().join("onpath-src").join(OWNER), "").expect("room");
        fs::create_dir(above.path().join("onpath-cc-new")).expect("room");
        let kept = alive
            .path()
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let second = Scratch::within(above.path()).expect("room");
        drop(second);
        let mut expected = vec![kept, "onpath-cc-new".into(), "onpath-src".into()];
        expected.sort();
        assert_eq!(names(above.path()), expected);
        drop(alive);
        assert_eq!(names(above.path()), ["onpath-cc-new", "onpath-src"]);
    }
}

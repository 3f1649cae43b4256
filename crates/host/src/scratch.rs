//! Temporary folder of a process, which is removed however the process ends.
//!
//! Dropping the value removes the folder. A process that is killed leaves its folder, but the kernel releases the lock
//! on a file in it. The next process that makes such a folder removes the abandoned one.

use crate::safe_dir::{Dir, FileKind, Given};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// Prefix of the names of all such folders.
const PREFIX: &str = "onpath-cc-";
/// Name of the file that the folder's process keeps locked. It gets this name only once it is locked.
const OWNER: &str = "owner";
/// Name of this file before it is locked.
const UNLOCKED: &str = "unlocked";
/// Age at which a folder without [`OWNER`] is abandoned. A younger one may belong to a process that is about to lock
/// it.
const LONG_ENOUGH_TO_LOCK: Duration = Duration::from_secs(60);

/// Temporary folder of this process, for its user only.
#[derive(Debug)]
pub struct Scratch {
    // Dropped, and so removed, before the lock is released.
    folder: TempDir,
    _owner: Flock<File>,
}

impl Scratch {
    /// Makes a folder in the folder for temporary files, and removes those of dead processes there.
    pub fn new() -> io::Result<Scratch> {
        Scratch::within(&std::env::temp_dir())
    }

    /// Makes a folder in another folder, and removes those of dead processes there.
    pub fn within(above: &Path) -> io::Result<Scratch> {
        let given = Given::open(above)?;
        // Otherwise others could replace this folder by one of theirs.
        given.check_keeps()?;
        sweep(&given);
        let folder = tempfile::Builder::new()
            .prefix(PREFIX)
            // Otherwise the umask would decide who may change what is loaded.
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(above)?;
        let unlocked = folder.path().join(UNLOCKED);
        let owner = lock(File::create(&unlocked)?)?;
        fs::rename(&unlocked, folder.path().join(OWNER))?;
        Ok(Scratch {
            folder,
            _owner: owner,
        })
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn lock(file: File) -> io::Result<Flock<File>> {
    Flock::lock(file, FlockArg::LockExclusiveNonblock)
        .map_err(|(_, error): (_, Errno)| error.into())
}

/// Removes folders of dead processes of this user from the folder for temporary files. Errors are ignored.
pub fn sweep_temporary() {
    if let Ok(above) = Given::open(&std::env::temp_dir()) {
        sweep(&above);
    }
}

fn sweep(above: &Given) {
    for entry in above.entries().unwrap_or_default() {
        let name = entry.name.to_string_lossy();
        if entry.kind != FileKind::Folder || !name.starts_with(PREFIX) {
            continue;
        }
        // A folder of another user is not opened.
        if let Ok(folder) = above.open_dir(&entry.name)
            && is_left_behind(&folder).unwrap_or(false)
            && folder.clear().is_ok()
        {
            let _ = above.remove_dir(&entry.name, &folder);
        }
    }
}

fn is_left_behind(folder: &Dir) -> io::Result<bool> {
    match folder.open_file(OWNER) {
        Ok(owner) => Ok(lock(owner).is_ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let made = folder.opened_again()?.metadata()?.modified()?;
            let is_old = made.elapsed().is_ok_and(|age| age > LONG_ENOUGH_TO_LOCK);
            let is_empty = folder.entries()?.iter().all(|e| e.name == UNLOCKED);
            Ok(is_old && is_empty)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

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
    fn nobody_else_may_look_into_the_folder() {
        let above = tempfile::tempdir().expect("a folder");
        let scratch = Scratch::within(above.path()).expect("room");
        let about = fs::metadata(scratch.path()).expect("it is there");
        assert_eq!(about.permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn the_folder_of_a_dead_process_is_removed_and_that_of_a_living_one_stays() {
        let above = tempfile::tempdir().expect("a folder");
        let alive = Scratch::within(above.path()).expect("room");
        let dead = above.path().join("onpath-cc-dead");
        fs::create_dir(&dead).expect("room");
        fs::write(dead.join(OWNER), "").expect("room");
        fs::write(dead.join("prog.c"), "int x;").expect("room");
        // A folder of somebody else, with a file like ours, and one whose process has not locked it yet.
        fs::create_dir(above.path().join("onpath-src")).expect("room");
        fs::write(above.path().join("onpath-src").join(OWNER), "").expect("room");
        fs::create_dir(above.path().join("onpath-cc-new")).expect("room");
        // A link to a folder that looks like one of a dead process.
        let outside = tempfile::tempdir().expect("a folder");
        fs::write(outside.path().join(OWNER), "").expect("room");
        let link = above.path().join("onpath-cc-link");
        std::os::unix::fs::symlink(outside.path(), link).expect("room");
        // An old one, with a file that is not Onpath's.
        let notes = above.path().join("onpath-cc-notes");
        fs::create_dir(&notes).expect("room");
        fs::write(notes.join("notes"), "").expect("room");
        let old = SystemTime::now() - LONG_ENOUGH_TO_LOCK * 2;
        let folder = File::open(&notes).expect("there");
        folder.set_modified(old).expect("ours");
        let kept = alive
            .path()
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let second = Scratch::within(above.path()).expect("room");
        drop(second);
        let others = [
            "onpath-cc-link",
            "onpath-cc-new",
            "onpath-cc-notes",
            "onpath-src",
        ];
        let mut expected: Vec<String> = others.map(String::from).into();
        expected.push(kept);
        expected.sort();
        assert_eq!(names(above.path()), expected);
        drop(alive);
        assert_eq!(names(above.path()), others);
        assert!(outside.path().join(OWNER).exists());
    }
}

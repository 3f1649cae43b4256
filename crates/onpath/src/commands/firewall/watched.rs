//! Lists that are watched for changes.

use super::lists::Files;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Number, time and length of a file, by which a change is seen; `None` if it cannot be read.
type Stamp = Option<(u64, SystemTime, u64)>;

/// Files that are watched for changes.
pub(super) struct Watched {
    files: Vec<PathBuf>,
    /// Stamps by which the files were read.
    read: Vec<Stamp>,
    /// Last stamps.
    last: Vec<Stamp>,
}

impl Watched {
    pub(super) fn new(files: &Files) -> Watched {
        let files: Vec<PathBuf> = files.all().into_iter().cloned().collect();
        let now: Vec<Stamp> = files.iter().map(|file| stamp(file)).collect();
        Watched {
            files,
            read: now.clone(),
            last: now,
        }
    }

    /// Returns true if a file is another one than when it was read, and is not being written: its stamp was the same at
    /// the last call.
    pub(super) fn have_changed(&mut self) -> bool {
        let now: Vec<Stamp> = self.files.iter().map(|file| stamp(file)).collect();
        let rests = now == self.last;
        self.last = now;
        let changed = rests && self.last != self.read;
        if changed {
            self.read = self.last.clone();
        }
        changed
    }
}

fn stamp(file: &Path) -> Stamp {
    let found = fs::metadata(file).ok()?;
    Some((found.ino(), found.modified().ok()?, found.len()))
}

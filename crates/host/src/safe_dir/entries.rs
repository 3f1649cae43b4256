//! Entries of a folder, by their kinds.

use super::FOLDER;
use super::checks::stat_of;
use rustix::fs::{FileType, Mode, RawDir, openat};
use std::ffi::OsString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;

/// The kind of an entry of a folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// A regular file; pins are such files.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A device, a FIFO or a socket.
    Other,
}

/// Entry of a folder. The kind of a symbolic link is that of the link, not of its target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// Its kind when the folder was read.
    pub kind: FileKind,
}

pub(super) fn kind_of(found: FileType) -> FileKind {
    match found {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Folder,
        FileType::Symlink => FileKind::Link,
        _ => FileKind::Other,
    }
}

/// Returns the entries of an open folder, by name.
pub(super) fn entries(fd: &OwnedFd) -> io::Result<Vec<Entry>> {
    /// Size of a system call's buffer in bytes, for some hundred names.
    const BUFFER: usize = 16 << 10;
    let again = openat(fd, ".", FOLDER, Mode::empty())?;
    let mut buffer = vec![MaybeUninit::uninit(); BUFFER];
    let mut list = RawDir::new(again, &mut buffer);
    let mut found = Vec::new();
    while let Some(entry) = list.next() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let name = OsString::from_vec(name.to_vec());
        // Not every file system reports the kind.
        let kind = match entry.file_type() {
            FileType::Unknown => match stat_of(fd, &name) {
                Ok(about) => FileType::from_raw_mode(about.st_mode),
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            },
            known => known,
        };
        let kind = kind_of(kind);
        found.push(Entry { name, kind });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

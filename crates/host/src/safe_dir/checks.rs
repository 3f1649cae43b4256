//! Checks of opened files and folders, by their descriptors.

use super::entries::{FileKind, kind_of};
use super::{Refused, Why};
use rustix::fs::{AtFlags, FileType, Stat, fstatfs, statat};
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// `BPF_FS_MAGIC` of the kernel's `magic.h`.
const BPF_FS_MAGIC: u64 = 0xcafe_4a11;
/// Permission bits that let others than the owner change a folder or file.
const OTHERS_WRITE: u32 = 0o022;

pub(super) fn stat_of(parent: &OwnedFd, name: &OsStr) -> io::Result<Stat> {
    Ok(statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Returns the name if it is that of an entry, without a path. In a longer path, calls other than `openat2` would
/// follow links.
pub(super) fn plain(name: &OsStr) -> io::Result<&OsStr> {
    let bytes = name.as_bytes();
    match bytes {
        b"" | b"." | b".." => Err(io::ErrorKind::InvalidInput.into()),
        _ if bytes.contains(&b'/') => Err(io::ErrorKind::InvalidInput.into()),
        _ => Ok(name),
    }
}

/// Fails if somebody else than root and this process's user may change the opened file or folder.
pub(super) fn check_control(about: &Stat, shown: &Path) -> io::Result<()> {
    check_owner(about, shown)?;
    match about.st_mode & OTHERS_WRITE {
        0 => Ok(()),
        _ => {
            let why = Why::Writable(about.st_mode & 0o7777);
            Err(Refused::new(shown.to_owned(), why).into())
        }
    }
}

pub(super) fn check_owner(about: &Stat, shown: &Path) -> io::Result<()> {
    match about.st_uid {
        user if user == 0 || user == geteuid().as_raw() => Ok(()),
        user => Err(Refused::new(shown.to_owned(), Why::Owner(user)).into()),
    }
}

pub(super) fn check_file(about: &Stat, shown: &Path) -> io::Result<()> {
    match kind_of(FileType::from_raw_mode(about.st_mode)) {
        FileKind::File => Ok(()),
        FileKind::Link => Err(Refused::new(shown.to_owned(), Why::Link).into()),
        FileKind::Folder | FileKind::Other => {
            Err(Refused::new(shown.to_owned(), Why::Unknown).into())
        }
    }
}

pub(super) fn is_bpffs(fd: &OwnedFd) -> io::Result<bool> {
    Ok(fstatfs(fd)?.f_type as u64 == BPF_FS_MAGIC)
}

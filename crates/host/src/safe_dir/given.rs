//! Folders at paths that others have chosen.

use super::checks::{check_control, check_owner, is_bpffs, plain, stat_of};
use super::entries::{Entry, entries};
use super::{Dir, Refused, Why, make_checked, open_checked};
use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, unlinkat};
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Permission bit by which only owners may remove and rename their files, whoever may write to the folder.
const STICKY: u32 = 0o1000;

/// Folder at a path that somebody else has chosen. It may belong to anybody: only its contents are checked.
#[derive(Debug)]
pub struct Given {
    fd: OwnedFd,
    shown: PathBuf,
}

impl Given {
    /// Opens a folder, through links if there are any. It need not be readable.
    pub fn open(path: &Path) -> io::Result<Given> {
        let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Given {
            fd: openat(rustix::fs::CWD, path, how, Mode::empty())?,
            shown: path.to_owned(),
        })
    }

    /// Fails if others than root and this process's user may rename or remove this process's files in it.
    pub(crate) fn check_keeps(&self) -> io::Result<()> {
        let about = fstat(&self.fd)?;
        match about.st_mode & STICKY {
            0 => check_control(&about, &self.shown),
            _ => check_owner(&about, &self.shown),
        }
    }

    /// Returns true if it is in a BPF file system.
    pub fn is_bpffs(&self) -> io::Result<bool> {
        is_bpffs(&self.fd)
    }

    /// Opens a folder in it, and checks the opened one.
    pub fn open_dir(&self, name: impl AsRef<OsStr>) -> io::Result<Dir> {
        open_checked(&self.fd, &self.shown, name.as_ref())
    }

    /// Makes a folder in it, for this process's user alone.
    pub fn make_dir(&self, name: impl AsRef<OsStr>) -> io::Result<Dir> {
        make_checked(&self.fd, &self.shown, name.as_ref())
    }

    /// Its entries, by name. It must be readable.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        entries(&self.fd)
    }

    /// Removes an empty folder in it, if it is still the one that was opened.
    pub fn remove_dir(&self, name: impl AsRef<OsStr>, opened: &Dir) -> io::Result<()> {
        let name = plain(name.as_ref())?;
        let (there, about) = (stat_of(&self.fd, name)?, fstat(&opened.fd)?);
        if (there.st_dev, there.st_ino) != (about.st_dev, about.st_ino) {
            return Err(Refused::new(self.shown.join(name), Why::Replaced).into());
        }
        Ok(unlinkat(&self.fd, name, AtFlags::REMOVEDIR)?)
    }
}

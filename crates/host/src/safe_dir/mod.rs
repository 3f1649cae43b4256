//! Folders that are opened relative to their parents and checked, with all calls that make, rename or remove something
//! in one.
//!
//! Onpath runs as root in folders that other users may write to. There, a name that it chose may lead elsewhere:
//! through a symbolic link, into another file system, or to somebody else's file. So Onpath chooses no path of more
//! than one name. It opens a folder relative to its parent's descriptor. By the new descriptor it checks that only root
//! and its own user may change the contents. From then on others cannot replace any name in it, whatever happens to the
//! folders above.
//!
//! A path that a user gives may contain symbolic links: [`Given`] and [`Dir::at`] follow them. [`Given`] can only open
//! what is in the folder.

mod checks;
mod entries;
mod folder_lock;
mod given;
mod refused;
mod replace;
#[cfg(test)]
mod tests;

pub use entries::{Entry, FileKind};
pub use folder_lock::{FolderLock, Hold};
pub use given::Given;
pub use refused::{Refused, Why};
pub use replace::{NewFile, random_name, replace_file};

use checks::{check_control, check_file, is_bpffs, plain, stat_of};
use entries::entries;
use rustix::fs::{
    AtFlags, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2, renameat, unlinkat,
};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Refuses symbolic links, and everything outside of the folder of the descriptor.
const BENEATH: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);
/// The same, and refuses other file systems.
const HERE: ResolveFlags = BENEATH.union(ResolveFlags::NO_XDEV);
/// Flags for opening a folder to read and lock it.
const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// Folder in which nobody but root and this process's user can change anything.
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    /// Its path, for messages only: no call uses it.
    shown: PathBuf,
}

impl Dir {
    /// Opens a folder at a path that a user gave, through links if there are any, and checks it.
    pub fn at(path: &Path) -> io::Result<Dir> {
        let fd = openat(rustix::fs::CWD, path, FOLDER, Mode::empty())?;
        check_control(&fstat(&fd)?, path)?;
        Ok(Dir::ours(fd, path.to_owned()))
    }

    /// Wraps the root of a file system that this process has made, and that nobody else can reach.
    pub fn ours(fd: OwnedFd, shown: PathBuf) -> Dir {
        Dir { fd, shown }
    }

    /// Its path, for messages.
    pub fn shown(&self) -> &Path {
        &self.shown
    }

    /// Opens a folder in it, and checks the opened one.
    pub fn open_dir(&self, name: impl AsRef<OsStr>) -> io::Result<Dir> {
        open_checked(&self.fd, &self.shown, name.as_ref())
    }

    /// Opens the BPF file system that is mounted on a folder in it. Only for callers with a reason to expect one there.
    pub fn open_mounted_bpffs(&self, name: impl AsRef<OsStr>) -> io::Result<Dir> {
        let name = plain(name.as_ref())?;
        let shown = self.shown.join(name);
        let fd = openat2(&self.fd, name, FOLDER, Mode::empty(), BENEATH)
            .map_err(|e| Refused::explain(e.into(), &shown))?;
        if !is_bpffs(&fd)? {
            return Err(Refused::new(shown, Why::Mount).into());
        }
        check_control(&fstat(&fd)?, &shown)?;
        Ok(Dir { fd, shown })
    }

    /// Makes a folder in it, for this process's user alone.
    pub fn make_dir(&self, name: impl AsRef<OsStr>) -> io::Result<Dir> {
        make_checked(&self.fd, &self.shown, name.as_ref())
    }

    /// Its entries, by name.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        entries(&self.fd)
    }

    /// Returns true if there is an entry of this name, of whatever kind.
    pub fn has(&self, name: impl AsRef<OsStr>) -> bool {
        plain(name.as_ref()).is_ok_and(|name| stat_of(&self.fd, name).is_ok())
    }

    /// Removes a file in it. A symbolic link is removed itself, never its target. A folder is an error.
    pub fn remove_file(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(unlinkat(&self.fd, plain(name.as_ref())?, AtFlags::empty())?)
    }

    /// Does the same as [`Dir::remove_file`], but a missing file is no error.
    pub fn remove_file_if_there(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        match self.remove_file(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }

    /// Removes an empty folder in it.
    pub fn remove_dir(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(unlinkat(
            &self.fd,
            plain(name.as_ref())?,
            AtFlags::REMOVEDIR,
        )?)
    }

    /// Renames a file in it, and replaces the file that has the new name.
    pub fn rename(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
        let (from, to) = (plain(from.as_ref())?, plain(to.as_ref())?);
        Ok(renameat(&self.fd, from, &self.fd, to)?)
    }

    /// Moves a file of it to another folder, and replaces the file of that name there.
    pub fn move_to(&self, name: impl AsRef<OsStr>, to: &Dir) -> io::Result<()> {
        let name = plain(name.as_ref())?;
        Ok(renameat(&self.fd, name, &to.fd, name)?)
    }

    /// Removes everything in it that is on the same file system. It is for folders that were made for the files of
    /// another process. A symbolic link is removed itself, never its target.
    pub fn clear(&self) -> io::Result<()> {
        for entry in self.entries()? {
            match entry.kind {
                FileKind::Folder => {
                    self.open_dir(&entry.name)?.clear()?;
                    self.remove_dir(&entry.name)?;
                }
                FileKind::File | FileKind::Link | FileKind::Other => {
                    self.remove_file(&entry.name)?
                }
            }
        }
        Ok(())
    }

    /// Lets nobody but its owner look into it.
    pub fn close_to_others(&self) -> io::Result<()> {
        let owner = Mode::from_raw_mode(0o700);
        match Mode::from_raw_mode(fstat(&self.fd)?.st_mode & 0o7777) {
            now if now == owner => Ok(()),
            _ => Ok(rustix::fs::fchmod(&self.fd, owner)?),
        }
    }

    /// Opens the folder again, by a descriptor that shares nothing with others of this process. A lock belongs to the
    /// kernel's open file, which all copies of a descriptor share. With a copy, a second thread would get the first
    /// one's lock, and release it for both.
    pub fn opened_again(&self) -> io::Result<File> {
        Ok(openat(&self.fd, ".", FOLDER, Mode::empty())?.into())
    }

    /// Path at which this process reaches it, valid as long as this value lives.
    pub fn path(&self) -> PathBuf {
        reached(&self.fd)
    }

    /// Opens a file in it for reading.
    ///
    /// # Errors
    /// It is no regular file, or others than root and this process's user may have written it.
    pub fn open_file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        self.open_file_as(name.as_ref(), OFlags::RDONLY)
    }

    /// Opens a file in it for reading and writing. A missing file is made, for this process's user alone.
    ///
    /// # Errors
    /// As [`Dir::open_file`].
    pub fn open_or_make_file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        self.open_file_as(name.as_ref(), OFlags::RDWR | OFlags::CREATE)
    }

    /// Makes a file in it, for this process's user alone.
    ///
    /// # Errors
    /// Something of this name exists.
    pub fn make_file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let how = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        self.open_file_as(name.as_ref(), how)
    }

    fn open_file_as(&self, name: &OsStr, how: OFlags) -> io::Result<File> {
        let name = plain(name)?;
        let shown = self.shown.join(name);
        // An open without this would wait for the other end of a FIFO.
        let how = how | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let mode = match how.contains(OFlags::CREATE) {
            true => Mode::from_raw_mode(0o600),
            false => Mode::empty(),
        };
        let fd = openat2(&self.fd, name, how, mode, HERE)
            .map_err(|e| Refused::explain(e.into(), &shown))?;
        let about = fstat(&fd)?;
        check_file(&about, &shown)?;
        check_control(&about, &shown)?;
        Ok(fd.into())
    }

    /// Path at which the kernel finds a new pin of this name: the folder's descriptor, then this one name.
    pub fn path_of_new(&self, name: &str) -> io::Result<PathBuf> {
        Ok(reached(&self.fd).join(plain(name.as_ref())?))
    }

    /// Opens a pin in it, for `BPF_OBJ_GET`, which takes a path.
    ///
    /// # Errors
    /// It is no regular file, as pins are.
    pub fn open_pin(&self, name: &str) -> io::Result<OpenPin> {
        let name = plain(name.as_ref())?;
        let shown = self.shown.join(name);
        let how = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = openat2(&self.fd, name, how, Mode::empty(), HERE)
            .map_err(|e| Refused::explain(e.into(), &shown))?;
        check_file(&fstat(&fd)?, &shown)?;
        Ok(OpenPin(fd))
    }

    /// Unmounts the file system whose root this is. It disappears from the mount point at once, and is freed once
    /// nobody holds it.
    pub fn unmount(&self) -> io::Result<()> {
        let detach = nix::mount::MntFlags::MNT_DETACH;
        Ok(nix::mount::umount2(&reached(&self.fd), detach)?)
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Pin that was found and checked, but not opened as the kernel's object.
pub struct OpenPin(OwnedFd);

impl OpenPin {
    /// Path at which this process reaches it, valid as long as this value lives.
    pub fn path(&self) -> PathBuf {
        reached(&self.0)
    }
}

/// Path at which this process reaches an open descriptor, whatever its name refers to by now.
fn reached(fd: &OwnedFd) -> PathBuf {
    format!("/proc/self/fd/{}", fd.as_raw_fd()).into()
}

fn open_checked(parent: &OwnedFd, shown: &Path, name: &OsStr) -> io::Result<Dir> {
    let name = plain(name)?;
    let shown = shown.join(name);
    let fd = openat2(parent, name, FOLDER, Mode::empty(), HERE)
        .map_err(|e| Refused::explain(e.into(), &shown))?;
    check_control(&fstat(&fd)?, &shown)?;
    Ok(Dir { fd, shown })
}

fn make_checked(parent: &OwnedFd, shown: &Path, name: &OsStr) -> io::Result<Dir> {
    mkdirat(parent, plain(name)?, Mode::from_raw_mode(0o700))?;
    open_checked(parent, shown, name)
}

//! Files in a folder that a user gave, under names that Onpath has chosen.

use nix::fcntl::OFlag;
use rustix::fs::{AtFlags, CWD, linkat};
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Writes a file, or replaces the one of its name, in one step. If the name is a symbolic link, the link itself is
/// replaced, and its target stays. The folder may be writable to others.
///
/// # Errors
/// Nothing was changed. The name may be that of a folder, a device or a pipe, or of a link to one.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = NewFile::beside(path)?;
    file.write_all(bytes)?;
    file.put()
}

/// File that is written piece by piece and gets its name only once it is complete. Until then an existing file of this
/// name stays. Dropping the value leaves nothing behind.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    place: FileLocation,
}

/// Location of the bytes until the file is complete.
#[derive(Debug)]
enum FileLocation {
    /// File without a name, which the kernel removes when this process ends, however it ends.
    Unnamed(PathBuf),
    /// Temporary file in the same folder, on file systems that have no files without a name.
    Beside(PathBuf, PathBuf),
    /// At their destination.
    There,
}

impl NewFile {
    /// Begins a file. If the name is that of a pipe or a device, the bytes go there at once.
    ///
    /// # Errors
    /// Nothing was changed. The name may be that of a folder or a socket.
    pub fn begin(path: &Path) -> io::Result<NewFile> {
        match fs::metadata(path).map(|about| about.file_type()) {
            Ok(kind) if kind.is_fifo() || kind.is_char_device() => Ok(NewFile {
                file: OpenOptions::new().write(true).open(path)?,
                place: FileLocation::There,
            }),
            _ => NewFile::beside(path),
        }
    }

    fn beside(path: &Path) -> io::Result<NewFile> {
        let refused = |why| Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        if fs::metadata(path).is_ok_and(|about| !about.is_file()) {
            return refused("there is something else than a regular file");
        }
        // Root would replace `/dev/stdout` for everyone.
        if fs::read_link(path).is_ok_and(|to| to.starts_with("/proc")) {
            return refused("it stands for an open file of a process: name the file itself");
        }
        let unnamed = OpenOptions::new()
            .write(true)
            .custom_flags(OFlag::O_TMPFILE.bits())
            .open(folder(path));
        if let Ok(file) = unnamed {
            let place = FileLocation::Unnamed(path.to_owned());
            return Ok(NewFile { file, place });
        }
        let next = next_to(path);
        // Fails if there is anything of this name, a link too.
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&next)?;
        let place = FileLocation::Beside(next, path.to_owned());
        Ok(NewFile { file, place })
    }

    /// Gives the file its name, in place of another one that has it. Does nothing for a pipe or a device.
    ///
    /// # Errors
    /// Nothing was changed.
    pub fn put(mut self) -> io::Result<()> {
        if let FileLocation::Unnamed(path) = &self.place {
            let (path, next) = (path.clone(), next_to(path));
            let open = format!("/proc/self/fd/{}", self.file.as_raw_fd());
            linkat(CWD, open, CWD, &next, AtFlags::SYMLINK_FOLLOW)?;
            self.place = FileLocation::Beside(next, path);
        }
        if let FileLocation::Beside(next, path) = &self.place {
            fs::rename(next, path)?;
            self.place = FileLocation::There;
        }
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let FileLocation::Beside(next, _) = &self.place {
            let _ = fs::remove_file(next);
        }
    }
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != OsStr::new("") => folder,
        _ => Path::new("."),
    }
}

/// Returns an unused name in the folder of a file.
fn next_to(path: &Path) -> PathBuf {
    folder(path).join(random_name(".onpath-"))
}

/// Returns an unpredictable name with this prefix.
pub fn random_name(prefix: &str) -> String {
    // The standard library takes its keys from the kernel's random numbers.
    format!("{prefix}{:016x}", RandomState::new().hash_one(prefix))
}

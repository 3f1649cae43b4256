//! Files in a folder that a user gave, under names that Onpath has chosen.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file, or puts it in place of the one of its name, in one step. A link of this name is replaced itself: what it
/// leads to stays as it is. The folder may be writable to others.
///
/// # Errors
/// Nothing was changed. The name may be that of a folder, a device or a pipe, or of a link to one.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(about) if !about.is_file() => {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "there is something else than a regular file",
            ));
        }
        _ => {}
    }
    let folder = match path.parent() {
        Some(folder) if folder != OsStr::new("") => folder,
        _ => Path::new("."),
    };
    let next = folder.join(random_name(".onpath-"));
    // Fails if there is anything of this name, a link too.
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&next)?;
    let written = file.write_all(bytes);
    let done = written.and_then(|()| fs::rename(&next, path));
    if done.is_err() {
        let _ = fs::remove_file(&next);
    }
    done
}

/// A name that begins so, and that nobody foresees.
pub(crate) fn random_name(prefix: &str) -> String {
    // The standard library takes its keys from the kernel's random numbers.
    format!("{prefix}{:016x}", RandomState::new().hash_one(prefix))
}

//! Folders of instances: opening them, and telling complete ones from others.

use super::files::{ENDING, SPACE, attachments, named, space_mark, stranger};
use super::record;
use host::safe_dir::{Dir, FileKind, Refused, Why};
use std::io;
use std::sync::Arc;

/// Open folder of an instance. It stays the same folder even if another one gets its name.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    /// The open folder.
    pub(super) dir: Arc<Dir>,
    /// True if it is the root of a file system of its own.
    pub(super) is_mount: bool,
}

impl Folder {
    /// Opens an instance's folder in Onpath's folder. A file system that is mounted on it is entered only if its
    /// record is of an instance that has one.
    pub(super) fn open(root: &Dir, name: &str) -> io::Result<Folder> {
        let not_entered = match root.open_dir(name) {
            Ok(dir) => {
                return Ok(Folder {
                    dir: Arc::new(dir),
                    is_mount: false,
                });
            }
            Err(error) if Refused::of(&error).is_some_and(|r| r.why == Why::Mount) => error,
            Err(error) => return Err(error),
        };
        let dir = root.open_mounted_bpffs(name)?;
        match record::has_own_mount(&dir) {
            true => Ok(Folder {
                dir: Arc::new(dir),
                is_mount: true,
            }),
            false => Err(not_entered),
        }
    }

    /// Returns true if it has an instance: an attachment is in it, and its removal has not begun.
    pub(super) fn is_whole(&self) -> io::Result<bool> {
        Ok(!attachments(&self.dir)?.is_empty() && !self.dir.has(ENDING))
    }

    /// Returns true if it belongs to an instance of another mount namespace.
    pub(super) fn is_elsewhere(&self) -> io::Result<bool> {
        let mine = space_mark()?;
        let marks = named(&self.dir, FileKind::Folder, SPACE)?;
        Ok(marks.iter().any(|mark| *mark != mine))
    }

    /// Marks an instance with several attachments as garbage, in one step.
    pub(super) fn begin_end(&self) -> io::Result<()> {
        match attachments(&self.dir)?.len() {
            0 | 1 => Ok(()),
            _ => self.dir.make_dir(ENDING).map(|_| ()),
        }
    }
}

/// Opens an instance's folder in Onpath's folder, if the instance is complete.
pub(super) fn whole(root: &Dir, instance: &str) -> io::Result<Option<Folder>> {
    let folder = match Folder::open(root, instance) {
        Err(e)
            if matches!(
                e.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(None);
        }
        opened => opened?,
    };
    Ok(folder.is_whole()?.then_some(folder))
}

/// Returns true if an instance can have this name.
pub(super) fn is_instance_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// Lists the entries of Onpath's folder: the names of folders that may be instances', and everything else.
pub(super) fn instances(root: &Dir) -> io::Result<(Vec<String>, Vec<Refused>)> {
    let (mut names, mut others) = (Vec::new(), Vec::new());
    for entry in root.entries()? {
        match entry.name.to_str() {
            Some(name) if entry.kind == FileKind::Folder && is_instance_name(name) => {
                names.push(name.to_owned());
            }
            _ => others.push(stranger(root, &entry)),
        }
    }
    Ok((names, others))
}

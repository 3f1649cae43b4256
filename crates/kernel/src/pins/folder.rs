//! What is where in an instance's folder.

use crate::sys::{Link, Map};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The instance's [`Record`](super::Record).
pub(super) const RECORD: &str = "record";
/// Links' settings from before; in the folder itself, below what is mounted on it.
pub(super) const SETTINGS: &str = "settings";
/// The ports of all programs, where they are not those in the record any more.
pub(super) const PORTS: &str = "ports";
/// A change of ports that has begun.
pub(super) const PORT_CHANGE: &str = "port-change";
/// In a member's folder: what the program was loaded from.
pub(crate) const OBJECT: &str = "object";
/// In a member's folder.
pub(crate) const PROGRAM: &str = "program";
const MEMBER: &str = "member-";
const LINK: &str = "link-";
const GATE: &str = "gate-";
const SPACE: &str = "space-";
/// Says that the removal of an instance has begun.
const ENDING: &str = "ending";

/// An instance's folder that stays the same one, whatever its path leads to.
pub(super) struct Open(File);

impl Open {
    pub(super) fn new(folder: &Path) -> io::Result<Open> {
        File::open(folder).map(Open)
    }

    /// Where this process reaches it.
    pub(super) fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.0.as_raw_fd()).into()
    }

    /// A file in it.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// A member's folder.
    pub(super) fn member(&self, member: usize) -> io::Result<File> {
        File::open(member_folder(&self.path(), member))
    }
}

/// The BPF file system allows no dots in names.
pub(crate) fn map_file(name: &str) -> String {
    format!("map-{}", name.replace('.', "-"))
}

/// By numbers: names may hold characters that file names here may not.
pub(super) fn member_folder(folder: &Path, member: usize) -> PathBuf {
    folder.join(format!("{MEMBER}{member}"))
}

/// The folders of an instance's members, in order.
pub(super) fn members(folder: &Path) -> impl Iterator<Item = File> {
    (0..).map_while(|member| File::open(member_folder(folder, member)).ok())
}

/// The links and gates by which a member of an instance is attached.
pub(crate) fn attachments_of(folder: &Path, member: usize) -> io::Result<(Vec<Link>, Vec<Map>)> {
    let links = files_named(folder, &format!("{LINK}{member}-"))?;
    let gates = files_named(folder, &format!("{GATE}{member}-"))?;
    let links = links.iter().map(|path| Link::open(path));
    let gates = gates.iter().map(|path| Map::open(path));
    Ok((
        links.collect::<io::Result<_>>()?,
        gates.collect::<io::Result<_>>()?,
    ))
}

pub(super) fn link_file(member: usize, ifindex: u32) -> String {
    format!("{LINK}{member}-{ifindex}")
}

pub(super) fn gate_file(member: usize, ifindex: u32) -> String {
    format!("{GATE}{member}-{ifindex}")
}

/// A folder whose name holds in which mount namespace an instance is mounted: elsewhere it cannot be seen, and is
/// no garbage all the same.
pub(super) fn space_mark() -> io::Result<String> {
    let space = fs::metadata("/proc/self/ns/mnt")?.ino();
    Ok(format!("{SPACE}{space}"))
}

/// Whether a folder belongs to an instance of another mount namespace.
pub(super) fn is_elsewhere(folder: &Path) -> io::Result<bool> {
    let mine = folder.join(space_mark()?);
    Ok(files_named(folder, SPACE)?.iter().any(|mark| *mark != mine))
}

pub(super) fn make(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(path)
}

/// Whether a folder has an instance: an attachment is in it, and its removal has not begun.
pub(super) fn is_whole(folder: &Path) -> io::Result<bool> {
    match attachments(folder) {
        Ok(found) => Ok(!found.is_empty() && !folder.join(ENDING).exists()),
        Err(e)
            if matches!(
                e.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(false)
        }
        Err(e) => Err(e),
    }
}

/// Has what several attachments hold be garbage from now on, in one step.
pub(super) fn begin_end(folder: &Path) -> io::Result<()> {
    match attachments(folder)?.len() {
        0 | 1 => Ok(()),
        _ => make(&folder.join(ENDING)),
    }
}

fn attachments(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = files_named(folder, LINK)?;
    found.extend(files_named(folder, GATE)?);
    Ok(found)
}

/// The pinned links in a folder.
pub(super) fn links(folder: &Path) -> io::Result<Vec<PathBuf>> {
    files_named(folder, LINK)
}

/// Those of an interface: by the index that it had when they were made.
pub(super) fn links_at(folder: &Path, ifindex: u32) -> io::Result<Vec<PathBuf>> {
    let end = format!("-{ifindex}");
    let mut found = links(folder)?;
    found.retain(|path| path.to_string_lossy().ends_with(&end));
    Ok(found)
}

fn files_named(folder: &Path, prefix: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Whether something is mounted on a folder.
pub(super) fn is_mount(folder: &Path) -> io::Result<bool> {
    let above = folder.parent().unwrap_or(folder);
    Ok(fs::metadata(folder)?.dev() != fs::metadata(above)?.dev())
}

/// Removes what an instance has in a folder, attachments first, and leaves `SETTINGS` alone.
pub(super) fn empty(folder: &Path) -> io::Result<()> {
    for path in attachments(folder)? {
        fs::remove_file(path)?;
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(path)?;
        } else if entry.file_name() != SETTINGS && !is_the_kernels(&entry.file_name()) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Whether the kernel itself put a file into a new BPF file system (`maps.debug`): names with dots are its own, and
/// cannot be removed.
fn is_the_kernels(name: &OsStr) -> bool {
    name.to_string_lossy().contains('.')
}

//! Names of the files and folders in an instance's folder, and in its members' folders.

use crate::sys::{Link, Map};
use host::safe_dir::{Dir, Entry, FileKind, Refused, Why};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

/// The instance's [`Record`](super::Record).
pub(super) const RECORD: &str = "record";
/// Link settings from before the instance. The file is in the folder itself, below a file system mounted on it.
pub(super) const SETTINGS: &str = "settings";
/// The name of `SETTINGS` while it is written.
pub(super) const NEXT_SETTINGS: &str = "settings-next";
/// Ports of all programs, once they differ from those in the record.
pub(super) const PORTS: &str = "ports";
/// The name of `PORTS` while it is written.
pub(super) const NEXT_PORTS: &str = "ports-next";
/// A change of ports that has begun.
pub(super) const PORT_CHANGE: &str = "port-change";
/// The times at which interfaces were absent.
pub(super) const ABSENCES: &str = "absences";
/// The next `ABSENCES`, until it is written to its end.
pub(super) const NEXT_ABSENCES: &str = "absences-next";
/// The process that attaches the programs again: see [`keeping`](super::keeping).
pub(super) const KEEPER: &str = "keeper";
/// The next `KEEPER`, of another process.
pub(super) const NEXT_KEEPER: &str = "keeper-next";
/// An attachment that is about to replace one at an interface of the same index.
pub(super) const NEXT_ATTACHMENT: &str = "attachment-next";
/// Object that the program was loaded from, in a member's folder.
pub(crate) const OBJECT: &str = "object";
/// Journal by which a change of tables that has begun is undone, in a member's folder.
pub(crate) const JOURNAL: &str = "journal";
/// Tables that the program is specialized to, in a member's folder.
pub(crate) const SPECIALIZED: &str = "specialized";
/// The name of `SPECIALIZED` while it is written.
pub(crate) const NEXT_SPECIALIZED: &str = "specialized-next";
/// Pins of a successor, in a member's folder.
pub(crate) const NEXT: &str = "next";
/// The name of `NEXT` when the successor runs at all interfaces.
pub(crate) const TAKEN: &str = "taken";
/// Pin of the program, in a member's folder and in its successor's.
pub(crate) const PROGRAM: &str = "program";
pub(super) const MAP: &str = "map-";
pub(super) const MEMBER: &str = "member-";
pub(super) const LINK: &str = "link-";
pub(super) const GATE: &str = "gate-";
pub(super) const SPACE: &str = "space-";
/// Mark that the removal of an instance has begun.
pub(super) const ENDING: &str = "ending";

pub(super) fn stranger(folder: &Dir, entry: &Entry) -> Refused {
    let why = match entry.kind {
        FileKind::Link => Why::Link,
        _ => Why::Unknown,
    };
    Refused::new(folder.shown().join(&entry.name), why)
}

/// Returns the file name of a map's pin. The BPF file system allows no dots in names.
pub(crate) fn map_file(name: &str) -> String {
    format!("{MAP}{}", name.replace('.', "-"))
}

/// Returns the name of a member's folder. It is a number: program names may hold characters that file names here may
/// not.
pub(super) fn member_folder(member: usize) -> String {
    format!("{MEMBER}{member}")
}

/// The folders of an instance's members, in order.
pub(super) fn members(folder: &Dir) -> impl Iterator<Item = Dir> {
    (0..).map_while(|member| folder.open_dir(member_folder(member)).ok())
}

/// The links and gates by which a member of an instance is attached.
pub(crate) fn attachments_of(folder: &Dir, member: usize) -> io::Result<(Vec<Link>, Vec<Map>)> {
    let links = named(folder, FileKind::File, &format!("{LINK}{member}-"))?;
    let gates = named(folder, FileKind::File, &format!("{GATE}{member}-"))?;
    let links = links.iter().map(|name| Link::open(folder, name));
    let gates = gates.iter().map(|name| Map::open(folder, name));
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

/// Returns the name of a folder that marks the mount namespace in which an instance is mounted. The instance cannot be
/// seen from other namespaces, but its folder is not garbage there.
pub(super) fn space_mark() -> io::Result<String> {
    let space = fs::metadata("/proc/self/ns/mnt")?.ino();
    Ok(format!("{SPACE}{space}"))
}

pub(super) fn attachments(folder: &Dir) -> io::Result<Vec<String>> {
    let mut found = links(folder)?;
    found.extend(named(folder, FileKind::File, GATE)?);
    Ok(found)
}

/// The pinned links in a folder.
pub(super) fn links(folder: &Dir) -> io::Result<Vec<String>> {
    named(folder, FileKind::File, LINK)
}

/// Lists the pinned links of an interface, by the index that it had when they were made.
pub(super) fn links_at(folder: &Dir, ifindex: u32) -> io::Result<Vec<String>> {
    let end = format!("-{ifindex}");
    let mut found = links(folder)?;
    found.retain(|name| name.ends_with(&end));
    Ok(found)
}

/// Lists the entries of a kind whose names consist of this prefix and numbers.
pub(super) fn named(folder: &Dir, kind: FileKind, prefix: &str) -> io::Result<Vec<String>> {
    let entries = folder.entries()?.into_iter();
    let names = entries.filter(|entry| entry.kind == kind);
    let names = names.filter_map(|entry| entry.name.into_string().ok());
    Ok(names.filter(|name| is_numbered(name, prefix)).collect())
}

pub(super) fn is_numbered(name: &str, prefix: &str) -> bool {
    let numbers = name.strip_prefix(prefix);
    numbers.is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit() || b == b'-')
    })
}

//! Removal of the files that Onpath made in an instance's folder, known by name and kind. Nothing else is removed.

use super::files::{
    ABSENCES, ENDING, GATE, JOURNAL, KEEPER, LINK, MAP, MEMBER, NEXT, NEXT_ABSENCES,
    NEXT_ATTACHMENT, NEXT_KEEPER, NEXT_PORTS, NEXT_SETTINGS, NEXT_SPECIALIZED, OBJECT, PORT_CHANGE,
    PORTS, PROGRAM, RECORD, SETTINGS, SPACE, SPECIALIZED, TAKEN, attachments, is_numbered,
    stranger,
};
use host::safe_dir::{Dir, Entry, FileKind, Refused};
use std::io;

/// Kind of a folder, by what Onpath makes in it.
#[derive(Clone, Copy)]
enum Level {
    Instance,
    Member,
    /// The pins of a successor.
    Successor,
    /// An empty folder whose name is a mark.
    Mark,
}

/// Treatment of an entry when its folder is emptied.
enum FileTreatment {
    File,
    Folder(Level),
    /// Entry that is removed last, or that the kernel has made.
    Stays,
    Stranger,
}

fn treatment(level: Level, entry: &Entry) -> FileTreatment {
    use Level::{Instance, Mark, Member, Successor};
    let Some(name) = entry.name.to_str() else {
        return FileTreatment::Stranger;
    };
    match (entry.kind, level) {
        (FileKind::File, Instance) if name == SETTINGS => FileTreatment::Stays,
        (FileKind::File, Instance)
            if [RECORD, NEXT_SETTINGS, PORTS, NEXT_PORTS, PORT_CHANGE].contains(&name)
                || [ABSENCES, NEXT_ABSENCES, NEXT_ATTACHMENT].contains(&name)
                || [KEEPER, NEXT_KEEPER].contains(&name)
                || is_numbered(name, LINK)
                || is_numbered(name, GATE) =>
        {
            FileTreatment::File
        }
        (FileKind::Folder, Instance) if is_numbered(name, MEMBER) => FileTreatment::Folder(Member),
        (FileKind::Folder, Instance) if name == ENDING || is_numbered(name, SPACE) => {
            FileTreatment::Folder(Mark)
        }
        (FileKind::File, Member)
            if [OBJECT, JOURNAL, SPECIALIZED, NEXT_SPECIALIZED].contains(&name) =>
        {
            FileTreatment::File
        }
        (FileKind::Folder, Member) if [NEXT, TAKEN].contains(&name) => {
            FileTreatment::Folder(Successor)
        }
        (FileKind::File, Member | Successor) if name == PROGRAM || name.starts_with(MAP) => {
            FileTreatment::File
        }
        // `maps.debug` and the like, in a new BPF file system: only the kernel's names have dots, and cannot be
        // removed.
        (FileKind::File, Instance) if name.contains('.') => FileTreatment::Stays,
        _ => FileTreatment::Stranger,
    }
}

/// Removes an instance's files from a folder, attachments first, and leaves `SETTINGS`. Returns the first entry that
/// is not Onpath's; all such entries stay.
pub(super) fn empty(folder: &Dir) -> io::Result<Option<Refused>> {
    for name in attachments(folder)? {
        folder.remove_file(name)?;
    }
    let mut left = None;
    empty_at(folder, Level::Instance, &mut left)?;
    Ok(left)
}

/// Removes what is left of a successor from the folder of a member.
pub(crate) fn empty_successor(folder: &Dir) -> io::Result<()> {
    let mut left = None;
    empty_at(folder, Level::Successor, &mut left)?;
    left.map_or(Ok(()), |refused| Err(refused.into()))
}

fn empty_at(folder: &Dir, level: Level, left: &mut Option<Refused>) -> io::Result<()> {
    for entry in folder.entries()? {
        match treatment(level, &entry) {
            FileTreatment::File => folder.remove_file(&entry.name)?,
            FileTreatment::Folder(inner) => {
                let below = match folder.open_dir(&entry.name) {
                    Ok(below) => below,
                    Err(error) => {
                        let refused = Refused::of(&error).cloned().ok_or(error)?;
                        left.get_or_insert(refused);
                        continue;
                    }
                };
                let mut left_below = None;
                empty_at(&below, inner, &mut left_below)?;
                match left_below {
                    None => folder.remove_dir(&entry.name)?,
                    Some(refused) => {
                        left.get_or_insert(refused);
                    }
                }
            }
            FileTreatment::Stays => {}
            FileTreatment::Stranger => {
                left.get_or_insert(stranger(folder, &entry));
            }
        }
    }
    Ok(())
}

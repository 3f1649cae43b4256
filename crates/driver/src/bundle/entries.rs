//! The texts of entries, wherever a bundle has them, and what is wrong with an entry at the ports of its program.

use super::{Entries, Member};
use control::entries::lines as lines_of_file;
use control::{Change, Piece, StoreError, errors};
use diag::{Diagnostic, FileId, SourceMap, Span};
use kernel::files::read_text;
use schema::Schema;
use std::collections::BTreeSet;

/// Adds the file of a program's entries to the texts, if they are in one of their own.
pub fn open(map: &mut SourceMap, entries: Option<&Entries>) -> Result<Option<FileId>, String> {
    let Some(Entries::File(file)) = entries else {
        return Ok(None);
    };
    let text = read_text(&file.value)?;
    let name = file.value.display().to_string();
    let added = map.add(name.clone(), text);
    added
        .map(Some)
        .ok_or_else(|| format!("`{name}` is too large"))
}

/// The lines of a program's entries, wherever they are. `file` is what [`open`] gave.
pub fn lines<'a>(
    map: &'a SourceMap,
    entries: Option<&'a Entries>,
    file: Option<FileId>,
) -> Box<dyn Iterator<Item = Piece<'a>> + 'a> {
    match (entries, file) {
        // In a bundle's file, where a string begins behind its quotation mark.
        (Some(Entries::Lines(lines)), _) => {
            Box::new(lines.iter().map(|l| Piece::new(&l.value, l.span.lo + 1)))
        }
        (_, Some(file)) => Box::new(lines_of_file(map, file)),
        (_, None) => Box::new(std::iter::empty()),
    }
}

/// The numbers of a program's ports.
pub fn ports(member: &Member) -> BTreeSet<u32> {
    member.ports.all().map(|port| port.port).collect()
}

/// A change that sends copies to a port which the program does not have.
pub fn stray(
    schema: &Schema,
    ports: &BTreeSet<u32>,
    change: &Change,
    span: Span,
) -> Option<Diagnostic> {
    let port = change.ports().find(|port| !ports.contains(port))?;
    let not_done = errors::not_done(schema, change);
    let error = StoreError::NoInterface { port };
    Some(*errors::store(span, &not_done, &error))
}

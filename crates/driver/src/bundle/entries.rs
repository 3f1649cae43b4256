//! Entries of a bundle's programs: their texts, in files or in the bundle itself, and their checks.

use super::{BundledProgram, CheckedProgram, Entries};
use control::entries::{Changes, lines as lines_of_file};
use control::strays::Strays;
use control::{Change, Piece, StoreError, errors};
use diag::{Diagnostics, FileId, SourceMap, Span};
use host::files::read_text;
use interp::{Interpreter, Options};
use kernel::store::check_copies;
use schema::Schema;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Adds the file of a program's entries to the texts, if they are in a file of their own.
pub fn open(map: &mut SourceMap, entries: Option<&Entries>) -> Result<Option<FileId>, String> {
    match entries {
        Some(Entries::File(file)) => add(map, &file.value).map(Some),
        Some(Entries::Made(made)) => add_text(map, made.name.clone(), made.text.clone()).map(Some),
        Some(Entries::Lines(_)) | None => Ok(None),
    }
}

/// Adds a file to the texts.
pub fn add(map: &mut SourceMap, file: &Path) -> Result<FileId, String> {
    add_text(map, file.display().to_string(), read_text(file)?)
}

fn add_text(
    map: &mut SourceMap,
    name: String,
    text: impl Into<Arc<str>>,
) -> Result<FileId, String> {
    let added = map.add(name.clone(), text);
    added.ok_or_else(|| format!("`{name}` is too large"))
}

/// Returns the lines of a program's entries, from the bundle or from their file. `file` is the result of [`open`].
pub fn lines<'a>(
    map: &'a SourceMap,
    entries: Option<&'a Entries>,
    file: Option<FileId>,
) -> Box<dyn Iterator<Item = Piece<'a>> + 'a> {
    match (entries, file) {
        // In a bundle's file, where a string begins after its quotation mark.
        (Some(Entries::Lines(lines)), _) => {
            Box::new(lines.iter().map(|l| Piece::new(&l.value, l.span.lo + 1)))
        }
        (_, Some(file)) => Box::new(lines_of_file(map, file)),
        (_, None) => Box::new(std::iter::empty()),
    }
}

/// Returns the changes that a program's entries make beside those of [`lines`].
///
/// # Errors
///
/// The program has no such set.
pub fn rules<'a>(
    entries: Option<&'a Entries>,
    schema: &Schema,
) -> Result<impl Iterator<Item = Change> + use<'a>, Diagnostics> {
    let rules = match entries {
        Some(Entries::Made(made)) => made.rules.as_slice(),
        _ => &[],
    };
    let changes = rules.iter().map(|rules| rules.changes(schema));
    let changes: Result<Vec<_>, _> = changes.collect();
    let changes = changes.map_err(Diagnostics::from)?;
    Ok(changes.into_iter().flatten())
}

/// Checks all of a program's entries and returns warnings. They must parse, their copies must have destination ports,
/// and they must not clash, for example by equal keys. `file` is the result of [`open`].
pub fn check(
    map: &SourceMap,
    member: &BundledProgram,
    file: Option<FileId>,
    part: CheckedProgram<'_>,
) -> Result<Diagnostics, Diagnostics> {
    let CheckedProgram { abi, schema, .. } = part;
    let ports: BTreeSet<u32> = member.ports.all().map(|port| port.port).collect();
    // A program that the interpreter refuses has been reported.
    let mut tables = part
        .program
        .and_then(|program| Interpreter::new(Arc::new(program.clone()), Options::default()).ok());
    let mut wrong = Diagnostics::new();
    let mut strays = Strays::new(ports.iter().copied(), arch::drop_port(&schema.arch));
    let lines = lines(map, member.entries.as_ref(), file);
    let mut each = |change: Change, span| {
        for warning in strays.of(schema, &change, span) {
            wrong.push(warning);
        }
        let stray = change.ports().find(|port| !ports.contains(port));
        // If the file gives no ports at all, the command line will.
        let stray = stray.filter(|_| !ports.is_empty());
        let stray = stray.map(|port| StoreError::NoInterface { port });
        let refused = stray.or_else(|| check_copies(abi?, schema.clones, &change).err());
        if let Some(error) = refused {
            let not_done = errors::not_done(schema, &change);
            wrong.push(*errors::store(span, &not_done, &error));
        } else if let Some(tables) = &mut tables {
            let one = Changes {
                changes: vec![change],
                spans: vec![span],
            };
            if let Err(refusal) = control::entries::apply(tables, &one) {
                wrong.push(*refusal);
            }
        }
    };
    for change in rules(member.entries.as_ref(), schema)? {
        each(change, Span::NONE);
    }
    control::entries::check(schema, lines, each)?;
    match wrong.has_errors() {
        true => Err(wrong),
        false => Ok(wrong),
    }
}

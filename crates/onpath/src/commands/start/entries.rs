//! A program's entries: checked before anything is set up, and put in once it is loaded. They are read twice, so that a
//! million of them are never in memory but as text and as bytes of maps.

use super::unit::Unit;
use crate::commands::changes::{self, Made};
use crate::output::{Stop, print_diagnostics};
use crate::progress::Progress;
use control::entries::{self, Existing};
use control::{Change, Piece, Store, StoreError, errors};
use diag::{Diagnostic, Diagnostics, FileId, SourceMap, Span};
use driver::bundle::{Entries, Member};
use kernel::files::read_text;
use schema::Schema;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// A program's entries, free of errors.
#[derive(Default)]
pub(crate) struct Checked {
    /// Their file, if they are in one of their own.
    file: Option<FileId>,
    /// How long it took to read them.
    pub took: Duration,
}

/// Adds the file of a program's entries to the texts, if they are in one of their own.
pub(crate) fn open(
    map: &mut SourceMap,
    entries: Option<&Entries>,
) -> Result<Option<FileId>, String> {
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

/// The lines of a program's entries, wherever they are.
pub(crate) fn lines<'a>(
    map: &'a SourceMap,
    entries: Option<&'a Entries>,
    file: Option<FileId>,
) -> Box<dyn Iterator<Item = Piece<'a>> + 'a> {
    match (entries, file) {
        // In a bundle's file, where a string begins behind its quotation mark.
        (Some(Entries::Lines(lines)), _) => {
            Box::new(lines.iter().map(|l| Piece::new(&l.value, l.span.lo + 1)))
        }
        (_, Some(file)) => Box::new(entries::lines(map, file)),
        (_, None) => Box::new(std::iter::empty()),
    }
}

/// The numbers of a program's ports.
pub(crate) fn ports(member: &Member) -> BTreeSet<u32> {
    member.ports.all().map(|port| port.port).collect()
}

/// A change that sends copies to a port which the program does not have.
pub(crate) fn stray(
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

/// Checks all of a program's entries; all errors are reported at once.
pub(crate) fn check(
    unit: &mut Unit,
    number: usize,
    schema: &Schema,
    progress: &Progress,
) -> Result<Checked, Stop> {
    let begun = Instant::now();
    let entries = unit.bundle.programs[number].entries.as_ref();
    if entries.is_none() {
        return Ok(Checked::default());
    }
    let file = open(&mut unit.map, entries).map_err(Stop::Failed)?;
    let lines = lines(&unit.map, entries, file);
    let ports = ports(&unit.bundle.programs[number]);
    let mut wrong = Diagnostics::new();
    let work = || {
        entries::check(schema, lines, |change, span| {
            if let Some(stray) = stray(schema, &ports, &change, span) {
                wrong.push(stray);
            }
        })
    };
    let checked = reporting(progress, unit, number, file, "checking entries in", work);
    let checked = match wrong.has_errors() {
        true => checked.and(Err(wrong)),
        false => checked,
    };
    checked.map_err(|wrong| {
        print_diagnostics(&wrong, &unit.map);
        Stop::AlreadyReported(1)
    })?;
    Ok(Checked {
        file,
        took: begun.elapsed(),
    })
}

/// Puts a program's entries in. What it took includes checking them. `None`: there are none.
pub(crate) fn fill(
    unit: &Unit,
    number: usize,
    checked: &Checked,
    store: &mut dyn Store,
    progress: &Progress,
) -> Result<Option<Made>, Stop> {
    let entries = unit.bundle.programs[number].entries.as_ref();
    let lines = lines(&unit.map, entries, checked.file);
    let work = || changes::make(lines, Existing::Keep, store);
    let made = reporting(
        progress,
        unit,
        number,
        checked.file,
        "changing tables by",
        work,
    );
    let mut made = made.map_err(|wrong| {
        print_diagnostics(&wrong, &unit.map);
        Stop::AlreadyReported(1)
    })?;
    made.took += checked.took;
    Ok((made.changes > 0).then_some(made))
}

/// Works, and reports that as `NAME: WHAT FILE`. What a bundle's own file has is too little to take long.
fn reporting<T>(
    progress: &Progress,
    unit: &Unit,
    number: usize,
    file: Option<FileId>,
    what: &str,
    work: impl FnOnce() -> T,
) -> T {
    let Some(file) = file else {
        return work();
    };
    let label = unit.label(&unit.bundle.programs[number]);
    let name = &unit.map.file(file).name;
    progress.during(&format!("{label}: {what} {name}"), work)
}

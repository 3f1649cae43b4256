//! A program's entries: checked before anything is set up, and written to its tables once it is loaded. Those of
//! a text are parsed twice, so that a million entries are in memory only as text and as bytes of maps.

use super::NotStarted;
use super::observer::{Observer, Work, during};
use super::unit::Unit;
use crate::bundle::{CheckedProgram, entries as texts};
use control::entries::{self, Existing};
use control::{Store, import};
use diag::FileId;
use std::time::{Duration, Instant};

/// A program's entries, free of errors.
#[derive(Default)]
pub(super) struct Checked {
    /// Their file, if they are in a file of their own.
    file: Option<FileId>,
    /// Time that the check took.
    pub(super) took: Duration,
}

/// Entries that are in a program's tables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filled {
    /// The program, as the user knows it.
    pub program: String,
    /// The number of changes that were made.
    pub changes: usize,
    /// Time that it took, checks included.
    pub took: Duration,
}

/// Adds the programs' files of entries to the texts. Each is read once only, as it may be a stream. The result is
/// `None` for a program whose entries are in no file of their own.
pub(super) fn open(unit: &mut Unit) -> Result<Vec<Option<FileId>>, NotStarted> {
    let programs = unit.bundle.programs.iter();
    let files = programs.map(|member| texts::open(&mut unit.map, member.entries.as_ref()));
    files.collect::<Result<_, _>>().map_err(NotStarted::Failed)
}

/// Checks all of a program's entries and reports all errors together. `file` is the result of [`open`].
pub(super) fn check(
    unit: &mut Unit,
    (number, file): (usize, Option<FileId>),
    part: CheckedProgram<'_>,
    observer: &dyn Observer,
) -> Result<Checked, NotStarted> {
    let begun = Instant::now();
    if unit.bundle.programs[number].entries.is_none() {
        return Ok(Checked::default());
    }
    let file = file.map(|file| import::entries(part.schema, &mut unit.map, file));
    let file = file.transpose();
    let file = file.map_err(|wrong| NotStarted::wrong(wrong, &unit.map))?;
    let member = &unit.bundle.programs[number];
    let work = || texts::check(&unit.map, member, file, part);
    let checked = reporting(observer, unit, number, file, Work::CheckEntries, work);
    let warnings = checked.map_err(|wrong| NotStarted::wrong(wrong, &unit.map))?;
    if !warnings.is_empty() {
        observer.warn(&warnings, &unit.map);
    }
    Ok(Checked {
        file,
        took: begun.elapsed(),
    })
}

/// Writes a program's entries to its tables. Returns `None` if it has none.
pub(super) fn fill(
    unit: &Unit,
    number: usize,
    checked: &Checked,
    store: &mut dyn Store,
    observer: &dyn Observer,
) -> Result<Option<Filled>, NotStarted> {
    let begun = Instant::now();
    let entries = unit.bundle.programs[number].entries.as_ref();
    let lines = texts::lines(&unit.map, entries, checked.file);
    let rules = texts::rules(entries, store.schema());
    let rules = rules.map_err(|wrong| NotStarted::wrong(wrong, &unit.map))?;
    let work = || entries::load_after(rules, lines, Existing::Keep, store);
    let filled = reporting(observer, unit, number, checked.file, Work::PutEntries, work);
    let changes = filled.map_err(|wrong| NotStarted::wrong(wrong, &unit.map))?;
    Ok((changes > 0).then(|| Filled {
        program: unit.label(number),
        changes,
        took: checked.took + begun.elapsed(),
    }))
}

/// Does work on entries and reports it to the observer. Entries in the bundle's own file are too few to be reported.
fn reporting<T>(
    observer: &dyn Observer,
    unit: &Unit,
    number: usize,
    file: Option<FileId>,
    what: fn(String) -> Work,
    work: impl FnOnce() -> T,
) -> T {
    let Some(file) = file else {
        return work();
    };
    let name = unit.map.file(file).name.clone();
    during(observer, unit.label(number), what(name), work)
}

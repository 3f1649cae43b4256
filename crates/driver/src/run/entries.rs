//! A program's entries: checked before anything is set up, and put in once it is loaded. They are read twice, so that a
//! million of them are never in memory but as text and as bytes of maps.

use super::NotStarted;
use super::observer::{Observer, Work, during};
use super::unit::Unit;
use crate::bundle::{Part, entries as texts};
use control::entries::{self, Existing};
use control::{Store, import};
use diag::FileId;
use std::time::{Duration, Instant};

/// A program's entries, free of errors.
#[derive(Default)]
pub(super) struct Checked {
    /// Their file, if they are in one of their own.
    file: Option<FileId>,
    /// The time that it took to read them.
    pub(super) took: Duration,
}

/// Entries that are in a program's tables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filled {
    /// The program, as the user knows it.
    pub program: String,
    /// The number of changes that were made.
    pub changes: usize,
    /// The time that it took, checks included.
    pub took: Duration,
}

/// Adds the programs' files of entries to the texts, each once: one may be a stream, which can be read no second time. A program whose entries are in no file
/// of their own has none.
pub(super) fn open(unit: &mut Unit) -> Result<Vec<Option<FileId>>, NotStarted> {
    let programs = unit.bundle.programs.iter();
    let files = programs.map(|member| texts::open(&mut unit.map, member.entries.as_ref()));
    files.collect::<Result<_, _>>().map_err(NotStarted::Failed)
}

/// Checks all of a program's entries; all errors are reported at once. `file` is what [`open`] gave.
pub(super) fn check(
    unit: &mut Unit,
    (number, file): (usize, Option<FileId>),
    part: Part<'_>,
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

/// Puts a program's entries in. `None`: there are none.
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
    let work = || entries::load(lines, Existing::Keep, store);
    let filled = reporting(observer, unit, number, checked.file, Work::PutEntries, work);
    let changes = filled.map_err(|wrong| NotStarted::wrong(wrong, &unit.map))?;
    Ok((changes > 0).then(|| Filled {
        program: unit.label(number),
        changes,
        took: checked.took + begun.elapsed(),
    }))
}

/// Works, and tells the observer. What a bundle's own file has is too little to take long.
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

//! Entry files: one change a line, applied whole or not at all.
//!
//! `add TABLE [PRIORITY] KEY:MATCH ... ACTION(ARGS)` and `setdefault TABLE ACTION(ARGS)`, as in STF;
//! `#` begins a comment.

use crate::entry::{parse_default, parse_entry};
use crate::errors::{self, Refusal};
use crate::{Piece, Store};
use diag::{Diagnostics, FileId, SourceMap, Span};
use ir::{ActionCall, Entry, Program, Table};

/// One change to the tables.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// Add an entry.
    Add(Table, Entry),
    /// Change a default action.
    SetDefault(Table, ActionCall),
}

/// Changes and the lines they stand on.
pub type Changes = Vec<(Change, Span)>;

/// Reads a file of changes. All mistakes in it are reported at once.
pub fn parse(program: &Program, map: &SourceMap, file: FileId) -> Result<Changes, Diagnostics> {
    let text = map.file(file).text.clone();
    let start = map.span(file, 0..0).lo;
    let mut changes = Vec::new();
    let mut diagnostics = Diagnostics::new();
    let mut offset = 0;
    for raw in text.split_inclusive('\n') {
        let line = Piece::new(raw, start + offset as u32);
        offset += raw.len();
        let code = line
            .split_once(|c| c == '#')
            .map_or(line, |(before, _)| before)
            .trim();
        if code.text.is_empty() {
            continue;
        }
        match change(program, code) {
            Ok(change) => changes.push((change, code.span())),
            Err(refusal) => diagnostics.push(*refusal),
        }
    }
    if diagnostics.has_errors() {
        Err(diagnostics)
    } else {
        Ok(changes)
    }
}

fn change(program: &Program, line: Piece) -> Result<Change, Refusal> {
    let (word, rest) = line.first_word();
    match word.text {
        "add" => parse_entry(program, rest).map(|(table, entry)| Change::Add(table, entry)),
        "setdefault" => {
            parse_default(program, rest).map(|(table, call)| Change::SetDefault(table, call))
        }
        _ => Err(errors::malformed(
            word.span(),
            "an entry file has only `add` and `setdefault`",
            "add TABLE [PRIORITY] KEY:MATCH ... ACTION(ARGS)",
        )),
    }
}

/// Makes every change, or none: after a refusal, those already made are taken back.
pub fn apply(program: &Program, store: &mut dyn Store, changes: &Changes) -> Result<(), Refusal> {
    let mut undo: Vec<Change> = Vec::new();
    for (change, span) in changes {
        let done = match change {
            Change::Add(table, entry) => store.insert(*table, entry).map(|()| change.clone()),
            Change::SetDefault(table, call) => store.default_action(*table).and_then(|before| {
                store.set_default(*table, call)?;
                Ok(Change::SetDefault(*table, before))
            }),
        };
        match done {
            Ok(step) => undo.push(step),
            Err(error) => {
                let what = match take_back(store, undo) {
                    Ok(()) => "nothing was changed".to_string(),
                    Err(left) => format!("some lines before this one stay in force ({left})"),
                };
                let table = match change {
                    Change::Add(table, _) | Change::SetDefault(table, _) => *table,
                };
                let name = &program.tables[table].name;
                return Err(errors::store(
                    *span,
                    &format!("table `{name}`, {what}"),
                    &error,
                ));
            }
        }
    }
    Ok(())
}

fn take_back(store: &mut dyn Store, undo: Vec<Change>) -> Result<(), crate::StoreError> {
    undo.into_iter().rev().try_for_each(|change| match change {
        Change::Add(table, entry) => store.remove(table, &entry.keys, entry.priority),
        Change::SetDefault(table, call) => store.set_default(table, &call),
    })
}

//! Entry files: one change a line, applied whole or not at all.
//!
//! `add TABLE [PRIORITY] KEY:MATCH ... ACTION(ARGS)` and `setdefault TABLE ACTION(ARGS)`, as in STF;
//! `#` begins a comment.

use crate::entry::{parse_default, parse_entry};
use crate::errors::{self, Refusal};
use crate::{Change, Piece, Store};
use diag::{Diagnostics, FileId, SourceMap, Span};
use schema::Schema;
use std::sync::Arc;

/// Changes of an entries file, and the lines they stand on.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Changes {
    /// In order.
    pub changes: Vec<Change>,
    /// The place of each.
    pub spans: Vec<Span>,
}

/// Reads a file of changes. All mistakes in it are reported at once.
pub fn parse(schema: &Schema, map: &SourceMap, file: FileId) -> Result<Changes, Diagnostics> {
    let text = map.file(file).text.clone();
    let start = map.span(file, 0..0).lo;
    let mut offset = 0;
    let lines = text.split_inclusive('\n').map(|raw| {
        let line = Piece::new(raw, start + offset as u32);
        offset += raw.len();
        line
    });
    parse_lines(schema, lines)
}

/// Reads changes, a line each, wherever they stand. All mistakes are reported at once.
pub fn parse_lines<'a>(
    schema: &Schema,
    lines: impl IntoIterator<Item = Piece<'a>>,
) -> Result<Changes, Diagnostics> {
    let mut changes = Changes::default();
    let mut diagnostics = Diagnostics::new();
    for line in lines {
        let code = line
            .split_once(|c| c == '#')
            .map_or(line, |(before, _)| before)
            .trim();
        if code.text.is_empty() {
            continue;
        }
        match change(schema, code) {
            Ok(change) => {
                changes.changes.push(change);
                changes.spans.push(code.span());
            }
            Err(refusal) => diagnostics.push(*refusal),
        }
    }
    if diagnostics.has_errors() {
        Err(diagnostics)
    } else {
        Ok(changes)
    }
}

fn change(schema: &Schema, line: Piece) -> Result<Change, Refusal> {
    let (word, rest) = line.first_word();
    match word.text {
        "add" => parse_entry(schema, rest).map(|(table, entry)| Change::Insert(table, entry)),
        "setdefault" => {
            parse_default(schema, rest).map(|(table, call)| Change::SetDefault(table, call))
        }
        _ => Err(errors::malformed(
            word.span(),
            "an entry file has only `add` and `setdefault`",
            "add TABLE [PRIORITY] KEY:MATCH ... ACTION(ARGS)",
        )),
    }
}

/// Makes every change, or none.
pub fn apply(store: &mut dyn Store, changes: &Changes) -> Result<(), Refusal> {
    let schema = Arc::clone(store.schema());
    store.apply(&changes.changes).map_err(|rejected| {
        let what = match &rejected.not_undone {
            None => "nothing was changed".to_string(),
            Some(left) => format!("some lines before this one stay in force ({left})"),
        };
        let name = changes.changes.get(rejected.at).map(|c| name(&schema, c));
        let span = changes.spans.get(rejected.at).copied();
        let what = format!("{}, {what}", name.unwrap_or_default());
        errors::store(span.unwrap_or(Span::NONE), &what, &rejected.error)
    })
}

/// What a change is about.
fn name(schema: &Schema, change: &Change) -> String {
    match change {
        Change::Insert(table, _)
        | Change::Modify(table, _)
        | Change::Remove(table, _)
        | Change::SetDefault(table, _)
        | Change::Clear(table) => format!("table `{}`", schema.tables[*table].name),
        Change::InsertMember(set, _) | Change::RemoveMember(set, _) => {
            format!("value set `{}`", schema.value_sets[*set].name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, Fake};
    use schema::ActionCall;

    fn changes(text: &str) -> Result<Changes, Vec<String>> {
        let mut map = SourceMap::new();
        let file = map.add("e.txt", text).unwrap();
        parse(sample::schema(), &map, file).map_err(|list| {
            list.iter()
                .map(|d| {
                    let line = map.line_col(d.primary.span).unwrap().1.line;
                    format!("{line}: {}", d.message)
                })
                .collect()
        })
    }

    #[test]
    fn comments_blanks_and_line_ends_of_all_kinds() {
        let read = changes(
            "# first\r\n\r\n  add routes 10.0.0.0/8 drop() # why\r\nsetdefault routes drop",
        );
        assert_eq!(read.unwrap().changes.len(), 2);
        assert_eq!(changes("").unwrap(), Changes::default());
    }

    #[test]
    fn every_mistake_is_told_with_its_line() {
        assert_eq!(
            changes(
                "add rotes 1 drop()\nadd routes 10.0.0.0/8 drop()\nremove routes 10.0.0.0/8\nsetdefault routes"
            ),
            Err(vec![
                "1: there is no table `rotes`".into(),
                "3: an entry file has only `add` and `setdefault`".into(),
                "4: no action is named for `C.routes`".into(),
            ])
        );
    }

    const FORWARD: &str = "forward(1, 02:00:00:00:00:01, true, -2, green, NoError)";

    #[test]
    fn a_refused_change_takes_back_those_before_it() {
        let mut store = Fake::default();
        let first = changes("add rules 1 src:10.0.0.1 drop()").unwrap();
        apply(&mut store, &first).unwrap();
        let before = store.state();
        let text = format!(
            "setdefault routes {FORWARD}\nadd routes 10.0.0.0/8 drop()\nadd routes 10.0.0.0/8 {FORWARD}"
        );
        let refused = apply(&mut store, &changes(&text).unwrap()).unwrap_err();
        assert_eq!(
            refused.message,
            "table `C.routes`, nothing was changed: there is already an entry with this match"
        );
        let (entries, defaults) = store.state();
        assert_eq!(entries, before.0);
        // The default is what it was, written back.
        assert_eq!(
            defaults,
            [ActionCall {
                action: 1,
                args: Vec::new()
            }]
        );
    }

    #[test]
    fn what_cannot_be_taken_back_is_told() {
        let mut store = Fake::default();
        (store.stuck, store.capacity) = (true, 1);
        let two = changes("add routes 10.0.0.0/8 drop()\nadd routes 10.1.0.0/16 drop()").unwrap();
        let refused = apply(&mut store, &two).unwrap_err();
        assert_eq!(
            refused.message,
            "table `C.routes`, some lines before this one stay in force (the cable is cut): full: it holds 1 entries"
        );
    }
}

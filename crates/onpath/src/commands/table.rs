//! `onpath table`

use super::instance::open;
use crate::args::{Instance, TableCommand};
use crate::output::{Done, Stop, failed, print_json, refused, refused_in, say_line};
use control::entry::{find_table, parse_default, parse_entry, parse_keys, show_action, show_entry};
use control::json::{json_action, json_entry};
use control::{Change, Piece, Store, StoreError, errors};
use diag::{Diagnostic, SourceMap, Span};
use schema::{Schema, Table};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Reads or changes a running program's tables.
pub fn run(command: TableCommand) -> Done {
    match command {
        TableCommand::Dump {
            instance,
            table,
            json,
        } => {
            let store = open(&instance)?;
            dump(&*store, table.as_deref(), json)
        }
        TableCommand::Add { instance, entry } => change(&instance, &entry, |schema, text| {
            let (table, entry) = parse_entry(schema, text)?;
            Ok(Change::Insert(table, entry))
        }),
        TableCommand::SetDefault { instance, action } => {
            change(&instance, &action, |schema, text| {
                let (table, action) = parse_default(schema, text)?;
                Ok(Change::SetDefault(table, action))
            })
        }
        TableCommand::Del { instance, entry } => change(&instance, &entry, |schema, text| {
            let (table, key) = parse_keys(schema, text)?;
            Ok(Change::Remove(table, key))
        }),
    }
}

/// Reads a change from the command line and makes it.
fn change(
    instance: &Instance,
    words: &[String],
    parse: impl FnOnce(&Schema, Piece) -> Result<Change, Box<Diagnostic>>,
) -> Done {
    let mut store = open(instance)?;
    with_text(words, |text| {
        let change = parse(store.schema(), text)?;
        let made = store.apply(std::slice::from_ref(&change));
        made.map_err(|rejected| {
            let what = errors::not_done(store.schema(), &change);
            errors::store(text.span(), &what, &rejected.error)
        })
    })
}

/// Gives the words of the command line as one text with places in it.
fn with_text(words: &[String], work: impl FnOnce(Piece) -> Result<(), Box<Diagnostic>>) -> Done {
    let mut map = SourceMap::new();
    let Some(file) = map.add("command line", words.join(" ")) else {
        return failed("the command line is too long");
    };
    let text = map.file(file).text.clone();
    let start = map.span(file, 0..0).lo;
    match work(Piece::new(&text, start)) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(diagnostic) => Err(refused_in(diagnostic, &map)),
    }
}

fn dump(store: &dyn Store, wanted: Option<&str>, as_json: bool) -> Done {
    let schema = &**store.schema();
    let tables: Vec<Table> = match wanted {
        Some(name) => {
            let mut map = SourceMap::new();
            let start = map
                .add("command line", name)
                .map_or(0, |file| map.span(file, 0..0).lo);
            vec![
                find_table(schema, Piece::new(name, start))
                    .map_err(|diagnostic| refused_in(diagnostic, &map))?,
            ]
        }
        None => schema.tables.keys().collect(),
    };
    if tables.is_empty() && !as_json {
        say_line!("the program has no tables");
    }
    let mut shown: Vec<Value> = Vec::new();
    for table in tables {
        let name = &schema.tables[table].name;
        let read = |e: StoreError| -> Stop {
            refused(errors::store(
                Span::NONE,
                &format!("table `{name}` could not be read"),
                &e,
            ))
        };
        let entries = store.entries(table).map_err(read)?;
        let default = store.default_action(table).map_err(read)?;
        if as_json {
            shown.push(json!({
                "table": name.as_str(),
                "entries": entries.iter().map(|e| json_entry(schema, table, e)).collect::<Vec<_>>(),
                "default_action": json_action(schema, table, &default),
            }));
            continue;
        }
        let count = entries.len();
        say_line!(
            "{name}: {count} entr{}",
            if count == 1 { "y" } else { "ies" }
        );
        for entry in &entries {
            say_line!("  {}", show_entry(schema, table, entry));
        }
        say_line!("  default {}", show_action(schema, table, &default));
    }
    if as_json {
        print_json(&Value::Array(shown));
    }
    Ok(ExitCode::SUCCESS)
}

//! `onpath table`

use super::instance::open;
use crate::args::TableCommand;
use crate::output::{Done, Stop, failed, print_json, refused, refused_in, say_line};
use control::entry::{find_table, parse_default, parse_entry, parse_keys, show_action, show_entry};
use control::{Piece, Store, StoreError, errors};
use diag::{Diagnostic, SourceMap, Span};
use ir::{Program, Table};
use kernel::KernelStore;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;

/// Reads or changes a running program's tables.
pub fn run(command: TableCommand) -> Done {
    match command {
        TableCommand::Dump {
            instance,
            table,
            json,
        } => {
            let (_, store) = open(&instance)?;
            dump(&store, table.as_deref(), json)
        }
        TableCommand::Add { instance, entry } => {
            let (_, mut store) = open(&instance)?;
            let program = Arc::clone(&store.program);
            with_text(&entry, |text| {
                let (table, entry) = parse_entry(&program, text)?;
                let what = format!("no entry was added to `{}`", program.tables[table].name);
                store
                    .insert(table, &entry)
                    .map_err(|e| errors::store(text.span(), &what, &e))
            })
        }
        TableCommand::SetDefault { instance, action } => {
            let (_, mut store) = open(&instance)?;
            let program = Arc::clone(&store.program);
            with_text(&action, |text| {
                let (table, action) = parse_default(&program, text)?;
                let name = &program.tables[table].name;
                let what = format!("the default action of `{name}` was not changed");
                store
                    .set_default(table, &action)
                    .map_err(|e| errors::store(text.span(), &what, &e))
            })
        }
        TableCommand::Del { instance, entry } => {
            let (_, mut store) = open(&instance)?;
            let program = Arc::clone(&store.program);
            with_text(&entry, |text| {
                let (table, keys, priority) = parse_keys(&program, text)?;
                let what = format!("no entry was removed from `{}`", program.tables[table].name);
                store
                    .remove(table, &keys, priority)
                    .map_err(|e| errors::store(text.span(), &what, &e))
            })
        }
    }
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

fn dump(store: &KernelStore, wanted: Option<&str>, as_json: bool) -> Done {
    let program = &store.program;
    let tables: Vec<Table> = match wanted {
        Some(name) => {
            let mut map = SourceMap::new();
            let start = map
                .add("command line", name)
                .map_or(0, |file| map.span(file, 0..0).lo);
            vec![
                find_table(program, Piece::new(name, start))
                    .map_err(|diagnostic| refused_in(diagnostic, &map))?,
            ]
        }
        None => program.tables.keys().collect(),
    };
    if tables.is_empty() && !as_json {
        say_line!("the program has no tables");
    }
    let mut shown: Vec<Value> = Vec::new();
    for table in tables {
        let name = &program.tables[table].name;
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
                "entries": entries.iter().map(|e| entry_json(program, table, e)).collect::<Vec<_>>(),
                "default_action": show_action(program, table, &default),
            }));
            continue;
        }
        let count = entries.len();
        say_line!(
            "{name}: {count} entr{}",
            if count == 1 { "y" } else { "ies" }
        );
        for entry in &entries {
            say_line!("  {}", show_entry(program, table, entry));
        }
        say_line!("  default {}", show_action(program, table, &default));
    }
    if as_json {
        print_json(&Value::Array(shown));
    }
    Ok(ExitCode::SUCCESS)
}

fn entry_json(program: &Program, table: Table, entry: &ir::Entry) -> Value {
    let data = &program.tables[table];
    let keys: serde_json::Map<String, Value> = control::entry::match_keys(data)
        .zip(&entry.keys)
        .map(|(key, found)| {
            let ty = control::entry::key_type(program, key);
            let text = control::values::show_match(program, ty, &key.name, found);
            (key.name.to_string(), json!(text))
        })
        .collect();
    let has_priorities = control::entry::has_priorities(data);
    json!({
        "key": keys,
        "priority": has_priorities.then_some(entry.priority),
        "action": show_action(program, table, &entry.action),
        "const": entry.is_const,
    })
}

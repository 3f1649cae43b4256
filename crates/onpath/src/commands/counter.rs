//! `onpath counter`

use super::instance::open;
use crate::args::CounterCommand;
use crate::output::{Done, Stop, out, out_line, print_json, refused, refused_in};
use control::entry::{find, show_keys};
use control::{Count, EntryKey, Piece, Store, StoreError, errors};
use diag::{SourceMap, Span, columns};
use schema::{Object, ObjectKind};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;

/// Reads or resets a running program's counters.
pub(crate) fn run(command: CounterCommand) -> Done {
    match command {
        CounterCommand::Read {
            instance,
            counter,
            json,
        } => print(&*open(&instance)?, counter, json),
        CounterCommand::Reset {
            instance, counter, ..
        } => {
            let mut store = open(&instance)?;
            let schema = Arc::clone(store.schema());
            let wanted: Vec<(Object, Option<u64>)> = match counter {
                Some(wanted) => vec![named(&*store, &wanted)?],
                None => schema.counters().map(|(id, _)| (id, None)).collect(),
            };
            for (counter, index) in wanted {
                store.reset_counter(counter, index).map_err(|e| {
                    let name = &schema.objects[counter].name;
                    let what = format!("counter `{name}` was not reset");
                    refused(errors::store(Span::NONE, &what, &e))
                })?;
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn print(store: &dyn Store, counter: Option<String>, json: bool) -> Done {
    let mut shown: Vec<Element> = Vec::new();
    match counter {
        Some(wanted) => {
            let (counter, index) = named(store, &wanted)?;
            read(store, counter, index, &mut shown)?;
        }
        None => {
            for (counter, _) in store.schema().counters() {
                read(store, counter, None, &mut shown)?;
            }
        }
    }
    if json {
        let list: Vec<Value> = shown
            .into_iter()
            .map(|Element { counter, at, count }| match at {
                At::Index(index) => {
                    json!({ "counter": counter, "index": index, "packets": count.packets, "bytes": count.bytes })
                }
                At::Entry { table, keys } => {
                    json!({ "counter": counter, "table": table, "entry": keys, "packets": count.packets, "bytes": count.bytes })
                }
            })
            .collect();
        print_json(&Value::Array(list));
        return Ok(ExitCode::SUCCESS);
    }
    if shown.is_empty() {
        let none = store.schema().counters().next().is_none();
        out_line!(
            "{}",
            if none {
                "the program has no counters"
            } else {
                "all zero"
            }
        );
        return Ok(ExitCode::SUCCESS);
    }
    let with_bytes = shown.iter().any(|element| element.count.bytes > 0);
    let mut rows = vec![vec!["COUNTER".to_string(), "COUNT".to_string()]];
    if with_bytes {
        rows[0].push("BYTES".to_string());
    }
    for Element { counter, at, count } in shown {
        let name = match at {
            At::Index(index) => format!("{counter}[{index}]"),
            At::Entry { table, keys } => format!("{table} {keys}"),
        };
        let mut row = vec![name, count.packets.to_string()];
        if with_bytes {
            row.push(count.bytes.to_string());
        }
        rows.push(row);
    }
    out!("{}", columns(&rows));
    Ok(ExitCode::SUCCESS)
}

/// An element of a counter and what it has.
struct Element {
    counter: String,
    at: At,
    count: Count,
}

/// Which element.
enum At {
    Index(u64),
    /// That of a table's entry.
    Entry {
        table: String,
        keys: String,
    },
}

/// `NAME` or `NAME[INDEX]`.
fn named(store: &dyn Store, wanted: &str) -> Result<(Object, Option<u64>), Stop> {
    let (name, index) = match wanted.strip_suffix(']').and_then(|w| w.split_once('[')) {
        Some((name, index)) => match index.trim().parse() {
            Ok(index) => (name, Some(index)),
            Err(_) => {
                return Err(Stop::Usage(format!(
                    "`{index}` is not an index: write NAME[INDEX], such as {name}[0]"
                )));
            }
        },
        None => (wanted, None),
    };
    let mut map = SourceMap::new();
    let start = map
        .add("command line", wanted)
        .map_or(0, |file| map.span(file, 0..0).lo);
    let counter = find(
        store.schema().counters(),
        Piece::new(name, start),
        "counter",
    )
    .map_err(|diagnostic| refused_in(diagnostic, &map))?;
    let object = &store.schema().objects[counter];
    match object.kind {
        ObjectKind::DirectCounter { .. } if index.is_some() => Err(Stop::Usage(format!(
            "counter `{}` has no index: it counts for each entry of a table; name it without one",
            object.name
        ))),
        _ => Ok((counter, index)),
    }
}

/// One element, zero or not, or all that are not zero.
fn read(
    store: &dyn Store,
    counter: Object,
    only: Option<u64>,
    shown: &mut Vec<Element>,
) -> Result<(), Stop> {
    let schema = &**store.schema();
    let name = schema.objects[counter].name.to_string();
    let unreadable = |e: StoreError| -> Stop {
        refused(errors::store(
            Span::NONE,
            &format!("counter `{name}` could not be read"),
            &e,
        ))
    };
    if let Some(index) = only {
        let count = store.counter(counter, index).map_err(unreadable)?;
        shown.push(Element {
            counter: name.clone(),
            at: At::Index(index),
            count,
        });
        return Ok(());
    }
    if let ObjectKind::DirectCounter { .. } = schema.objects[counter].kind {
        for table in schema.counted_tables(counter) {
            let all = store.direct_counters(table).map_err(unreadable)?;
            let counted = all.into_iter().filter(|(_, c)| *c != Count::default());
            shown.extend(counted.map(|(entry, count)| Element {
                counter: name.clone(),
                at: At::Entry {
                    table: schema.tables[table].name.to_string(),
                    keys: show_keys(schema, table, &EntryKey::of(&entry)),
                },
                count,
            }));
        }
        return Ok(());
    }
    let all = store.counters(counter).map_err(unreadable)?;
    shown.extend(all.into_iter().map(|(index, count)| Element {
        counter: name.clone(),
        at: At::Index(index),
        count,
    }));
    Ok(())
}

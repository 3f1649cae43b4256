//! `onpath table`

use super::changes::{self, How, made_json, made_text};
use super::instance::{open, open_with_ports};
use super::look_up;
use super::named::{not_done, one_or_all, print_array};
use super::profile;
use crate::args::{Instance, TableCommand};
use crate::output::{Done, Stop, failed, out_line, print_diagnostics, print_json};
use crate::progress::Progress;
use control::entries::{self, Existing};
use control::entry::{find_table, parse_default, parse_entry, parse_keys, show_action, show_entry};
use control::json::{json_action, json_entry};
use control::{Change, Contents, Count, EntryKey, MeterRef, Store, import, meter};
use diag::{Diagnostics, SourceMap, counted, shown};
use host::files::{STANDARD_INPUT, read_text};
use schema::{Entry, Table, Unit};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

/// Reads or changes a running program's tables.
pub(crate) fn run(command: TableCommand) -> Done {
    match command {
        TableCommand::Dump {
            instance,
            table,
            entries,
            json,
        } => {
            let store = open(&instance)?;
            let form = match (entries, json) {
                (true, _) => DumpForm::Entries,
                (_, true) => DumpForm::Json,
                _ => DumpForm::Text,
            };
            dump(&*store, table.as_deref(), form)
        }
        TableCommand::Lookup {
            instance,
            values,
            json,
        } => look_up::run(&instance, &values, json),
        TableCommand::Add {
            instance,
            or_modify,
            json,
            entry,
        } => {
            let how = How {
                or_modify,
                as_json: json,
            };
            changes::from_words(&instance, &entry, how, |schema, text| {
                let (table, entry) = parse_entry(schema, text)?;
                Ok(Change::Insert(table, entry))
            })
        }
        TableCommand::Modify {
            instance,
            json,
            entry,
        } => changes::from_words(&instance, &entry, as_json(json), |schema, text| {
            let (table, entry) = parse_entry(schema, text)?;
            Ok(Change::Modify(table, entry))
        }),
        TableCommand::Load {
            instance,
            file,
            replace,
            json,
        } => {
            let existing = match replace {
                true => Existing::Replace,
                false => Existing::Keep,
            };
            load(&instance, &file, existing, json)
        }
        TableCommand::SetDefault {
            instance,
            json,
            action,
        } => changes::from_words(&instance, &action, as_json(json), |schema, text| {
            let (table, action) = parse_default(schema, text)?;
            Ok(Change::SetDefault(table, action))
        }),
        TableCommand::Del {
            instance,
            json,
            entry,
        } => changes::from_words(&instance, &entry, as_json(json), |schema, text| {
            let (table, key) = parse_keys(schema, text)?;
            Ok(Change::Remove(table, key))
        }),
    }
}

fn as_json(as_json: bool) -> How {
    How {
        as_json,
        ..How::default()
    }
}

/// Makes the changes of a file.
fn load(instance: &Instance, file: &Path, existing: Existing, as_json: bool) -> Done {
    let (mut store, mut strays) = open_with_ports(instance)?;
    let text = read_text(file).map_err(Stop::Failed)?;
    let name = match file == Path::new(STANDARD_INPUT) {
        true => "standard input".to_string(),
        false => file.display().to_string(),
    };
    let mut map = SourceMap::new();
    let Some(id) = map.add(name.clone(), text) else {
        return failed(format!("`{name}` is too large"));
    };
    let id = import::entries(store.schema(), &mut map, id).map_err(|diagnostics| {
        print_diagnostics(&diagnostics, &map);
        Stop::AlreadyReported(1)
    })?;
    let mut warnings = Diagnostics::new();
    let mut params = store
        .schema()
        .actions
        .values()
        .flat_map(|action| &action.params);
    if params.any(|param| param.port) {
        let schema = Arc::clone(store.schema());
        // Errors are reported when the changes are made.
        let _ = entries::check(&schema, entries::lines(&map, id), |change, span| {
            for warning in strays.of(&schema, &change, span) {
                warnings.push(warning);
            }
        });
    }
    let progress = Progress::new(false);
    let step = format!("changing tables by {name}");
    let lines = entries::lines(&map, id);
    let begun = Instant::now();
    let made = progress.during(&step, || entries::load(lines, existing, &mut *store));
    let took = begun.elapsed();
    let changes = made.map_err(|diagnostics| {
        print_diagnostics(&diagnostics, &map);
        Stop::AlreadyReported(1)
    })?;
    print_diagnostics(&warnings, &map);
    if as_json {
        print_json(&Value::Object(made_json(changes, took)));
    } else {
        out_line!("{}", made_text(changes, took));
    }
    Ok(ExitCode::SUCCESS)
}

/// Format of a dump.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DumpForm {
    /// Text.
    Text,
    /// Lines of an entries file.
    Entries,
    /// JSON.
    Json,
}

fn dump(store: &dyn Store, wanted: Option<&str>, form: DumpForm) -> Done {
    let schema = &**store.schema();
    let tables = one_or_all(
        wanted,
        |text| find_table(schema, text),
        schema.tables.keys(),
    )?;
    if tables.is_empty() && form == DumpForm::Text {
        out_line!("the program has no tables");
    }
    if form == DumpForm::Entries {
        dump_profiles(store, &tables)?;
    }
    let mut objects: Vec<Value> = Vec::new();
    let contents = store.contents(&tables).map_err(|(table, error)| {
        let name = &schema.tables[table].name;
        not_done(format!("table `{name}` could not be read"))(error)
    })?;
    for (
        table,
        Contents {
            entries,
            default_action: default,
        },
    ) in tables.into_iter().zip(contents)
    {
        let name = &schema.tables[table].name;
        let counts = match form {
            DumpForm::Entries => HashMap::new(),
            DumpForm::Text | DumpForm::Json => counts(store, table)?,
        };
        match form {
            DumpForm::Json => objects.push(json!({
                "table": name.as_str(),
                "entries": entries.iter().map(|entry| {
                    let counted = counts.get(&EntryKey::of(entry));
                    counted_json(json_entry(schema, table, entry), counted)
                }).collect::<Vec<_>>(),
                "default_action": json_action(schema, table, &default),
            })),
            DumpForm::Entries => {
                for line in entries::show(schema, table, &entries, &default) {
                    out_line!("{}", shown(&line));
                }
                dump_meters(store, table, &entries)?;
            }
            DumpForm::Text => {
                out_line!("{}: {}", shown(name), counted(entries.len(), "entry"));
                for entry in &entries {
                    let counted = counted_text(counts.get(&EntryKey::of(entry)));
                    out_line!("  {}{counted}", shown(&show_entry(schema, table, entry)));
                }
                out_line!("  default {}", shown(&show_action(schema, table, &default)));
            }
        }
    }
    if form == DumpForm::Json {
        print_array(objects);
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the counts of each entry of a table, if the table has a direct counter.
fn counts(store: &dyn Store, table: Table) -> Result<HashMap<EntryKey, (Count, Unit)>, Stop> {
    let schema = &**store.schema();
    let Some(unit) = schema.unit_of_entries(table) else {
        return Ok(HashMap::new());
    };
    let name = &schema.tables[table].name;
    let all = store.direct_counters(table);
    let all = all.map_err(not_done(format!(
        "the counters of `{name}` could not be read"
    )))?;
    let of_entry = |(entry, count): (Entry, Count)| (EntryKey::of(&entry), (count, unit));
    Ok(all.into_iter().map(of_entry).collect())
}

/// Adds the counts of an entry to its JSON.
fn counted_json(mut entry: Value, counted: Option<&(Count, Unit)>) -> Value {
    if let Some((count, unit)) = counted {
        if unit.has_packets() {
            entry["packets"] = json!(count.packets);
        }
        if unit.has_bytes() {
            entry["bytes"] = json!(count.bytes);
        }
    }
    entry
}

/// Returns the counts of an entry, as text after it: ` 12 packets, 840 bytes`.
fn counted_text(counted_here: Option<&(Count, Unit)>) -> String {
    let Some((count, unit)) = counted_here else {
        return String::new();
    };
    let parts = [
        (unit.has_packets(), count.packets, "packet"),
        (unit.has_bytes(), count.bytes, "byte"),
    ];
    let parts = parts.into_iter().filter(|(is_counted, ..)| *is_counted);
    let parts: Vec<String> = parts.map(|(_, n, what)| counted(n, what)).collect();
    format!("  {}", parts.join(", "))
}

/// Prints the lines that create the members and groups to which entries of these tables refer.
fn dump_profiles(store: &dyn Store, tables: &[Table]) -> Result<(), Stop> {
    let schema = &**store.schema();
    let profiles = tables.iter().filter_map(|table| schema.profile_of(*table));
    for profile in profiles.collect::<BTreeSet<_>>() {
        let of_it = profile::contents(store, profile)?;
        for line in entries::show_profile(schema, profile, &of_it.members, &of_it.groups) {
            out_line!("{}", shown(&line));
        }
    }
    Ok(())
}

/// Prints the lines that set the rates of the meters of a table's entries.
fn dump_meters(store: &dyn Store, table: Table, entries: &[Entry]) -> Result<(), Stop> {
    let schema = &**store.schema();
    if !meter::direct(schema).any(|metered| metered == table) {
        return Ok(());
    }
    let name = &schema.tables[table].name;
    let unread = not_done(format!("the meters of `{name}` could not be read"));
    for key in entries.iter().map(EntryKey::of) {
        let rates = store.direct_meter(table, &key).map_err(&unread)?;
        if let Some(rates) = rates {
            let meter = MeterRef::OfEntry(table, key);
            out_line!("{}", shown(&entries::show_meter(schema, &meter, &rates)));
        }
    }
    Ok(())
}

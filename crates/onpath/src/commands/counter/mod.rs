//! `onpath counter`

mod rates;

use super::instance::open;
use super::named::{not_done, print_array, print_rows, with_text};
use crate::args::CounterCommand;
use crate::output::{Done, Stop};
use control::entry::{find, show_keys};
use control::{Count, EntryKey, Store};
use schema::{Object, ObjectKind, Schema, Unit};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;

/// Reads or resets a running program's counters.
pub(crate) fn run(command: CounterCommand) -> Done {
    match command {
        CounterCommand::Read {
            instance,
            counter,
            every,
            json,
        } => {
            let store = open(&instance)?;
            match every {
                None => print(&read_all(&*store, counter.as_deref())?, &*store, json),
                Some(every) => rates::run(&*store, counter.as_deref(), every, json),
            }
        }
        CounterCommand::Reset {
            instance, counter, ..
        } => {
            let mut store = open(&instance)?;
            let schema = Arc::clone(store.schema());
            for (counter, index) in wanted(&schema, counter.as_deref())? {
                let name = &schema.objects[counter].name;
                let reset = store.reset_counter(counter, index);
                reset.map_err(not_done(format!("counter `{name}` was not reset")))?;
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Reads the elements of the named counter, or of all counters.
fn read_all(store: &dyn Store, counter: Option<&str>) -> Result<Vec<Element>, Stop> {
    let mut elements: Vec<Element> = Vec::new();
    for (counter, index) in wanted(store.schema(), counter)? {
        read(store, counter, index, &mut elements)?;
    }
    Ok(elements)
}

fn print(elements: &[Element], store: &dyn Store, json: bool) -> Done {
    if json {
        print_array(elements.iter().map(Element::json));
        return Ok(ExitCode::SUCCESS);
    }
    let none = match store.schema().counters().next() {
        None => "the program has no counters",
        Some(_) => "all zero",
    };
    let rows = elements.iter().map(|element| {
        let Count { packets, bytes } = element.count;
        [element.name(), packets.to_string(), bytes.to_string()]
    });
    if elements.iter().any(|element| element.unit.has_bytes()) {
        print_rows(["COUNTER", "COUNT", "BYTES"], rows, none);
    } else {
        let rows = rows.map(|[name, packets, _]| [name, packets]);
        print_rows(["COUNTER", "COUNT"], rows, none);
    }
    Ok(ExitCode::SUCCESS)
}

/// An element of a counter, with its count.
struct Element {
    counter: String,
    at: At,
    count: Count,
    unit: Unit,
}

impl Element {
    fn name(&self) -> String {
        match &self.at {
            At::Index(index) => format!("{}[{index}]", self.counter),
            At::Entry { table, keys } => format!("{table} {keys}"),
        }
    }

    fn json(&self) -> Value {
        let Count { packets, bytes } = self.count;
        let counter = &self.counter;
        match &self.at {
            At::Index(index) => {
                json!({ "counter": counter, "index": index, "packets": packets, "bytes": bytes })
            }
            At::Entry { table, keys } => {
                json!({ "counter": counter, "table": table, "entry": keys, "packets": packets, "bytes": bytes })
            }
        }
    }
}

/// Position of an element in its counter.
#[derive(PartialEq, Eq, Hash, Clone)]
enum At {
    Index(u64),
    /// The element of a table's entry, in a direct counter.
    Entry {
        table: String,
        keys: String,
    },
}

/// Finds the named counter or element, or all counters.
fn wanted(schema: &Schema, named: Option<&str>) -> Result<Vec<(Object, Option<u64>)>, Stop> {
    let Some(wanted) = named else {
        return Ok(schema.counters().map(|(id, _)| (id, None)).collect());
    };
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
    let counter = with_text(wanted, |text| {
        find(schema.counters(), text.part(0, name.len()), "counter")
    })?;
    let object = &schema.objects[counter];
    match object.kind {
        ObjectKind::DirectCounter { .. } if index.is_some() => Err(Stop::Usage(format!(
            "counter `{}` has no index: it counts for each entry of a table; name it without one",
            object.name
        ))),
        _ => Ok(vec![(counter, index)]),
    }
}

/// Reads one element, or all that are not zero.
fn read(
    store: &dyn Store,
    counter: Object,
    only: Option<u64>,
    shown: &mut Vec<Element>,
) -> Result<(), Stop> {
    let schema = &**store.schema();
    let name = schema.objects[counter].name.to_string();
    let (ObjectKind::Counter { unit, .. } | ObjectKind::DirectCounter { unit }) =
        schema.objects[counter].kind
    else {
        return Ok(());
    };
    let unread = not_done(format!("counter `{name}` could not be read"));
    if let Some(index) = only {
        let count = store.counter(counter, index).map_err(&unread)?;
        shown.push(Element {
            counter: name.clone(),
            at: At::Index(index),
            count,
            unit,
        });
        return Ok(());
    }
    if let ObjectKind::DirectCounter { .. } = schema.objects[counter].kind {
        for table in schema.counted_tables(counter) {
            let all = store.direct_counters(table).map_err(&unread)?;
            let counted = all.into_iter().filter(|(_, c)| *c != Count::default());
            shown.extend(counted.map(|(entry, count)| Element {
                counter: name.clone(),
                at: At::Entry {
                    table: schema.tables[table].name.to_string(),
                    keys: show_keys(schema, table, &EntryKey::of(&entry)),
                },
                count,
                unit,
            }));
        }
        return Ok(());
    }
    let all = store.counters(counter).map_err(&unread)?;
    shown.extend(all.into_iter().map(|(index, count)| Element {
        counter: name.clone(),
        at: At::Index(index),
        count,
        unit,
    }));
    Ok(())
}

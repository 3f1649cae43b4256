//! `onpath meter`

use super::changes;
use super::instance::open;
use crate::args::MeterCommand;
use crate::output::{Done, Stop, out, out_line, print_json, refused, refused_in};
use control::entry::find_table;
use control::meter::{direct, indexed, parse_reset, parse_set};
use control::{Change, EntryKey, MeterRef, Piece, Rates, Store, StoreError, errors, resolve};
use diag::{SourceMap, Span, columns};
use schema::{Object, Schema, Table, Unit};
use serde_json::Value;
use std::process::ExitCode;

/// Reads or changes the rates of a running program's meters.
pub(crate) fn run(command: MeterCommand) -> Done {
    match command {
        MeterCommand::List {
            instance,
            meter,
            json,
        } => list(&*open(&instance)?, meter.as_deref(), json),
        MeterCommand::Set { instance, meter } => {
            changes::from_words(&instance, &meter, |schema, text| {
                let (meter, rates) = parse_set(schema, text)?;
                Ok(Change::Meter(meter, Some(rates)))
            })
        }
        MeterCommand::Reset { instance, meter } => {
            changes::from_words(&instance, &meter, |schema, text| {
                Ok(Change::Meter(parse_reset(schema, text)?, None))
            })
        }
    }
}

/// What is to be listed.
enum Wanted {
    Array(Object),
    Table(Table),
    One(MeterRef),
}

fn list(store: &dyn Store, wanted: Option<&str>, as_json: bool) -> Done {
    let schema = &**store.schema();
    let all: Vec<Wanted> = match wanted {
        Some(name) => vec![named(schema, name)?],
        None => {
            let arrays = indexed(schema).map(|(meter, _)| Wanted::Array(meter));
            arrays.chain(direct(schema).map(Wanted::Table)).collect()
        }
    };
    let none = all.is_empty();
    let mut shown: Vec<(MeterRef, Option<Rates>)> = Vec::new();
    for wanted in all {
        read(store, wanted, &mut shown).map_err(|error| {
            refused(errors::store(
                Span::NONE,
                "the meters could not be read",
                &error,
            ))
        })?;
    }
    if as_json {
        let with_rates = shown
            .iter()
            .filter_map(|(meter, rates)| Some((meter, (*rates)?)));
        let shown = with_rates.map(|(meter, rates)| meter.json(schema, &rates));
        print_json(&Value::Array(shown.collect()));
        return Ok(ExitCode::SUCCESS);
    }
    if shown.is_empty() {
        out_line!(
            "{}",
            if none {
                "the program has no meters"
            } else {
                "no meter has rates"
            }
        );
        return Ok(ExitCode::SUCCESS);
    }
    let head = ["METER", "UNIT", "COMMITTED", "BURST", "PEAK", "BURST"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for (meter, rates) in shown {
        let unit = match meter.unit(schema) {
            Unit::Bytes => "bytes",
            _ => "packets",
        };
        let rates = match rates {
            Some(rates) => [
                rates.committed,
                rates.committed_burst,
                rates.peak,
                rates.peak_burst,
            ]
            .map(|number| number.to_string()),
            None => ["-"; 4].map(String::from),
        };
        let mut row = vec![meter.show(schema), unit.to_string()];
        row.extend(rates);
        rows.push(row);
    }
    out!("{}", columns(&rows));
    Ok(ExitCode::SUCCESS)
}

/// A meter with an index, a table whose entries have meters, or one meter.
fn named(schema: &Schema, name: &str) -> Result<Wanted, Stop> {
    let arrays: Vec<(Object, &str)> = indexed(schema).collect();
    if let Ok(at) = resolve(arrays.iter().map(|(_, name)| *name), name) {
        return Ok(Wanted::Array(arrays[at].0));
    }
    let mut map = SourceMap::new();
    let file = map.add("command line", name);
    let text = Piece::new(name, file.map_or(0, |file| map.span(file, 0..0).lo));
    match find_table(schema, text) {
        Ok(table) if direct(schema).any(|metered| metered == table) => Ok(Wanted::Table(table)),
        _ => match parse_reset(schema, text) {
            Ok(meter) => Ok(Wanted::One(meter)),
            Err(diagnostic) => Err(refused_in(diagnostic, &map)),
        },
    }
}

/// Those that have rates, or the one that is asked for.
fn read(
    store: &dyn Store,
    wanted: Wanted,
    shown: &mut Vec<(MeterRef, Option<Rates>)>,
) -> Result<(), StoreError> {
    match wanted {
        Wanted::Array(meter) => {
            let all = store.meters(meter)?.into_iter();
            shown.extend(all.map(|(index, rates)| (MeterRef::Indexed(meter, index), Some(rates))));
        }
        Wanted::Table(table) => {
            for entry in store.entries(table)? {
                let key = EntryKey::of(&entry);
                let rates = store.direct_meter(table, &key)?;
                shown.extend(rates.map(|rates| (MeterRef::OfEntry(table, key), Some(rates))));
            }
        }
        Wanted::One(meter) => {
            let rates = match &meter {
                MeterRef::Indexed(meter, index) => store.meter(*meter, *index)?,
                MeterRef::OfEntry(table, key) => store.direct_meter(*table, key)?,
            };
            shown.push((meter, rates));
        }
    }
    Ok(())
}

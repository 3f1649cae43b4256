//! `onpath meter`

use super::changes::{self, How};
use super::instance::open;
use super::named::{not_done, one_or_all, print_array, print_rows};
use crate::args::MeterCommand;
use crate::output::Done;
use control::entry::find_table;
use control::meter::{direct, indexed, parse_reset, parse_set};
use control::{Change, EntryKey, MeterRef, Piece, Rates, Store, StoreError, resolve};
use diag::Diagnostic;
use schema::{Object, Schema, Table, Unit};
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
            changes::from_words(&instance, &meter, How::default(), |schema, text| {
                let (meter, rates) = parse_set(schema, text)?;
                Ok(Change::Meter(meter, Some(rates)))
            })
        }
        MeterCommand::Reset { instance, meter } => {
            changes::from_words(&instance, &meter, How::default(), |schema, text| {
                Ok(Change::Meter(parse_reset(schema, text)?, None))
            })
        }
    }
}

/// Meters to list.
enum Wanted {
    Array(Object),
    Table(Table),
    One(MeterRef),
}

fn list(store: &dyn Store, wanted: Option<&str>, as_json: bool) -> Done {
    let schema = &**store.schema();
    let arrays = indexed(schema).map(|(meter, _)| Wanted::Array(meter));
    let all = arrays.chain(direct(schema).map(Wanted::Table));
    let all = one_or_all(wanted, |text| named(schema, text), all)?;
    let none = match all.is_empty() {
        true => "the program has no meters",
        false => "no meter has rates",
    };
    let mut shown: Vec<(MeterRef, Option<Rates>)> = Vec::new();
    for wanted in all {
        let read = read(store, wanted, &mut shown);
        read.map_err(not_done("the meters could not be read"))?;
    }
    let shown = shown.iter();
    if as_json {
        let with_rates = shown.filter_map(|(meter, rates)| Some((meter, rates.as_ref()?)));
        print_array(with_rates.map(|(meter, rates)| meter.json(schema, rates)));
        return Ok(ExitCode::SUCCESS);
    }
    let rows = shown.map(|(meter, rates)| {
        let unit = match meter.unit(schema) {
            Unit::Bytes => "bytes",
            _ => "packets",
        };
        let rate = |of: fn(&Rates) -> u64| match rates {
            Some(rates) => of(rates).to_string(),
            None => "-".to_string(),
        };
        [
            meter.show(schema),
            unit.to_string(),
            rate(|rates| rates.committed),
            rate(|rates| rates.committed_burst),
            rate(|rates| rates.peak),
            rate(|rates| rates.peak_burst),
        ]
    });
    let heads = ["METER", "UNIT", "COMMITTED", "BURST", "PEAK", "BURST"];
    print_rows(heads, rows, none);
    Ok(ExitCode::SUCCESS)
}

/// Finds an array of meters, a table whose entries have meters, or one meter.
fn named(schema: &Schema, text: Piece) -> Result<Wanted, Box<Diagnostic>> {
    let arrays: Vec<(Object, &str)> = indexed(schema).collect();
    if let Ok(at) = resolve(arrays.iter().map(|(_, name)| *name), text.text) {
        return Ok(Wanted::Array(arrays[at].0));
    }
    match find_table(schema, text) {
        Ok(table) if direct(schema).any(|metered| metered == table) => Ok(Wanted::Table(table)),
        _ => parse_reset(schema, text).map(Wanted::One),
    }
}

/// Reads the meters that have rates, or the single one that is wanted.
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

//! `onpath ls`

use super::instance::mend_quietly;
use super::named::{print_array, print_rows};
use super::presence::{ProgramPort, places};
use crate::args::Ls;
use crate::output::{Done, err_line, out_line, refused};
use diag::counted;
use driver::hooks;
use kernel::errors::device::HIDDEN;
use kernel::pins::MemberRecord;
use kernel::store::Specialized;
use kernel::{Pins, Record};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Lists the programs and bundles that are running.
pub(crate) fn run(args: Ls) -> Done {
    let pins = Pins::default();
    mend_quietly(&pins);
    let mut records: Vec<Record> = Vec::new();
    for name in pins.names().map_err(refused)? {
        records.push(pins.record(&name).map_err(refused)?);
    }
    if args.json {
        print_array(records.iter().map(|record| as_json(&pins, record)));
        return Ok(ExitCode::SUCCESS);
    }
    let members = records.iter().flat_map(|record| {
        let of_it = record.members.iter().enumerate();
        of_it.map(move |(number, member)| (record, number, member))
    });
    let heads = [
        "NAME",
        "PROGRAM",
        "TARGET",
        "DIRECTION",
        "PORT",
        "INTERFACE",
        "MODE",
    ];
    let mut lines = Vec::new();
    let mut rows = Vec::new();
    for (record, number, member) in members.clone() {
        let places = places(&pins, record, number);
        lines.extend(places.iter().flat_map(|place| place.lines(record, number)));
        rows.extend(rows_of(record, member, &places));
    }
    print_rows(heads, rows, "no program is running");
    if records.is_empty() && pins.are_hidden() {
        err_line!("note: {HIDDEN}");
    }
    let specialized =
        members.filter_map(|(record, _, member)| specialized_line(&pins, record, member));
    for line in lines.into_iter().chain(specialized) {
        out_line!("{line}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a row for each interface. The program's own columns are filled in the first row only.
fn rows_of<'a>(
    record: &Record,
    member: &MemberRecord,
    places: &'a [ProgramPort<'a>],
) -> impl Iterator<Item = [String; 7]> + use<'a> {
    let mut program = [
        record.label(member),
        member.abi.source.clone(),
        member.hook.name().to_string(),
        hooks::direction(member.hook).to_string(),
    ];
    places.iter().map(move |place| {
        let [name, source, target, direction] = std::mem::take(&mut program);
        let (port, mode) = (place.port.to_string(), place.attached());
        let interface = place.interface();
        [
            name,
            source,
            target,
            direction,
            port,
            interface,
            mode.to_string(),
        ]
    })
}

fn as_json(pins: &Pins, record: &Record) -> Value {
    let programs: Vec<Value> = record
        .members
        .iter()
        .enumerate()
        .map(|(number, member)| {
            let places = places(pins, record, number);
            let (attached, reached): (Vec<&ProgramPort<'_>>, _) =
                places.iter().partition(|place| place.mode.is_some());
            let as_json = |places: Vec<&ProgramPort<'_>>| -> Vec<Value> {
                places.into_iter().map(ProgramPort::as_json).collect()
            };
            let (interfaces, reached) = (as_json(attached), as_json(reached));
            let mut all = json!({
                "name": record.label(member),
                "program": member.abi.source,
                "architecture": member.abi.arch,
                "target": member.hook.name(),
                "direction": hooks::direction(member.hook),
                "interfaces": interfaces,
                "reached": reached,
            });
            if let Some((noted, current)) = specialized(pins, record, member) {
                all["specialized"] = specialized_json(&noted, &current);
            }
            all
        })
        .collect();
    json!({
        "name": record.instance,
        "loaded": record.loaded,
        "programs": programs,
    })
}

/// Returns the tables to which a program is specialized, and for each true if its contents are still the compiled
/// ones. `None` if the program is not specialized or no longer running.
fn specialized(
    pins: &Pins,
    record: &Record,
    member: &MemberRecord,
) -> Option<(Specialized, Vec<bool>)> {
    let (_, store) = pins.open(&record.instance, Some(&member.name)).ok()?;
    kernel::store::specialized(&store).ok()?
}

/// Returns the specialization as a line of text. Tables that have changed, and so are looked up, are not named.
fn specialized_line(pins: &Pins, record: &Record, member: &MemberRecord) -> Option<String> {
    let (noted, current) = specialized(pins, record, member)?;
    let tables = noted.tables.iter().zip(current);
    let tables: Vec<String> = tables
        .filter(|(_, current)| *current)
        .map(|(table, _)| format!("{} ({})", table.name, counted(table.entries, "entry")))
        .collect();
    let to = match tables.is_empty() {
        true => "no table".to_owned(),
        false => tables.join(", "),
    };
    let watched = match noted.watcher.has_ended() {
        true => "; nothing watches its tables any more",
        false => "",
    };
    Some(format!(
        "{}: specialized to {to}{watched}",
        record.label(member)
    ))
}

fn specialized_json(noted: &Specialized, current: &[bool]) -> Value {
    let tables = noted.tables.iter().zip(current);
    let tables: Vec<Value> = tables
        .map(|(table, current)| {
            json!({ "table": table.name, "entries": table.entries, "current": current })
        })
        .collect();
    json!({ "watched": !noted.watcher.has_ended(), "tables": tables })
}

//! `onpath ls`

use super::instance::label;
use super::named::{print_array, print_rows};
use crate::args::Ls;
use crate::output::{Done, err_line, out_line, refused};
use diag::counted;
use driver::hooks;
use kernel::errors::device::HIDDEN;
use kernel::pins::{Interface, MemberRecord, Target};
use kernel::store::Specialized;
use kernel::{Pins, Record, interface};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Lists the programs and bundles that are running.
pub(crate) fn run(args: Ls) -> Done {
    let pins = Pins::default();
    // A user with read access only can still list.
    let _ = pins.mend();
    let mut records: Vec<Record> = Vec::new();
    for name in pins.names().map_err(refused)? {
        records.push(pins.record(&name).map_err(refused)?);
    }
    if args.json {
        print_array(records.iter().map(|record| as_json(&pins, record)));
        return Ok(ExitCode::SUCCESS);
    }
    let members = records.iter().flat_map(|record| {
        let of_it = record.members.iter();
        of_it.map(move |member| (record, member))
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
    let rows = members
        .clone()
        .flat_map(|(record, member)| rows_of(record, member));
    print_rows(heads, rows, "no program is running");
    if records.is_empty() && pins.are_hidden() {
        err_line!("note: {HIDDEN}");
    }
    for line in members.filter_map(|(record, member)| specialized_line(&pins, record, member)) {
        out_line!("{line}");
    }
    Ok(ExitCode::SUCCESS)
}

/// A row an interface; what belongs to the program stands in the first.
fn rows_of(record: &Record, member: &MemberRecord) -> impl Iterator<Item = [String; 7]> {
    let mut program = [
        label(record, member),
        member.abi.source.clone(),
        member.hook.name().to_string(),
        hooks::direction(member.hook).to_string(),
    ];
    places(member)
        .into_iter()
        .map(move |(port, interface, mode)| {
            let [name, source, target, direction] = std::mem::take(&mut program);
            [
                name,
                source,
                target,
                direction,
                port.to_string(),
                interface,
                mode.to_string(),
            ]
        })
}

/// Port, interface and mode wherever a program runs or sends to.
pub(super) fn places(member: &MemberRecord) -> Vec<(u32, String, &str)> {
    let attached = member.interfaces.iter().map(|at| {
        let name = name_now(&at.name, at.index, at.is_here());
        (at.port, name, at.mode.as_str())
    });
    let reached = member.targets.iter().map(|at| {
        let name = name_now(&at.name, at.index, at.is_here());
        (at.port, name, "reached")
    });
    attached.chain(reached).collect()
}

/// An interface as it is called now.
fn name_now(name: &str, index: u32, is_here: bool) -> String {
    match interface::name(index) {
        _ if !is_here => format!("{name} (elsewhere)"),
        Some(now) => now,
        None => format!("{name} (gone)"),
    }
}

fn as_json(pins: &Pins, record: &Record) -> Value {
    let programs: Vec<Value> = record
        .members
        .iter()
        .map(|member| {
            let interfaces: Vec<Value> = member.interfaces.iter().map(interface_json).collect();
            let reached: Vec<Value> = member.targets.iter().map(target_json).collect();
            let mut all = json!({
                "name": label(record, member),
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

/// To what a program is specialized, and of each table whether that is what it has in it; `None` if it is not, or is not
/// there any more.
fn specialized(
    pins: &Pins,
    record: &Record,
    member: &MemberRecord,
) -> Option<(Specialized, Vec<bool>)> {
    let (_, store) = pins.open(&record.instance, Some(&member.name)).ok()?;
    store.specialized().ok()?
}

/// The same, as a line: the tables that are looked up since they have changed are not named.
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
        label(record, member)
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

/// An interface at which a program runs.
pub(super) fn interface_json(at: &Interface) -> Value {
    let mut value = place_json(&at.name, at.index, at.port, at.is_here());
    value["mode"] = json!(at.mode);
    value
}

/// An interface that a program only sends to.
pub(super) fn target_json(at: &Target) -> Value {
    place_json(&at.name, at.index, at.port, at.is_here())
}

/// An interface of another network namespace is not present.
fn place_json(name: &str, index: u32, port: u32, is_here: bool) -> Value {
    let now = interface::name(index).filter(|_| is_here);
    json!({
        "port": port,
        "present": now.is_some(),
        "name": now.unwrap_or_else(|| name.to_owned()),
        "index": index,
    })
}

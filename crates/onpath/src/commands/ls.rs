//! `onpath ls`

use super::instance::label;
use crate::args::Ls;
use crate::output::{Done, err_line, out, out_line, print_json, refused};
use diag::{columns, counted};
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
        let list: Vec<Value> = records.iter().map(|r| as_json(&pins, r)).collect();
        print_json(&Value::Array(list));
        return Ok(ExitCode::SUCCESS);
    }
    if records.is_empty() {
        out_line!("no program is running");
        if pins.are_hidden() {
            err_line!("note: {HIDDEN}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let heads = [
        "NAME",
        "PROGRAM",
        "TARGET",
        "DIRECTION",
        "PORT",
        "INTERFACE",
        "MODE",
    ];
    let mut rows = vec![heads.map(String::from).to_vec()];
    for record in &records {
        for member in &record.members {
            rows.extend(rows_of(record, member));
        }
    }
    out!("{}", columns(&rows));
    for record in &records {
        for member in &record.members {
            if let Some(line) = specialized_line(&pins, record, member) {
                out_line!("{line}");
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A row an interface; what belongs to the program stands in the first.
fn rows_of(record: &Record, member: &MemberRecord) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for at in &member.interfaces {
        let program = [
            label(record, member),
            member.abi.source.clone(),
            member.hook.name().to_string(),
            hooks::direction(member.hook).to_string(),
        ];
        let mut row = match rows.len() {
            0 => program.to_vec(),
            _ => vec![String::new(); program.len()],
        };
        row.push(at.port.to_string());
        row.push(name_now(&at.name, at.index, at.is_here()));
        row.push(at.mode.clone());
        rows.push(row);
    }
    for at in &member.targets {
        let mut row = vec![String::new(); 4];
        row.push(at.port.to_string());
        row.push(name_now(&at.name, at.index, at.is_here()));
        row.push(String::from("reached"));
        rows.push(row);
    }
    rows
}

/// An interface as it is called now.
pub(super) fn name_now(name: &str, index: u32, is_here: bool) -> String {
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

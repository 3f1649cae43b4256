//! `onpath ls`

use super::instance::label;
use crate::args::Ls;
use crate::output::{Done, print_json, refused, say, say_line, tell_line};
use diag::columns;
use driver::hooks;
use kernel::errors::device::HIDDEN;
use kernel::pins::{Interface, MemberRecord};
use kernel::{Pins, Record, interface};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Lists the programs and bundles that are running.
pub fn run(args: Ls) -> Done {
    let pins = Pins::default();
    let mut records: Vec<Record> = Vec::new();
    for name in pins.names().map_err(refused)? {
        records.push(pins.record(&name).map_err(refused)?);
    }
    if args.json {
        let list: Vec<Value> = records.iter().map(as_json).collect();
        print_json(&Value::Array(list));
        return Ok(ExitCode::SUCCESS);
    }
    if records.is_empty() {
        say_line!("no program is running");
        if pins.are_hidden() {
            tell_line!("note: {HIDDEN}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let heads = [
        "NAME",
        "PROGRAM",
        "HOOK",
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
    say!("{}", columns(&rows));
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
        row.push(match interface::name(at.index) {
            _ if !at.is_here() => format!("{} (elsewhere)", at.name),
            Some(name) => name,
            None => format!("{} (gone)", at.name),
        });
        row.push(at.mode.clone());
        rows.push(row);
    }
    rows
}

fn as_json(record: &Record) -> Value {
    let programs: Vec<Value> = record
        .members
        .iter()
        .map(|member| {
            let interfaces: Vec<Value> = member.interfaces.iter().map(interface_json).collect();
            json!({
                "name": label(record, member),
                "program": member.abi.source,
                "architecture": member.abi.arch,
                "hook": member.hook.name(),
                "direction": hooks::direction(member.hook),
                "interfaces": interfaces,
            })
        })
        .collect();
    json!({
        "name": record.instance,
        "loaded": record.loaded,
        "programs": programs,
    })
}

/// An interface of another network namespace is not present.
fn interface_json(at: &Interface) -> Value {
    let name = interface::name(at.index).filter(|_| at.is_here());
    json!({
        "port": at.port,
        "present": name.is_some(),
        "name": name.unwrap_or_else(|| at.name.clone()),
        "index": at.index,
        "mode": at.mode,
    })
}

//! `onpath ls`

use crate::args::Ls;
use crate::output::{Done, columns, print_json, refused, say, say_line};
use kernel::{Pins, Record, interface};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Lists the programs that are running.
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
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = vec![
        ["NAME", "PROGRAM", "PORT", "INTERFACE", "MODE"]
            .map(String::from)
            .to_vec(),
    ];
    for record in &records {
        let all = record
            .members
            .iter()
            .flat_map(|m| m.interfaces.iter().map(move |at| (m, at)));
        for (i, (member, at)) in all.enumerate() {
            let first = |text: &str| {
                if i == 0 {
                    text.to_string()
                } else {
                    String::new()
                }
            };
            let name = match interface::name(at.index) {
                Some(name) => name,
                None => format!("{} (gone)", at.name),
            };
            rows.push(vec![
                first(&record.instance),
                first(&member.abi.source),
                at.port.to_string(),
                name,
                at.mode.clone(),
            ]);
        }
    }
    say!("{}", columns(&rows));
    Ok(ExitCode::SUCCESS)
}

fn as_json(record: &Record) -> Value {
    let members = &record.members;
    let interfaces: Vec<Value> = members
        .iter()
        .flat_map(|m| &m.interfaces)
        .map(|at| {
            json!({
                "port": at.port,
                "name": interface::name(at.index).unwrap_or_else(|| at.name.clone()),
                "index": at.index,
                "mode": at.mode,
                "present": interface::name(at.index).is_some(),
            })
        })
        .collect();
    json!({
        "name": record.instance,
        "program": members.first().map(|m| &m.abi.source),
        "architecture": members.first().map(|m| &m.abi.arch),
        "loaded": record.loaded,
        "interfaces": interfaces,
    })
}

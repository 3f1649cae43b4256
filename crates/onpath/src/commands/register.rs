//! `onpath register`

use super::changes::with_text;
use super::instance::open;
use crate::args::RegisterCommand;
use crate::output::{Done, Stop, out, out_line, print_json, refused, refused_in};
use control::register::{element_json, parse_name, parse_set, registers, show_element};
use control::{Piece, Store, StoreError, errors};
use diag::{SourceMap, Span, columns};
use schema::{Bits, Object, Schema};
use serde_json::Value;
use std::process::ExitCode;
use std::sync::Arc;

/// Reads or changes a running program's registers.
pub(crate) fn run(command: RegisterCommand) -> Done {
    match command {
        RegisterCommand::Read {
            instance,
            register,
            json,
        } => print(&*open(&instance)?, register.as_deref(), json),
        RegisterCommand::Set { instance, element } => {
            let mut store = open(&instance)?;
            let schema = Arc::clone(store.schema());
            with_text(&element, |text| {
                let (register, index, value) = parse_set(&schema, text)?;
                let set = store.set_register(register, index, &value);
                set.map_err(|error| {
                    errors::store(text.span(), "the register was not changed", &error)
                })
            })
        }
        RegisterCommand::Reset {
            instance, register, ..
        } => {
            let mut store = open(&instance)?;
            let schema = Arc::clone(store.schema());
            for (register, index) in wanted(&schema, register.as_deref())? {
                let reset = store.reset_register(register, index);
                reset.map_err(|error| failed(&schema, register, "was not reset", &error))?;
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The register or the element that is named, or all registers.
fn wanted(schema: &Schema, named: Option<&str>) -> Result<Vec<(Object, Option<u64>)>, Stop> {
    let Some(name) = named else {
        return Ok(registers(schema).map(|(id, _)| (id, None)).collect());
    };
    let mut map = SourceMap::new();
    let file = map.add("command line", name);
    let text = Piece::new(name, file.map_or(0, |file| map.span(file, 0..0).lo));
    let found = parse_name(schema, text).map_err(|diagnostic| refused_in(diagnostic, &map))?;
    Ok(vec![found])
}

fn failed(schema: &Schema, register: Object, what: &str, error: &StoreError) -> Stop {
    let what = format!("register `{}` {what}", schema.objects[register].name);
    refused(errors::store(Span::NONE, &what, error))
}

fn print(store: &dyn Store, named: Option<&str>, as_json: bool) -> Done {
    let schema = &**store.schema();
    let mut shown: Vec<(Object, u64, Vec<Bits>)> = Vec::new();
    for (register, index) in wanted(schema, named)? {
        let read = match index {
            Some(index) => store
                .register(register, index)
                .map(|value| vec![(index, value)]),
            None => store.registers(register),
        };
        let read = read.map_err(|error| failed(schema, register, "could not be read", &error))?;
        shown.extend(
            read.into_iter()
                .map(|(index, value)| (register, index, value)),
        );
    }
    if as_json {
        let all = shown.iter();
        let all =
            all.map(|(register, index, value)| element_json(schema, *register, *index, value));
        print_json(&Value::Array(all.collect()));
    } else if registers(schema).next().is_none() {
        out_line!("the program has no registers");
    } else if shown.is_empty() {
        out_line!("all zero");
    } else {
        let mut rows = vec![vec!["REGISTER".to_string(), "VALUE".to_string()]];
        rows.extend(shown.iter().map(|(register, index, value)| {
            let name = &schema.objects[*register].name;
            vec![
                format!("{name}[{index}]"),
                show_element(schema, *register, value),
            ]
        }));
        out!("{}", columns(&rows));
    }
    Ok(ExitCode::SUCCESS)
}

//! `onpath register`

use super::instance::open;
use super::named::{not_done, one_or_all, print_array, print_rows, with_text};
use crate::args::RegisterCommand;
use crate::output::{Done, Stop};
use control::register::{element_json, parse_name, parse_set, registers, show_element};
use control::{Store, StoreError, errors};
use schema::{Bits, Object, Schema};
use std::process::ExitCode;
use std::sync::Arc;

/// Reads or changes a running program's registers.
pub(crate) fn run(command: RegisterCommand) -> Done {
    match command {
        RegisterCommand::Read {
            instance,
            register,
            json,
        } => return print(&*open(&instance)?, register.as_deref(), json),
        RegisterCommand::Set { instance, element } => {
            let mut store = open(&instance)?;
            let schema = Arc::clone(store.schema());
            with_text(&element.join(" "), |text| {
                let (register, index, value) = parse_set(&schema, text)?;
                let set = store.set_register(register, index, &value);
                set.map_err(|error| {
                    errors::store(text.span(), "the register was not changed", &error)
                })
            })?;
        }
        RegisterCommand::Reset {
            instance, register, ..
        } => {
            let mut store = open(&instance)?;
            let schema = Arc::clone(store.schema());
            for (register, index) in wanted(&schema, register.as_deref())? {
                let reset = store.reset_register(register, index);
                reset.map_err(failed(&schema, register, "was not reset"))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Finds the named register or element, or all registers.
fn wanted(schema: &Schema, named: Option<&str>) -> Result<Vec<(Object, Option<u64>)>, Stop> {
    let all = registers(schema).map(|(id, _)| (id, None));
    one_or_all(named, |text| parse_name(schema, text), all)
}

fn failed(schema: &Schema, register: Object, what: &str) -> impl Fn(StoreError) -> Stop {
    let name = &schema.objects[register].name;
    not_done(format!("register `{name}` {what}"))
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
        let read = read.map_err(failed(schema, register, "could not be read"))?;
        shown.extend(
            read.into_iter()
                .map(|(index, value)| (register, index, value)),
        );
    }
    let shown = shown.iter();
    if as_json {
        print_array(
            shown.map(|(register, index, value)| element_json(schema, *register, *index, value)),
        );
        return Ok(ExitCode::SUCCESS);
    }
    let rows = shown.map(|(register, index, value)| {
        let name = &schema.objects[*register].name;
        [
            format!("{name}[{index}]"),
            show_element(schema, *register, value),
        ]
    });
    let none = match registers(schema).next() {
        None => "the program has no registers",
        Some(_) => "all zero",
    };
    print_rows(["REGISTER", "VALUE"], rows, none);
    Ok(ExitCode::SUCCESS)
}

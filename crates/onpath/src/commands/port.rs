//! `onpath port`

use super::attached;
use super::instance::{label, meant};
use super::ls::{interface_json, places, target_json};
use super::named::{print_array, print_rows};
use crate::args::{Instance, PortCommand};
use crate::output::{Done, Stop, out_line, refused};
use diag::Diagnostic;
use kernel::attach::{How, Mode};
use kernel::bundle::Port;
use kernel::loss::{self, Loss, Use};
use kernel::pins::{Interface, MemberRecord, PortUse};
use kernel::{Pins, interface};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Reads or changes a running program's ports.
pub(crate) fn run(command: PortCommand) -> Done {
    let pins = Pins::default();
    match command {
        PortCommand::List { instance, json } => {
            // A user with read access only can still list.
            let _ = pins.mend();
            let meant = meant(&instance)?;
            let record = pins.record(&meant.instance).map_err(refused)?;
            let number = record.number(meant.program.as_deref()).map_err(refused)?;
            print(&record.members[number], json);
        }
        PortCommand::Add {
            instance,
            port,
            interface,
            reach,
        } => {
            let usage = match reach {
                true => PortUse::Reached,
                false => PortUse::Attached,
            };
            get(&pins, &instance, (port, interface), |at, program, port| {
                pins.add_port(at, program, port, usage)
            })?;
        }
        PortCommand::Replace {
            instance,
            port,
            interface,
        } => get(&pins, &instance, (port, interface), |at, program, port| {
            pins.replace_port(at, program, port)
        })?,
        PortCommand::Remove { instance, port } => {
            let meant = meant(&instance)?;
            pins.remove_port(&meant.instance, meant.program.as_deref(), port)
                .map_err(refused)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Has a program get an interface as a port, and prints what is to be said of it there.
fn get(
    pins: &Pins,
    instance: &Instance,
    (number, name): (u32, String),
    change: impl FnOnce(&str, Option<&str>, &Port) -> Result<Option<How>, Box<Diagnostic>>,
) -> Result<(), Stop> {
    let meant = meant(instance)?;
    let port = Port {
        number,
        index: interface::index(&name).map_err(refused)?,
        name,
    };
    let program = meant.program.as_deref();
    let how = change(&meant.instance, program, &port).map_err(refused)?;
    let record = pins.record(&meant.instance).map_err(refused)?;
    let member = &record.members[record.number(program).map_err(refused)?];
    let name = label(&record, member);
    let losses = losses(member, &port, how.as_ref());
    let losses = attached::loss_lines(&name, &losses.iter().collect::<Vec<_>>());
    let how = how.filter(is_not_the_best);
    let how = how.map(|how| attached::lines(&name, &port, member.hook.name(), &how));
    for line in how.into_iter().flatten().chain(losses) {
        out_line!("{line}");
    }
    Ok(())
}

/// A program's losses at a port that it has got.
fn losses(member: &MemberRecord, port: &Port, how: Option<&How>) -> Vec<Loss> {
    let is_native = |at: &Interface| at.mode == Mode::Native.name();
    let used = match how {
        Some(how) => Use::Runs(member.hook, how.mode),
        None if member.interfaces.iter().any(is_native) => Use::Sends,
        None => return Vec::new(),
    };
    loss::at(port, used, member.abi.packets)
}

/// Whether there is a better way to attach a program, which somebody may want to know.
fn is_not_the_best(how: &How) -> bool {
    how.better_refused.is_some() || how.slower.is_some()
}

/// By number.
fn print(program: &MemberRecord, as_json: bool) {
    if as_json {
        let attached = program.interfaces.iter().map(interface_json);
        let reached = program.targets.iter().map(|at| {
            let mut value = target_json(at);
            value["mode"] = json!("reached");
            value
        });
        let mut shown: Vec<Value> = attached.chain(reached).collect();
        shown.sort_by_key(|port| port["port"].as_u64());
        print_array(shown);
        return;
    }
    let mut ports = places(program);
    ports.sort();
    let rows = ports.into_iter();
    let rows = rows.map(|(port, name, mode)| [port.to_string(), name, mode.to_string()]);
    print_rows(
        ["PORT", "INTERFACE", "MODE"],
        rows,
        "the program has no ports",
    );
}

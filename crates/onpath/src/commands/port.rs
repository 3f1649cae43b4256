//! `onpath port`

use super::attached;
use super::instance::{meant, mend_quietly};
use super::named::{print_array, print_rows};
use super::presence::places;
use crate::args::{Instance, PortCommand};
use crate::output::{Done, Stop, out_line, refused};
use diag::Diagnostic;
use kernel::attachment::{How, Mode};
use kernel::loss::{self, Loss, Use};
use kernel::pins::{Interface, MemberRecord, PortUse};
use kernel::port::Port;
use kernel::{Pins, Record};
use net::interface;
use serde_json::json;
use std::process::ExitCode;

/// Reads or changes a running program's ports.
pub(crate) fn run(command: PortCommand) -> Done {
    let pins = Pins::default();
    match command {
        PortCommand::List { instance, json } => {
            mend_quietly(&pins);
            let meant = meant(&instance)?;
            let record = pins.record(&meant.instance).map_err(refused)?;
            let number = record.number(meant.program.as_deref()).map_err(refused)?;
            print(&pins, &record, number, json);
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

/// Gives a program an interface as a port, and prints remarks on it.
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
    let name = record.label(member);
    let losses = losses(member, &port, how.as_ref());
    let losses = attached::loss_lines(&name, &losses.iter().collect::<Vec<_>>());
    let how = how.filter(is_not_the_best);
    let how = how.map(|how| attached::lines(&name, &port, member.hook.name(), &how));
    for line in how.into_iter().flatten().chain(losses) {
        out_line!("{line}");
    }
    Ok(())
}

/// Returns a program's losses at its new port.
fn losses(member: &MemberRecord, port: &Port, how: Option<&How>) -> Vec<Loss> {
    let is_native = |at: &Interface| at.mode == Mode::Native.name();
    let used = match how {
        Some(how) => Use::Runs(member.hook, how.mode),
        None if member.interfaces.iter().any(is_native) => Use::Sends,
        None => return Vec::new(),
    };
    loss::at(port, used, member.abi.packets)
}

/// Returns true if a better mode of attachment was refused, which the user may want to know.
fn is_not_the_best(how: &How) -> bool {
    how.better_refused.is_some() || how.slower.is_some()
}

/// Prints the ports by number.
fn print(pins: &Pins, record: &Record, number: usize, as_json: bool) {
    let mut ports = places(pins, record, number);
    ports.sort_by_key(|place| place.port);
    if as_json {
        print_array(ports.iter().map(|place| {
            let mut value = place.as_json();
            value["mode"] = json!(place.mode.unwrap_or("reached"));
            value
        }));
        return;
    }
    let rows = ports
        .iter()
        .map(|place| [place.port.to_string(), place.interface(), place.attached()]);
    print_rows(
        ["PORT", "INTERFACE", "MODE"],
        rows,
        "the program has no ports",
    );
    for line in ports.iter().flat_map(|place| place.lines(record, number)) {
        out_line!("{line}");
    }
}

//! `onpath firewall`

mod check;
mod emit;
mod explain;
mod groups;
mod lists;
mod live;
mod log;
mod names;
mod pause;
mod reload;
mod running;
mod stats;
mod urls;
mod v1model;
mod watched;

pub(crate) use names::read;
pub(crate) use v1model::plan;

use crate::args::{Emitted, Firewall, FirewallCommand, ResetName, SliceName};
use crate::output::{Done, Stop};
use host::files;
use lists::Files;

/// Name of the entries file.
const ENTRIES_FILE: &str = "entries.txt";

/// Runs a firewall, asks about one, or writes a program and its entries.
pub(crate) fn run(args: Firewall) -> Done {
    match &args.command {
        Some(FirewallCommand::Check { lists, named, json }) => {
            check::run(&Files::of(named, lists)?, named.strict, *json)
        }
        Some(FirewallCommand::Explain {
            sites,
            name,
            named,
            group,
            json,
        }) => explain::run(sites, (name.as_deref(), group.as_deref()), named, *json),
        Some(FirewallCommand::Log {
            name,
            clients,
            count,
            json,
        }) => log::run(name.as_deref(), *clients, *count, *json),
        Some(FirewallCommand::Pause {
            name,
            time,
            group,
            json,
            end: _,
        }) => pause::run(name, *time, group.as_deref(), *json),
        Some(FirewallCommand::Reload { name, strict, json }) => {
            reload::run(name.as_deref(), *strict, *json)
        }
        Some(FirewallCommand::Stats {
            name,
            prometheus,
            json,
        }) => stats::run(name.as_deref(), prometheus.as_deref(), *json),
        None => run_or_emit(&args),
    }
}

fn run_or_emit(args: &Firewall) -> Done {
    let files = Files::of(&args.named, &args.lists)?;
    match (args.emit, &args.output) {
        (Some(_), _) if files.config.is_some() => {
            let wrong = "`--config` takes `--dev`: times are those of the machine that runs it";
            Err(Stop::Usage(wrong.into()))
        }
        (Some(Emitted::V1model), Some(_)) if !files.keywords.is_empty() => {
            let wrong =
                "the automaton finds names alone: `--keywords` takes `--emit names` or `--dev`";
            Err(Stop::Usage(wrong.into()))
        }
        (Some(Emitted::V1model), Some(_)) if !files.allow.is_empty() => {
            let wrong = "an automaton has no exceptions: `--allow` takes `--emit names`";
            Err(Stop::Usage(wrong.into()))
        }
        (Some(Emitted::V1model), Some(output)) => v1model::emit(args, &files.block, output),
        _ if of_automaton(args) => {
            let wrong = "`--slice`, `--reset`, `--look-ups`, `--ids` and `--free-ids` take `--emit v1model`";
            Err(Stop::Usage(wrong.into()))
        }
        (Some(Emitted::Names), Some(output)) => emit::run(args, &files, output),
        _ => live::run(args, &files),
    }
}

/// Returns true if a flag is given that only the published program has.
fn of_automaton(args: &Firewall) -> bool {
    let Firewall {
        slice, reset, ids, ..
    } = args;
    (*slice, *reset, *ids) != (SliceName::One, ResetName::Start, 1024)
        || args.look_ups != 1
        || args.free_ids
}

/// Returns the text about entries that no command reads.
fn unreadable_entries() -> String {
    format!(
        "{ENTRIES_FILE} is larger than the {} MiB that `onpath run` reads: make it of fewer names",
        files::LARGEST >> 20
    )
}

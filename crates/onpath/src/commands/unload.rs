//! `onpath unload`

use super::instance::mend;
use crate::args::Unload;
use crate::output::{Done, Stop, out_line, print_json, refused};
use kernel::Pins;
use serde_json::json;
use std::process::ExitCode;

/// Detaches programs and bundles from their interfaces and removes them.
pub(crate) fn run(args: Unload) -> Done {
    let pins = Pins::default();
    if args.all {
        return all(&pins, args.json);
    }
    mend(&pins)?;
    // A wrong name is reported before any program is detached.
    for name in &args.names {
        if let Some((bundle, _)) = name.split_once('/') {
            return Err(Stop::Usage(format!(
                "the programs of a bundle are unloaded together: use `onpath unload {bundle}`"
            )));
        }
        pins.choose(Some(name)).map_err(refused)?;
    }
    for name in &args.names {
        pins.remove(name).map_err(refused)?;
        if !args.json {
            out_line!("{name}: detached and removed");
        }
    }
    if args.json {
        print_json(&json!({ "removed": args.names }));
    }
    Ok(ExitCode::SUCCESS)
}

/// Removes all instances, and the remains of commands that were killed.
fn all(pins: &Pins, as_json: bool) -> Done {
    host::scratch::sweep_temporary();
    let names = pins.clear_all().map_err(refused)?;
    if as_json {
        print_json(&json!({ "removed": names }));
        return Ok(ExitCode::SUCCESS);
    }
    if names.is_empty() {
        out_line!("no program is running");
    }
    for name in names {
        out_line!("{name}: detached and removed");
    }
    Ok(ExitCode::SUCCESS)
}

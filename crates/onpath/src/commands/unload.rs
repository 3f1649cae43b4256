//! `onpath unload`

use crate::args::Unload;
use crate::output::{Done, refused, say_line};
use kernel::Pins;
use std::process::ExitCode;

/// Takes programs off their interfaces and forgets them.
pub fn run(args: Unload) -> Done {
    let pins = Pins::default();
    let names = if args.all {
        pins.names().map_err(refused)?
    } else {
        args.names
    };
    if names.is_empty() {
        say_line!("no program is running");
    }
    // A name that is wrong is told before any program is taken off.
    for name in &names {
        pins.choose(Some(name)).map_err(refused)?;
    }
    for name in names {
        pins.remove(&name).map_err(refused)?;
        say_line!("{name}: detached and removed");
    }
    Ok(ExitCode::SUCCESS)
}

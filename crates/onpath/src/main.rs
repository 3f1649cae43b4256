//! `onpath`: reads the flags, runs the command, ends with its status.

use clap::Parser;
use onpath::args::Cli;
use onpath::commands;
use onpath::output::Stop;
use std::process::ExitCode;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        // A reader such as `head` that has read enough is no bug. Unwinding still undoes what was set up.
        let text = panic
            .payload()
            .downcast_ref::<String>()
            .map_or("", String::as_str);
        if text.starts_with("failed printing to stdout") && text.contains("Broken pipe") {
            return;
        }
        eprintln!("onpath has a bug: {panic}");
        eprintln!("Please report it with the program and the command that brought it about.");
    }));
    match commands::run(Cli::parse().command) {
        Ok(status) => status,
        Err(Stop::Told(status)) => ExitCode::from(status),
        Err(Stop::Failed(text)) => {
            eprintln!("error: {text}");
            ExitCode::from(1)
        }
        Err(Stop::Usage(text)) => {
            eprintln!("error: {text}");
            ExitCode::from(2)
        }
    }
}

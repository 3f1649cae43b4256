//! `onpath`: reads the flags, runs the command, ends with its status.

use onpath::args::{self, Command, CounterCommand, Firewall};
use onpath::output::{DiagnosticFormat, Stop, ending, refused, report_as, wrong_usage};
use onpath::{commands, complete};
use std::process::ExitCode;

fn main() -> ExitCode {
    match complete::is_done() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => command_line(),
        Err(error) => error.exit(),
    }
}

fn command_line() -> ExitCode {
    let wants_json = std::env::args_os().take_while(|word| word != "--");
    let wants_json = wants_json.skip(1).any(|word| word == "--json");
    match args::parse() {
        Ok(cli) => {
            report_as(match cli.command {
                _ if !wants_json => DiagnosticFormat::Text,
                Command::Run(_)
                | Command::Pdm(_)
                | Command::Query(_)
                | Command::Digests(_)
                | Command::Log(_)
                | Command::Firewall(Firewall {
                    command: None,
                    emit: None,
                    ..
                })
                | Command::Counter(CounterCommand::Read { every: Some(_), .. }) => {
                    DiagnosticFormat::JsonLines
                }
                _ => DiagnosticFormat::Json,
            });
            ending(|| {
                if let Some(name) = &cli.netns {
                    net::netns::enter(name).map_err(refused)?;
                }
                commands::run(cli.command)
            })
        }
        // Requested output, such as help, is no error.
        Err(error) if !error.use_stderr() => error.exit(),
        Err(error) if !wants_json => wrong_usage(&error),
        Err(error) => {
            report_as(DiagnosticFormat::Json);
            let text = error.to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
            ending(|| Err(Stop::Usage(text.to_string())))
        }
    }
}

//! `docs/commands.md`: every command with its flags, made of their definitions.

use crate::reference::check_document;
use clap::{Arg, Command, CommandFactory};
use onpath::args::Cli;
use std::fmt::Write;

/// The page.
fn page() -> String {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut text = "# Commands\n\n\
        <!-- Made by a test, which also writes it: see CONTRIBUTING.md on ONPATH_BLESS. -->\n\n\
        `--help` after a command prints more about it, and so do the man pages. `--netns NAME` makes any command work in another network namespace. \
        With `--json`, output is for programs.\n\n\
        Exit status: 0 done or accepted; 1 refused or failed; 2 wrong usage, or a target that cannot run the program. With `--json`, a command that fails prints an object with an \
        array `diagnostics`.\n\n\
        [Privileges](privileges.md) lists the rights that each command needs.\n"
        .to_string();
    for below in visible(&command) {
        section(below, &mut text);
    }
    text
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
}

/// A command, with the commands below it as lines. Some commands do something by themselves too.
fn section(command: &Command, text: &mut String) {
    let _ = write!(
        text,
        "\n## {}\n\n{}.\n\n",
        command.get_name(),
        about(command)
    );
    let is_parent = visible(command).next().is_some();
    if !is_parent || !command.is_subcommand_required_set() {
        let usage = usage(command);
        let alone = usage.lines().next().unwrap_or_default();
        let _ = writeln!(text, "`{alone}`\n");
        flags(command, None, text);
        if is_parent {
            text.push('\n');
        }
    }
    for below in visible(command) {
        let _ = writeln!(text, "- `{}`: {}", usage(below), about(below));
        flags(below, Some(command), text);
    }
}

fn usage(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    usage.replace(" [OPTIONS]", "").replace(['<', '>'], "")
}

/// The flags that are a command's own, a line each. Those that the command above has too are in one line.
fn flags(command: &Command, above: Option<&Command>, text: &mut String) {
    let indent = if above.is_some() { "  " } else { "" };
    let known = |flag: &Arg| {
        let mut flags = above.into_iter().flat_map(Command::get_arguments);
        flags
            .any(|other| (other.get_long(), other.get_help()) == (flag.get_long(), flag.get_help()))
    };
    let mut shared = Vec::new();
    let own = |flag: &&Arg| !flag.is_hide_set() && !flag.is_positional();
    let common = ["help", "netns", "json", "version"];
    for flag in command.get_arguments().filter(own) {
        if common.contains(&flag.get_id().as_str()) {
            continue;
        }
        if known(flag) {
            shared.push(format!("`{}`", flag_form(flag)));
            continue;
        }
        let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, "{indent}- `{}`: {help}", flag_form(flag));
    }
    if !shared.is_empty() {
        let _ = writeln!(text, "{indent}- {}: as above", shared.join(", "));
    }
}

fn flag_form(flag: &Arg) -> String {
    let short = flag.get_short().map(|short| format!("-{short}"));
    let long = flag.get_long().map(|long| format!("--{long}"));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    let names = names.join(", ");
    let takes = flag.get_num_args().is_some_and(|n| n.takes_values());
    let possible: Vec<String> = flag
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| value.get_name().to_owned())
        .collect();
    match flag.get_value_names().filter(|_| takes) {
        Some(_) if !possible.is_empty() => format!("{names} {}", possible.join("|")),
        Some([value, ..]) => format!("{names} {value}"),
        _ => names,
    }
}

fn about(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string);
    about.unwrap_or_default()
}

#[test]
fn the_page_on_commands_is_made_of_their_definitions() {
    check_document("docs/commands.md", &page());
}

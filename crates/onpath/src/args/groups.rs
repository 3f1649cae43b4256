//! Commands grouped by the user's task, as the help lists them.

use super::Cli;
use clap::{Command, CommandFactory, FromArgMatches};
use std::fmt::Write;
use terminal_size::terminal_size;

/// Tasks of users, and the commands for each.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Write a program",
        &["check", "test", "build", "graph", "explain"],
    ),
    ("Run it", &["run", "firewall", "ls", "unload", "port"]),
    (
        "Change what it does",
        &["table", "names", "profile", "group", "mirror", "meter"],
    ),
    (
        "See what it does",
        &[
            "counter", "register", "flows", "metrics", "drops", "digests", "log",
        ],
    ),
    ("Measure traffic", &["query", "pdm", "plan"]),
    (
        "Set up this machine",
        &["doctor", "completions", "man", "help"],
    ),
];

/// Maximum width of the help, in characters, and its width if there is no terminal.
const WIDTH: usize = 100;

/// Reads the command line.
pub fn parse() -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&command().try_get_matches()?)
}

/// Returns the command line's definition, whose help lists the commands in groups.
fn command() -> Command {
    let mut command = Cli::command();
    // This makes clap's own command for help.
    command.build();
    let width = terminal_size().map_or(WIDTH, |(width, _)| WIDTH.min(width.0.into()));
    let groups = list(&command, width);
    Cli::command().help_template(format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
    ))
}

/// Lists all groups, with each command's summary.
fn list(command: &Command, width: usize) -> String {
    let names = GROUPS.iter().flat_map(|(_, names)| names.iter());
    let indent = 4 + names.map(|name| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(text, "{heading}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let mut begin = format!("  {name:indent$}", indent = indent - 2);
            for line in lines(&about, width.saturating_sub(indent).max(20)) {
                let _ = writeln!(text, "{begin}{line}");
                begin = " ".repeat(indent);
            }
        }
        text.push('\n');
    }
    text
}

/// Breaks a text into lines of at most `width` characters.
fn lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_command_is_in_one_group() {
        let mut command = Cli::command();
        command.build();
        let visible = command.get_subcommands().filter(|c| !c.is_hide_set());
        let visible: BTreeSet<&str> = visible.map(Command::get_name).collect();
        let grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        assert_eq!(grouped.len(), visible.len());
        assert_eq!(grouped.into_iter().collect::<BTreeSet<_>>(), visible);
    }

    #[test]
    fn a_long_text_goes_on_below_its_beginning() {
        assert_eq!(lines("one two three", 7), ["one two", "three"]);
        assert_eq!(
            lines("incomprehensible one", 7),
            ["incomprehensible", "one"]
        );
        let text = list(&command(), 40);
        assert!(text.lines().all(|line| line.len() <= 40), "{text}");
    }
}

//! Commands and programs in documents: commands are ones that `onpath` takes, programs are accepted.
//!
//! Blocks of "```console" run as sessions besides (`tests/cli`).

use super::text::{TextPart, code, parts};
use super::texts;
use clap::Parser;
use clap::error::ErrorKind;
use onpath::args::Cli;
use std::process::Command;

/// The words of a command line for a shell, as far as one command goes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quote) = (String::new(), None);
    for sign in line.chars() {
        match (quote, sign) {
            (Some(open), _) if sign == open => quote = None,
            (None, '\'' | '"') => quote = Some(sign),
            (None, '|' | ';' | '>' | '<' | '&' | '#' | ')') => {
                // `2>` names a descriptor.
                if sign == '>' && word.parse::<u8>().is_ok() {
                    word.clear();
                }
                break;
            }
            (None, ' ') => words.push(std::mem::take(&mut word)),
            _ => word.push(sign),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// The words of a line that calls `onpath`, also behind `sudo`, a host of the tour, or a variable.
fn call(line: &str) -> Option<Vec<String>> {
    let at = line.find("onpath ")?;
    let before = line[..at].split_whitespace();
    let mut known = before.filter(|word| {
        !["$", "sudo", "tour", "client", "peer"].contains(word) && !word.contains('=')
    });
    known.next().is_none().then(|| words(&line[at..]))
}

/// The lines of a document that are commands.
fn commands<'a>(part: &'a TextPart<'_>) -> Vec<&'a str> {
    match part {
        TextPart::Indented(line) => vec![line],
        TextPart::Fenced("console", lines) => {
            lines.iter().filter_map(|l| l.strip_prefix("$ ")).collect()
        }
        TextPart::Fenced(..) => Vec::new(),
        TextPart::Prose(prose) => code(prose).filter(|c| is_whole(c)).collect(),
        TextPart::Cell(cell) => code(cell).filter(|c| is_whole(c)).collect(),
    }
}

/// Returns true if code in a sentence is a command of `onpath`, without places left to fill in.
fn is_whole(code: &str) -> bool {
    code.starts_with("onpath ") && !code.contains("...")
}

#[test]
fn commands_are_ones_that_onpath_takes() {
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for (name, text) in texts() {
        for (line, part) in parts(&text) {
            for words in commands(&part).into_iter().filter_map(call) {
                tried += 1;
                match Cli::try_parse_from(&words) {
                    // A sentence may name a command by some of its words, or a value by its name.
                    Err(error)
                        if [
                            ErrorKind::MissingRequiredArgument,
                            ErrorKind::ValueValidation,
                            ErrorKind::InvalidValue,
                            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
                        ]
                        .contains(&error.kind())
                            && !matches!(part, TextPart::Indented(_)) => {}
                    Err(error) if error.use_stderr() => {
                        wrong.push(format!("{name}:{line}: {}: {error}", words.join(" ")));
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried > 60, "{tried} commands");
}

#[test]
fn programs_are_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let mut tried = 0;
    for (name, text) in texts() {
        for (line, part) in parts(&text) {
            let TextPart::Fenced("p4", lines) = part else {
                continue;
            };
            // Others are parts of programs.
            if !lines.iter().any(|line| line.ends_with(") main;")) {
                continue;
            }
            let file = folder.path().join("example.p4");
            std::fs::write(&file, lines.join("\n") + "\n").unwrap();
            let output = Command::new(env!("CARGO_BIN_EXE_onpath"))
                .args(["check", "--target", "xdp"])
                .arg(&file)
                .output()
                .unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{name}:{line}: {errors}");
            tried += 1;
        }
    }
    assert!(tried >= 2, "{tried} programs");
}

#[test]
fn readme_shows_a_program_of_the_repository() {
    let root = testkit::files::root();
    let program = super::read(&root.join("programs/block/block.p4"));
    let (_, program) = program.split_once('\n').unwrap();
    assert!(super::read(&root.join("README.md")).contains(&format!("```p4\n{program}```\n")));
}

#[test]
fn a_command_line_is_split_as_by_a_shell() {
    assert_eq!(
        call("$ tour onpath table add r 'a b' | head").unwrap(),
        ["onpath", "table", "add", "r", "a b"]
    );
    assert_eq!(call("ONPATH_X= onpath ls").unwrap(), ["onpath", "ls"]);
    assert!(call("cat onpath file").is_none());
}

//! Sentences and table cells that a reader takes in at once, in documents and in help texts.

use super::text::{TextPart, parts, sentences};
use super::texts;
use clap::{Command, CommandFactory};
use onpath::args::Cli;

/// Words of a sentence, at most.
const WORDS: usize = 40;

/// Signs of a table's cell, at most.
const CELL: usize = 200;

/// Names each sentence and cell of a text that is too long.
fn too_long(name: &str, text: &str, wrong: &mut Vec<String>) {
    for (line, part) in parts(text) {
        match part {
            TextPart::Prose(prose) => {
                for sentence in sentences(&prose) {
                    let words = sentence.split_whitespace().count();
                    if words > WORDS {
                        wrong.push(format!("{name}:{line}: {words} words: {sentence}"));
                    }
                }
            }
            TextPart::Cell(cell) if cell.chars().count() > CELL => {
                wrong.push(format!(
                    "{name}:{line}: a cell of {} signs: {cell}",
                    cell.len()
                ));
            }
            TextPart::Cell(_) | TextPart::Indented(_) | TextPart::Fenced(..) => {}
        }
    }
}

#[test]
fn documents_have_short_sentences_and_cells() {
    let mut wrong = Vec::new();
    for (name, text) in texts() {
        too_long(&name, &text, &mut wrong);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Checks the help of a command, of its flags, and of the commands below it.
fn check_help(command: &Command, name: &str, wrong: &mut Vec<String>) {
    let texts = [
        command.get_long_about().or(command.get_about()),
        command.get_after_long_help().or(command.get_after_help()),
    ];
    let flags = command
        .get_arguments()
        .map(|flag| flag.get_long_help().or(flag.get_help()));
    for text in texts.into_iter().chain(flags).flatten() {
        // Lines that are indented are a table or an example.
        let text = text.to_string().replace("\n  ", "\n\n    ");
        too_long(name, &text, wrong);
    }
    for below in command.get_subcommands() {
        check_help(below, &format!("{name} {}", below.get_name()), wrong);
    }
}

#[test]
fn help_texts_have_short_sentences() {
    let mut wrong = Vec::new();
    check_help(&Cli::command(), "onpath", &mut wrong);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_long_sentence_and_a_long_cell_are_found() {
    let text = format!("{}.\n\n| a | {} |\n", "word ".repeat(41), "x".repeat(201));
    let mut wrong = Vec::new();
    too_long("page", &text, &mut wrong);
    assert_eq!(wrong.len(), 2);
}

//! `onpath explain`, which shows the pages of diagnostics, the interface headers as documentation, attributes of
//! queries, and words.

mod attributes;
mod headers;
mod pages;
mod words;

use crate::args::Explain as Args;
use crate::explained::names;
use crate::output::{Done, Stop, bold, out_line, print_json, write_styled};
use crate::screen;
use explain::{Block, Style, Unknown, group, page, render};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Maximum width of text, in characters, and its width if there is no terminal.
const WIDTH: usize = 100;

/// Prints an explanation, or the list of all explanations.
pub(crate) fn run(args: Args) -> Done {
    let style = style();
    let Some(word) = args.name else {
        match args.json {
            true => {
                print_json(&json!({
                    "diagnostics": pages::listed(),
                    "headers": headers::listed(),
                    "words": words::listed(),
                }));
            }
            false => {
                pages::list(style);
                headers::list(style);
                words::list(style);
                out_line!("Attributes of queries: `onpath query --list`");
            }
        }
        return Ok(ExitCode::SUCCESS);
    };
    let (text, object) = match (group(&word), page(&word)) {
        (Some(group), _) => (
            pages::group_text(group, style),
            pages::group_described(group),
        ),
        (None, Ok((group, page))) => (pages::text(page, style), pages::described(group, page)),
        (None, Err(unknown)) => named(&word, style).ok_or_else(|| nothing(&word, unknown))?,
    };
    match args.json {
        true => print_json(&object),
        false => {
            write_styled(&text);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Finds all explanations of a name. If a header declares a name that is also an explained word, both are shown.
fn named(word: &str, style: Style) -> Option<(String, Value)> {
    let declared = headers::find(word, style).or_else(|| attributes::find(word, style));
    match (words::find(word, style), declared) {
        (Some((text, explained)), Some((more, mut object))) => {
            object["word"] = explained;
            Some((format!("{text}\n{more}"), object))
        }
        (explained, declared) => declared.or(explained),
    }
}

/// Returns the style of text on this terminal.
fn style() -> Style {
    let width = screen::size().map_or(WIDTH, |(width, _)| width.clamp(40, WIDTH));
    Style {
        width,
        bold: bold(),
    }
}

/// Returns the error for an unknown name, with the names that may be meant.
fn nothing(word: &str, unknown: Unknown) -> Stop {
    const LIST: &str = "`onpath explain` lists all codes, headers and words";
    Stop::Usage(match unknown {
        Unknown::Code { code, nearest } => {
            let is = if nearest.len() == 1 { "is" } else { "are" };
            let nearest = nearest.join(" and ");
            format!("no diagnostic has the code {code}; the nearest {is} {nearest}: {LIST}")
        }
        Unknown::Word => {
            let names = names();
            let mut all = attributes::meant(word);
            for name in control::names::similar(names.iter().map(String::as_str), word) {
                if !all.contains(&name) {
                    all.push(name);
                }
            }
            let help = match &all[..] {
                [] => LIST.to_string(),
                some => format!("did you mean `{}`?", some.join("` or `")),
            };
            format!(
                "`{word}` is neither a code, such as E0207, nor a word that is explained, an attribute of queries or what a header declares: {help}"
            )
        }
    })
}

/// Renders a heading and the blocks below it.
fn headed(heading: &str, blocks: &[Block<'_>], style: Style) -> String {
    format!("{}\n\n{}", style.strong(heading), render(blocks, style))
}

/// Prints a group of the list.
fn print_rows(heading: &str, rows: &[Vec<String>], style: Style) {
    write_styled(&format!("{}\n", style.strong(heading)));
    out_line!("{}", diag::columns(rows));
}

/// A list of JSON objects.
type Objects = Vec<Value>;

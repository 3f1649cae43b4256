//! `onpath explain`: the pages of diagnostics, and the interface headers as documentation.

mod headers;
mod pages;

pub(crate) use headers::names;

use crate::args::Explain as Args;
use crate::output::{Done, Stop, bold, out_line, print_json, write_styled};
use crate::screen;
use explain::{Block, Style, Unknown, group, page, render};
use serde_json::{Value, json};
use std::process::ExitCode;

/// The widest text that reads well, and what is printed where there is no terminal.
const WIDTH: usize = 100;

/// Prints what is asked for, or the list of all that there is.
pub(crate) fn run(args: Args) -> Done {
    let style = style();
    let Some(word) = args.name else {
        match args.json {
            true => {
                print_json(&json!({ "diagnostics": pages::listed(), "headers": headers::listed() }))
            }
            false => {
                pages::list(style);
                headers::list(style);
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
        (None, Err(unknown)) => {
            headers::find(&word, style).ok_or_else(|| nothing(&word, unknown))?
        }
    };
    match args.json {
        true => print_json(&object),
        false => {
            write_styled(&text);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// As the terminal shows text.
fn style() -> Style {
    let width = screen::size().map_or(WIDTH, |(width, _)| width.clamp(40, WIDTH));
    Style {
        width,
        bold: bold(),
    }
}

/// Why there is nothing of this name, and what may be meant.
fn nothing(word: &str, unknown: Unknown) -> Stop {
    const LIST: &str = "`onpath explain` lists all codes and headers";
    Stop::Usage(match unknown {
        Unknown::Code { code, nearest } => {
            let is = if nearest.len() == 1 { "is" } else { "are" };
            let nearest = nearest.join(" and ");
            format!("no diagnostic has the code {code}; the nearest {is} {nearest}: {LIST}")
        }
        Unknown::Word => {
            let names = names();
            let similar = control::names::similar(names.iter().map(String::as_str), word);
            let help = match &similar[..] {
                [] => LIST.to_string(),
                some => format!("did you mean `{}`?", some.join("` or `")),
            };
            format!("`{word}` is neither a code, such as E0207, nor what a header declares: {help}")
        }
    })
}

/// A heading and what is below it.
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

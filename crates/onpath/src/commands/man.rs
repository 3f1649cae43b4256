//! `onpath man`

use crate::args::{Cli, Man, examples};
use crate::output::{Done, failed, out_line, print_json};
use clap::{Command, CommandFactory};
use diag::system_message;
use host::safe_dir::replace_file;
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

/// Writes the man pages to a directory.
pub(crate) fn run(args: Man) -> Done {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let written = fs::create_dir_all(&args.output).and_then(|()| pages(&command, &args.output));
    match written {
        Ok(written) => {
            match args.json {
                true => print_json(&json!({ "written": written })),
                false => out_line!(
                    "{}: man pages written",
                    diag::shown(&args.output.to_string_lossy())
                ),
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => failed(format!(
            "the man pages were not written to `{}`: {}",
            args.output.display(),
            system_message(&error)
        )),
    }
}

/// Writes the page of a command and of its subcommands.
fn pages(command: &Command, folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for below in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        written.extend(pages(below, folder)?);
    }
    let page = clap_mangen::Man::new(command.clone());
    let path = folder.join(page.get_filename());
    replace_file(&path, &text(command, &page)?)?;
    written.push(path);
    Ok(written)
}

fn text(command: &Command, page: &clap_mangen::Man) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    if command
        .get_arguments()
        .any(|argument| !argument.is_hide_set())
    {
        page.render_options_section(&mut text)?;
    }
    if command.get_subcommands().any(|below| !below.is_hide_set()) {
        page.render_subcommands_section(&mut text)?;
    }
    text.extend(examples_section(command).into_bytes());
    let end = command.get_after_long_help().or(command.get_after_help());
    if let Some(end) = end {
        text.extend(sections(&end.to_string()).into_bytes());
    }
    if command.get_version().is_some() {
        page.render_version_section(&mut text)?;
    }
    Ok(text)
}

/// Returns the section of a command's examples, each below its purpose.
fn examples_section(command: &Command) -> String {
    let name = command.get_bin_name().unwrap_or_default();
    let examples = examples(name.strip_prefix("onpath ").unwrap_or(name));
    let mut text = String::new();
    for (what, line) in examples {
        if text.is_empty() {
            text += ".SH \"EXAMPLES\"\n";
        }
        let _ = writeln!(
            text,
            ".PP\n{}:\n.PP\n.nf\n.RS\n{}\n.RE\n.fi",
            escaped(what),
            escaped(line)
        );
    }
    text
}

/// Returns the sections for the end of a command's help: one for the exit status, and one for the rest, whose lines
/// stay as they are.
fn sections(end: &str) -> String {
    let (status, notes): (Vec<&str>, Vec<&str>) = end
        .split("\n\n")
        .partition(|paragraph| paragraph.starts_with("Exit status:"));
    let mut text = String::new();
    for (name, paragraphs) in [("NOTES", notes), ("EXIT STATUS", status)] {
        if paragraphs.is_empty() {
            continue;
        }
        let _ = writeln!(text, ".SH \"{name}\"\n.nf");
        for line in paragraphs.join("\n\n").lines() {
            let line = line.strip_prefix("Exit status: ").unwrap_or(line);
            let _ = writeln!(text, "{}", escaped(line));
        }
        text += ".fi\n";
    }
    text
}

/// Escapes a line of text for troff, so that hyphens can be copied and no line is taken for a request.
fn escaped(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-");
    match line.starts_with(['.', '\'']) {
        true => format!("\\&{line}"),
        false => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_the_examples_of_its_command() {
        let mut command = Cli::command();
        command.build();
        let port = command.find_subcommand("port").expect("a command");
        let text = examples_section(port);
        assert!(
            text.starts_with(".SH \"EXAMPLES\"\n.PP\nShow the ports"),
            "{text}"
        );
        assert!(text.contains("\nonpath port list\n"), "{text}");
        let list = port.find_subcommand("list").expect("a command");
        assert_eq!(examples_section(list), "");
    }

    #[test]
    fn the_end_of_the_help_has_sections_with_names() {
        let end = "A file:\n  name = \"a-b\"\n.x\n\nExit status: 0 done, 1 not.";
        assert_eq!(
            sections(end),
            ".SH \"NOTES\"\n.nf\nA file:\n  name = \"a\\-b\"\n\\&.x\n.fi\n\
             .SH \"EXIT STATUS\"\n.nf\n0 done, 1 not.\n.fi\n"
        );
    }
}

//! `onpath firewall --emit names`: the program with a name set, and the rules of lists.

use super::lists::{self, Files, entries, size};
use super::live::PROGRAM;
use super::urls;
use super::{ENTRIES_FILE, unreadable_entries};
use crate::args::Firewall;
use crate::output::{Done, out_line, print_json};
use crate::written;
use diag::shown;
use host::files;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Name of the file with the program.
const PROGRAM_FILE: &str = "url_firewall.p4";
/// Name of the file with the program's settings.
const SETTINGS_FILE: &str = "url_firewall_list.p4";

/// Writes the program and its rules.
pub(super) fn run(args: &Firewall, from: &Files, output: &Path) -> Done {
    let started = Instant::now();
    let made = lists::read(from, args.named.strict)?;
    let rules = &made.rules.rules;
    let size = size(rules)?;
    let of_urls = match made.urls.automata()? {
        Some(automata) => format!("#define PATTERNS\n#define MOST_STATES {}\n", automata.size),
        None => String::new(),
    };
    let settings = format!("#define MOST_RULES {size}\n{of_urls}#include \"{PROGRAM_FILE}\"\n");
    let text =
        |places| entries(lists::SET, rules, places) + &entries(urls::SET, &made.urls.rules, places);
    let mut text_of_rules = text(Some(from));
    if text_of_rules.len() as u64 > files::LARGEST {
        text_of_rules = text(None);
    }
    let text = text_of_rules;
    let is_readable = text.len() as u64 <= files::LARGEST;
    // The program that is run comes last, so that it is not there without its entries.
    let files = [
        (ENTRIES_FILE, text),
        (PROGRAM_FILE, PROGRAM.to_owned()),
        (SETTINGS_FILE, settings),
    ];
    let mut written = Vec::new();
    for (name, text) in &files {
        written.push(written::file(output, name, text.as_bytes())?);
    }
    let milliseconds = started.elapsed().as_secs_f64() * 1e3;
    if args.json {
        let mut all = made.counts().as_json();
        all["size"] = json!(size);
        all["milliseconds"] = json!(milliseconds);
        all["files"] = json!(written);
        print_json(&all);
        return Ok(ExitCode::SUCCESS);
    }
    out_line!("{}", made.counts().text());
    out_line!("took {milliseconds:.0} ms");
    out_line!("{}", written::line(output, &written));
    let folder = output.to_string_lossy();
    let folder = shown(&folder);
    if !is_readable {
        out_line!("{}", unreadable_entries());
        return Ok(ExitCode::SUCCESS);
    }
    out_line!(
        "run it: onpath run '{folder}/{SETTINGS_FILE}' --dev IF --entries '{folder}/{ENTRIES_FILE}'"
    );
    out_line!("later: onpath table load --replace '{folder}/{ENTRIES_FILE}'");
    Ok(ExitCode::SUCCESS)
}

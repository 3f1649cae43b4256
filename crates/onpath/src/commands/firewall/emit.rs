//! `onpath firewall --emit names`: the program with a name set, and the rules of lists.

use super::ENTRIES_FILE;
use super::names::{no_names, read_list};
use crate::args::Firewall;
use crate::output::{Done, Stop, out_line, print_json, refused};
use crate::written;
use arch::payload::MOST_RULES;
use diag::{counted, shown};
use firewall::errors;
use firewall::list::Rule;
use firewall::rules::{self, Listed, Rules};
use host::files;
use layout::{name_records, name_set_room};
use schema::NameRule;
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Name of the file with the program.
const PROGRAM_FILE: &str = "url_firewall.p4";
/// Text of the program.
const PROGRAM: &str = include_str!("../../../../../programs/url_firewall/url_firewall.p4");
/// Name of the file with the program's settings.
const SETTINGS_FILE: &str = "url_firewall_list.p4";
/// Smallest size of a set.
const LEAST_SIZE: u64 = 1000;
/// Name of the program's set.
const SET: &str = "names";

/// Writes the program and its rules.
pub(super) fn run(args: &Firewall) -> Done {
    let started = Instant::now();
    let (lists, listed, skipped) = read(args)?;
    let Rules { rules, needless } = rules::of(listed);
    if rules.is_empty() {
        return Err(no_names(&lists));
    }
    let size = size(&rules)?;
    let settings = format!("#define MOST_RULES {size}\n#include \"{PROGRAM_FILE}\"\n");
    let mut entries = String::new();
    for (rule, list, line) in &rules {
        let name = lists[*list].to_string_lossy();
        let (scoped, value) = (&rule.name, rule.value);
        let (number, on) = (value.number, value.lists);
        // Writing to a text does not fail.
        let _ = writeln!(
            entries,
            "name_add {SET} {scoped} {number} {on} # {}:{line}",
            shown(&name)
        );
    }
    if entries.len() as u64 > files::LARGEST {
        // Without their origins.
        entries.clear();
        for (rule, ..) in &rules {
            let (scoped, value) = (&rule.name, rule.value);
            let _ = writeln!(
                entries,
                "name_add {SET} {scoped} {} {}",
                value.number, value.lists
            );
        }
    }
    let is_readable = entries.len() as u64 <= files::LARGEST;
    // The program that is run comes last, so that it is not there without its entries.
    let files = [
        (ENTRIES_FILE, entries),
        (PROGRAM_FILE, PROGRAM.to_owned()),
        (SETTINGS_FILE, settings),
    ];
    let mut written = Vec::new();
    for (name, text) in &files {
        written.push(written::file(&args.output, name, text.as_bytes())?);
    }
    let blocked = rules
        .iter()
        .filter(|(rule, ..)| rule.value.lists == rules::BLOCKS);
    let blocked = blocked.count();
    let milliseconds = started.elapsed().as_secs_f64() * 1e3;
    if args.json {
        print_json(&json!({
            "rules": rules.len(),
            "blocked": blocked,
            "allowed": rules.len() - blocked,
            "needless": needless,
            "skipped": skipped,
            "size": size,
            "milliseconds": milliseconds,
            "files": written,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    out_line!(
        "{}: {blocked} block, {} allow; {needless} more say what others do, {} skipped",
        counted(rules.len(), "rule"),
        rules.len() - blocked,
        counted(skipped, "line")
    );
    out_line!("took {milliseconds:.0} ms");
    out_line!("{}", written::line(&args.output, &written));
    let folder = args.output.to_string_lossy();
    let folder = shown(&folder);
    if !is_readable {
        out_line!("{}", super::unreadable_entries());
        return Ok(ExitCode::SUCCESS);
    }
    out_line!(
        "run it: onpath run '{folder}/{SETTINGS_FILE}' --dev IF --entries '{folder}/{ENTRIES_FILE}'"
    );
    out_line!("later: onpath table load --replace '{folder}/{ENTRIES_FILE}'");
    Ok(ExitCode::SUCCESS)
}

/// Returns the size of a set with room for these rules, and for a quarter more of the same lengths.
fn size(rules: &[(NameRule, usize, usize)]) -> Result<u32, Stop> {
    let with_reserve = |number: u64| number + number / 4;
    let lengths = rules.iter().map(|(rule, ..)| rule.name.name.len() as u32);
    let records = with_reserve(lengths.map(|length| u64::from(name_records(length))).sum());
    let needed = with_reserve(rules.len() as u64).max(LEAST_SIZE);
    let fits = |size: &u64| {
        u32::try_from(*size).is_ok_and(|size| u64::from(name_set_room(size).1) > records)
    };
    let mut sizes = std::iter::successors(Some(needed), |size| Some(size + size / 16));
    let size = sizes.find(|size| *size > MOST_RULES.into() || fits(size));
    match size.and_then(|size| u32::try_from(size).ok()) {
        Some(size) if size <= MOST_RULES => Ok(size),
        // Without a reserve.
        _ if rules.len() as u32 <= MOST_RULES
            && records * 4 / 5 < name_set_room(MOST_RULES).1.into() =>
        {
            Ok(MOST_RULES)
        }
        _ => Err(refused(errors::too_many(rules.len(), MOST_RULES))),
    }
}

/// Reads all lists: those that block, and those that allow. Returns their paths, their rules, and the number of skipped
/// lines.
fn read(args: &Firewall) -> Result<(Vec<PathBuf>, Vec<Listed>, usize), Stop> {
    let lists: Vec<PathBuf> = args.lists.iter().chain(&args.allow).cloned().collect();
    let (mut listed, mut skipped) = (Vec::new(), 0);
    for (list, path) in lists.iter().enumerate() {
        let (rules, more) = read_list(path, args.strict, &|_| None)?;
        let is_allowed = list >= args.lists.len();
        listed.extend(rules.into_iter().map(|rule| Listed {
            rule: Rule {
                is_allowed: is_allowed || rule.is_allowed,
                ..rule
            },
            list,
        }));
        skipped += more;
    }
    Ok((lists, listed, skipped))
}

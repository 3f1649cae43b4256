//! Names of lists.

use crate::output::{Stop, err_line, refused};
use diag::shown;
use firewall::errors;
use firewall::list::{self, List, Rule, Skipped};
use host::files::{self, Streams};
use schema::Scope;
use std::path::{Path, PathBuf};

/// Greatest number of skipped lines of a list that are printed. The others are counted.
const MOST_PRINTED: usize = 10;

/// Names of some lists.
pub(crate) struct Lists {
    /// The names in order, each once.
    pub names: Vec<String>,
    /// Number of lines that were skipped.
    pub skipped: usize,
}

/// Reads the names that lists block, and reports lines that are skipped: those that are no rules, and rules that an
/// automaton does not know, such as exceptions.
///
/// # Errors
///
/// A list cannot be read, or has no name; with `is_strict`, also if a line is skipped.
pub(crate) fn read(lists: &[PathBuf], is_strict: bool) -> Result<Lists, Stop> {
    let mut all = Lists {
        names: Vec::new(),
        skipped: 0,
    };
    for path in lists {
        let (mut list, skipped) =
            read_list(path, is_strict, list::parse, &|rule| match rule.scope {
                _ if rule.is_allowed => Some("an automaton has no exceptions"),
                Scope::Subdomains => Some("an automaton finds the name itself too"),
                _ if !rule.name.contains('.') => {
                    Some("a single label is found in too many payloads")
                }
                Scope::Domain | Scope::Name => None,
            })?;
        all.names
            .extend(list.rules.drain(..).map(|rule| rule.name.into()));
        all.skipped += skipped + list.urls.len();
        for rule in &list.urls {
            let name = path.to_string_lossy();
            let why = "an automaton finds names alone";
            if is_strict {
                return Err(refused(errors::wrong_line(&shown(&name), rule.line, why)));
            }
            err_line!("{}:{}: skipped: {why}", shown(&name), rule.line);
        }
    }
    all.names.sort_unstable();
    all.names.dedup();
    match all.names.is_empty() {
        true => Err(no_names(lists)),
        false => Ok(all),
    }
}

/// Reports that lists have no names.
pub(super) fn no_names<'a>(lists: impl IntoIterator<Item = &'a PathBuf>) -> Stop {
    let lists: Vec<String> = lists
        .into_iter()
        .map(|list| format!("`{}`", shown(&list.to_string_lossy())))
        .collect();
    refused(errors::no_names(&lists.join(", ")))
}

/// Reads the rules of a list, and reports lines that are skipped. `unfit` returns the reason why a rule is skipped too.
/// Returns the number of skipped lines as well.
///
/// # Errors
///
/// The list cannot be read; with `is_strict`, also if a line is skipped.
pub(super) fn read_list(
    path: &Path,
    is_strict: bool,
    parse: fn(&[u8]) -> List,
    unfit: &dyn Fn(&Rule) -> Option<&'static str>,
) -> Result<(List, usize), Stop> {
    let name = path.to_string_lossy();
    let name = shown(&name);
    let bytes = files::read(path, Streams::Allowed).map_err(|error| {
        let why = diag::system_message(&error);
        refused(errors::unreadable_list(&format!(
            "cannot read `{name}`: {why}"
        )))
    })?;
    let mut found = parse(&bytes);
    let wrong = std::mem::take(&mut found.skipped).into_iter();
    let mut lines: Vec<_> = wrong
        .map(|skipped| {
            let Skipped { line, reason } = skipped;
            (line, reason.column(), reason.describe())
        })
        .collect();
    found.rules.retain(|rule| match unfit(rule) {
        Some(why) => {
            lines.push((rule.line, None, why.into()));
            false
        }
        None => true,
    });
    lines.sort_unstable();
    if is_strict && let Some((line, column, why)) = lines.first() {
        return Err(refused(match column {
            Some(column) => errors::no_expression(&name, *line, *column, why),
            None => errors::wrong_line(&name, *line, why),
        }));
    }
    for (line, column, why) in lines.iter().take(MOST_PRINTED) {
        match column {
            Some(column) => err_line!(
                "{name}:{line}:{column}: skipped: no automaton finds the expression: {why}"
            ),
            None => err_line!("{name}:{line}: skipped: {why}"),
        }
    }
    if lines.len() > MOST_PRINTED {
        err_line!("{name}: {} more lines skipped", lines.len() - MOST_PRINTED);
    }
    Ok((found, lines.len()))
}

//! Names of lists.

use crate::output::{Stop, err_line, refused};
use diag::shown;
use firewall::errors;
use firewall::list::{self, Scope};
use host::files::{self, Streams};
use std::path::PathBuf;

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
        let name = path.to_string_lossy();
        let name = shown(&name);
        let bytes = files::read(path, Streams::Allowed).map_err(|error| {
            let why = diag::system_message(&error);
            refused(errors::unreadable_list(&format!(
                "cannot read `{name}`: {why}"
            )))
        })?;
        let found = list::parse(&bytes);
        let wrong = found.skipped.iter();
        let mut lines: Vec<(usize, &str)> = wrong.map(|s| (s.line, s.reason.describe())).collect();
        for rule in found.rules {
            match (rule.is_allowed, rule.scope) {
                (true, _) => lines.push((rule.line, "an automaton has no exceptions")),
                (false, Scope::Subdomains) => {
                    lines.push((rule.line, "an automaton finds the name itself too"));
                }
                (false, _) if !rule.name.contains('.') => {
                    lines.push((rule.line, "a single label is found in too many payloads"));
                }
                (false, Scope::Domain | Scope::Name) => all.names.push(rule.name),
            }
        }
        lines.sort_unstable();
        if is_strict && let Some((line, why)) = lines.first() {
            return Err(refused(errors::wrong_line(&name, *line, why)));
        }
        for (line, why) in lines.iter().take(MOST_PRINTED) {
            err_line!("{name}:{line}: skipped: {why}");
        }
        if lines.len() > MOST_PRINTED {
            err_line!("{name}: {} more lines skipped", lines.len() - MOST_PRINTED);
        }
        all.skipped += lines.len();
    }
    all.names.sort_unstable();
    all.names.dedup();
    match all.names.is_empty() {
        true => {
            let lists: Vec<String> = lists
                .iter()
                .map(|list| format!("`{}`", shown(&list.to_string_lossy())))
                .collect();
            Err(refused(errors::no_names(&lists.join(", "))))
        }
        false => Ok(all),
    }
}

//! Lists of a firewall, and the rules that they make.

use super::names::{no_names, read_list};
use crate::args::NameLists;
use crate::output::{Stop, refused};
use arch::payload::MOST_RULES;
use diag::{Diagnostic, counted, shown};
use firewall::errors;
use firewall::list::{self, Rule};
use firewall::rules::{self, ALLOWS, Listed, MOST_LISTS, Origin, Rules};
use host::files::{self, STANDARD_INPUT, Streams};
use kernel::Record;
use kernel::pins::Asked;
use layout::{NAME_RECORD, NAME_SLOTS, name_records, name_set_room};
use schema::NameRule;
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf, absolute};

/// Rules for which a set has room at least besides those of the lists, and records of their names.
const MORE_RULES: u64 = 10_000;
const MORE_RECORDS: u64 = MORE_RULES * 3 / 2;
/// Control-plane name of the program's set.
pub(super) const SET: &str = "names";
/// Names of the notes of a firewall's record, which have its lists.
const NOTES: [&str; 2] = ["`--block`", "`--allow`"];

/// Files of lists. Those that allow follow those that block where they are counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Files {
    /// Lists that block.
    pub block: Vec<PathBuf>,
    /// Lists that allow.
    pub allow: Vec<PathBuf>,
}

impl Files {
    /// Returns the files that flags name, with more that block.
    pub(super) fn of(named: &NameLists, more: &[PathBuf]) -> Files {
        Files {
            block: named.block.iter().chain(more).cloned().collect(),
            allow: named.allow.clone(),
        }
    }

    /// Returns true if there is no list.
    pub(super) fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }

    /// Returns all files, in the order of their numbers.
    pub(super) fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.block.iter().chain(&self.allow)
    }

    /// Returns the names of all lists, as messages have them.
    pub(super) fn shown(&self) -> Vec<String> {
        let shown = |file: &PathBuf| shown(&file.to_string_lossy()).into_owned();
        self.all().map(shown).collect()
    }

    /// Returns the place of a rule: its list and line. `None` if the line does not have it: the list has changed, or the rule
    /// was added by another command, which may give it any number.
    pub(super) fn place(&self, rule: &NameRule) -> Option<(&Path, usize)> {
        let origin = Origin::of(rule.value.number);
        let file = self.all().nth(origin.list())?;
        if file == Path::new(STANDARD_INPUT) {
            return Some((file, origin.line()));
        }
        let bytes = files::read(file, Streams::Refused).ok()?;
        let line = bytes
            .split(|byte| *byte == b'\n')
            .nth(origin.line().checked_sub(1)?)?;
        let mut rules = list::parse(line).rules.into_iter();
        rules
            .any(|found| *found.name == *rule.name.name)
            .then_some((file, origin.line()))
    }

    /// Returns the lists as notes of a record.
    pub(super) fn notes(&self) -> Vec<Asked> {
        let texts = |files: &[PathBuf]| -> Vec<String> {
            let text = |file: &PathBuf| match is_read_once(file) {
                true => STANDARD_INPUT.to_owned(),
                false => absolute(file).unwrap_or(file.into()).display().to_string(),
            };
            files.iter().map(text).collect()
        };
        let notes = NOTES.into_iter().zip([&self.block, &self.allow]);
        notes
            .map(|(what, files)| Asked {
                what: what.to_owned(),
                value: json!(texts(files)).to_string(),
            })
            .collect()
    }

    /// Returns the lists of a running firewall.
    ///
    /// # Errors
    ///
    /// The record is none of a firewall.
    pub(super) fn of_record(record: &Record) -> Result<Files, Box<Diagnostic>> {
        let files = |what: &str| -> Option<Vec<PathBuf>> {
            let note = record.asked.iter().find(|asked| asked.what == what)?;
            serde_json::from_str(&note.value).ok()
        };
        let [block, allow] = NOTES.map(files);
        let both = block.zip(allow);
        let (block, allow) = both.ok_or_else(|| errors::no_firewall(&record.instance))?;
        Ok(Files { block, allow })
    }

    /// Returns true if a list is standard input or a pipe, which can be read only once.
    pub(super) fn are_read_once(&self) -> bool {
        self.all().any(|file| is_read_once(file))
    }
}

/// Returns true for standard input, and for what exists and is no file.
fn is_read_once(file: &Path) -> bool {
    let is_stream = |found: fs::Metadata| !found.is_file();
    file == Path::new(STANDARD_INPUT) || fs::metadata(file).is_ok_and(is_stream)
}

/// Rules of lists.
pub(super) struct Made {
    /// The rules.
    pub rules: Rules,
    /// Number of lines that were skipped.
    pub skipped: usize,
}

impl Made {
    /// Counts the rules.
    pub(super) fn counts(&self) -> Counts {
        let rules = &self.rules.rules;
        let allows = |rule: &&NameRule| rule.value.lists == ALLOWS;
        Counts {
            rules: rules.len(),
            allowed: rules.iter().filter(allows).count(),
            needless: self.rules.needless,
            skipped: self.skipped,
        }
    }
}

/// Numbers of the rules that lists make.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    rules: usize,
    /// Rules that allow; all others block.
    allowed: usize,
    /// Rules of lists that are left out, since another one says the same.
    needless: usize,
    /// Lines that were skipped.
    skipped: usize,
}

impl Counts {
    /// Returns the numbers as text.
    pub(super) fn text(self) -> String {
        format!(
            "{}: {} block, {} allow; {} more say what others do, {} skipped",
            counted(self.rules, "rule"),
            self.rules - self.allowed,
            self.allowed,
            self.needless,
            counted(self.skipped, "line")
        )
    }

    /// Returns the numbers as JSON.
    pub(super) fn as_json(self) -> Value {
        json!({
            "rules": self.rules,
            "blocked": self.rules - self.allowed,
            "allowed": self.allowed,
            "needless": self.needless,
            "skipped": self.skipped,
        })
    }
}

/// Reads all lists, and reports lines that are skipped.
///
/// # Errors
///
/// There are too many lists, one cannot be read, or they have no rule; with `is_strict`, also if a line is skipped.
pub(super) fn read(files: &Files, is_strict: bool) -> Result<Made, Stop> {
    let count = files.all().count();
    if count > MOST_LISTS {
        return Err(refused(errors::too_many_lists(count, MOST_LISTS)));
    }
    let (mut listed, mut skipped) = (Vec::new(), 0);
    for (list, path) in files.all().enumerate() {
        let (rules, more) = read_list(path, is_strict, &|_| None)?;
        let is_allowed = list >= files.block.len();
        listed.extend(rules.into_iter().map(|rule| Listed {
            rule: Rule {
                is_allowed: is_allowed || rule.is_allowed,
                ..rule
            },
            list,
        }));
        skipped += more;
    }
    let rules = rules::of(listed);
    match rules.rules.is_empty() {
        true => Err(no_names(files.all())),
        false => Ok(Made { rules, skipped }),
    }
}

/// Returns the size of a set with room for these rules, and for some more.
pub(super) fn size(rules: &[NameRule]) -> Result<u32, Stop> {
    let lengths = rules.iter().map(|rule| rule.name.name.len() as u32);
    let records: u64 = lengths.map(|length| u64::from(name_records(length))).sum();
    // A size that few more rules do not change is known for the same program.
    let needed = (rules.len() as u64 + MORE_RULES).next_multiple_of(MORE_RULES);
    let fits = |size: &u64| {
        let room = u32::try_from(*size).map(|size| u64::from(name_set_room(size).1));
        room.is_ok_and(|room| room > records + MORE_RECORDS)
    };
    let mut sizes = std::iter::successors(Some(needed), |size| Some(size + size / 16));
    let size = sizes.find(|size| *size > MOST_RULES.into() || fits(size));
    match size.and_then(|size| u32::try_from(size).ok()) {
        Some(size) if size <= MOST_RULES => Ok(size),
        // Without a reserve.
        _ if rules.len() as u32 <= MOST_RULES && records < name_set_room(MOST_RULES).1.into() => {
            Ok(MOST_RULES)
        }
        _ => Err(refused(errors::too_many(rules.len(), MOST_RULES))),
    }
}

/// Returns the memory of a set of this size in the kernel, in bytes.
pub(super) fn memory(size: u32) -> u64 {
    let (buckets, records) = name_set_room(size);
    u64::from(buckets) * u64::from(8 * NAME_SLOTS) + u64::from(records) * u64::from(NAME_RECORD)
}

/// Writes the rules as an entries file. With `places`, each line ends in a comment with its rule's list and line.
pub(super) fn entries(rules: &[NameRule], places: Option<&Files>) -> String {
    let mut entries = String::new();
    let lists = places.map(Files::shown);
    for rule in rules {
        let (number, on) = (rule.value.number, rule.value.lists);
        // Writing to a text does not fail.
        let _ = write!(entries, "name_add {SET} {} {number} {on}", rule.name);
        let origin = Origin::of(number);
        if let Some(list) = lists.as_ref().and_then(|all| all.get(origin.list())) {
            let _ = write!(entries, " # {list}:{}", origin.line());
        }
        entries.push('\n');
    }
    entries
}

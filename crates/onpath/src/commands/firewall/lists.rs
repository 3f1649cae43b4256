//! Lists of a firewall, and the rules that they make.

use super::names::{no_names, read_list};
use super::urls::{self, Urls};
use crate::args::NameLists;
use crate::output::{Stop, print_diagnostics, refused};
use arch::payload::MOST_RULES;
use control::name_set::{NamedRules, show_add};
use diag::{SourceMap, counted, shown};
use firewall::config::{Flags, Group, OTHERS};
use firewall::errors;
use firewall::list::{self, List, Rule, UrlRule};
use firewall::rules::{self, Listed, ListedUrl, MOST_LISTS, Origin, Rules, only_allows};
use host::files::{self, STANDARD_INPUT, Streams, read_text};
use kernel::Record;
use kernel::pins::Asked;
use layout::{NAME_RECORD, NAME_SLOTS, name_records, name_set_room};
use schema::NameRule;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf, absolute};

/// Rules for which a set has room at least besides those of the lists, and records of their names.
const MORE_RULES: u64 = 10_000;
const MORE_RECORDS: u64 = MORE_RULES * 3 / 2;
/// Control-plane name of the program's set.
pub(super) const SET: &str = "names";
/// Names of the notes of a firewall's record, which have its lists.
const NOTES: [&str; 3] = ["`--block`", "`--allow`", "`--keywords`"];
/// Name of the note that has the settings' file and its text.
const CONFIG_NOTE: &str = "`--config`";

/// Files of lists, numbered in the order of [`Files::all`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Files {
    /// Lists that block, for sources that belong to no group.
    pub block: Vec<PathBuf>,
    /// Lists that allow, for these.
    pub allow: Vec<PathBuf>,
    /// Keywords that block, for these.
    pub keywords: Vec<PathBuf>,
    /// Settings with groups, if there are some.
    pub config: Option<Config>,
}

/// Settings with groups, and their source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Config {
    /// Absolute path of the file.
    file: String,
    text: String,
    /// Groups: the first of them has number 1.
    pub groups: Vec<Group>,
    /// Flags of the command, as far as the file has them.
    pub flags: Flags,
}

impl Config {
    /// Reads settings from a file. Returns its lists for sources that belong to no group as well.
    fn read(file: String, text: String) -> Result<(Config, firewall::config::Config), Stop> {
        let mut map = SourceMap::new();
        let Some(id) = map.add(&file, text.clone()) else {
            return Err(Stop::Failed(format!("`{}` is too large", shown(&file))));
        };
        let read = firewall::config::read(&map, id).map_err(|wrong| {
            print_diagnostics(&wrong, &map);
            Stop::AlreadyReported(1)
        })?;
        let config = Config {
            file,
            text,
            groups: read.groups.clone(),
            flags: read.flags.clone(),
        };
        Ok((config, read))
    }
}

impl Files {
    /// Returns the files that flags name, with more that block, and those of settings.
    ///
    /// # Errors
    ///
    /// The settings cannot be read.
    pub(super) fn of(named: &NameLists, more: &[PathBuf]) -> Result<Files, Stop> {
        let mut files = Files {
            block: named.block.iter().chain(more).cloned().collect(),
            allow: named.allow.clone(),
            keywords: named.keywords.clone(),
            config: None,
        };
        if let Some(file) = &named.config {
            let text = read_text(file).map_err(Stop::Failed)?;
            let file = whole(file).display().to_string();
            let (config, read) = Config::read(file, text)?;
            files.block.extend(read.block);
            files.allow.extend(read.allow);
            files.config = Some(config);
        }
        let is_both = |file: &&PathBuf| {
            files
                .by_group()
                .any(|(block, allow)| has(block, file) || has(allow, file))
        };
        match files.keywords.iter().find(is_both) {
            Some(both) => Err(Stop::Usage(format!(
                "`{}` is a list, so `--keywords` cannot have it too",
                shown(&both.to_string_lossy())
            ))),
            None => Ok(files),
        }
    }

    /// Returns true if there is neither a list nor a file of settings.
    pub(super) fn is_empty(&self) -> bool {
        self.config.is_none() && self.all().is_empty()
    }

    /// Returns the groups of sources: the first has number 1.
    pub(super) fn groups(&self) -> &[Group] {
        self.config.as_ref().map_or(&[], |config| &config.groups)
    }

    /// Returns the number of a group. `None` names the sources that belong to no group.
    ///
    /// # Errors
    ///
    /// There is no such group.
    pub(super) fn group(&self, name: Option<&str>) -> Result<usize, Stop> {
        let name = name.unwrap_or(OTHERS);
        let own = self.groups().iter().map(|group| group.name.as_str());
        let names: Vec<&str> = std::iter::once(OTHERS).chain(own).collect();
        let number = names.iter().position(|known| *known == name);
        number.ok_or_else(|| refused(errors::no_group(&shown(name), &names)))
    }

    /// Returns the lists that block and those that allow, of each group by its number.
    fn by_group(&self) -> impl Iterator<Item = (&[PathBuf], &[PathBuf])> {
        let others = self.groups().iter();
        let others = others.map(|group| (&group.block[..], &group.allow[..]));
        std::iter::once((&self.block[..], &self.allow[..])).chain(others)
    }

    /// Returns the files of one group, by its number.
    pub(super) fn of_group(&self, number: usize) -> Files {
        let (block, allow) = self.by_group().nth(number).unwrap_or_default();
        Files {
            block: block.to_vec(),
            allow: allow.to_vec(),
            keywords: match number {
                0 => self.keywords.clone(),
                _ => Vec::new(),
            },
            config: None,
        }
    }

    /// Returns all files, each once however it is written, in the order of their numbers. Of a group, those that allow come last: of
    /// words and expressions, the greatest number is that of a rule.
    pub(super) fn all(&self) -> Vec<&PathBuf> {
        let mut known = HashSet::new();
        let lists = self
            .by_group()
            .flat_map(|(block, allow)| block.iter().chain(allow));
        let each = self.keywords.iter().chain(lists);
        each.filter(|file| known.insert(whole(file))).collect()
    }

    /// Tests whether a list allows wherever it is used.
    pub(super) fn only_allows(&self, file: &Path) -> bool {
        !has(&self.keywords, file) && !self.by_group().any(|(block, _)| has(block, file))
    }

    /// Returns the groups in which a list blocks, and those in which it allows, each by the bit of its number.
    fn roles(&self, file: &Path) -> [u16; 2] {
        let mut roles = [u16::from(has(&self.keywords, file)), 0];
        for (number, (block, allow)) in self.by_group().enumerate() {
            roles[0] |= u16::from(has(block, file)) << number;
            roles[1] |= u16::from(has(allow, file)) << number;
        }
        roles
    }

    /// Returns the names of all lists, as messages have them.
    pub(super) fn shown(&self) -> Vec<String> {
        let shown = |file: &PathBuf| shown(&file.to_string_lossy()).into_owned();
        self.all().into_iter().map(shown).collect()
    }

    /// Returns the place of a rule: its list and line. `None` if the line does not have it: the list has changed, or the rule
    /// was added by another command, which may give it any number.
    pub(super) fn place(&self, rule: &NameRule) -> Option<(&Path, usize)> {
        let origin = Origin::of(rule.value.number);
        let file = *self.all().get(origin.list())?;
        if file == Path::new(STANDARD_INPUT) {
            return Some((file, origin.line()));
        }
        let bytes = files::read(file, Streams::Refused).ok()?;
        let line = bytes
            .split(|byte| *byte == b'\n')
            .nth(origin.line().checked_sub(1)?)?;
        let found = match has(&self.keywords, file) {
            true => list::parse_keywords(line),
            false => list::parse(line),
        };
        let is_name = |found: &Rule| *found.name == *rule.name.name;
        let is_pattern = |found: &UrlRule| *found.pattern.to_string() == *rule.name.name;
        let is_there = found.rules.iter().any(is_name) || found.urls.iter().any(is_pattern);
        is_there.then_some((file, origin.line()))
    }

    /// Returns the lists as notes of a record.
    pub(super) fn notes(&self) -> Vec<Asked> {
        let texts = |files: &[PathBuf]| -> Vec<String> {
            let text = |file: &PathBuf| match is_read_once(file) {
                true => STANDARD_INPUT.to_owned(),
                false => whole(file).display().to_string(),
            };
            files.iter().map(text).collect()
        };
        let notes = NOTES
            .into_iter()
            .zip([&self.block, &self.allow, &self.keywords]);
        let notes = notes.map(|(what, files)| (what, json!(texts(files))));
        let config = self.config.iter();
        let config = config.map(|config| (CONFIG_NOTE, json!([config.file, config.text])));
        let asked = |(what, value): (&str, Value)| Asked {
            what: what.to_owned(),
            value: value.to_string(),
        };
        notes.chain(config).map(asked).collect()
    }

    /// Returns the lists of a running firewall.
    ///
    /// # Errors
    ///
    /// The record is none of a firewall.
    pub(super) fn of_record(record: &Record) -> Result<Files, Stop> {
        let note = |what: &str| record.asked.iter().find(|asked| asked.what == what);
        let files =
            |what: &str| -> Option<Vec<PathBuf>> { serde_json::from_str(&note(what)?.value).ok() };
        let [block, allow, keywords] = NOTES.map(files);
        let both = block.zip(allow);
        let (block, allow) = both.ok_or_else(|| refused(errors::no_firewall(&record.instance)))?;
        let config = note(CONFIG_NOTE).and_then(|note| serde_json::from_str(&note.value).ok());
        let config = config
            .map(|(file, text)| Config::read(file, text))
            .transpose()?;
        Ok(Files {
            block,
            allow,
            keywords: keywords.unwrap_or_default(),
            config: config.map(|(config, _)| config),
        })
    }

    /// Returns true if a list is standard input or a pipe, which can be read only once.
    pub(super) fn are_read_once(&self) -> bool {
        self.all().into_iter().any(|file| is_read_once(file))
    }
}

/// Returns a file's path from the root, which identifies it.
fn whole(file: &Path) -> PathBuf {
    absolute(file).unwrap_or(file.into())
}

/// Tests whether a file is among some lists.
fn has(lists: &[PathBuf], file: &Path) -> bool {
    lists.iter().any(|list| whole(list) == whole(file))
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
    /// Rules for URLs.
    pub urls: Urls,
    /// Number of lines that were skipped.
    pub skipped: usize,
}

impl Made {
    /// Returns the rules by the names of the program's sets. Without rules, a set is left out.
    pub(super) fn sets(self) -> Vec<NamedRules> {
        let all = [(SET, self.rules.rules), (urls::SET, self.urls.rules)];
        let all = all.into_iter().filter(|(_, rules)| !rules.is_empty());
        let named = all.map(|(set, rules)| NamedRules {
            set: set.to_owned(),
            rules,
        });
        named.collect()
    }

    /// Counts the rules.
    pub(super) fn counts(&self) -> Counts {
        let rules = &self.rules.rules;
        let allows = |rule: &&NameRule| only_allows(rule.value.lists);
        Counts {
            rules: rules.len(),
            allowed: rules.iter().filter(allows).count(),
            needless: self.rules.needless,
            skipped: self.skipped,
            urls: self.urls.counts,
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
    /// Prefixes, words and expressions.
    urls: [usize; 3],
}

impl Counts {
    /// Returns the numbers as text.
    pub(super) fn text(self) -> String {
        let names = format!(
            "{}: {} block, {} allow; {} more say what others do, {} skipped",
            counted(self.rules, "rule"),
            self.rules - self.allowed,
            self.allowed,
            self.needless,
            counted(self.skipped, "line")
        );
        let [prefixes, words, expressions] = self.urls;
        match self.urls {
            [0, 0, 0] => names,
            _ => format!(
                "{names}; for URLs {prefixes} {}, {} and {}",
                if prefixes == 1 { "prefix" } else { "prefixes" },
                counted(words, "keyword"),
                counted(expressions, "expression")
            ),
        }
    }

    /// Returns the numbers as JSON.
    pub(super) fn as_json(self) -> Value {
        json!({
            "rules": self.rules,
            "blocked": self.rules - self.allowed,
            "allowed": self.allowed,
            "needless": self.needless,
            "skipped": self.skipped,
            "prefixes": self.urls[0],
            "keywords": self.urls[1],
            "expressions": self.urls[2],
        })
    }
}

/// Reads all lists, and reports lines that are skipped.
///
/// # Errors
///
/// There are too many lists, one cannot be read, or they have no rule; with `is_strict`, also if a line is skipped.
pub(super) fn read(files: &Files, is_strict: bool) -> Result<Made, Stop> {
    let made = rules(files, is_strict)?;
    match made.rules.rules.is_empty() && made.urls.rules.is_empty() {
        true => Err(no_names(files.all())),
        false => Ok(made),
    }
}

/// Reads all lists, which may have no rule.
///
/// # Errors
///
/// As of [`read`], but for lists without rules.
pub(super) fn rules(files: &Files, is_strict: bool) -> Result<Made, Stop> {
    let all = files.all();
    if all.len() > MOST_LISTS {
        return Err(refused(errors::too_many_lists(all.len(), MOST_LISTS)));
    }
    let (mut listed, mut urls, mut skipped) = (Vec::new(), Vec::new(), 0);
    for (list, path) in all.iter().enumerate() {
        let parse = match has(&files.keywords, path) {
            true => list::parse_keywords,
            false => list::parse,
        };
        let (
            List {
                rules,
                urls: of_urls,
                ..
            },
            more,
        ) = read_list(path, is_strict, parse, &|_| None)?;
        let [blocks, allows] = files.roles(path);
        for rule in of_urls {
            for (groups, is_allowed) in [(allows, true), (blocks, rule.is_allowed)] {
                if groups != 0 {
                    let rule = UrlRule {
                        is_allowed,
                        ..rule.clone()
                    };
                    urls.push(ListedUrl { rule, list, groups });
                }
            }
        }
        for rule in rules {
            if allows != 0 {
                let rule = Rule {
                    is_allowed: true,
                    ..rule.clone()
                };
                listed.push(Listed {
                    rule,
                    list,
                    groups: allows,
                });
            }
            if blocks != 0 {
                listed.push(Listed {
                    rule,
                    list,
                    groups: blocks,
                });
            }
        }
        skipped += more;
    }
    let rules = rules::of(listed);
    let urls = Urls::of(urls);
    Ok(Made {
        rules,
        urls,
        skipped,
    })
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

/// Writes the rules of a set as an entries file. With `places`, each line ends in a comment with its rule's list and line.
pub(super) fn entries(set: &str, rules: &[NameRule], places: Option<&Files>) -> String {
    let mut entries = String::new();
    let lists = places.map(Files::shown);
    for rule in rules {
        entries += &show_add(set, rule);
        let origin = Origin::of(rule.value.number);
        if let Some(list) = lists.as_ref().and_then(|all| all.get(origin.list())) {
            // Writing to a text does not fail.
            let _ = write!(entries, " # {list}:{}", origin.line());
        }
        entries.push('\n');
    }
    entries
}

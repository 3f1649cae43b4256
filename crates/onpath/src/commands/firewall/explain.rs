//! `onpath firewall explain`

use super::lists::{self, Files};
use super::running::{Running, running};
use super::urls::Urls;
use crate::args::NameLists;
use crate::commands::named::{not_done, print_array};
use crate::output::{Done, Stop, out_line, refused};
use control::Store;
use control::name_set::name_sets;
use diag::shown;
use firewall::errors;
use firewall::list::seen;
use firewall::rules::{ALLOWS, of_group};
use patterns::{PatternRules, UrlText};
use schema::{NameRule, NameRules, ObjectKind};
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

/// Said of a rule whose line is not known.
const NO_LINE: &str = " (its list has changed since, or it was added by another command)";

/// Prints the rule that decides for each site, by lists or by a running firewall.
///
/// `of` has the names of the firewall and of the group of sources.
pub(super) fn run(
    sites: &[String],
    of: (Option<&str>, Option<&str>),
    named: &NameLists,
    as_json: bool,
) -> Done {
    let names: Result<Vec<(String, UrlText)>, Stop> =
        sites.iter().map(|text| seen_of(text)).collect();
    let names = names?;
    let from = Files::of(named, &[])?;
    let explained = match from.is_empty() {
        true => Explained::running(of)?,
        false => Explained::lists(&from, of.1, named.strict)?,
    };
    let found = sites.iter().zip(&names).map(|(site, (name, text))| {
        let (rule, place) = explained.find(name.as_bytes(), text);
        (site, (name, text), rule, place)
    });
    if as_json {
        print_array(found.map(|(site, (name, _), rule, place)| {
            json!({
                "site": site,
                "name": name,
                "verdict": verdict(rule.as_ref()),
                "rule": rule.as_ref().map(|rule| rule.name.to_string()),
                "list": place.as_ref().map(|(list, _)| list.display().to_string()),
                "line": place.as_ref().map(|(_, line)| line),
            })
        }));
        return Ok(ExitCode::SUCCESS);
    }
    for (_, (_, text), rule, place) in found {
        let text = text.bytes();
        let text = String::from_utf8_lossy(&text);
        let name = shown(&text);
        let Some(rule) = rule else {
            out_line!("{name}: passes: no rule covers it");
            continue;
        };
        let by = rule.name.to_string();
        let place =
            place.map(|(list, line)| format!(", {}:{line}", shown(&list.to_string_lossy())));
        out_line!(
            "{name}: {} by `{}`{}",
            verdict(Some(&rule)),
            shown(&by),
            place.unwrap_or_else(|| NO_LINE.to_owned())
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn verdict(rule: Option<&NameRule>) -> &'static str {
    match rule {
        None => "passes",
        Some(rule) if rule.value.lists & ALLOWS != 0 => "allowed",
        Some(_) => "blocked",
    }
}

/// Returns the name of a site that a text means, and what a firewall sees of its URL.
fn seen_of(text: &str) -> Result<(String, UrlText), Stop> {
    seen(text).map_err(|reason| refused(errors::no_name(&shown(text), &reason.describe())))
}

/// Rules that decide for a group of sources, and the lists of that group.
struct Explained {
    files: Files,
    /// Rules with the bits of that group alone, as if there were no other.
    rules: NameRules,
    /// Rules of the lists as they are now, where those that run have bits of other groups too.
    now: Option<NameRules>,
    /// Rules for URLs, with the bits of that group alone.
    urls: PatternRules,
    /// Files by whose order the rules for URLs are numbered.
    numbered: Files,
}

impl Explained {
    /// Reads the rules of a running firewall.
    fn running((name, group): (Option<&str>, Option<&str>)) -> Result<Explained, Stop> {
        let Running { files, store, .. } = running(name)?;
        let number = files.group(group)?;
        let unread = not_done("the rules could not be read".to_owned());
        let sets = name_sets(store.schema());
        let rules: Result<Vec<_>, _> = sets
            .map(|(set, _)| {
                let is_of_urls = matches!(
                    store.schema().objects[set].kind,
                    ObjectKind::PatternSet { .. }
                );
                store.names(set).map(|rules| (is_of_urls, rules))
            })
            .collect();
        let (urls, rules): (Vec<_>, Vec<_>) = rules
            .map_err(unread)?
            .into_iter()
            .partition(|(is_of_urls, _)| *is_of_urls);
        let own = |mut rule: NameRule| {
            rule.value.lists = of_group(rule.value.lists, number);
            rule
        };
        let urls: Vec<NameRule> = urls
            .into_iter()
            .flat_map(|(_, rules)| rules)
            .map(own)
            .collect();
        let urls = Urls::set(&urls);
        let rules = set_of(rules.into_iter().flat_map(|(_, rules)| rules).map(own));
        if files.groups().is_empty() {
            let now = None;
            return Ok(Explained {
                numbered: files.clone(),
                files,
                rules,
                now,
                urls,
            });
        }
        let numbered = files.clone();
        let files = files.of_group(number);
        // Without its lists, only the line is not known.
        let is_known = !files.are_read_once() && files.all().into_iter().all(|file| file.is_file());
        let now = if is_known {
            rules_of(&files, false)?
        } else {
            NameRules::default()
        };
        Ok(Explained {
            files,
            rules,
            now: Some(now),
            urls,
            numbered,
        })
    }

    /// Reads lists.
    fn lists(from: &Files, group: Option<&str>, is_strict: bool) -> Result<Explained, Stop> {
        let files = from.of_group(from.group(group)?);
        let made = lists::rules(&files, is_strict)?;
        Ok(Explained {
            numbered: files.clone(),
            files,
            rules: set_of(made.rules.rules.into_iter()),
            now: None,
            urls: Urls::set(&made.urls.rules),
        })
    }

    /// Returns the rule that decides for a site, and its list and line if they are known: a prefix of its URL, or else a name, or
    /// else a word or an expression.
    fn find(&self, name: &[u8], text: &UrlText) -> (Option<NameRule>, Option<(&Path, usize)>) {
        let place = |rule: NameRule| {
            let place = self.numbered.place(&rule);
            (Some(rule), place)
        };
        let [prefix, other] = self.urls.find_rules(text);
        if let Some(prefix) = prefix {
            return place(prefix);
        }
        match (self.find_name(name), other) {
            ((None, _), Some(other)) => place(other),
            (found, _) => found,
        }
    }

    /// Returns the rule for names that decides for a name, and its list and line if they are known.
    fn find_name(&self, name: &[u8]) -> (Option<NameRule>, Option<(&Path, usize)>) {
        let rule = self
            .rules
            .look_up_rule(name)
            .filter(|rule| rule.value.lists != 0);
        let Some(now) = &self.now else {
            let place = rule.as_ref().and_then(|rule| self.files.place(rule));
            return (rule, place);
        };
        let now = now.look_up_rule(name);
        let lists = |rule: &Option<NameRule>| rule.as_ref().map(|rule| rule.value.lists);
        // The running rule may be that of a longer name, which other groups have.
        match lists(&now) == lists(&rule) {
            true => {
                let place = now.as_ref().and_then(|rule| self.files.place(rule));
                (now, place)
            }
            false => (rule, None),
        }
    }
}

/// Reads the rules of one group's lists, which may be none.
fn rules_of(files: &Files, is_strict: bool) -> Result<NameRules, Stop> {
    let rules = lists::rules(files, is_strict)?.rules.rules;
    Ok(set_of(rules.into_iter()))
}

fn set_of(rules: impl Iterator<Item = NameRule>) -> NameRules {
    let mut set = NameRules::default();
    for rule in rules {
        set.insert(&rule);
    }
    set
}

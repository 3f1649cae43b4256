//! `onpath firewall explain`

use super::lists::{self, Files};
use super::{Running, running};
use crate::args::NameLists;
use crate::commands::named::{not_done, print_array};
use crate::output::{Done, Stop, out_line, refused};
use control::Store;
use control::name_set::name_sets;
use diag::shown;
use firewall::errors;
use firewall::list::site;
use firewall::rules::ALLOWS;
use schema::{NameRule, NameRules};
use serde_json::json;
use std::process::ExitCode;

/// Said of a rule whose line is not known.
const NO_LINE: &str = " (its list has changed since, or it was added by another command)";

/// Prints the rule that decides for each site, by lists or by a running firewall.
pub(super) fn run(sites: &[String], name: Option<&str>, named: &NameLists, as_json: bool) -> Done {
    let names: Result<Vec<String>, Stop> = sites.iter().map(|text| name_of(text)).collect();
    let names = names?;
    let from = Files::of(named, &[]);
    let (files, rules) = match from.is_empty() {
        true => of_running(name)?,
        false => {
            let made = lists::read(&from, named.strict)?;
            (from, made.rules.rules)
        }
    };
    let mut set = NameRules::default();
    for rule in &rules {
        set.insert(rule);
    }
    let found = sites.iter().zip(&names).map(|(site, name)| {
        let rule = set.look_up_rule(name.as_bytes());
        let place = rule.as_ref().and_then(|rule| files.place(rule));
        (site, name, rule, place)
    });
    if as_json {
        print_array(found.map(|(site, name, rule, place)| {
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
    for (_, name, rule, place) in found {
        let name = shown(name);
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

/// Returns the name of a site that a text means.
fn name_of(text: &str) -> Result<String, Stop> {
    site(text).map_err(|reason| refused(errors::no_name(&shown(text), reason.describe())))
}

/// Returns the lists of a running firewall, and its rules.
fn of_running(name: Option<&str>) -> Result<(Files, Vec<NameRule>), Stop> {
    let Running { files, store, .. } = running(name)?;
    let unread = not_done("the rules could not be read".to_owned());
    let sets = name_sets(store.schema());
    let rules: Result<Vec<_>, _> = sets.map(|(set, _)| store.names(set)).collect();
    let rules = rules.map_err(unread)?;
    Ok((files, rules.into_iter().flatten().collect()))
}

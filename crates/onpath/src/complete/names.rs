//! Names that exist now: of interfaces, of running programs, and of their objects.
//!
//! A list that cannot be read, for example without the rights, has no completions, as a shell cannot show an error.

use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, ValueCompleter,
};
use control::{Store, meter};
use kernel::{Pins, Record};
use net::interface;
use schema::{ObjectKind, Schema};
use std::ffi::OsStr;

/// Completes interfaces of this network namespace.
pub fn interfaces() -> ArgValueCandidates {
    ArgValueCandidates::new(|| interface::names().into_iter().map(candidate).collect())
}

/// Completes network namespaces that have a name from `ip netns`.
pub fn namespaces() -> ArgValueCandidates {
    ArgValueCandidates::new(|| net::netns::names().into_iter().map(candidate).collect())
}

/// Completes built-in messages.
pub fn messages() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let all = payload::builtin::ALL.into_iter();
        all.map(|builtin| candidate(builtin.name.to_string()))
            .collect()
    })
}

/// Completes names that `onpath explain` knows: codes of diagnostics with their titles, headers and their
/// declarations, attributes and words.
pub fn explained() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let pages = explain::groups().iter().flat_map(|group| &group.pages);
        let codes =
            pages.map(|page| CompletionCandidate::new(page.code).help(Some(page.title.into())));
        let names = crate::explained::names().into_iter();
        codes.chain(names.map(candidate)).collect()
    })
}

/// Completes attributes of queries, and the beginnings of their names.
pub fn attributes() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let names = crate::explained::attribute_names().into_iter();
        names.map(candidate).collect()
    })
}

/// Completes the interface in `N=IF`.
pub fn numbered_interfaces() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let Some((number, begun)) = typed.to_str().and_then(|typed| typed.split_once('=')) else {
            return Vec::new();
        };
        let names = interface::names().into_iter();
        let names = names.filter(|name| name.starts_with(begun));
        names
            .map(|name| candidate(format!("{number}={name}")))
            .collect()
    })
}

/// Completes the names of running instances, as `onpath unload` takes them.
pub fn instances() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let names = Pins::default().names().unwrap_or_default();
        names.into_iter().map(candidate).collect()
    })
}

/// Completes running programs, as `BUNDLE/PROGRAM` if they are in a bundle.
pub fn programs() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let records = records(None);
        let labels = records.iter().flat_map(|record| {
            let label = |member| record.label(member);
            record.members.iter().map(label)
        });
        labels.map(candidate).collect()
    })
}

/// Completes tables of the program that the command line names, or of all.
pub fn tables() -> ArgValueCompleter {
    of_schema(|schema| {
        schema
            .tables
            .values()
            .map(|table| table.name.to_string())
            .collect()
    })
}

/// Completes counters, as [`tables`] does tables.
pub fn counters() -> ArgValueCompleter {
    objects(ObjectKind::is_counter)
}

/// Completes registers, as [`tables`] does tables.
pub fn registers() -> ArgValueCompleter {
    objects(|kind| matches!(kind, ObjectKind::Register { .. }))
}

/// Completes flow states, as [`tables`] does tables.
pub fn flow_states() -> ArgValueCompleter {
    objects(|kind| matches!(kind, ObjectKind::FlowState { .. }))
}

/// Completes objects with metrics by group, as [`tables`] does tables.
pub fn metrics() -> ArgValueCompleter {
    objects(|kind| matches!(kind, ObjectKind::Metrics { .. }))
}

/// Completes name sets and pattern sets, as [`tables`] does tables.
pub fn name_sets() -> ArgValueCompleter {
    objects(ObjectKind::has_name_rules)
}

/// Completes action profiles and selectors, as [`tables`] does tables.
pub fn profiles() -> ArgValueCompleter {
    objects(|kind| kind.profile().is_some())
}

/// Completes meters with an index, and tables whose entries have meters, as [`tables`] does tables.
pub fn meters() -> ArgValueCompleter {
    of_schema(|schema| {
        let arrays = meter::indexed(schema).map(|(_, name)| name.to_string());
        let tables = meter::direct(schema).map(|table| schema.tables[table].name.to_string());
        arrays.chain(tables).collect()
    })
}

/// Completes numbers of multicast groups.
pub fn groups() -> ArgValueCandidates {
    of_stores(|store| {
        let groups = store.multicast_groups().unwrap_or_default().into_iter();
        groups.map(|(group, _)| group.into()).collect()
    })
}

/// Completes numbers of clone sessions.
pub fn sessions() -> ArgValueCandidates {
    of_stores(|store| {
        let sessions = store.clone_sessions().unwrap_or_default().into_iter();
        sessions.map(|(session, _)| session).collect()
    })
}

/// Completes numbers that are read from the stores of running programs.
fn of_stores(known: impl Fn(&dyn Store) -> Vec<u32> + Send + Sync + 'static) -> ArgValueCandidates {
    ArgValueCandidates::new(move || {
        let pins = Pins::default();
        let mut all = Vec::new();
        for record in records(named().as_deref()) {
            for member in &record.members {
                let opened = pins.open(&record.instance, Some(&member.name));
                all.extend(
                    opened
                        .ok()
                        .map(|(_, store)| known(&store))
                        .unwrap_or_default(),
                );
            }
        }
        numbers(all)
    })
}

/// Completes numbers of ports.
pub fn ports() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let mut ports = Vec::new();
        for record in records(named().as_deref()) {
            for member in &record.members {
                ports.extend(member.interfaces.iter().map(|at| at.port));
                ports.extend(member.targets.iter().map(|at| at.port));
            }
        }
        numbers(ports)
    })
}

fn numbers(mut numbers: Vec<u32>) -> Vec<CompletionCandidate> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
        .iter()
        .map(|number| candidate(number.to_string()))
        .collect()
}

fn candidate(name: String) -> CompletionCandidate {
    CompletionCandidate::new(&*diag::shown(&name))
}

fn objects(is_wanted: fn(&ObjectKind) -> bool) -> ArgValueCompleter {
    of_schema(move |schema| {
        let objects = schema
            .objects
            .values()
            .filter(|object| is_wanted(&object.kind));
        objects.map(|object| object.name.to_string()).collect()
    })
}

/// Completer of names from schemas, for the first word of an argument.
struct FromSchema<F>(F);

impl<F: Fn(&Schema) -> Vec<String> + Send + Sync> ValueCompleter for FromSchema<F> {
    fn complete(&self, typed: &OsStr) -> Vec<CompletionCandidate> {
        let program = named();
        let mut names = Vec::new();
        for record in records(program.as_deref()) {
            let schemas = record.members.iter().map(|member| &member.schema);
            names.extend(schemas.flat_map(&self.0));
        }
        names.sort();
        names.dedup();
        let typed = typed.to_str().unwrap_or_default();
        // The further words of an entry are not names, but clap calls this for them too.
        let mut others = words().filter(|word| word != typed && Some(word) != program.as_ref());
        if others.any(|word| names.iter().any(|name| ends_in(name, &word))) {
            return Vec::new();
        }
        starting(&names, typed).into_iter().map(candidate).collect()
    }
}

fn of_schema(names: impl Fn(&Schema) -> Vec<String> + Send + Sync + 'static) -> ArgValueCompleter {
    ArgValueCompleter::new(FromSchema(names))
}

/// Returns the names that start with the typed text, and for other names a unique suffix that starts with it.
fn starting(names: &[String], typed: &str) -> Vec<String> {
    let ends = |name: &str| -> Vec<String> {
        let behind = name
            .match_indices('.')
            .map(|(at, _)| name[at + 1..].to_string());
        behind.filter(|end| end.starts_with(typed)).collect()
    };
    let is_unique = |end: &String| names.iter().filter(|name| ends_in(name, end)).count() == 1;
    let complete = |name: &String| match name.starts_with(typed) {
        true => Some(name.clone()),
        false => ends(name).into_iter().find(is_unique),
    };
    names.iter().filter_map(complete).collect()
}

/// Returns true if a command accepts `end` as a suffix of the name.
fn ends_in(name: &str, end: &str) -> bool {
    let before = name.strip_suffix(end);
    before.is_some_and(|before| before.is_empty() || (before.ends_with('.') && !end.is_empty()))
}

/// Returns the words of the command line that is completed.
fn words() -> impl Iterator<Item = String> {
    let given = std::env::args_os().skip_while(|word| word != "--").skip(1);
    given.map(|word| word.to_string_lossy().into_owned())
}

/// Returns the program that is named on the command line, before or after the word that is completed.
fn named() -> Option<String> {
    name_in(words())
}

fn name_in(words: impl Iterator<Item = String>) -> Option<String> {
    let mut words = words;
    while let Some(word) = words.next() {
        match word.as_str() {
            "-n" | "--name" => return words.next().filter(|name| !name.is_empty()),
            word => {
                let given = ["--name=", "-n"]
                    .iter()
                    .find_map(|flag| word.strip_prefix(flag));
                if let Some(name) = given.filter(|name| !name.is_empty()) {
                    return Some(name.to_owned());
                }
            }
        }
    }
    None
}

/// Returns the record of the named instance, or all records. A record has only the named member, or all members.
fn records(named: Option<&str>) -> Vec<Record> {
    let pins = Pins::default();
    let (instance, program) = match named.map(|name| name.split_once('/').unwrap_or((name, ""))) {
        Some((instance, program)) => (Some(instance), Some(program).filter(|p| !p.is_empty())),
        None => (None, None),
    };
    let mut names = pins.names().unwrap_or_default();
    names.retain(|name| instance.is_none_or(|instance| instance == name));
    let mut records: Vec<Record> = names
        .iter()
        .filter_map(|name| pins.record(name).ok())
        .collect();
    for record in &mut records {
        record
            .members
            .retain(|member| program.is_none_or(|program| program == member.name));
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_completed_from_its_start_or_from_an_end_that_is_unique() {
        let names = ["sw.routes", "sw.first.hosts", "sw.second.hosts"].map(String::from);
        assert_eq!(starting(&names, ""), names);
        assert_eq!(starting(&names, "sw.r"), ["sw.routes"]);
        assert_eq!(starting(&names, "rou"), ["routes"]);
        assert_eq!(starting(&names, "hosts"), [""; 0]);
        assert_eq!(starting(&names, "second"), ["second.hosts"]);
        assert_eq!(starting(&names, "x"), [""; 0]);
    }

    #[test]
    fn the_program_is_named_in_any_of_clap_s_forms() {
        let name = |words: &str| name_in(words.split(' ').map(String::from));
        for words in ["dump -n sw x", "dump x --name sw", "--name=sw", "dump -nsw"] {
            assert_eq!(name(words).as_deref(), Some("sw"), "{words}");
        }
        assert_eq!(name("table dump x"), None);
        assert_eq!(name_in(["-n".to_string(), String::new()].into_iter()), None);
    }
}

//! `onpath firewall reload`

use super::groups::{self, Clock};
use super::lists::{self, Counts};
use super::running::{Running, running};
use crate::output::{Done, Stop, failed, out_line, print_diagnostics, print_json, refused};
use crate::progress::Progress;
use control::entries::{self as lines, Existing};
use control::name_set::name_sets;
use control::{Change, Store as _};
use diag::SourceMap;
use firewall::errors;
use layout::{name_records, name_set_room};
use schema::ObjectKind;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

/// Reads the lists of a running firewall again, and reports it.
pub(super) fn run(name: Option<&str>, is_strict: bool, as_json: bool) -> Done {
    let made = read_again(name, is_strict, as_json)?;
    match as_json {
        true => print_json(&made.as_json()),
        false => made.print(),
    }
    Ok(ExitCode::SUCCESS)
}

/// New rules of a running firewall.
pub(super) struct Reloaded {
    name: String,
    counts: Counts,
    milliseconds: u64,
}

impl Reloaded {
    /// Prints the numbers of rules, and the time that the change took.
    pub(super) fn print(&self) {
        let Reloaded {
            name,
            counts,
            milliseconds,
        } = self;
        out_line!("{name}: {}", counts.text());
        out_line!("{name}: switched to them in {milliseconds} ms");
    }

    /// Returns the same as JSON.
    pub(super) fn as_json(&self) -> Value {
        let mut all = self.counts.as_json();
        all["name"] = json!(self.name);
        all["state"] = json!("reloaded");
        all["milliseconds"] = json!(self.milliseconds);
        all
    }
}

/// Reads the lists of a running firewall again, and replaces its rules at once.
pub(super) fn read_again(
    name: Option<&str>,
    is_strict: bool,
    as_json: bool,
) -> Result<Reloaded, Stop> {
    let Running {
        name: instance,
        files,
        mut store,
    } = running(name)?;
    if files.are_read_once() {
        return Err(refused(errors::read_once(&instance)));
    }
    let made = lists::read(&files, is_strict)?;
    let rules = made.rules.rules.len();
    let names = made.rules.rules.iter().map(|rule| &rule.name.name);
    let records: u64 = names
        .map(|name| u64::from(name_records(name.len() as u32)))
        .sum();
    let mut objects = store.schema().objects.values();
    let room = objects.find_map(|object| match object.kind {
        ObjectKind::NameSet { size } => Some(size),
        _ => None,
    });
    // Record 0 is none of a rule.
    let is_full =
        |room: &u64| rules as u64 > *room || records >= name_set_room(*room as u32).1.into();
    if let Some(room) = room.filter(is_full) {
        return Err(refused(errors::no_room(&instance, rules, room)));
    }
    let mut objects = store.schema().objects.values();
    let finds_urls = objects.any(|object| matches!(object.kind, ObjectKind::PatternSet { .. }));
    if !finds_urls && !made.urls.rules.is_empty() {
        return Err(refused(errors::no_patterns(&instance)));
    }
    let counts = made.counts();
    let schema = Arc::clone(store.schema());
    let sets = name_sets(&schema).map(|(set, _)| Change::ClearNames(set));
    let made = made.sets();
    let rules = made.iter().map(|rules| rules.changes(&schema));
    let rules = rules.collect::<Result<Vec<_>, _>>().map_err(refused)?;
    let changes = sets.chain(rules.into_iter().flatten());
    let mut map = SourceMap::new();
    let text = groups::entries(files.groups(), &Clock::of_machine());
    let Some(id) = map.add("the lists", text) else {
        return failed("the lists are too large");
    };
    let begun = Instant::now();
    let load = || {
        lines::load_after(
            changes,
            lines::lines(&map, id),
            Existing::Replace,
            &mut store,
        )
    };
    let made = Progress::new(as_json).during(&format!("{instance}: changing its rules"), load);
    made.map_err(|diagnostics| {
        print_diagnostics(&diagnostics, &map);
        Stop::AlreadyReported(1)
    })?;
    Ok(Reloaded {
        name: instance,
        counts,
        milliseconds: begun.elapsed().as_millis() as u64,
    })
}

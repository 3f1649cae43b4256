//! `onpath firewall reload`

use super::lists::{self, entries};
use super::{Running, running};
use crate::output::{Done, Stop, failed, out_line, print_diagnostics, print_json, refused};
use crate::progress::Progress;
use control::Store as _;
use control::entries::{self as lines, Existing};
use diag::SourceMap;
use firewall::errors;
use schema::ObjectKind;
use serde_json::json;
use std::process::ExitCode;
use std::time::Instant;

/// Reads the lists of a running firewall again, and replaces its rules at once.
pub(super) fn run(name: Option<&str>, is_strict: bool, as_json: bool) -> Done {
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
    let mut objects = store.schema().objects.values();
    let room = objects.find_map(|object| match object.kind {
        ObjectKind::NameSet { size } => Some(size),
        _ => None,
    });
    if let Some(room) = room.filter(|room| rules as u64 > *room) {
        return Err(refused(errors::no_room(&instance, rules, room)));
    }
    let blocked = made.blocked();
    let (summary, skipped) = (made.summary(), made.skipped);
    let mut map = SourceMap::new();
    let text = entries(&made.rules.rules, None);
    drop(made);
    let Some(id) = map.add("the lists", text) else {
        return failed("the lists are too large");
    };
    let begun = Instant::now();
    let load = || lines::load(lines::lines(&map, id), Existing::Replace, &mut store);
    let made = Progress::new(as_json).during(&format!("{instance}: changing its rules"), load);
    made.map_err(|diagnostics| {
        print_diagnostics(&diagnostics, &map);
        Stop::AlreadyReported(1)
    })?;
    let milliseconds = begun.elapsed().as_millis() as u64;
    if as_json {
        print_json(&json!({
            "name": instance,
            "rules": rules,
            "blocked": blocked,
            "allowed": rules - blocked,
            "skipped": skipped,
            "milliseconds": milliseconds,
        }));
    } else {
        out_line!("{instance}: {summary}");
        out_line!("{instance}: switched to them in {milliseconds} ms");
    }
    Ok(ExitCode::SUCCESS)
}

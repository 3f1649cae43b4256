//! `onpath drops`, and what `onpath run` reports at its end.

use super::instance::{label, open};
use crate::args::{Drops, Instance};
use crate::output::{Done, out, out_line, print_json, refused};
use control::replication::text::{drops_json, lost};
use control::{DropReason, Store, errors};
use diag::{Span, columns};
use kernel::Pins;
use serde_json::Value;
use std::process::ExitCode;

/// Prints what a running program's traffic manager dropped.
pub(crate) fn run(args: Drops) -> Done {
    let Drops { name, json } = args;
    let drops = open(&Instance { name })?.drops().map_err(|error| {
        let what = "what was dropped could not be read";
        refused(errors::store(Span::NONE, what, &error))
    })?;
    if json {
        print_json(&drops_json(&drops));
    } else if drops.is_empty() {
        out_line!("the program counts no drops: programs for v1model do");
    } else {
        let mut rows = vec![vec!["REASON".to_string(), "PACKETS".to_string()]];
        rows.extend(drops.iter().map(row));
        out!("{}", columns(&rows));
    }
    Ok(ExitCode::SUCCESS)
}

fn row((reason, count): &(DropReason, u64)) -> Vec<String> {
    vec![reason.to_string(), count.to_string()]
}

/// What a program of an instance lost while it ran.
pub(crate) struct Lost {
    label: String,
    drops: Vec<(DropReason, u64)>,
}

impl Lost {
    /// For people.
    pub(crate) fn text(&self) -> String {
        let lost = lost(&self.drops).unwrap_or_default();
        format!("{}: lost on the way: {lost}", self.label)
    }

    /// For programs.
    pub(crate) fn as_json(&self) -> Value {
        serde_json::json!({ "program": self.label, "drops": drops_json(&self.drops) })
    }
}

/// What the programs of a running instance lost. What cannot be read any more is left out: it is about to end.
pub(crate) fn lost_by(pins: &Pins, instance: &str) -> Vec<Lost> {
    let record = pins.record(instance).ok();
    let members = record.iter().flat_map(|record| {
        let one = |member| (label(record, member), member);
        record.members.iter().map(one)
    });
    let read = members.filter_map(|(label, member)| {
        let (_, store) = pins.open(instance, Some(&member.name)).ok()?;
        let drops = store.drops().ok()?;
        lost(&drops).is_some().then_some(Lost { label, drops })
    });
    read.collect()
}

//! `onpath drops`, and the report of lost packets at the end of `onpath run`.

use super::instance::open;
use super::named::{not_done, print_rows};
use crate::args::{Drops, Instance};
use crate::output::{Done, print_json};
use control::replication::text::{drops_json, lost};
use control::{DropReason, Store};
use kernel::Pins;
use serde_json::Value;
use std::process::ExitCode;

/// Prints what a running program's traffic manager dropped.
pub(crate) fn run(args: Drops) -> Done {
    let Drops { name, json } = args;
    let drops = open(&Instance { name })?.drops();
    let drops = drops.map_err(not_done("what was dropped could not be read"))?;
    if json {
        print_json(&drops_json(&drops));
    } else {
        let rows = drops
            .iter()
            .map(|(reason, count)| [reason.to_string(), count.to_string()]);
        let none = "the program counts no drops: programs for v1model do";
        print_rows(["REASON", "PACKETS"], rows, none);
    }
    Ok(ExitCode::SUCCESS)
}

/// Packets that a program of an instance lost while it ran.
pub(crate) struct Lost {
    label: String,
    drops: Vec<(DropReason, u64)>,
}

impl Lost {
    /// Returns the losses as text.
    pub(crate) fn text(&self) -> String {
        let lost = lost(&self.drops).unwrap_or_default();
        format!("{}: lost on the way: {lost}", self.label)
    }

    /// Returns the losses as JSON.
    pub(crate) fn as_json(&self) -> Value {
        serde_json::json!({ "program": self.label, "drops": drops_json(&self.drops) })
    }
}

/// Returns the losses of a running instance's programs. Programs that cannot be read are left out, as they are about
/// to end.
pub(crate) fn lost_by(pins: &Pins, instance: &str) -> Vec<Lost> {
    let record = pins.record(instance).ok();
    let members = record.iter().flat_map(|record| {
        let one = |member| (record.label(member), member);
        record.members.iter().map(one)
    });
    let read = members.filter_map(|(label, member)| {
        let (_, store) = pins.open(instance, Some(&member.name)).ok()?;
        let drops = store.drops().ok()?;
        lost(&drops).is_some().then_some(Lost { label, drops })
    });
    read.collect()
}

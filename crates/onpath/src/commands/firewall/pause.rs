//! `onpath firewall pause`

use super::groups::{self, NEVER, change, ticks_of};
use super::lists::Files;
use super::running::{Running, running};
use crate::output::{Done, err_line, out_line, print_json};
use control::{Store, StoreError};
use firewall::config::OTHERS;
use host::linux::monotonic_now;
use schema::{Bits, Entry, KeyMatch};
use serde_json::json;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

/// Control-plane name of the table, without that of its control.
const TABLE: &str = "pauses";

/// Lets blocked requests of a group pass for a time, or of all groups; `None` ends that.
pub(super) fn run(name: &str, time: Option<Duration>, group: Option<&str>, as_json: bool) -> Done {
    let Running {
        name,
        files,
        mut store,
    } = running(Some(name))?;
    let meant: Vec<usize> = match group {
        None => (0..=files.groups().len()).collect(),
        Some(_) => vec![files.group(group)?],
    };
    let until = time.map_or(0, |time| {
        let end = monotonic_now().saturating_add(time.as_nanos() as u64);
        // The tick that has begun counts.
        ticks_of(end).saturating_add(1).min(NEVER - 1)
    });
    let counts = |number: &usize| *number > 0 && files.groups()[number - 1].is_counted_only;
    let (counting, changed): (Vec<usize>, Vec<usize>) = meant.into_iter().partition(counts);
    for number in counting.iter().filter(|_| changed.is_empty()) {
        err_line!("{name}: {} counts only", group_name(&files, *number));
    }
    let text: String = changed
        .iter()
        .map(|number| format!("modify {}", groups::pause(*number, until)))
        .collect();
    change(&mut store, text)?;
    let names: Vec<&str> = changed
        .iter()
        .map(|number| group_name(&files, *number))
        .collect();
    let seconds = time.map(|time| time.as_secs_f64());
    if as_json {
        print_json(&json!({ "name": name, "groups": names, "seconds": seconds }));
        return Ok(ExitCode::SUCCESS);
    }
    let who = if files.groups().is_empty() {
        String::new()
    } else {
        format!(" of {}", names.join(", "))
    };
    match seconds {
        _ if names.is_empty() => {}
        Some(seconds) => {
            out_line!("{name}: blocked requests{who} pass for {seconds} s, and are counted")
        }
        None => out_line!("{name}: blocked requests{who} are dropped again"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the name of a group by its number.
pub(super) fn group_name(files: &Files, number: usize) -> &str {
    let group = number.checked_sub(1).and_then(|at| files.groups().get(at));
    group.map_or(OTHERS, |group| &group.name)
}

/// Reads up to when groups are paused, by their numbers, in units of the program's clock.
pub(super) fn paused(store: &dyn Store) -> Result<BTreeMap<usize, u32>, StoreError> {
    let schema = store.schema();
    let mut tables = schema.tables.iter();
    let table = tables.find(|(_, table)| table.name.rsplit('.').next() == Some(TABLE));
    let Some((table, _)) = table else {
        return Ok(BTreeMap::new());
    };
    let entries = store.entries(table)?.into_iter();
    Ok(entries.filter_map(|entry| pause_of(&entry)).collect())
}

/// Returns the group of an entry, and up to when it is paused.
fn pause_of(entry: &Entry) -> Option<(usize, u32)> {
    let [KeyMatch::Exact(group)] = &entry.keys[..] else {
        return None;
    };
    let [until] = &entry.action.args[..] else {
        return None;
    };
    let number = |bits: &Bits| bits.to_u64().and_then(|number| u32::try_from(number).ok());
    Some((number(group)? as usize, number(until)?))
}

//! `onpath table lookup`

use super::instance::open;
use super::named::{not_done, with_text};
use crate::args::Instance;
use crate::output::{Done, out_line, print_json};
use control::Contents;
use control::entry::{show_action, show_entry};
use control::json::{json_action, json_entry};
use control::look_up::{EntryResult, look_up, parse_values};
use diag::{counted, shown};
use schema::{Entry, Schema, Table};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Maximum number of entries shown of those that also match, and of those that do not match.
const NEAREST: usize = 5;

/// Prints the entry that a packet meets, and why it meets no other.
pub(super) fn run(instance: &Instance, values: &[String], as_json: bool) -> Done {
    let store = open(instance)?;
    let schema = &**store.schema();
    let (table, values) = with_text(&values.join(" "), |text| parse_values(schema, text))?;
    let name = &schema.tables[table].name;
    let contents = store
        .contents(&[table])
        .map_err(|(_, error)| not_done(format!("table `{name}` could not be read"))(error))?;
    let [contents] = contents.try_into().expect("one for the table");
    let verdicts = look_up(schema, table, &contents.entries, &values);
    let found = Found::new(&contents, &verdicts);
    match as_json {
        true => print_json(&found.json(schema, table)),
        false => found.print(schema, table),
    }
    Ok(ExitCode::SUCCESS)
}

/// Entries of a table, grouped by how they match a packet.
struct Found<'c> {
    contents: &'c Contents,
    met: Option<&'c Entry>,
    behind: Vec<&'c Entry>,
    /// Entries that do not match, with the keys that differ. Those with the fewest such keys come first.
    others: Vec<(&'c Entry, &'c [usize])>,
}

impl<'c> Found<'c> {
    fn new(contents: &'c Contents, verdicts: &'c [EntryResult]) -> Found<'c> {
        let mut found = Found {
            contents,
            met: None,
            behind: Vec::new(),
            others: Vec::new(),
        };
        for (entry, verdict) in contents.entries.iter().zip(verdicts) {
            match verdict {
                EntryResult::Met => found.met = Some(entry),
                EntryResult::Behind => found.behind.push(entry),
                EntryResult::Other(keys) => found.others.push((entry, keys)),
            }
        }
        found.others.sort_by_key(|(_, keys)| keys.len());
        found
    }

    fn print(&self, schema: &Schema, table: Table) {
        let entry = |entry| show_entry(schema, table, entry);
        match self.met {
            Some(met) => out_line!("the packet meets   {}", shown(&entry(met))),
            None => out_line!(
                "no entry matches: the default action runs, {}",
                shown(&show_action(schema, table, &self.contents.default_action))
            ),
        }
        for behind in self.behind.iter().take(NEAREST) {
            out_line!(
                "matches as well    {}: the other goes first, by its priority, prefix or place",
                shown(&entry(behind))
            );
        }
        if let Some(more @ 1..) = self.behind.len().checked_sub(NEAREST) {
            out_line!("and {} more", counted(more, "entry"));
        }
        for (other, keys) in self.others.iter().take(NEAREST) {
            let keys = names(schema, table, keys).join(", ");
            out_line!(
                "does not match     {}: {}",
                shown(&entry(other)),
                shown(&keys)
            );
        }
        if let Some(more @ 1..) = self.others.len().checked_sub(NEAREST) {
            out_line!("and {} more", counted(more, "entry"));
        }
    }

    /// Returns the result as JSON. It has the entry that is met (or `null`), the default action, other entries that
    /// match, and the number of all that match. It also has the nearest entries that do not match, with the keys that
    /// differ, and their number.
    fn json(&self, schema: &Schema, table: Table) -> Value {
        let entry = |entry: &Entry| json_entry(schema, table, entry);
        let nearest = self.others.iter().take(NEAREST).map(|(other, keys)| {
            let mut shown = entry(other);
            shown["other_keys"] = json!(names(schema, table, keys));
            shown
        });
        json!({
            "table": schema.tables[table].name.as_str(),
            "entry": self.met.map(entry),
            "default_action": json_action(schema, table, &self.contents.default_action),
            "also_match": self.behind.iter().take(NEAREST).map(|behind| entry(behind)).collect::<Vec<_>>(),
            "match": self.behind.len() + usize::from(self.met.is_some()),
            "nearest": nearest.collect::<Vec<_>>(),
            "do_not_match": self.others.len(),
        })
    }
}

fn names(schema: &Schema, table: Table, keys: &[usize]) -> Vec<String> {
    let all = schema.tables[table].match_keys().enumerate();
    let named = all.filter(|(at, _)| keys.contains(at));
    named.map(|(_, key)| key.field.name.to_string()).collect()
}

//! `onpath group`

use super::instance::open;
use crate::args::GroupCommand;
use crate::output::{Done, Stop, out, out_line, print_json, refused};
use control::replication::text::group_json;
use control::{Change, Replica, StoreError, errors};
use diag::{Span, columns};
use serde_json::Value;
use std::process::ExitCode;

/// Reads or changes a running program's multicast groups.
pub(crate) fn run(command: GroupCommand) -> Done {
    match command {
        GroupCommand::List { instance, json } => {
            let groups = open(&instance)?.multicast_groups();
            let groups = groups.map_err(failed("the multicast groups could not be read"))?;
            print(&groups, json);
        }
        GroupCommand::Set {
            instance,
            group,
            ports,
        } => {
            let set = open(&instance)?.change(Change::Group(group, ports));
            set.map_err(failed("the multicast group was not changed"))?;
        }
        GroupCommand::Remove { instance, group } => {
            let mut store = open(&instance)?;
            let what = "the multicast group was not removed";
            let groups = store.multicast_groups().map_err(failed(what))?;
            if !groups.iter().any(|(known, _)| *known == group) {
                return Err(Stop::Failed(format!(
                    "there is no multicast group {group}; `onpath group list` shows those there are"
                )));
            }
            let removed = store.change(Change::Group(group, Vec::new()));
            removed.map_err(failed(what))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn failed(what: &str) -> impl Fn(StoreError) -> Stop {
    move |error| refused(errors::store(Span::NONE, what, &error))
}

fn print(groups: &[(u16, Vec<Replica>)], as_json: bool) {
    if as_json {
        let shown = groups.iter().map(|(group, to)| group_json(*group, to));
        print_json(&Value::Array(shown.collect()));
        return;
    }
    if groups.is_empty() {
        out_line!("the program has no multicast groups");
        return;
    }
    let mut rows = vec![vec!["GROUP".to_string(), "PORTS".to_string()]];
    for (group, to) in groups {
        let ports: Vec<String> = to.iter().map(Replica::to_string).collect();
        rows.push(vec![group.to_string(), ports.join(",")]);
    }
    out!("{}", columns(&rows));
}

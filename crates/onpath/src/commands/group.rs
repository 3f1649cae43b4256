//! `onpath group`

use super::instance::open;
use super::named::{not_done, print_array, print_rows};
use crate::args::GroupCommand;
use crate::output::{Done, Stop};
use control::replication::text::group_json;
use control::{Change, Replica};
use std::process::ExitCode;

/// Reads or changes a running program's multicast groups.
pub(crate) fn run(command: GroupCommand) -> Done {
    match command {
        GroupCommand::List { instance, json } => {
            let groups = open(&instance)?.multicast_groups();
            let groups = groups.map_err(not_done("the multicast groups could not be read"))?;
            print(&groups, json);
        }
        GroupCommand::Set {
            instance,
            group,
            ports,
        } => {
            let set = open(&instance)?.change(Change::Group(group, ports));
            set.map_err(not_done("the multicast group was not changed"))?;
        }
        GroupCommand::Remove { instance, group } => {
            let mut store = open(&instance)?;
            let what = "the multicast group was not removed";
            let groups = store.multicast_groups().map_err(not_done(what))?;
            if !groups.iter().any(|(known, _)| *known == group) {
                return Err(Stop::Failed(format!(
                    "there is no multicast group {group}; `onpath group list` shows those there are"
                )));
            }
            let removed = store.change(Change::Group(group, Vec::new()));
            removed.map_err(not_done(what))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print(groups: &[(u16, Vec<Replica>)], as_json: bool) {
    if as_json {
        print_array(groups.iter().map(|(group, to)| group_json(*group, to)));
        return;
    }
    let rows = groups.iter().map(|(group, to)| {
        let ports: Vec<String> = to.iter().map(Replica::to_string).collect();
        [group.to_string(), ports.join(",")]
    });
    let none = "the program has no multicast groups";
    print_rows(["GROUP", "PORTS"], rows, none);
}

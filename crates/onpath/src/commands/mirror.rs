//! `onpath mirror`

use super::instance::open;
use super::named::{not_done, print_array, print_rows};
use crate::args::MirrorCommand;
use crate::output::{Done, Stop};
use control::replication::text::session_json;
use control::{Change, CloneSession, Replica, Store};
use std::process::ExitCode;

/// Reads or changes a running program's clone sessions.
pub(crate) fn run(command: MirrorCommand) -> Done {
    match command {
        MirrorCommand::List { instance, json } => list(&*open(&instance)?, json)?,
        MirrorCommand::Set {
            instance,
            session,
            ports,
            group,
            truncate,
        } => {
            let to = CloneSession {
                replicas: ports,
                group,
                truncate,
            };
            let set = open(&instance)?.change(Change::Session(session, Some(to)));
            set.map_err(not_done("the clone session was not changed"))?;
        }
        MirrorCommand::Remove { instance, session } => {
            let mut store = open(&instance)?;
            let what = "the clone session was not removed";
            let sessions = store.clone_sessions().map_err(not_done(what))?;
            if !sessions.iter().any(|(known, _)| *known == session) {
                return Err(Stop::Failed(format!(
                    "there is no clone session {session}; `onpath mirror list` shows those there are"
                )));
            }
            let removed = store.change(Change::Session(session, None));
            removed.map_err(not_done(what))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(store: &dyn Store, as_json: bool) -> Result<(), Stop> {
    let sessions = match store.schema().clones {
        true => store.clone_sessions(),
        // A program that clones no packets has no sessions, whatever the target has.
        false => Ok(Vec::new()),
    };
    let sessions = sessions.map_err(not_done("the clone sessions could not be read"))?;
    if as_json {
        print_array(
            sessions
                .iter()
                .map(|(session, to)| session_json(*session, to)),
        );
        return Ok(());
    }
    let or_dash = |number: Option<String>| number.unwrap_or_else(|| "-".to_string());
    let rows = sessions.iter().map(|(session, to)| {
        let ports: Vec<String> = to.replicas.iter().map(Replica::to_string).collect();
        let ports = (!ports.is_empty()).then(|| ports.join(","));
        let bytes = to.truncate.map(|bytes| bytes.to_string());
        [
            session.to_string(),
            or_dash(ports),
            or_dash(to.group.map(|group| group.to_string())),
            bytes.unwrap_or_else(|| "all".to_string()),
        ]
    });
    let none = match store.schema().clones {
        true => "the program has no clone sessions",
        false => "the program clones no packets",
    };
    print_rows(["SESSION", "PORTS", "GROUP", "BYTES"], rows, none);
    Ok(())
}

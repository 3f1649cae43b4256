//! `onpath mirror`

use super::instance::open;
use crate::args::MirrorCommand;
use crate::output::{Done, Stop, out, out_line, print_json, refused};
use control::replication::text::session_json;
use control::{Change, CloneSession, Replica, Store, StoreError, errors};
use diag::{Span, columns};
use serde_json::Value;
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
            set.map_err(failed("the clone session was not changed"))?;
        }
        MirrorCommand::Remove { instance, session } => {
            let mut store = open(&instance)?;
            let what = "the clone session was not removed";
            let sessions = store.clone_sessions().map_err(failed(what))?;
            if !sessions.iter().any(|(known, _)| *known == session) {
                return Err(Stop::Failed(format!(
                    "there is no clone session {session}; `onpath mirror list` shows those there are"
                )));
            }
            let removed = store.change(Change::Session(session, None));
            removed.map_err(failed(what))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn failed(what: &str) -> impl Fn(StoreError) -> Stop {
    move |error| refused(errors::store(Span::NONE, what, &error))
}

fn list(store: &dyn Store, as_json: bool) -> Result<(), Stop> {
    let sessions = match store.schema().clones {
        true => store.clone_sessions(),
        // Whatever the target has.
        false => Ok(Vec::new()),
    };
    let sessions = sessions.map_err(failed("the clone sessions could not be read"))?;
    if as_json {
        let shown = sessions
            .iter()
            .map(|(session, to)| session_json(*session, to));
        print_json(&Value::Array(shown.collect()));
        return Ok(());
    }
    if !store.schema().clones {
        out_line!("the program clones no packets");
        return Ok(());
    }
    if sessions.is_empty() {
        out_line!("the program has no clone sessions");
        return Ok(());
    }
    let mut rows = vec![
        ["SESSION", "PORTS", "GROUP", "BYTES"]
            .map(String::from)
            .to_vec(),
    ];
    let or_dash = |number: Option<String>| number.unwrap_or_else(|| "-".to_string());
    for (session, to) in &sessions {
        let ports: Vec<String> = to.replicas.iter().map(Replica::to_string).collect();
        let ports = (!ports.is_empty()).then(|| ports.join(","));
        rows.push(vec![
            session.to_string(),
            or_dash(ports),
            or_dash(to.group.map(|group| group.to_string())),
            to.truncate
                .map_or("all".to_string(), |bytes| bytes.to_string()),
        ]);
    }
    out!("{}", columns(&rows));
    Ok(())
}

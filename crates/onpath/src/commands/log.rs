//! `onpath log`

use super::instance::open;
use super::stream::{Found, print_lines};
use crate::args::{Instance, Log};
use crate::output::Done;
use diag::counted;
use serde_json::json;

/// Prints what a running program logs as it comes.
pub(crate) fn run(args: Log) -> Done {
    let Log { name, count, json } = args;
    let mut store = open(&Instance { name })?;
    print_lines(count, "the log could not be read", |most, patience| {
        let logs = store.logs(most, patience)?;
        let lines = logs.lines.into_iter().map(|logged| match json {
            true => {
                let values = logged.values.iter().map(|value| value.value().to_string());
                let values: Vec<String> = values.collect();
                json!({ "line": logged.line, "message": logged.message, "values": values })
                    .to_string()
            }
            false => logged.line,
        });
        let lost = (logs.lost > 0).then(|| {
            let lost = counted(logs.lost, "message");
            format!("{lost} lost: more came than were read, or than are made in a second")
        });
        Ok(Found {
            lines: lines.collect(),
            lost,
        })
    })
}

//! `onpath log`

use super::instance::open;
use crate::args::{Instance, Log};
use crate::output::{Done, Reading, err_line, refused, write_watched};
use control::errors;
use diag::{Span, counted};
use serde_json::json;
use std::process::ExitCode;
use std::time::Duration;

/// How long one read waits for messages before it asks again whether the program is still there.
const PATIENCE: Duration = Duration::from_secs(1);

/// Prints what a running program logs as it comes.
pub(crate) fn run(args: Log) -> Done {
    let Log { name, count, json } = args;
    let mut store = open(&Instance { name })?;
    let mut left = count.unwrap_or(u64::MAX);
    while left > 0 {
        let logs = store.logs(left, PATIENCE).map_err(|error| {
            refused(errors::store(
                Span::NONE,
                "the log could not be read",
                &error,
            ))
        })?;
        if logs.lost > 0 {
            let lost = counted(logs.lost as usize, "message");
            err_line!(
                "warning: {lost} lost: more came than were read, or than are made in a second"
            );
        }
        for logged in logs.lines {
            left -= 1;
            let line = match json {
                true => {
                    let values = logged.values.iter().map(|value| value.value().to_string());
                    let values: Vec<String> = values.collect();
                    json!({ "line": logged.line, "message": logged.message, "values": values })
                        .to_string()
                }
                false => logged.line,
            };
            if write_watched(format_args!("{}\n", diag::shown(&line))) == Reading::Over {
                return Ok(ExitCode::SUCCESS);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

//! `onpath log`

use super::instance::open;
use super::named::not_done;
use super::stream::{Found, print_lines};
use crate::args::{Instance, Log};
use crate::output::Done;
use diag::counted;
use kernel::sys::time::local_time;
use serde_json::json;

/// Prints a running program's log messages as they come.
pub(crate) fn run(args: Log) -> Done {
    let Log { name, count, json } = args;
    let mut store = open(&Instance { name })?;
    print_lines(count, |most, patience| {
        let logs = store.logs(most, patience);
        let logs = logs.map_err(not_done("the log could not be read"))?;
        let lines = logs.lines.into_iter().map(|logged| match json {
            true => {
                let values = logged.values.iter().map(|value| value.value().to_string());
                let values: Vec<String> = values.collect();
                let time = logged.time.map(|time| time.as_secs_f64());
                json!({ "line": logged.line, "message": logged.message, "time": time, "values": values })
                    .to_string()
            }
            false => match logged.time {
                Some(time) => {
                    let micros = time.subsec_micros();
                    format!("{}.{micros:06} {}", local_time(time), logged.line)
                }
                None => logged.line,
            },
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

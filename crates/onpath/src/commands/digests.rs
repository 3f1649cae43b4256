//! `onpath digests`

use super::instance::open;
use crate::args::{Digests, Instance};
use crate::output::{Done, Reading, err_line, out_line, refused, write_watched};
use control::digest::{digest_json, show_digest};
use control::errors;
use diag::{Span, counted};
use std::process::ExitCode;
use std::time::Duration;

/// How long one read waits for digests before it asks again whether the program is still there.
const PATIENCE: Duration = Duration::from_secs(1);

/// Prints a running program's digests as they come.
pub(crate) fn run(args: Digests) -> Done {
    let Digests { name, count, json } = args;
    let mut store = open(&Instance { name })?;
    let schema = std::sync::Arc::clone(store.schema());
    if schema.digests.is_empty() {
        if !json {
            out_line!("the program sends no digests");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut left = count.unwrap_or(u64::MAX);
    while left > 0 {
        let digests = store.digests(left, PATIENCE).map_err(|error| {
            refused(errors::store(
                Span::NONE,
                "the digests could not be read",
                &error,
            ))
        })?;
        if digests.lost > 0 {
            let lost = counted(digests.lost as usize, "digest");
            err_line!("warning: {lost} lost: more came than were read");
        }
        for digest in digests.received {
            left -= 1;
            let line = match json {
                true => digest_json(&schema, &digest).to_string(),
                false => show_digest(&schema, &digest),
            };
            if write_watched(format_args!("{}\n", diag::shown(&line))) == Reading::Over {
                return Ok(ExitCode::SUCCESS);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

//! `onpath digests`

use super::instance::open;
use super::named::not_done;
use super::stream::{Found, print_lines};
use crate::args::{Digests, Instance};
use crate::output::{Done, out_line};
use control::digest::{digest_json, show_digest};
use diag::counted;
use std::process::ExitCode;

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
    print_lines(count, |most, patience| {
        let digests = store.digests(most, patience);
        let digests = digests.map_err(not_done("the digests could not be read"))?;
        let lines = digests.received.iter().map(|digest| match json {
            true => digest_json(&schema, digest).to_string(),
            false => show_digest(&schema, digest),
        });
        let lost = (digests.lost > 0).then(|| {
            let lost = counted(digests.lost, "digest");
            format!("{lost} lost: more came than were read")
        });
        Ok(Found {
            lines: lines.collect(),
            lost,
        })
    })
}

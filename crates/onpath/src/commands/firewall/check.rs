//! `onpath firewall check`

use super::lists::{self, Files, memory, size};
use crate::output::{Done, out_line, print_json};
use kernel::memory::readable;
use serde_json::json;
use std::process::ExitCode;

/// Reads lists, and prints their rules and the memory that these take.
pub(super) fn run(files: &Files, is_strict: bool, as_json: bool) -> Done {
    let made = lists::read(files, is_strict)?;
    let size = size(&made.rules.rules)?;
    let memory = memory(size);
    if as_json {
        let mut all = made.counts().as_json();
        all["size"] = json!(size);
        all["memory"] = json!(memory);
        print_json(&all);
    } else {
        out_line!("{}", made.counts().text());
        out_line!(
            "a firewall has room for {size} rules and takes {} for them, twice that while it reads its lists again",
            readable(memory)
        );
    }
    Ok(ExitCode::SUCCESS)
}

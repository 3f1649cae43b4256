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
    let automata = made.urls.automata()?;
    if as_json {
        let mut all = made.counts().as_json();
        all["size"] = json!(size);
        all["memory"] = json!(memory);
        if let Some(automata) = &automata {
            let [prefixes, words, expressions] = automata.states;
            all["states"] = json!({
                "prefixes": prefixes,
                "keywords": words,
                "expressions": expressions,
                "memory": automata.memory(),
            });
        }
        print_json(&all);
    } else {
        out_line!("{}", made.counts().text());
        out_line!(
            "a firewall has room for {size} rules and takes {} for them, twice that while it reads its lists again",
            readable(memory)
        );
        if let Some(automata) = automata {
            out_line!(
                "their URLs are found by {}, and it takes {} for them",
                automata.text(),
                readable(automata.memory())
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

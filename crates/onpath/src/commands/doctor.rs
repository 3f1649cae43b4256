//! `onpath doctor`

use crate::args::Doctor;
use crate::output::{Done, columns, print_json, say, say_line};
use kernel::probe::{self, Need, State};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Says what this machine can do: status 0 if nothing that every program in the kernel needs is missing, else 1.
pub fn run(args: Doctor) -> Done {
    let findings = probe::examine();
    let missing = findings
        .iter()
        .any(|f| f.state == State::Missing && f.need == Need::Needed);
    if args.json {
        let list: Vec<Value> = findings
            .iter()
            .map(|f| {
                json!({
                    "name": f.name,
                    "state": f.state,
                    "required": f.need == Need::Needed,
                    "detail": f.detail,
                    "remedy": (f.state == State::Missing).then_some(f.remedy),
                })
            })
            .collect();
        print_json(&json!({ "kernel": probe::release(), "findings": list }));
        return Ok(ExitCode::from(u8::from(missing)));
    }
    let rows: Vec<Vec<String>> = findings
        .iter()
        .map(|f| {
            let sign = match (f.state, f.need) {
                (State::Present, _) => "ok",
                (State::Missing, Need::Needed) => "MISSING",
                (State::Missing, Need::Useful) => "absent",
                (State::Unknown, _) => "unknown",
            };
            vec![sign.to_string(), f.name.to_string(), f.detail.clone()]
        })
        .collect();
    say!("Linux {}\n\n{}", probe::release(), columns(&rows));
    let remedies: Vec<_> = findings
        .iter()
        .filter(|f| f.state == State::Missing)
        .collect();
    if !remedies.is_empty() {
        say_line!("\nWhat to do:");
        for finding in remedies {
            say_line!("  {}: {}", finding.name, finding.remedy);
        }
    }
    let works = |name| {
        findings
            .iter()
            .any(|f| f.name == name && f.state == State::Present)
    };
    say_line!(
        "\n{}",
        if missing {
            "This machine cannot run programs in the kernel yet; the interpreter runs anywhere."
        } else if works("tcx") || works("tc filters") {
            "This machine can run programs by XDP and by tc."
        } else {
            "This machine can run programs by XDP."
        }
    );
    Ok(ExitCode::from(u8::from(missing)))
}

//! `onpath doctor`

use crate::args::Doctor;
use crate::output::{Done, out, out_line, print_json};
use diag::columns;
use kernel::probe::{self, Finding, Need, State};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Reports what this machine supports: status 0 if nothing that every program in the kernel needs is missing, else 1.
pub(crate) fn run(args: Doctor) -> Done {
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
    out!("Linux {}\n\n{}", probe::release(), columns(&rows));
    let remedies: Vec<_> = findings
        .iter()
        .filter(|f| f.state == State::Missing)
        .collect();
    if !remedies.is_empty() {
        out_line!("\nWhat to do:");
        for finding in remedies {
            out_line!("  {}: {}", finding.name, finding.remedy);
        }
    }
    out_line!("\n{}", summary(&findings));
    Ok(ExitCode::from(u8::from(missing)))
}

/// What it comes to.
fn summary(findings: &[Finding]) -> String {
    let is = |f: &Finding, state, need| f.state == state && f.need == need;
    let any = |state, need| findings.iter().any(|f| is(f, state, need));
    if any(State::Missing, Need::Needed) {
        return "This machine cannot run programs in the kernel yet; the interpreter runs anywhere."
            .into();
    }
    let works = |f: &Finding| f.state == State::Present && ["tcx", "tc filters"].contains(&f.name);
    let hooks = match findings.iter().any(works) {
        true => "by XDP and by tc",
        false => "by XDP",
    };
    let but = match any(State::Missing, Need::Useful) {
        true => "; some programs or commands need missing features",
        false => "",
    };
    format!("This machine can run programs {hooks}{but}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(name: &'static str, state: State, need: Need) -> Finding {
        Finding {
            name,
            state,
            detail: String::new(),
            need,
            remedy: "",
        }
    }

    #[test]
    fn what_is_absent_is_in_the_last_line() {
        let mut all = vec![
            finding("kernel", State::Present, Need::Needed),
            finding("tcx", State::Present, Need::Useful),
        ];
        assert_eq!(
            summary(&all),
            "This machine can run programs by XDP and by tc."
        );
        all.push(finding("may_goto", State::Missing, Need::Useful));
        assert_eq!(
            summary(&all),
            "This machine can run programs by XDP and by tc; some programs or commands need missing features."
        );
        all[1].state = State::Missing;
        assert!(summary(&all).contains("programs by XDP; some"));
        all[0].state = State::Missing;
        assert!(summary(&all).contains("cannot run programs in the kernel yet"));
    }
}

//! Whether each example loads, and how many instructions the verifier processed for it.

use super::process::{self, End};
use crate::plan::Part;
use crate::trial::{Event, Outcome, Sink, Trial};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// No verifier takes longer.
const PATIENCE: Duration = Duration::from_secs(300);
/// The most that a program of ours may take of the verifier's limit, so that a user's larger one still fits.
const PART_OF_LIMIT: u64 = 2;

/// Builds and loads each, named `hook::path`.
pub(super) fn run(part: &Part, objects: &Path, sink: &mut dyn Sink) {
    for name in &part.trials {
        let (hook, program) = name.split_once("::").unwrap_or(("xdp", name));
        let mut command = Command::new(&part.binary);
        command
            .arg("build")
            // The absolute path, as the STF tests name it, so that the objects are the same.
            .arg(part.folder.join(program))
            .args(["--hook", hook, "--report", "--json"])
            .env("ONPATH_OBJECT_CACHE", objects);
        let (outcome, verified, reason) = match process::run(&mut command, PATIENCE, |_| {}) {
            Err(error) => (Outcome::Failed, None, error.to_string()),
            Ok((End::Hung, text)) => (Outcome::Hung, None, text),
            Ok((End::Crashed, text)) => (Outcome::Crashed, None, text),
            Ok((End::Succeeded | End::Failed, text)) => judged(&text),
        };
        sink.take(Event::Trial(Trial {
            suite: part.suite.clone(),
            name: name.clone(),
            outcome,
            reason,
            verified,
        }));
    }
}

/// What a report says: accepted within our part of the limit, or why not.
fn judged(text: &str) -> (Outcome, Option<u64>, String) {
    // Notes of steps that take long precede it.
    let report = text
        .find('{')
        .and_then(|at| serde_json::from_str::<Value>(&text[at..]).ok());
    let Some(report) = report else {
        return (Outcome::Failed, None, text.to_string());
    };
    let verifier = &report["verifier"];
    let verified = verifier["instructions"].as_u64();
    match (
        verifier["accepted"].as_bool(),
        verified,
        verifier["limit"].as_u64(),
    ) {
        (Some(true), Some(taken), Some(limit)) if taken > limit / PART_OF_LIMIT => {
            let reason =
                format!("{taken} instructions processed: more than half of the verifier's {limit}");
            (Outcome::Failed, verified, reason)
        }
        (Some(true), Some(_), Some(_)) => (Outcome::Passed, verified, String::new()),
        _ => {
            let reason = verifier["reason"]
                .as_str()
                .map_or(verifier.to_string(), String::from);
            (Outcome::Failed, verified, reason)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_passes_with_less_than_half_of_the_limit() {
        let report = |n: u64| {
            format!(
                "a: compiling\n{{\"verifier\": {{\"accepted\": true, \"instructions\": {n}, \"limit\": 1000}}}}\n"
            )
        };
        assert_eq!(
            judged(&report(500)),
            (Outcome::Passed, Some(500), String::new())
        );
        let (outcome, verified, reason) = judged(&report(501));
        assert_eq!((outcome, verified), (Outcome::Failed, Some(501)));
        assert!(reason.contains("more than half"));
        let refused = r#"{"verifier": {"accepted": false, "asked": true, "reason": "R4 is odd"}}"#;
        assert_eq!(
            judged(refused),
            (Outcome::Failed, None, "R4 is odd".to_string())
        );
        assert_eq!(
            judged("error[E0001]: x"),
            (Outcome::Failed, None, "error[E0001]: x".to_string())
        );
    }
}

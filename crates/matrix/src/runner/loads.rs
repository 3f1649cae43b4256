//! Loads each example and each program of a realistic size. Reports the variants of its code, and the number of
//! instructions that the verifier processed.

use super::process;
use crate::plan::SuiteTrials;
use crate::trial::{CodeVariant, Event, Feature, Outcome, Trial};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Time limit of a program, which no verifier exceeds.
const PATIENCE: Duration = Duration::from_secs(300);
/// Divisor of the verifier's limit: programs of ours may use at most this part, so that a user's larger program still
/// fits.
const PART_OF_LIMIT: u64 = 2;
/// Name of the construct of attaching a program at tc.
const ATTACHING: &str = "attaching at tc";

/// Builds and loads each program, named `hook::path`.
pub(super) fn run(
    part: &SuiteTrials,
    objects: &Path,
    features: &[Feature],
    sink: &mut dyn FnMut(Event),
) {
    for name in &part.trials {
        let (hook, program) = name.split_once("::").unwrap_or(("xdp", name));
        let mut command = Command::new(&part.binary);
        command
            .arg("build")
            // The absolute path, as the STF tests name it, so that the objects are the same.
            .arg(part.folder.join(program))
            .args(["--target", hook, "--report", "--json"])
            .env("ONPATH_OBJECT_CACHE", objects);
        let (outcome, text) = process::finish(&mut command, PATIENCE);
        let report = match outcome {
            Outcome::Passed | Outcome::Failed => report(&text),
            Outcome::Hung | Outcome::Crashed => None,
        };
        let trial = |outcome, reason: &str| Trial::new(&part.suite, name, outcome, reason);
        sink(Event::Trial(match (report, outcome) {
            (Some(report), _) => {
                let (outcome, verified, reason) = judged(&report);
                Trial {
                    verified,
                    variants: taken(&report, features),
                    ..trial(outcome, &reason)
                }
            }
            // There is no result without a report.
            (None, Outcome::Passed) => trial(Outcome::Failed, &text),
            (None, _) => trial(outcome, &text),
        }));
    }
}

/// Returns the report in the output. Notes about long steps may precede it.
fn report(text: &str) -> Option<Value> {
    let at = text.find('{')?;
    serde_json::from_str(&text[at..]).ok()
}

/// Returns the variants that the code uses, and the one in which it would be attached on a kernel with these features.
fn taken(report: &Value, features: &[Feature]) -> Vec<CodeVariant> {
    let variant = |construct: &Value, name: &Value| {
        Some(CodeVariant {
            construct: construct.as_str()?.to_string(),
            name: name.as_str()?.to_string(),
        })
    };
    let uses = report["kernel"]["uses"].as_array();
    let uses = uses.into_iter().flatten();
    let mut variants: Vec<CodeVariant> = uses
        .filter_map(|used| variant(&used["for"], &used["variant"]))
        .collect();
    let attached = &report["kernel"]["attached"];
    let preferred = attached["variant"].as_str();
    let has = features
        .iter()
        .any(|f| f.there && Some(f.name.as_str()) == preferred);
    let way = if has { "variant" } else { "otherwise" };
    variants.extend(variant(&ATTACHING.into(), &attached[way]));
    variants
}

/// Judges a report: accepted within our part of the verifier's limit, or not, and why.
fn judged(report: &Value) -> (Outcome, Option<u64>, String) {
    let verifier = &report["verifier"];
    let (verified, limit) = (
        verifier["instructions"].as_u64(),
        verifier["limit"].as_u64(),
    );
    match (verifier["accepted"].as_bool(), verified, limit) {
        (Some(true), Some(taken), Some(limit)) if taken > limit / PART_OF_LIMIT => {
            let reason =
                format!("{taken} instructions processed: more than half of the verifier's {limit}");
            (Outcome::Failed, verified, reason)
        }
        (Some(true), Some(_), Some(_)) => (Outcome::Passed, verified, String::new()),
        _ => {
            // A program that the compiler rejects has diagnostics in place of a report.
            let refused = &report["diagnostics"][0]["message"];
            let reason = verifier["reason"].as_str().or(refused.as_str());
            let reason = reason.map_or(report.to_string(), String::from);
            (Outcome::Failed, verified, reason)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_passes_with_less_than_half_of_the_limit() {
        let accepted = |n: u64| {
            let text = format!(
                "a: compiling\n{{\"verifier\": {{\"accepted\": true, \"instructions\": {n}, \"limit\": 1000}}}}\n"
            );
            report(&text).expect("a report")
        };
        assert_eq!(
            judged(&accepted(500)),
            (Outcome::Passed, Some(500), String::new())
        );
        let (outcome, verified, reason) = judged(&accepted(501));
        assert_eq!((outcome, verified), (Outcome::Failed, Some(501)));
        assert!(reason.contains("more than half"));
        let refused = r#"{"verifier": {"accepted": false, "asked": true, "reason": "R4 is odd"}}"#;
        assert_eq!(
            judged(&report(refused).expect("a report")),
            (Outcome::Failed, None, "R4 is odd".to_string())
        );
        let by_compiler = r#"{"diagnostics": [{"code": "E0748", "message": "needs Linux 6.9"}]}"#;
        assert_eq!(
            judged(&report(by_compiler).expect("a report")),
            (Outcome::Failed, None, "needs Linux 6.9".to_string())
        );
        assert_eq!(report("error[E0001]: x"), None);
    }

    #[test]
    fn the_variants_taken_are_those_of_the_code_and_of_attaching() {
        let text = r#"{"kernel": {"uses": [{"for": "loops", "variant": "counted iterations", "otherwise": null}],
            "attached": {"variant": "tcx", "otherwise": "filters"}}}"#;
        let report = report(text).expect("a report");
        let variant = |construct: &str, name: &str| CodeVariant {
            construct: construct.to_string(),
            name: name.to_string(),
        };
        let tcx = |there| Feature {
            name: "tcx".to_string(),
            there,
            without: String::new(),
        };
        let loops = variant("loops", "counted iterations");
        assert_eq!(
            taken(&report, &[tcx(true)]),
            [loops.clone(), variant(ATTACHING, "tcx")]
        );
        assert_eq!(
            taken(&report, &[tcx(false)]),
            [loops, variant(ATTACHING, "filters")]
        );
        assert_eq!(taken(&Value::Null, &[]), []);
    }
}

//! Features of the kernel that `onpath` probes.

use super::process;
use crate::trial::{Event, Feature, Outcome};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Time limit of `onpath doctor`, which makes some thirty probes.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs `onpath doctor`. Reports the features that it finds, and returns them.
pub(super) fn run(onpath: &Path, sink: &mut dyn FnMut(Event)) -> Vec<Feature> {
    let mut command = Command::new(onpath);
    command.args(["doctor", "--json"]);
    let (outcome, text) = process::finish(&mut command, PATIENCE);
    if outcome != Outcome::Passed {
        // Its status means that this kernel runs no program.
        let name = "onpath doctor".to_string();
        sink(Event::Broken { name, reason: text });
        return Vec::new();
    }
    let found = features(&text);
    found.iter().cloned().map(Event::Feature).for_each(sink);
    found
}

/// Returns the features in a report.
fn features(report: &str) -> Vec<Feature> {
    let report: Value = serde_json::from_str(report).unwrap_or_default();
    let findings = report["findings"].as_array().cloned().unwrap_or_default();
    let feature = |finding: &Value| {
        Some(Feature {
            name: finding["name"].as_str()?.to_string(),
            there: finding["state"] == "present",
            without: finding["remedy"].as_str().unwrap_or_default().to_string(),
        })
    };
    findings.iter().filter_map(feature).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_what_is_there_and_what_is_done_without_the_rest() {
        let report = r#"{"kernel": "6.1", "findings": [
            {"name": "tcx", "state": "missing", "remedy": "filters do it"},
            {"name": "bpf_loop", "state": "present", "remedy": null}]}"#;
        let feature = |name: &str, there, without: &str| Feature {
            name: name.to_string(),
            there,
            without: without.to_string(),
        };
        let expected = [
            feature("tcx", false, "filters do it"),
            feature("bpf_loop", true, ""),
        ];
        assert_eq!(features(report), expected);
        assert_eq!(features("no report"), []);
    }
}

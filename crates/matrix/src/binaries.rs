//! The test binaries, as cargo builds them.

use crate::error::Error;
use crate::suite::{SUITES, Suite, TestBinary};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Builds the test binaries that are not up to date, and returns the binary of each suite by its name. Cargo's messages
/// for people are shown as they come.
pub(crate) fn build(root: &Path) -> Result<BTreeMap<&'static str, PathBuf>, Error> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
    let mut command = Command::new(cargo);
    command
        // For parts of the workspace, cargo would build dependencies with other features. For the whole, nothing is
        // left to build after `make test`.
        .args([
            "test",
            "--no-run",
            "--locked",
            "--workspace",
            "--lib",
            "--bins",
        ])
        .arg("--message-format=json-render-diagnostics")
        .current_dir(root)
        .stderr(Stdio::inherit());
    for suite in SUITES {
        if let TestBinary::Test(name) = suite.target {
            command.args(["--test", name]);
        }
    }
    let output = command.output();
    let output = output.map_err(|e| Error::new(format!("could not run cargo: {e}")))?;
    if !output.status.success() {
        return Err(Error::new("the test binaries could not be built"));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let binary = |suite: &Suite| {
        let missing = || format!("cargo built no binary for the suite {}", suite.name);
        let found = find(suite, &messages).ok_or_else(|| Error::new(missing()))?;
        Ok((suite.name, found))
    };
    SUITES.iter().map(binary).collect()
}

/// Finds the executable of a suite in cargo's messages.
fn find(suite: &Suite, messages: &str) -> Option<PathBuf> {
    let (kind, name, test) = match suite.target {
        TestBinary::Library => ("lib", suite.package, true),
        TestBinary::Test(name) => ("test", name, true),
        TestBinary::Program => ("bin", suite.package, false),
    };
    let manifest = format!("/crates/{}/Cargo.toml", suite.package);
    messages.lines().find_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let target = &message["target"];
        let fits = message["reason"] == "compiler-artifact"
            && message["manifest_path"].as_str()?.ends_with(&manifest)
            && target["kind"] == serde_json::json!([kind])
            && target["name"] == name
            && message["profile"]["test"] == test;
        fits.then(|| message["executable"].as_str().map(PathBuf::from))
            .flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_found_among_cargos_messages() {
        let message = |kind: &str, name: &str, test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/r/crates/onpath/Cargo.toml","target":{{"kind":["{kind}"],"name":"{name}"}},"profile":{{"test":{test}}},"executable":"{executable}"}}"#
            )
        };
        let messages = [
            message("bin", "onpath", true, "/t/unit"),
            message("bin", "onpath", false, "/t/onpath"),
            message("test", "stf", true, "/t/stf"),
            r#"{"reason":"build-finished","success":true}"#.to_string(),
        ]
        .join("\n");
        let found = |name| find(Suite::by_name(name).expect("a suite"), &messages);
        assert_eq!(found("loads"), Some("/t/onpath".into()));
        assert_eq!(found("stf"), Some("/t/stf".into()));
        assert_eq!(found("truth"), None);
        assert_eq!(found("attach"), None);
    }
}

//! The test binaries, as cargo builds them.

use crate::error::Error;
use crate::suite::{SUITES, Suite, Target};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The binary of each suite.
#[derive(Debug)]
pub(crate) struct Binaries(BTreeMap<&'static str, PathBuf>);

impl Binaries {
    /// Builds those that are not up to date. What cargo prints for people is shown as it comes.
    pub(crate) fn build(root: &Path) -> Result<Binaries, Error> {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
        let mut command = Command::new(cargo);
        command
            .args([
                "test",
                "--no-run",
                "--locked",
                // Of parts of the workspace cargo would build dependencies with other features: after `make test`
                // nothing is left to build.
                "--workspace",
                "--message-format=json-render-diagnostics",
            ])
            .args(["--lib", "--bins"])
            .current_dir(root)
            .stderr(Stdio::inherit());
        for suite in SUITES {
            if let Target::Test(name) = suite.target {
                command.args(["--test", name]);
            }
        }
        let output = command
            .output()
            .map_err(|e| Error::new(format!("could not run cargo: {e}")))?;
        if !output.status.success() {
            return Err(Error::new("the test binaries could not be built"));
        }
        let messages = String::from_utf8_lossy(&output.stdout);
        let found = SUITES
            .iter()
            .filter_map(|suite| Some((suite.name, find(suite, &messages)?)));
        Ok(Binaries(found.collect()))
    }

    /// A suite's binary.
    pub(crate) fn of(&self, suite: &Suite) -> Result<&Path, Error> {
        let found = self.0.get(suite.name);
        found.map(PathBuf::as_path).ok_or_else(|| {
            Error::new(format!(
                "cargo built no binary for the suite {}",
                suite.name
            ))
        })
    }

    /// `onpath` itself.
    pub(crate) fn onpath(&self) -> Result<&Path, Error> {
        let runs_it = |suite: &&Suite| suite.target == Target::Loads;
        let suite = SUITES.iter().find(runs_it);
        self.of(suite.ok_or_else(|| Error::new("no suite runs onpath"))?)
    }
}

/// The executable of a suite among cargo's messages.
fn find(suite: &Suite, messages: &str) -> Option<PathBuf> {
    let (kind, name, test) = match suite.target {
        Target::Library => ("lib", suite.package, true),
        Target::Test(name) => ("test", name, true),
        Target::Loads | Target::Built | Target::Drivers => ("bin", suite.package, false),
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

//! Prometheus' own checker of metrics, `promtool`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the folder to which `make setup` downloads it, unless it is installed.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools")
}

/// Panics with the faults that `promtool check metrics` finds in a page, or with the reason why it cannot run.
pub fn check(page: &str) {
    let fetched = folder().join("promtool");
    let promtool = match fetched.exists() {
        true => fetched,
        false => "promtool".into(),
    };
    let mut child = Command::new(promtool)
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("promtool: {e}; this test needs it: `make setup` fetches it"));
    let mut input = child.stdin.take().expect("a pipe");
    input
        .write_all(page.as_bytes())
        .expect("promtool reads the page");
    drop(input);
    let output = child.wait_with_output().expect("promtool ends");
    let found = [output.stdout, output.stderr].concat();
    let found = String::from_utf8_lossy(&found);
    assert!(
        output.status.success() && found.is_empty(),
        "promtool: {}\n{found}\n{page}",
        output.status
    );
}

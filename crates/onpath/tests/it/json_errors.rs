//! Tests of failing commands with `--json`, which must print an object with `diagnostics` and no text.

use clap::{Command, CommandFactory};
use onpath::args::Cli;
use serde_json::Value;
use std::process;

/// Arguments that make each command with `--json` fail, besides wrong flags. Commands that always print a result, or
/// never fail, have none.
const FAILURES: &[(&str, &[&str])] = &[
    ("build", &["absent.p4", "-o", "absent"]),
    ("check", &[]),
    ("counter read", &["-n", "absent"]),
    ("digests", &["absent"]),
    ("doctor", &[]),
    ("drops", &["absent"]),
    ("explain", &[]),
    (
        "firewall",
        &["absent", "--emit", "v1model", "-o", "/proc/absent"],
    ),
    ("firewall check", &["absent"]),
    ("firewall explain", &["-n", "absent", "example.com"]),
    ("firewall log", &["absent"]),
    ("firewall pause", &["absent", "1m"]),
    ("firewall reload", &["absent"]),
    ("firewall stats", &["absent"]),
    ("flows list", &["-n", "absent"]),
    ("graph", &["absent.p4"]),
    ("group list", &["-n", "absent"]),
    ("log", &["absent"]),
    ("ls", &[]),
    ("man", &["/proc/absent"]),
    ("meter list", &["-n", "absent"]),
    ("metrics", &["-n", "absent"]),
    ("mirror list", &["-n", "absent"]),
    ("names list", &["-n", "absent"]),
    ("names lookup", &["-n", "absent", "blocked", "example.com"]),
    ("pdm", &["--dev", "absent", "--once"]),
    ("plan", &["absent", "--attribute", "absent"]),
    ("port list", &["-n", "absent"]),
    ("profile list", &["-n", "absent"]),
    ("query", &["count", "--read", "/proc/absent"]),
    ("register read", &["-n", "absent"]),
    ("run", &["absent.p4", "--dev", "absent"]),
    ("table add", &["-n", "absent", "routes"]),
    ("table del", &["-n", "absent", "routes"]),
    ("table dump", &["-n", "absent"]),
    ("table load", &["-n", "absent", "absent.txt"]),
    ("table lookup", &["-n", "absent", "routes"]),
    ("table modify", &["-n", "absent", "routes"]),
    ("table set-default", &["-n", "absent", "routes"]),
    ("test", &[]),
    ("unload", &["absent"]),
];

/// Finds the names of the commands that have `--json`.
fn commands(command: &Command, path: &str, found: &mut Vec<String>) {
    if command
        .get_arguments()
        .any(|a| a.get_long() == Some("json"))
    {
        found.push(path.trim().to_string());
    }
    for below in command.get_subcommands() {
        commands(below, &format!("{path} {}", below.get_name()), found);
    }
}

/// Runs a command with `--json`. Returns its status and the errors' messages.
fn fail(command: &str, arguments: &[&str]) -> (i32, Vec<String>) {
    let output = process::Command::new(env!("CARGO_BIN_EXE_onpath"))
        .args(command.split(' '))
        .arg("--json")
        .args(arguments)
        .output()
        .expect("onpath runs");
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(!err.contains("error"), "{command}: {err}");
    let object: Value =
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{command}: {e}\n{out}{err}"));
    let list = object["diagnostics"].as_array();
    let list = list.unwrap_or_else(|| panic!("{command}: {out}"));
    let errors = list.iter().filter(|d| d["severity"] == "error");
    let messages = errors.map(|d| {
        assert!(d.get("code").is_some() && d.get("line").is_some(), "{d}");
        d["message"].as_str().expect("a text").to_string()
    });
    (output.status.code().expect("it exits"), messages.collect())
}

#[test]
fn every_command_with_json_reports_wrong_flags_and_its_failures_as_json() {
    let mut found = Vec::new();
    commands(&Cli::command(), "", &mut found);
    found.sort();
    let known: Vec<&str> = FAILURES.iter().map(|(command, _)| *command).collect();
    assert_eq!(found, known);
    for (command, arguments) in FAILURES {
        let (status, messages) = fail(command, &["--absent"]);
        assert_eq!(status, 2, "{command}");
        assert!(messages[0].contains("--absent"), "{command}: {messages:?}");
        if !arguments.is_empty() {
            let (status, messages) = fail(command, arguments);
            assert_eq!(status, 1, "{command}: {messages:?}");
            assert!(!messages.is_empty(), "{command}");
        }
    }
}

//! Sessions at a shell: commands with their output and exit status, in one text.
//!
//! A line that begins with `$ ` is a command for bash. The lines up to the next command, comment or empty line are
//! its output (standard output and error as they come), and `[N]` its exit status if that is not 0. The output on
//! older kernels may follow, below `[before Linux N.N:]`. Everything else is for the reader. Times, ids and
//! instruction counts are blurred.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// A part of a session's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum SessionPart {
    /// Text for the reader.
    Prose(String),
    /// A command and the text below it.
    Command {
        /// Command line for bash.
        line: String,
        /// Output and exit status.
        shown: String,
        /// Output on older kernels, if it differs, the newest kernel first.
        older: Vec<Older>,
    },
}

/// Output of a command on kernels before a version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Older {
    /// First version with another output, as major and minor number.
    pub before: (u32, u32),
    /// Output and exit status.
    pub shown: String,
}

/// Environment in which a session runs.
pub(crate) struct Environment<'a> {
    /// Folder in which the session begins.
    pub folder: &'a Path,
    /// Folder of the `onpath` binary.
    pub bin: &'a Path,
    /// True to run it in its own network namespace and BPF file system, which needs root.
    pub in_kernel: bool,
    /// True if nothing is compiled beforehand, so that times are those of a reader's first try.
    pub first_try: bool,
    /// Maximum time of a session, in seconds.
    pub longest: u32,
}

/// Parses a session's text. In `fenced` text only blocks between "```console" and "```" are sessions.
pub(crate) fn parse(text: &str, fenced: bool) -> Vec<SessionPart> {
    let mut parts: Vec<SessionPart> = Vec::new();
    let mut inside = !fenced;
    let mut open = false;
    for line in text.lines() {
        if fenced && line.starts_with("```") {
            inside = line == "```console";
            open = false;
        }
        match line.strip_prefix("$ ").filter(|_| inside) {
            Some(command) => {
                open = true;
                parts.push(SessionPart::Command {
                    line: command.to_string(),
                    shown: String::new(),
                    older: Vec::new(),
                });
                continue;
            }
            None if line.starts_with("# ") => open = false,
            None => {}
        }
        match parts.last_mut() {
            Some(SessionPart::Command { shown, older, .. }) if open => {
                if let Some(before) = marker(line) {
                    older.push(Older {
                        before,
                        shown: String::new(),
                    });
                    continue;
                }
                let text = older.last_mut().map_or(shown, |older| &mut older.shown);
                text.push_str(line);
                text.push('\n');
            }
            Some(SessionPart::Prose(prose)) => {
                prose.push_str(line);
                prose.push('\n');
            }
            _ => parts.push(SessionPart::Prose(format!("{line}\n"))),
        }
    }
    // Empty lines before the next command or comment belong to the reader.
    parts.into_iter().flat_map(split_blank_end).collect()
}

/// Returns the version in a line that begins the output on older kernels.
fn marker(line: &str) -> Option<(u32, u32)> {
    let version = line.strip_prefix("[before Linux ")?.strip_suffix(":]")?;
    let (major, minor) = version.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn split_blank_end(mut part: SessionPart) -> Vec<SessionPart> {
    let SessionPart::Command { shown, older, .. } = &mut part else {
        return vec![part];
    };
    let last = older.last_mut().map_or(shown, |older| &mut older.shown);
    let kept = match last.trim_end_matches('\n').len() {
        0 => 0,
        kept => kept + 1,
    };
    let blank = last.split_off(kept);
    let mut parts = vec![part];
    if !blank.is_empty() {
        parts.push(SessionPart::Prose(blank));
    }
    parts
}

/// Prints a session as its text.
pub(crate) fn print(parts: &[SessionPart]) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            SessionPart::Prose(prose) => text += prose,
            SessionPart::Command { line, shown, older } => {
                let _ = write!(text, "$ {line}\n{shown}");
                for Older { before, shown } in older {
                    let (major, minor) = before;
                    let _ = write!(text, "[before Linux {major}.{minor}:]\n{shown}");
                }
            }
        }
    }
    text
}

/// Maximum time of a session, in seconds, also on a busy machine.
pub(crate) const LONGEST: u32 = 600;

/// Separator between the outputs of two commands, which no command prints.
const SEPARATOR: &str = "\u{1e}";

/// Runs every command in one shell. Returns the session with the present output.
pub(crate) fn run(
    parts: &[SessionPart],
    environment: &Environment,
) -> Result<Vec<SessionPart>, String> {
    let mut script = String::from("exec 2>&1\nset -o pipefail\n");
    // Cargo's cache of objects is root's alone.
    script += "setpriv() { ONPATH_OBJECT_CACHE= command setpriv \"$@\"; }\n";
    if environment.in_kernel {
        // A session has its own pins, so nothing that it leaves behind outlives it.
        script += "mount -t bpf bpf /sys/fs/bpf || exit 1\nip link set lo up\n";
        // It has its own named network namespaces too.
        script += "mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns || exit 1\n";
    }
    for part in parts {
        if let SessionPart::Command { line, .. } = part {
            let _ = writeln!(script, "{line}\nprintf '{SEPARATOR}%d{SEPARATOR}' $?");
        }
    }
    let path = format!(
        "{}:{}:{}",
        environment.bin.display(),
        lab::promtool::folder().display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let shell: &[&str] = match environment.in_kernel {
        true => &["unshare", "--net", "--mount", "bash", "-c"],
        false => &["bash", "-c"],
    };
    // The timeout ends a command that hangs, with all processes of the session.
    let mut command = Command::new("timeout");
    if environment.first_try {
        // This overrides cargo's setting.
        command.env("ONPATH_OBJECT_CACHE", "");
    }
    let output = command
        .arg(environment.longest.to_string())
        .args(shell)
        .arg(&script)
        .current_dir(environment.folder)
        .env("PATH", path)
        .env("LC_ALL", "C.UTF-8")
        .env("TMPDIR", environment.folder)
        .env_remove("ONPATH_CLANG")
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("the shell could not be started: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut fields = text.split(SEPARATOR);
    let mut now = Vec::new();
    for part in parts {
        let SessionPart::Command { line, older, .. } = part else {
            now.push(part.clone());
            continue;
        };
        let (Some(printed), Some(status)) = (fields.next(), fields.next()) else {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(format!("the shell ended before `{line}`\n{text}{errors}"));
        };
        let mut shown = tidy(printed);
        if status != "0" {
            let _ = writeln!(shown, "[{status}]");
        }
        now.push(SessionPart::Command {
            line: line.clone(),
            shown,
            older: older.clone(),
        });
    }
    Ok(now)
}

/// Returns true for a progress report, which commands print only on a slow machine.
fn is_step(line: &str) -> bool {
    let steps = [
        ": compiling",
        ": the kernel verifies it",
        "compiling the program for the path",
        "the kernel verifies the program",
    ];
    steps.iter().any(|step| line.ends_with(step))
        || [": checking entries in ", ": changing tables by "]
            .iter()
            .any(|step| line.contains(step))
        || line.starts_with("changing tables by ")
}

/// Normalises output: no blanks at the ends of lines, no progress reports, and no empty lines at the end.
fn tidy(printed: &str) -> String {
    printed
        .trim_end()
        .lines()
        .filter(|line| !is_step(line))
        .fold(String::new(), |mut text, line| {
            text += line.trim_end();
            text.push('\n');
            text
        })
}

/// Replaces numbers by `N` that differ from run to run or between versions of the compiler.
pub(crate) fn blur(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let heads = ["DELAY ", "FLOW "];
        let has_unit = |unit: &str| line.split_whitespace().any(|word| word == unit);
        // Delays, in columns as wide as they need.
        if has_unit("µs") || has_unit("ns") || heads.iter().any(|h| line.starts_with(h)) {
            return blur_delays(line) + "\n";
        }
        // A report's row on a function has only such numbers, in columns of variable width.
        if line.starts_with("onpath_xdp ") {
            "onpath_xdp N N\n".to_string()
        } else {
            blur_line(line) + "\n"
        }
    });
    lines.collect()
}

/// Replaces each delay in a row by `N`, whatever its unit, with one blank around it.
fn blur_delays(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_delay = |i: usize| {
        let unit = words
            .get(i + 1)
            .is_some_and(|w| ["ns", "µs", "ms", "s"].contains(w));
        unit && words[i].starts_with(|c: char| c.is_ascii_digit())
    };
    let mut kept = Vec::new();
    let mut i = 0;
    while let Some(word) = words.get(i) {
        kept.push(if is_delay(i) { "N" } else { word });
        i += 1 + usize::from(is_delay(i));
    }
    kept.join(" ")
}

/// Returns the text after a time such as `2026-11-28 21:30:16` or `2026-11-28 21:30:16.000001`, if it begins with
/// one.
fn after_time(text: &str) -> Option<&str> {
    const FORM: &str = "0000-00-00 00:00:00";
    let is_like = |(c, form): (char, char)| match form {
        '0' => c.is_ascii_digit(),
        _ => c == form,
    };
    let (time, after) = text.split_at_checked(FORM.len())?;
    if !time.chars().zip(FORM.chars()).all(is_like) {
        return None;
    }
    let fraction = after.strip_prefix('.').unwrap_or(after);
    Some(fraction.trim_start_matches(|c: char| c.is_ascii_digit()))
}

fn blur_line(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        let end = from
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(from.len());
        if let Some(after) = after_time(from) {
            out += before;
            out += "TIME";
            rest = after;
            continue;
        }
        let (number, after) = from.split_at(end);
        let varies = [
            " ms",
            " instructions",
            " s:",
            " s unused",
            " of neighbour",
            " GB is free",
            " MB is free",
            " GB that are free",
        ]
        .iter()
        .any(|u| after.starts_with(u))
            || before.ends_with("(id ")
            || before.ends_with("/proc/");
        out += before;
        out += if varies { "N" } else { number };
        rest = after;
    }
    out + rest
}

/// Returns the lines that differ, with some lines before them.
pub(crate) fn difference(expected: &str, found: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let behind = old[same..]
        .iter()
        .rev()
        .zip(new[same..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let mut text = String::new();
    for line in &old[same.saturating_sub(8)..same] {
        let _ = writeln!(text, "  {line}");
    }
    for line in &old[same..old.len() - behind] {
        let _ = writeln!(text, "- {line}");
    }
    for line in &new[same..new.len() - behind] {
        let _ = writeln!(text, "+ {line}");
    }
    text
}

//! Sessions at a shell: commands, what they print, and how they end, together in one text.
//!
//! A line that begins with `$ ` is a command for bash; the lines up to the next command, comment or empty line are
//! what it prints (standard output and error as they come), and `[N]` its exit status if that is not 0. What it prints on
//! older kernels may follow, below `[before Linux N.N:]`.
//! Everything else is for the reader. Times, ids and instruction counts are blurred.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// A stretch of a session's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// For the reader.
    Prose(String),
    /// A command and what is written below it.
    Command {
        /// What bash runs.
        line: String,
        /// What it prints, and its status.
        shown: String,
        /// The same on older kernels, the newest of them first, where that differs.
        older: Vec<Older>,
    },
}

/// What a command prints on kernels before a version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Older {
    /// The first version that does otherwise, as major and minor number.
    pub before: (u32, u32),
    /// What it prints, and its status.
    pub shown: String,
}

/// Where and how a session runs.
pub(crate) struct Environment<'a> {
    /// The folder it begins in.
    pub folder: &'a Path,
    /// The folder that has `onpath`.
    pub bin: &'a Path,
    /// In network and BPF file systems of its own; needs root.
    pub in_kernel: bool,
    /// Whether times are those that a reader's first try takes: nothing is compiled beforehand.
    pub first_try: bool,
    /// No session takes longer, in seconds.
    pub longest: u32,
}

/// Takes a session's text apart. In `fenced` text only blocks between "```console" and "```" are sessions.
pub(crate) fn parse(text: &str, fenced: bool) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
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
                parts.push(Part::Command {
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
            Some(Part::Command { shown, older, .. }) if open => {
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
            Some(Part::Prose(prose)) => {
                prose.push_str(line);
                prose.push('\n');
            }
            _ => parts.push(Part::Prose(format!("{line}\n"))),
        }
    }
    // Empty lines before the next command or comment belong to the reader.
    parts.into_iter().flat_map(split_blank_end).collect()
}

/// The version in a line that begins what older kernels print.
fn marker(line: &str) -> Option<(u32, u32)> {
    let version = line.strip_prefix("[before Linux ")?.strip_suffix(":]")?;
    let (major, minor) = version.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn split_blank_end(mut part: Part) -> Vec<Part> {
    let Part::Command { shown, older, .. } = &mut part else {
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
        parts.push(Part::Prose(blank));
    }
    parts
}

/// The text of a session again.
pub(crate) fn print(parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Prose(prose) => text += prose,
            Part::Command { line, shown, older } => {
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

/// What a session may take, in seconds, also on a busy machine.
pub(crate) const LONGEST: u32 = 600;

/// Between the outputs of two commands; no command prints it.
const SEPARATOR: &str = "\u{1e}";

/// Runs every command, in one shell, and gives the session with what they printed now.
pub(crate) fn run(parts: &[Part], environment: &Environment) -> Result<Vec<Part>, String> {
    let mut script = String::from("exec 2>&1\nset -o pipefail\n");
    // Cargo's cache of objects is root's alone.
    script += "setpriv() { ONPATH_OBJECT_CACHE= command setpriv \"$@\"; }\n";
    if environment.in_kernel {
        // Pins of its own: what a session leaves behind ends with it.
        script += "mount -t bpf bpf /sys/fs/bpf || exit 1\nip link set lo up\n";
        // Named network namespaces of its own too.
        script += "mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns || exit 1\n";
    }
    for part in parts {
        if let Part::Command { line, .. } = part {
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
    // A command that hangs ends with all that the session started.
    let mut command = Command::new("timeout");
    if environment.first_try {
        // Also where cargo sets it.
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
        let Part::Command { line, older, .. } = part else {
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
        now.push(Part::Command {
            line: line.clone(),
            shown,
            older: older.clone(),
        });
    }
    Ok(now)
}

/// What commands report of steps that take long on a slow machine.
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

/// Whole lines without blanks at their ends and without empty lines, which would end a command's output, and
/// without steps.
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

/// Numbers that differ from run to run or change with every better compiler, as `N`.
pub(crate) fn blur(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let (delays, heads) = ([" µs", " ns"], ["DELAY ", "FLOW "]);
        // Delays, in columns as wide as they need.
        if delays.iter().any(|unit| line.contains(unit))
            || heads.iter().any(|h| line.starts_with(h))
        {
            return blur_delays(line) + "\n";
        }
        // A report's row on a function has nothing but such numbers, in columns as wide as they need.
        if line.starts_with("onpath_xdp ") {
            "onpath_xdp N N\n".to_string()
        } else {
            blur_line(line) + "\n"
        }
    });
    lines.collect()
}

/// A row of delays: each is `N`, whatever its unit, with one blank around it.
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

/// The text after a time such as `2026-11-28 21:30:16` or `2026-11-28 21:30:16.000001`, if it begins with one.
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

/// The lines that differ, with some around them.
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

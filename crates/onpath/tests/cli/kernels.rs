//! Expected output of sessions on older kernels.
//!
//! If the kernel has no tcx, programs at tc are attached by filters at `clsact` qdiscs. That changes the same lines
//! everywhere, and is derived here from the output on the newest kernel. Programs are compiled in the variant that newer
//! verifiers accept by estimate: that an older one rejected it first is not compared. All other differences are in the
//! session's text.

use crate::session::SessionPart;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The major and minor version of a kernel.
pub(crate) type Version = (u32, u32);

/// The first kernel with tcx.
const TCX: Version = (6, 6);

/// The first kernel whose verifier the estimates are of: it has may_goto.
const ESTIMATED: Version = (6, 9);

/// Ends of lines after which a program is compiled once more.
const REJECTED: [&str; 2] = [
    "since the verifier rejected it",
    "since the verifier rejected the first",
];

/// Returns the part of an output that is compared on a kernel.
pub(crate) fn compared(output: String, kernel: Version) -> String {
    if kernel >= ESTIMATED {
        return output;
    }
    let is_rejected = |line: &&str| REJECTED.iter().any(|end| line.ends_with(end));
    let kept = output.split_inclusive('\n');
    kept.filter(|line| !is_rejected(&line.trim_end())).collect()
}

/// Returns true if the session has no other output on this kernel than on the newest one.
pub(crate) fn is_newest(parts: &[SessionPart], kernel: Version) -> bool {
    let differs = |part: &SessionPart| match part {
        SessionPart::Prose(_) => false,
        SessionPart::Command { older, .. } => older.iter().any(|older| kernel < older.before),
    };
    kernel >= TCX && !parts.iter().any(differs)
}

/// Returns the session with its output on a kernel.
pub(crate) fn on(parts: &[SessionPart], kernel: Version) -> Vec<SessionPart> {
    parts.iter().map(|part| part_on(part, kernel)).collect()
}

fn part_on(part: &SessionPart, kernel: Version) -> SessionPart {
    let SessionPart::Command { line, shown, older } = part else {
        return part.clone();
    };
    let fits = older.iter().filter(|older| kernel < older.before);
    let shown = match fits.min_by_key(|older| older.before) {
        Some(older) => older.shown.clone(),
        None if kernel < TCX => without_tcx(shown),
        None => shown.clone(),
    };
    SessionPart::Command {
        line: line.clone(),
        shown,
        older: Vec::new(),
    }
}

/// Returns the output on a kernel without tcx.
fn without_tcx(shown: &str) -> String {
    let mut text = String::new();
    let mut lines = shown.lines().peekable();
    while let Some(line) = lines.next() {
        if on_interface(line).is_some() {
            let mut all = vec![line];
            while let Some(line) = lines.next_if(|line| on_interface(line).is_some()) {
                all.push(line);
            }
            text += &attached(&all);
            continue;
        }
        let _ = match attached_by_link(line) {
            Some((program, before, interface)) => writeln!(
                text,
                "{before} by a clsact filter\n{program}: the kernel refuses a tcx link at {interface}: this kernel has no \
                 tcx\n{program}: tcx takes Linux 6.6"
            ),
            None => writeln!(text, "{}", mode(line)),
        };
    }
    text
}

/// Returns the program, the text before the method, and the interface in a line of `onpath run`.
fn attached_by_link(line: &str) -> Option<(&str, &str, &str)> {
    let before = line.strip_suffix(" by a tcx link")?;
    let (program, port) = before.split_once(": port ")?;
    let (_, interface) = port.split_once(" is ")?;
    Some((program, before, interface.split_once(',')?.0))
}

/// Replaces the mode of a port in a line of a table or of JSON.
fn mode(line: &str) -> String {
    if let Some(rest) = line.strip_suffix(" tcx") {
        return format!("{rest} clsact");
    }
    ["\"mode\": \"tcx\"", "\"mode\":\"tcx\""]
        .iter()
        .fold(line.to_string(), |line, mode| {
            line.replace(mode, &mode.replace("tcx", "clsact"))
        })
}

/// Returns the interface and its attachment in a line of `attached.sh`.
fn on_interface(line: &str) -> Option<(&str, &str)> {
    let (interface, what) = line.strip_prefix("on ")?.split_once(": ")?;
    ["a program", "tcx ", "clsact ", "a clsact qdisc"]
        .iter()
        .any(|known| what.starts_with(known) && interface != "no interface")
        .then_some((interface, what))
}

/// Returns the output of `attached.sh` for the same programs without tcx: programs at XDP, then the filters of each
/// interface and their qdisc.
fn attached(lines: &[&str]) -> String {
    let mut text = String::new();
    let mut filters: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for (interface, what) in lines.iter().filter_map(|line| on_interface(line)) {
        if what == "a program" {
            let _ = writeln!(text, "on {interface}: {what}");
            continue;
        }
        let [ingress, egress] = filters.entry(interface).or_default();
        *ingress += usize::from(what.ends_with("ingress"));
        *egress += usize::from(what.ends_with("egress"));
    }
    for (interface, counts) in filters {
        for (side, count) in ["ingress", "egress"].iter().zip(counts) {
            text += &format!("on {interface}: clsact {side}\n").repeat(count);
        }
        let _ = writeln!(text, "on {interface}: a clsact qdisc");
    }
    text
}

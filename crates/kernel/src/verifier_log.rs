//! Reader of the verifier's log: what was refused, where, and why.
//!
//! Two formats are read. The classic one lists instructions, with `; source @ file:line` comments before them, and
//! ends with the reason. Newer kernels (7.3 and later) print a report with named sections (reason, location, causal
//! path, suggestion) after it.

mod busiest;

pub use busiest::busiest;

use crate::errors;
use crate::sys::{Samples, instruction_lines};
use diag::{Diagnostic, SourceMap, Span};
use std::path::Path;

/// A refusal, as a log describes it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Refusal {
    /// The verifier's own words; never empty.
    pub reason: String,
    /// Further lines of the reason.
    pub detail: Vec<String>,
    /// File and line, by the object's line information.
    pub location: Option<(String, u32)>,
    /// Text of that line, as the object has it.
    pub source: Option<String>,
    /// Number of the instruction.
    pub instruction: Option<u32>,
    /// The verifier's advice, from kernels that give one.
    pub suggestion: Option<String>,
}

/// Reads a log. `None` if it holds no refusal.
pub fn read(log: &str) -> Option<Refusal> {
    read_report(log).or_else(|| read_classic(log))
}

/// Returns true if a log has its end: the reason, and then the statistics. Kernels that keep the beginning of a log
/// that does not fit lose its end.
pub(crate) fn is_whole(log: &str) -> bool {
    processed(log).is_some()
}

/// Returns the number of instructions that the verifier processed, by the statistics at the end of its log.
pub(crate) fn processed(log: &str) -> Option<u64> {
    log.lines().find_map(|line| {
        let rest = line.strip_prefix("processed ")?;
        rest.split(' ').next()?.parse().ok()
    })
}

/// Location in the source at which a refusal is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Location {
    /// The line at which the verifier stopped.
    Stopped(Span),
    /// The line on which it spent the most instructions.
    Busiest(Span),
    /// Location that is no line of the program.
    Unknown,
}

/// Reports the refusal to the user: at the P4 line, with the reason and a remedy. `samples` show where the verifier
/// spent its time, if it took too long; any parts of its log serve, see [`busiest`].
pub fn explain(refusal: &Refusal, samples: &Samples, sources: &SourceMap) -> Box<Diagnostic> {
    let stopped = || {
        let (location, text) = (refusal.location.as_ref(), refusal.source.as_deref());
        location
            .and_then(|(file, line)| line_span(sources, file, *line))
            .or_else(|| only_line_with(sources, text?))
    };
    let place = match busiest(samples, sources) {
        Some(line) => Location::Busiest(line),
        None => stopped().map_or(Location::Unknown, Location::Stopped),
    };
    errors::verifier::refused(refusal, place)
}

/// Finds the location by the number of the instruction. Logs of kernels before 6.8 have no location.
pub fn locate(refusal: &mut Refusal, object: &[u8]) {
    let lines = instruction_lines(object).unwrap_or_default();
    let line = refusal.instruction.and_then(|at| lines.of(at));
    let here = std::env::current_dir().unwrap_or_default();
    refusal.location = line.map(|(file, line)| (seen_from(&here, file), line));
}

/// Returns a file's path relative to a folder, if the file is in it: clang records absolute paths of C files.
fn seen_from(folder: &Path, file: &str) -> String {
    let inside = Path::new(file).strip_prefix(folder).ok();
    inside.map_or_else(|| file.to_owned(), |path| path.display().to_string())
}

/// Returns the span of a line, without its indentation, in the source that was compiled under this name.
fn line_span(sources: &SourceMap, file: &str, line: u32) -> Option<Span> {
    let (id, source) = sources
        .files()
        .find(|(_, f)| f.name == file)
        .or_else(|| sources.files().find(|(_, f)| same_file(&f.name, file)))?;
    let mut from = 0;
    for (number, text) in source.text.split_inclusive('\n').enumerate() {
        if number as u32 + 1 == line {
            let indent = text.len() - text.trim_start().len();
            return Some(sources.span(id, from + indent..from + text.trim_end().len().max(indent)));
        }
        from += text.len();
    }
    None
}

/// Tests whether two paths may mean the same file. The line information may have a path where the user gave a name, or
/// the other way round.
fn same_file(a: &str, b: &str) -> bool {
    let (a, b) = (Path::new(a), Path::new(b));
    a.ends_with(b) || b.ends_with(a)
}

/// Finds the only line with this text. Kernels before 6.8 give a line's text and no number.
fn only_line_with(sources: &SourceMap, text: &str) -> Option<Span> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let mut found = None;
    for (_, file) in sources.files() {
        for (number, line) in file.text.lines().enumerate() {
            if line.trim() == text {
                if found.is_some() {
                    return None;
                }
                found = line_span(sources, &file.name, number as u32 + 1);
            }
        }
    }
    found
}

fn read_classic(log: &str) -> Option<Refusal> {
    let mut refusal = Refusal::default();
    let mut reason: Vec<&str> = Vec::new();
    for line in log.lines() {
        if let Some(comment) = line.strip_prefix(';') {
            let (text, location) = split_location(comment);
            refusal.location = location;
            refusal.source = Some(text.trim().to_owned()).filter(|t| !t.is_empty());
            reason.clear();
        } else if let Some(number) = instruction_number(line) {
            refusal.instruction = Some(number);
            reason.clear();
            reason.extend(reason_behind(line));
        } else if is_narration(line) {
            reason.clear();
        } else if !is_statistics(line) && !line.trim().is_empty() {
            reason.push(line.trim());
        }
    }
    let (first, rest) = reason.split_first()?;
    refusal.reason = (*first).to_owned();
    refusal.detail = rest.iter().map(|l| (*l).to_owned()).collect();
    Some(refusal)
}

/// Splits ` hdr.ttl = 1; @ router.p4:45` into the text and the location.
fn split_location(comment: &str) -> (&str, Option<(String, u32)>) {
    match comment.rsplit_once("@ ") {
        Some((text, location)) => match parse_location(location) {
            Some(location) => (text, Some(location)),
            None => (comment, None),
        },
        None => (comment, None),
    }
}

/// Parses `router.p4:45` or `router.p4:45:7`.
fn parse_location(text: &str) -> Option<(String, u32)> {
    let text = text.trim().trim_end_matches([')', ',', ':']);
    let (file, last) = text.rsplit_once(':')?;
    let last = last.parse().ok()?;
    if let Some((file, line)) = file.rsplit_once(':')
        && let Ok(line) = line.parse()
    {
        return Some((file.to_owned(), line));
    }
    (!file.is_empty()).then(|| (file.to_owned(), last))
}

/// `12: (61) r1 = …` → 12.
fn instruction_number(line: &str) -> Option<u32> {
    let (number, rest) = line.split_once(": ")?;
    let rest = rest.trim_start();
    if rest.starts_with('(') || rest.starts_with('R') || rest.starts_with("frame") {
        number.trim().parse().ok()
    } else {
        None
    }
}

/// Returns the reason on the line of an instruction that begins a path. When the verifier goes back to such an
/// instruction, it takes back the log too, but not the end of the line.
///
/// `12: (ae) if w8 < w7 goto pc-7 BPF program is too large. …` → `BPF program is too large. …`
fn reason_behind(line: &str) -> Option<&str> {
    let at = ["goto pc", "call "]
        .iter()
        .find_map(|word| line.find(word).map(|at| at + word.len()))?;
    let rest = line[at..].split_once(' ')?.1.trim();
    let is_state = rest.starts_with(';') || rest.starts_with("R0=") || is_narration(rest);
    (!rest.is_empty() && !is_state && instruction_number(rest).is_none()).then_some(rest)
}

/// Tests for lines of the log that are neither instructions nor reasons.
fn is_narration(line: &str) -> bool {
    line.starts_with("from ")
        || line.starts_with("func#")
        || line.starts_with("mark_precise:")
        || line.starts_with("Live regs before insn")
        || line.starts_with("returning from callee")
        || line.starts_with("caller:")
        || line.starts_with("callee:")
        || line.starts_with("to caller at")
        || line.starts_with("Validating ")
        || line.starts_with("Func#")
        // A remark on each call of one function of a file by another, such as those of bpf_loop.
        || line.starts_with("reg type unsupported for arg#")
        || line.starts_with("last_idx ")
        || line.starts_with("regs=")
        || line.trim_start().starts_with("frame")
        || line.trim_start().starts_with("R0=")
}

fn is_statistics(line: &str) -> bool {
    line.starts_with("processed ")
        || line.starts_with("verification time")
        || line.starts_with("stack depth")
        || line.starts_with("insns processed")
}

/// Reads a report with named sections.
fn read_report(log: &str) -> Option<Refusal> {
    let mut refusal = Refusal::default();
    let mut section = Section::None;
    let mut suggestion: Vec<&str> = Vec::new();
    for line in log.lines() {
        if let Some((named, rest)) = section_start(line) {
            section = named;
            add(&mut refusal, &mut suggestion, section, rest);
        } else if is_statistics(line) {
            section = Section::None;
        } else {
            add(&mut refusal, &mut suggestion, section, line.trim());
        }
    }
    if refusal.reason.is_empty() {
        return None;
    }
    if !suggestion.is_empty() {
        refusal.suggestion = Some(suggestion.join(" "));
    }
    // The location may be only at the instructions before the report.
    if refusal.location.is_none() {
        let before = log
            .lines()
            .filter_map(|l| split_location(l.strip_prefix(';')?).1)
            .next_back();
        refusal.location = before;
    }
    Some(refusal)
}

#[derive(Clone, Copy)]
enum Section {
    None,
    Reason,
    Location,
    Path,
    Suggestion,
}

fn section_start(line: &str) -> Option<(Section, &str)> {
    let (name, rest) = line.trim().split_once(':')?;
    let section = match name.trim().to_ascii_lowercase().as_str() {
        "reason" | "error" | "verifier error" => Section::Reason,
        "at" | "place" | "location" | "where" => Section::Location,
        "causal path" | "path" | "history" | "because" => Section::Path,
        "suggestion" | "hint" | "help" => Section::Suggestion,
        _ => return None,
    };
    Some((section, rest.trim()))
}

fn add<'a>(refusal: &mut Refusal, suggestion: &mut Vec<&'a str>, section: Section, text: &'a str) {
    if text.is_empty() {
        return;
    }
    match section {
        Section::None => {}
        Section::Reason if refusal.reason.is_empty() => refusal.reason = text.to_owned(),
        Section::Reason | Section::Path => refusal.detail.push(text.to_owned()),
        Section::Location => {
            let location = split_location(text)
                .1
                .or_else(|| text.split_whitespace().find_map(parse_location));
            if refusal.location.is_none() {
                refusal.location = location;
            }
            if refusal.instruction.is_none() {
                refusal.instruction = text
                    .split_once("insn ")
                    .and_then(|(_, n)| n.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
            }
        }
        Section::Suggestion => suggestion.push(text),
    }
}

#[cfg(test)]
mod tests;

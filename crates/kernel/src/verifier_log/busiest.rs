//! The line of a program on which the verifier spends most of its time.

use super::{line_span, only_line_with, split_location};
use crate::sys::Samples;
use diag::{SourceMap, Span};
use std::collections::{BTreeMap, HashMap};

/// Returns the line of the program under which these parts of a log list most instructions; the first one of several.
/// Code that a line calls, such as Onpath's own C, counts as that line. `None` if the log has no line of the program.
///
/// A part may begin and end anywhere; incomplete lines are ignored.
pub fn busiest(samples: &Samples, sources: &SourceMap) -> Option<Span> {
    let mut comments: HashMap<&str, Option<Span>> = HashMap::new();
    let mut instructions: HashMap<u32, Option<Span>> = HashMap::new();
    let mut counts: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for part in &samples.parts {
        let mut at = None;
        for line in whole_lines(part) {
            if let Some(comment) = line.strip_prefix(';') {
                let found = comments
                    .entry(comment)
                    .or_insert_with(|| program_line(comment, sources));
                at = found.or(at);
            } else if let Some(number) = instruction(line) {
                let found = instructions.entry(number).or_insert_with(|| {
                    let (file, line) = samples.lines.of(number)?;
                    line_span(sources, file, line)
                });
                at = found.or(at);
                if let Some(span) = at {
                    *counts.entry((span.lo, span.hi)).or_default() += 1;
                }
            }
        }
    }
    let most = *counts.values().max()?;
    let (lo, hi) = *counts.iter().find(|(_, count)| **count == most)?.0;
    Some(Span { lo, hi })
}

/// Iterates over the lines that are complete. A NUL is where a later line was cut off.
fn whole_lines(log: &str) -> impl Iterator<Item = &str> {
    log.split_inclusive(['\n', '\0'])
        .filter_map(|line| line.strip_suffix('\n'))
}

/// Returns the line of the program that a comment names.
fn program_line(comment: &str, sources: &SourceMap) -> Option<Span> {
    match split_location(comment) {
        (_, Some((file, line))) => line_span(sources, &file, line),
        (text, None) => only_line_with(sources, text),
    }
}

/// `12: (61) r1 = …` → 12, but not `12: R0=0 …`, which is the state before one.
fn instruction(line: &str) -> Option<u32> {
    line.split_once(": (")?.0.trim().parse().ok()
}

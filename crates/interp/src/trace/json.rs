//! The execution trace for programs: one JSON object per event.

use super::TraceEvent;
use diag::SourceMap;
use serde::Serialize;

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    kind: &'a super::TraceKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

/// An event as one line of JSON without a line end: the event's fields, and `file` and `line` where
/// a source location caused it.
pub fn json(event: &TraceEvent, sources: &SourceMap) -> String {
    let place = sources.line_col(event.span);
    let line = Line {
        kind: &event.kind,
        file: place.map(|(file, _)| sources.file(file).name.as_str()),
        line: place.map(|(_, at)| at.line),
    };
    // Strings, numbers and bools have no form that JSON lacks.
    serde_json::to_string(&line).unwrap_or_default()
}

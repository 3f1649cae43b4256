//! Execution trace in machine-readable form: one JSON object per event.

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

/// Formats an event as one line of JSON without a line end: the event's fields, with `file` and `line` if the event has
/// a source location.
pub fn json(event: &TraceEvent, sources: &SourceMap) -> String {
    let place = sources.line_col(event.span);
    let line = Line {
        kind: &event.kind,
        file: place.map(|(file, _)| sources.file(file).name.as_str()),
        line: place.map(|(_, at)| at.line),
    };
    // Strings, numbers and booleans can always be expressed in JSON.
    serde_json::to_string(&line).unwrap_or_default()
}

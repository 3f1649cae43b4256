//! Diagnostics as JSON for programs.

use serde_json::{Value, json};

use crate::{Diagnostic, Diagnostics, Label, Severity, SourceMap, Span};

/// Returns an array with an object for each diagnostic: `code`, `severity` (`error`, `warning`, `note`), `message`, the
/// location as `file`, `line`, `column`, `end_line`, `end_column`, the `labels`, and `help`. Each label is a location
/// with `text`; the primary one comes first, if it has a text.
///
/// Lines and columns count from 1, columns in characters; the end is exclusive. A diagnostic without a location in the
/// source, or without help, has `null` there.
pub fn to_json(diagnostics: &Diagnostics, map: &SourceMap) -> Value {
    diagnostics.iter().map(|d| diagnostic(d, map)).collect()
}

fn diagnostic(diagnostic: &Diagnostic, map: &SourceMap) -> Value {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let primary = std::iter::once(&diagnostic.primary).filter(|label| !label.text.is_empty());
    let labels: Vec<Value> = primary
        .chain(&diagnostic.secondary)
        .map(|l| label(l, map))
        .collect();
    let mut object = location(diagnostic.primary.span, map);
    object["code"] = json!(diagnostic.code.0);
    object["severity"] = json!(severity);
    object["message"] = json!(diagnostic.message);
    object["labels"] = json!(labels);
    object["help"] = json!(diagnostic.help);
    object
}

fn label(label: &Label, map: &SourceMap) -> Value {
    let mut object = location(label.span, map);
    object["text"] = json!(label.text);
    object
}

fn location(span: Span, map: &SourceMap) -> Value {
    let Some((file, range)) = map.locate(span) else {
        return json!({ "file": null, "line": null, "column": null, "end_line": null, "end_column": null });
    };
    let start = map
        .line_col(map.span(file, range.start..range.start))
        .map(|(_, at)| at);
    let end = map
        .line_col(map.span(file, range.end..range.end))
        .map(|(_, at)| at);
    json!({
        "file": map.file(file).name,
        "line": start.map(|at| at.line),
        "column": start.map(|at| at.column),
        "end_line": end.map(|at| at.line),
        "end_column": end.map(|at| at.column),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_for_each_with_columns_in_characters() {
        let mut map = SourceMap::new();
        let file = map.add("a.p4", "\u{fc}x\nyy").unwrap();
        let mut list = Diagnostics::new();
        list.push(
            Diagnostic::error("E0201", map.span(file, 2..6), "m")
                .label("here")
                .also(map.span(file, 0..2), "there")
                .help("h"),
        );
        list.push(Diagnostic::warning("W0001", Span::NONE, "n"));
        assert_eq!(
            to_json(&list, &map),
            json!([
                {
                    "code": "E0201", "severity": "error", "message": "m", "file": "a.p4",
                    "line": 1, "column": 2, "end_line": 2, "end_column": 3,
                    "labels": [
                        { "file": "a.p4", "line": 1, "column": 2, "end_line": 2, "end_column": 3, "text": "here" },
                        { "file": "a.p4", "line": 1, "column": 1, "end_line": 1, "end_column": 2, "text": "there" },
                    ],
                    "help": "h",
                },
                {
                    "code": "W0001", "severity": "warning", "message": "n", "file": null,
                    "line": null, "column": null, "end_line": null, "end_column": null,
                    "labels": [], "help": null,
                },
            ])
        );
    }
}

//! Diagnostics as text for people: message, location, source lines with carets, and help.

use std::borrow::Cow;
use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::{Diagnostic, Diagnostics, FileId, Severity, SourceMap, Span, shown, shown_lines};

/// Number of columns of a line that are shown. Longer lines are cut around the marked text.
const WIDTH: usize = 140;
/// Most lines that one mark may span. A longer mark is shortened to its first line: the rest adds nothing.
const MAX_LINES: u32 = 8;
/// Number of bytes of a line that are shown on each side of a mark.
const MAX_LINE_BYTES: usize = 4_096;

/// Renders all diagnostics, one after the other with an empty line between them. Returns an empty text if there are
/// none. With `color`, ANSI escapes mark severities and locations.
pub fn render_text(diagnostics: &Diagnostics, map: &SourceMap, color: bool) -> String {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    }
    .term_width(WIDTH);
    let mut out = String::new();
    for diagnostic in diagnostics.iter() {
        if !out.is_empty() {
            out.push('\n');
        }
        let text = renderer.render(&[group(&all_shown(diagnostic), map)]);
        let text = match color {
            true => Cow::Owned(styled_shown(&text)),
            false => shown_lines(&text),
        };
        // The renderer ends lines without a mark in blanks.
        for line in text.lines() {
            out += line.trim_end();
            out.push('\n');
        }
    }
    out
}

/// Renders as [`render_text`] does, without colours.
pub fn render_plain(diagnostics: &Diagnostics, map: &SourceMap) -> String {
    render_text(diagnostics, map, false)
}

/// Escapes a text that the renderer has coloured, as [`shown_lines`] does, but keeps the colours. The renderer itself
/// escapes every escape character of a source line.
fn styled_shown(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let mut out = shown_lines(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit() && !"[;".contains(c));
        match end.filter(|end| part[*end..].starts_with('m')) {
            Some(end) => {
                out.push('\x1b');
                out.push_str(&part[..end]);
                out.push_str(&shown_lines(&part[end..]));
            }
            None => out.push_str(&shown_lines(&format!("\x1b{part}"))),
        }
    }
    out
}

/// Returns the diagnostic with every text that may come from outside escaped by [`shown`]. Source lines are left to the
/// renderer.
fn all_shown(diagnostic: &Diagnostic) -> Diagnostic {
    let mut safe = diagnostic.clone();
    let labels = std::iter::once(&mut safe.primary).chain(&mut safe.secondary);
    let labels = labels.map(|label| &mut label.text);
    for text in labels.chain([&mut safe.message]).chain(&mut safe.help) {
        if let Cow::Owned(changed) = shown(text) {
            *text = changed;
        }
    }
    safe
}

fn group<'a>(diagnostic: &'a Diagnostic, map: &'a SourceMap) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut group = Group::with_title(
        level
            .primary_title(diagnostic.message.as_str())
            .id(diagnostic.code.0),
    );
    for (file, marks) in marks(diagnostic, map) {
        let (origin, snippet) = snippet(map, file, &marks);
        group = group.elements(origin).element(snippet);
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    group
}

/// A labelled range of bytes in a file.
struct Mark<'a> {
    range: Range<usize>,
    text: &'a str,
    kind: AnnotationKind,
}

/// Groups the labels by file. The file of the primary label comes first.
fn marks<'a>(diagnostic: &'a Diagnostic, map: &SourceMap) -> Vec<(FileId, Vec<Mark<'a>>)> {
    let mut files: Vec<(FileId, Vec<Mark>)> = Vec::new();
    let labels = std::iter::once((&diagnostic.primary, AnnotationKind::Primary)).chain(
        diagnostic
            .secondary
            .iter()
            .map(|label| (label, AnnotationKind::Context)),
    );
    for (label, kind) in labels {
        let Some((file, range)) = map.locate(label.span) else {
            continue;
        };
        let range = shortened(map, label.span, range, file);
        let mark = Mark {
            range,
            text: &label.text,
            kind,
        };
        match files.iter_mut().find(|(f, _)| *f == file) {
            Some((_, marks)) => marks.push(mark),
            None => files.push((file, vec![mark])),
        }
    }
    files
}

/// Extends the range to whole characters, and cuts it to its first line if it spans more than [`MAX_LINES`].
fn shortened(map: &SourceMap, span: Span, range: Range<usize>, file: FileId) -> Range<usize> {
    let text = &map.file(file).text;
    let mut lo = range.start;
    while !text.is_char_boundary(lo) {
        lo -= 1;
    }
    let mut hi = range.end.max(lo);
    while !text.is_char_boundary(hi) {
        hi += 1;
    }
    let line = |at: u32| {
        map.line(Span { lo: at, hi: at })
            .map_or(0, |(_, line)| line)
    };
    let end = span.lo + (range.end - range.start) as u32;
    if line(end).saturating_sub(line(span.lo)) >= MAX_LINES {
        hi = text[lo..].find('\n').map_or(hi, |length| lo + length);
    }
    lo..hi
}

/// Returns the lines of a file from the first mark to the last. A location is returned with them if the lines are cut
/// and so cannot show it themselves.
fn snippet<'a>(
    map: &'a SourceMap,
    file: FileId,
    marks: &[Mark<'a>],
) -> (Option<Origin<'a>>, Snippet<'a, Annotation<'a>>) {
    let source = map.file(file);
    let first = marks.iter().map(|m| m.range.start).min().unwrap_or(0);
    let last = marks.iter().map(|m| m.range.end).max().unwrap_or(0);
    let mut from = source.text[..first].rfind('\n').map_or(0, |at| at + 1);
    let mut to = source.text[last..]
        .find('\n')
        .map_or(source.text.len(), |at| last + at);
    let whole = (from, to);
    from = from.max(boundary(&source.text, first.saturating_sub(MAX_LINE_BYTES)));
    to = to.min(boundary(
        &source.text,
        (last + MAX_LINE_BYTES).min(source.text.len()),
    ));
    let line = map
        .line(map.span(file, from..from))
        .map_or(1, |(_, line)| line as usize);
    let snippet = Snippet::source(&source.text[from..to]).line_start(line);
    let (origin, snippet) = if whole.0 == from {
        (None, snippet.path(shown(&source.name).into_owned()))
    } else {
        // The start of the line is cut away, so the renderer would count its columns wrong.
        let column = map.line_col(map.span(file, first..first));
        let column = column.map_or(1, |(_, at)| at.column as usize);
        let origin = Origin::path(shown(&source.name).into_owned());
        (Some(origin.line(line).char_column(column)), snippet)
    };
    let snippet = snippet.annotations(marks.iter().map(|mark| {
        let range = mark.range.start - from..mark.range.end - from;
        let annotation = mark.kind.span(range);
        if mark.text.is_empty() {
            annotation
        } else {
            annotation.label(mark.text)
        }
    }));
    (origin, snippet)
}

/// Returns the character boundary at or before `at`.
fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(map: &SourceMap, diagnostic: Diagnostic) -> String {
        let mut list = Diagnostics::new();
        list.push(diagnostic);
        render_text(&list, map, false)
    }

    #[test]
    fn nothing_in_a_diagnostic_changes_a_terminal() {
        let hostile = "a\x1b[2J\u{9b}1m\u{202e}\nb";
        let mut map = SourceMap::new();
        let file = map.add(hostile, format!("x = \"{hostile}\";\n")).unwrap();
        let d = Diagnostic::error("E0299", map.span(file, 0..1), hostile)
            .label(hostile)
            .also(map.span(file, 2..3), hostile)
            .help(hostile);
        let list = Diagnostics::from(Box::new(d));
        let plain = render_text(&list, &map, false);
        assert!(
            plain.chars().all(|c| c == '\n' || crate::is_seen(c)),
            "{plain:?}"
        );
        let styled = render_text(&list, &map, true);
        assert!(styled.contains("\x1b["), "it is coloured");
        assert!(!styled.contains("[2J\u{9b}") && !styled.contains("\x1b[2J"));
        assert!(!styled.contains(['\u{9b}', '\u{202e}']));
    }

    #[test]
    fn a_location_its_label_and_help() {
        let mut map = SourceMap::new();
        let file = map.add("a.p4", "one\n\ttwo x;\n").unwrap();
        let d = Diagnostic::error("E0299", map.span(file, 5..8), "`two` is unknown")
            .label("not found")
            .also(map.span(file, 0..3), "did you mean this?")
            .help("declare it");
        let expected = "\
error[E0299]: `two` is unknown
 --> a.p4:2:2
  |
1 | one
  | --- did you mean this?
2 |     two x;
  |     ^^^ not found
  |
  = help: declare it
";
        assert_eq!(shown(&map, d), expected);
    }

    #[test]
    fn labels_in_other_files_come_after() {
        let mut map = SourceMap::new();
        let a = map.add("a.p4", "const x;\n").unwrap();
        let b = map.add("b.p4", "#include\n").unwrap();
        let d = Diagnostic::warning("W0299", map.span(b, 0..8), "odd")
            .also(map.span(a, 6..7), "here")
            .help("h");
        let expected = "\
warning[W0299]: odd
 --> b.p4:1:1
  |
1 | #include
  | ^^^^^^^^
  |
 ::: a.p4:1:7
  |
1 | const x;
  |       - here
  |
  = help: h
";
        assert_eq!(shown(&map, d), expected);
    }

    #[test]
    fn without_a_location_there_is_no_source() {
        let d = Diagnostic::error("E0021", Span::NONE, "cannot read it").help("try");
        assert_eq!(
            shown(&SourceMap::new(), d),
            "error[E0021]: cannot read it\n |\n = help: try\n"
        );
    }

    #[test]
    fn an_empty_span_at_the_end_is_one_caret() {
        let mut map = SourceMap::new();
        let file = map.add("a.p4", "x").unwrap();
        let d = Diagnostic::error("E0111", map.span(file, 1..1), "missing `;`");
        let expected = "\
error[E0111]: missing `;`
 --> a.p4:1:2
  |
1 | x
  |  ^
";
        assert_eq!(shown(&map, d), expected);
        let empty = map.add("empty.p4", "").unwrap();
        let d = Diagnostic::error("E0110", map.span(empty, 0..0), "nothing");
        assert!(shown(&map, d).contains("empty.p4:1:1"));
    }

    #[test]
    fn a_long_line_is_cut_around_the_mark() {
        let mut map = SourceMap::new();
        let text = format!("{}here{}", "a ".repeat(500_000), " b".repeat(500_000));
        let file = map.add("a.p4", text).unwrap();
        let d = Diagnostic::error("E0110", map.span(file, 1_000_000..1_000_004), "m");
        let out = shown(&map, d);
        assert!(out.len() < 1_000, "{out}");
        assert!(out.contains("a.p4:1:1000001"), "{out}");
        assert!(out.contains("here") && out.contains("^^^^"), "{out}");
    }

    #[test]
    fn a_mark_over_many_lines_is_its_first() {
        let mut map = SourceMap::new();
        let file = map
            .add(
                "a.p4",
                "control c {\n".to_string() + &"x\n".repeat(50) + "}\n",
            )
            .unwrap();
        let d = Diagnostic::error("E0110", map.span(file, 0..113), "m");
        assert_eq!(shown(&map, d).lines().count(), 5);
    }

    #[test]
    fn any_span_over_any_text_is_shown() {
        let text = "\u{fc}\t\r\n\u{1f600}x\n\n\u{0}\u{1b}[31m\u{202e}e\u{301}\r\n";
        let mut map = SourceMap::new();
        map.add("a.p4", text).unwrap();
        map.add("b.p4", text).unwrap();
        for lo in 0..=2 * text.len() as u32 + 6 {
            for hi in lo..=2 * text.len() as u32 + 6 {
                let d = Diagnostic::error("E0110", Span { lo, hi }, "m")
                    .also(Span { lo: hi, hi }, "also");
                assert!(shown(&map, d).starts_with("error[E0110]: m"));
            }
        }
    }
}

//! The story for people: a line an event, indented below its block, the source line at its end.

use super::{Named, TraceEvent, TraceKind};
use diag::SourceMap;
use std::fmt::Write;

/// Where the source line stands, in characters.
const COLUMN: usize = 72;

/// An event as text; empty for one that changed nothing. Several lines for one with fields, each with
/// its line end.
pub fn text(event: &TraceEvent, sources: &SourceMap) -> String {
    let mut lines = body(&event.kind);
    let Some(first) = lines.first_mut() else {
        return String::new();
    };
    if let Some((file, at)) = sources.line_col(event.span) {
        let name = &sources.file(file).name;
        let short = name.rsplit('/').next().unwrap_or(name);
        let gap = COLUMN.saturating_sub(first.chars().count()).max(2);
        // Writing to a string does not fail.
        let _ = write!(first, "{:gap$}{short}:{}", "", at.line);
    }
    lines.iter().fold(String::new(), |mut text, line| {
        text += line;
        text.push('\n');
        text
    })
}

fn body(kind: &TraceKind) -> Vec<String> {
    match kind {
        TraceKind::Packet { port, bytes } => {
            vec![format!(
                "packet on port {port}, {} bytes: {}",
                bytes.len() / 2,
                shortened(bytes)
            )]
        }
        TraceKind::Block { role, name } => vec![format!("{role} {name}")],
        TraceKind::State { state } => vec![format!("  state {state}")],
        TraceKind::Extract {
            header,
            from,
            to,
            fields,
        } => with_fields(
            format!("    extract {header} (bytes {})", range(*from, *to)),
            fields,
        ),
        TraceKind::Advance { bytes, to } => {
            vec![format!("    advance {bytes} bytes, to byte {to}")]
        }
        TraceKind::Select { keys, matched } => vec![format!(
            "    select ({}){}",
            keys.join(", "),
            if *matched { "" } else { ": no case" }
        )],
        TraceKind::Reject { error } => vec![format!("  reject: {error}")],
        TraceKind::Assign { changed: false, .. } => Vec::new(),
        TraceKind::Assign {
            place, old, new, ..
        } => vec![format!("    {place}: {old} -> {new}")],
        TraceKind::CopyHeader { to, from, valid } => vec![format!(
            "    {to} = {from} ({})",
            if *valid { "valid" } else { "invalid" }
        )],
        TraceKind::Validity { header, valid } => vec![format!(
            "    {header} becomes {}",
            if *valid { "valid" } else { "invalid" }
        )],
        TraceKind::Table {
            table,
            keys,
            hit,
            entry,
            action,
            args,
        } => {
            let found = match entry {
                Some(entry) if !entry.is_empty() => format!("hit {}", list(entry)),
                _ if *hit => "hit".to_string(),
                _ => "miss".to_string(),
            };
            vec![
                format!("  table {table} {}", list(keys)),
                format!("    {found}: {action}{}", list(args)),
            ]
        }
        TraceKind::Extern {
            name,
            args,
            results,
        } => {
            let results = match results.as_slice() {
                [] => String::new(),
                some => format!(" -> {}", some.join(", ")),
            };
            vec![format!("    {name}({}){results}", args.join(", "))]
        }
        TraceKind::Emit {
            header, from, to, ..
        } => vec![format!("    emit {header} (bytes {})", range(*from, *to))],
        TraceKind::Verdict { verdict, packets } => {
            let mut lines = vec![format!("verdict: {verdict}")];
            for packet in packets {
                lines.push(format!(
                    "  port {}, {} bytes: {}",
                    packet.port,
                    packet.bytes.len() / 2,
                    shortened(&packet.bytes)
                ));
            }
            lines
        }
    }
}

/// Bytes, both ends included.
fn range(from: usize, to: usize) -> String {
    if from == to {
        format!("none at {from}")
    } else {
        format!("{from}-{}", to - 1)
    }
}

fn list(items: &[Named]) -> String {
    let items: Vec<String> = items
        .iter()
        .map(|item| format!("{}={}", item.name, item.value))
        .collect();
    format!("({})", items.join(", "))
}

fn with_fields(first: String, fields: &[Named]) -> Vec<String> {
    let width = fields.iter().map(|f| f.name.chars().count()).max();
    let width = width.unwrap_or(0);
    let fields = fields
        .iter()
        .map(|f| format!("      {:width$} = {}", f.name, f.value));
    std::iter::once(first).chain(fields).collect()
}

/// Hexadecimal digits, cut where they are many.
fn shortened(bytes: &str) -> String {
    const SHOWN: usize = 128;
    match bytes.get(..SHOWN) {
        Some(front) if bytes.len() > SHOWN => format!("{front}..."),
        _ => bytes.to_string(),
    }
}

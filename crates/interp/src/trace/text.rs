//! Execution trace as text: a line per event, indented below its block, with the source line at its end.

use super::{Named, TraceEvent, TraceKind};
use crate::outcome::Marks;
use diag::{SourceMap, counted};
use std::fmt::Write;

/// Column of the source line, in characters.
const COLUMN: usize = 72;

/// Formats an event as text. Empty if the event changed nothing. An event with fields takes several lines, each with
/// its line end.
pub fn text(event: &TraceEvent, sources: &SourceMap) -> String {
    let mut lines = body(&event.kind);
    let Some(first) = lines.first_mut() else {
        return String::new();
    };
    if let Some((file, at)) = sources.line_col(event.span) {
        let name = &sources.file(file).name;
        let short = diag::shown(name.rsplit('/').next().unwrap_or(name));
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
                "packet on port {port}, {}: {}",
                counted(bytes.len() / 2, "byte"),
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
            vec![format!(
                "    advance {}, to byte {to}",
                counted(*bytes, "byte")
            )]
        }
        TraceKind::Select { keys, to } => vec![format!(
            "    select {} -> {}",
            all_readable(keys),
            to.as_deref().unwrap_or("no case")
        )],
        TraceKind::Reject { error } => vec![format!("  reject: {error}")],
        TraceKind::Assign { changed: false, .. } => Vec::new(),
        TraceKind::Assign {
            place, old, new, ..
        } => vec![format!(
            "    {place}: {} -> {}",
            readable(old),
            readable(new)
        )],
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
            group,
            member,
            action,
            args,
        } => {
            let found = match entry {
                Some(entry) if !entry.is_empty() => format!("hit {}", list(entry)),
                _ if *hit => "hit".to_string(),
                _ => "miss".to_string(),
            };
            let group = group.map_or(String::new(), |group| format!(", group {group}"));
            let member = member.map_or(String::new(), |member| format!(", member {member}"));
            vec![
                format!("  table {table} {}", list(keys)),
                format!("    {found}{group}{member}: {action}{}", list(args)),
            ]
        }
        TraceKind::Extern {
            name,
            args,
            results,
        } => {
            let results = match results.as_slice() {
                [] => String::new(),
                some => format!(" -> {}", all_readable(some)),
            };
            vec![format!("    {name}({}){results}", all_readable(args))]
        }
        TraceKind::Digest {
            digest,
            receiver,
            fields,
        } => vec![format!(
            "    digest {digest} to receiver {receiver} {}",
            list(fields)
        )],
        TraceKind::Log { line } => vec![format!("    log: {line}")],
        TraceKind::Emit {
            header, from, to, ..
        } => vec![format!("    emit {header} (bytes {})", range(*from, *to))],
        TraceKind::Begins {
            instance,
            port,
            rid,
            round,
            kept,
        } => {
            let port = port.map_or(String::new(), |port| format!(" to port {port}"));
            let rid = rid.filter(|rid| *rid != 0);
            let rid = rid.map_or(String::new(), |rid| format!(", replication id {rid}"));
            let round = match round {
                0 => String::new(),
                round => format!(", round {round}"),
            };
            let kept = match kept.as_slice() {
                [] => String::new(),
                some => format!(", keeps {}", list(some)),
            };
            vec![format!("{instance}{port}{rid}{round}{kept}")]
        }
        TraceKind::Lost { reason } => vec![format!("lost: {reason}")],
        TraceKind::Marks(marks) if *marks == Marks::default() => Vec::new(),
        TraceKind::Marks(marks) => vec![format!(
            "  mark {}, priority {}, queue {}",
            readable(&marks.mark.to_string()),
            readable(&marks.priority.to_string()),
            marks.queue
        )],
        TraceKind::Verdict { verdict, packets } => {
            let mut lines = vec![format!("verdict: {verdict}")];
            for packet in packets {
                lines.push(format!(
                    "  port {}, {}: {}",
                    packet.port,
                    counted(packet.bytes.len() / 2, "byte"),
                    shortened(&packet.bytes)
                ));
            }
            lines
        }
    }
}

/// Formats a range of bytes, both ends included.
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
        .map(|item| format!("{}={}", item.name, readable(&item.value)))
        .collect();
    format!("({})", items.join(", "))
}

fn with_fields(first: String, fields: &[Named]) -> Vec<String> {
    let width = fields.iter().map(|f| f.name.chars().count()).max();
    let width = width.unwrap_or(0);
    let fields = fields
        .iter()
        .map(|f| format!("      {:width$} = {}", f.name, readable(&f.value)));
    std::iter::once(first).chain(fields).collect()
}

/// Formats a number in both bases, if a reader may need the other.
fn readable(value: &str) -> String {
    if let Some(digits) = value.strip_prefix("0x") {
        return match u32::from_str_radix(digits, 16) {
            Ok(number) if number < 10 => number.to_string(),
            Ok(number) => format!("{number} ({value})"),
            Err(_) => value.to_string(),
        };
    }
    match value.parse::<u64>() {
        Ok(number) if number > 255 => format!("{value} ({number:#x})"),
        _ => value.to_string(),
    }
}

fn all_readable(values: &[String]) -> String {
    let values: Vec<String> = values.iter().map(|v| readable(v)).collect();
    values.join(", ")
}

/// Shortens hexadecimal digits if there are many.
fn shortened(bytes: &str) -> String {
    const SHOWN: usize = 128;
    match bytes.get(..SHOWN) {
        Some(front) if bytes.len() > SHOWN => format!("{front}..."),
        _ => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn numbers_are_shown_in_the_base_that_helps() {
        let cases = [
            ("6", "6"),
            ("255", "255"),
            ("2048", "2048 (0x800)"),
            ("0x1", "1"),
            ("0x1234", "4660 (0x1234)"),
            ("0x123456789ab", "0x123456789ab"),
            ("10.0.0.1", "10.0.0.1"),
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("XDP_PASS", "XDP_PASS"),
        ];
        for (value, want) in cases {
            assert_eq!(readable(value), want);
        }
    }
}

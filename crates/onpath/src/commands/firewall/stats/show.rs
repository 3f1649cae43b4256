//! Counts of a firewall as tables and as JSON.

use super::Stats;
use crate::commands::firewall::groups::seconds;
use crate::commands::named::print_rows;
use crate::output::out_line;
use serde_json::{Value, json};

/// Returns the counts as JSON.
pub(super) fn json(stats: &Stats) -> Value {
    let messages = stats.messages.iter().map(|of| {
        json!({
            "group": of.group,
            "message": of.kind,
            "blocked": of.blocked,
            "allowed": of.allowed,
            "excused": of.excused,
        })
    });
    let lists = stats
        .lists
        .iter()
        .map(|(list, allows, count)| json!({ "list": list, "allows": allows, "decided": count }));
    let unread = stats
        .unread
        .iter()
        .map(|(kind, reason, count)| json!({ "message": kind, "reason": reason, "count": count }));
    let paused = stats.paused.iter();
    let paused =
        paused.map(|(group, left)| json!({ "group": group, "seconds": left.map(seconds) }));
    let reasons = |of: &[(&str, u64)]| -> Vec<Value> {
        let row = |(reason, count): &(&str, u64)| json!({ "reason": reason, "count": count });
        of.iter().map(row).collect()
    };
    json!({
        "name": stats.name,
        "messages": messages.collect::<Vec<Value>>(),
        "paused": paused.collect::<Vec<Value>>(),
        "lists": lists.collect::<Vec<Value>>(),
        "unread": unread.collect::<Vec<Value>>(),
        "unknown": reasons(&stats.unknown),
        "dropped_segments": reasons(&stats.dropped),
        "forgotten": reasons(&stats.forgotten),
        "quic": stats.quic,
        "withheld": stats.withheld,
    })
}

/// Prints the counts as tables.
pub(super) fn print(stats: &Stats) {
    let messages = stats.messages.iter().map(|of| {
        let [blocked, allowed, excused] =
            [of.blocked, of.allowed, of.excused].map(|count| count.to_string());
        [
            of.group.clone(),
            of.kind.to_owned(),
            blocked,
            allowed,
            excused,
        ]
    });
    let heads = ["GROUP", "MESSAGE", "BLOCKED", "ALLOWED", "EXCUSED"];
    match stats.has_groups {
        true => print_rows(heads, messages, ""),
        false => {
            let [_, heads @ ..] = heads;
            print_rows(heads, messages.map(|[_, row @ ..]| row), "");
        }
    }
    for (group, left) in &stats.paused {
        let who = if stats.has_groups { group } else { &stats.name };
        match left {
            Some(left) => out_line!("{who}: it is paused for {} s more", seconds(*left)),
            None => out_line!("{who}: it counts only"),
        }
    }
    out_line!();
    let rows = stats
        .lists
        .iter()
        .map(|(list, _, count)| [list.clone(), count.to_string()]);
    print_rows(["LIST", "DECIDED"], rows, "");
    out_line!("\npackets that begin a connection of QUIC: {}", stats.quic);
    if stats.withheld > 0 {
        out_line!(
            "queries for HTTPS records that got none: {}",
            stats.withheld
        );
    }
    if !stats.unread.is_empty() {
        out_line!();
        let rows = stats.unread.iter();
        let rows = rows.map(|(kind, reason, count)| {
            [(*kind).to_owned(), count.to_string(), (*reason).to_owned()]
        });
        print_rows(["MESSAGE", "COUNT", "ITS NAME COULD NOT BE READ"], rows, "");
    }
    let reasons = [
        ("THE CONNECTION IS UNKNOWN", &stats.unknown),
        ("THE SEGMENT IS DROPPED, WHATEVER ITS NAME", &stats.dropped),
        ("FORGOTTEN: OTHERS NEEDED THE ROOM", &stats.forgotten),
    ];
    for (head, reasons) in reasons.into_iter().filter(|(_, all)| !all.is_empty()) {
        out_line!();
        let row = |(reason, count): &(&str, u64)| [count.to_string(), (*reason).to_owned()];
        print_rows(["COUNT", head], reasons.iter().map(row), "");
    }
}

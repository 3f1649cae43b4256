//! `onpath firewall stats`

use super::{Running, running};
use crate::commands::named::{not_done, print_rows};
use crate::output::{Done, Stop, out_line, print_json};
use control::Store;
use diag::shown;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Messages whose names are looked up, in the order of the counters' indices.
const KINDS: [&str; 4] = ["dns", "http", "tls", "quic"];
/// Index of QUIC among them.
const QUIC: u64 = 3;
/// Number of indices that a kind of message has in the counter of names that could not be read.
const STATUSES: u64 = 16;
/// Reasons for which a name could not be read, each with the status of reading (`message_status` of payload.p4).
const REASONS: [(u64, &str); 7] = [
    (2, "ends within a field"),
    (3, "a length beyond the packet's end"),
    (4, "nested too deep"),
    (5, "a name's pointers form a loop"),
    (6, "bytes that cannot stand there"),
    (7, "too long"),
    (8, "lengths that conflict"),
];
/// Reasons for which the name of a QUIC connection could not be read (`quic_status` of payload.p4).
const REASONS_OF_QUIC: [(u64, &str); 6] = [
    (3, "another version"),
    (4, "bytes that cannot stand there"),
    (5, "it brings other bytes than came before"),
    (6, "too long"),
    (7, "its first bytes are forgotten"),
    (8, "another processor had its connection"),
];

/// Reasons for which a TCP connection is unknown (`verdict_count` of stream_verdicts.p4).
const UNKNOWN: [(u64, &str); 7] = [
    (
        0,
        "its beginning, or the server's answer to it, was not seen",
    ),
    (1, "no such message"),
    (2, "a malformed message"),
    (3, "a message that is too long"),
    (4, "too many connections wait for a decision"),
    (5, "too many messages in a segment"),
    (6, "urgent data"),
];
/// Reasons for which a TCP segment is dropped, whatever its name, since TCP sends it again.
const DROPPED: [(u64, &str); 5] = [
    (8, "bytes before it are missing"),
    (9, "it brings other bytes than came before"),
    (10, "too much before it is not acknowledged"),
    (11, "another processor had its connection"),
    (12, "it is shorter than its headers say"),
];

/// Counts of one counter, by index.
type Counts = BTreeMap<u64, u64>;

/// Prints the counters of a running firewall.
pub(super) fn run(name: Option<&str>, as_json: bool) -> Done {
    let Running { name, files, store } = running(name)?;
    let counts = |counter| read(&store, counter);
    let (blocked, allowed, decided_by) = (
        counts("blocked")?,
        counts("allowed")?,
        counts("decided_by")?,
    );
    let (unread, quic) = (counts("unread")?, counts("quic")?);
    let (followings, fragments) = (counts("followings")?, counts("fragments")?);
    let of = |counts: &Counts, index: usize| counts.get(&(index as u64)).copied().unwrap_or(0);
    let because = |reasons: &[(u64, &'static str)]| -> Vec<(&'static str, u64)> {
        let counted = |(at, reason): &(u64, &'static str)| (*reason, of(&followings, *at as usize));
        let all = reasons.iter().map(counted);
        all.filter(|(_, count)| *count > 0).collect()
    };
    let mut unknown = because(&UNKNOWN);
    let fragments = of(&fragments, 0);
    if fragments > 0 {
        unknown.push(("a fragment of an IP packet", fragments));
    }
    let dropped = because(&DROPPED);
    let unread: Vec<(&str, &str, u64)> = unread
        .iter()
        .filter_map(|(index, count)| {
            let kind = KINDS.get((index / STATUSES) as usize)?;
            let reasons: &[_] = match index / STATUSES {
                QUIC => &REASONS_OF_QUIC,
                _ => &REASONS,
            };
            let reason = reasons.iter().find(|(at, _)| *at == index % STATUSES)?;
            Some((*kind, reason.1, *count))
        })
        .collect();
    let lists = files.shown().into_iter().enumerate();
    let lists = lists.map(|(at, list)| (list, at >= files.block.len(), of(&decided_by, at)));
    if as_json {
        let kinds = KINDS.iter().enumerate().map(|(at, kind)| {
            json!({
                "message": kind,
                "blocked": of(&blocked, at),
                "allowed": of(&allowed, at),
            })
        });
        let lists = lists.map(
            |(list, allows, count)| json!({ "list": list, "allows": allows, "decided": count }),
        );
        let unread = unread.iter().map(
            |(kind, reason, count)| json!({ "message": kind, "reason": reason, "count": count }),
        );
        let reasons = |of: &[(&str, u64)]| -> Vec<Value> {
            let row = |(reason, count): &(&str, u64)| json!({ "reason": reason, "count": count });
            of.iter().map(row).collect()
        };
        print_json(&json!({
            "name": name,
            "messages": kinds.collect::<Vec<Value>>(),
            "lists": lists.collect::<Vec<Value>>(),
            "unread": unread.collect::<Vec<Value>>(),
            "unknown": reasons(&unknown),
            "dropped_segments": reasons(&dropped),
            "quic": of(&quic, 0),
        }));
        return Ok(ExitCode::SUCCESS);
    }
    let kinds = KINDS.iter().enumerate().map(|(at, kind)| {
        [
            (*kind).to_owned(),
            of(&blocked, at).to_string(),
            of(&allowed, at).to_string(),
        ]
    });
    let heads = ["MESSAGE", "BLOCKED", "ALLOWED"];
    print_rows(heads, kinds, "");
    out_line!();
    let rows = lists.map(|(list, _, count)| [list, count.to_string()]);
    print_rows(["LIST", "DECIDED"], rows, "");
    out_line!(
        "\npackets that begin a connection of QUIC: {}",
        of(&quic, 0)
    );
    if !unread.is_empty() {
        out_line!();
        let rows = unread
            .into_iter()
            .map(|(kind, reason, count)| [kind.to_owned(), count.to_string(), reason.to_owned()]);
        print_rows(["MESSAGE", "COUNT", "ITS NAME COULD NOT BE READ"], rows, "");
    }
    let unread = [
        ("THE CONNECTION IS UNKNOWN", unknown),
        ("THE SEGMENT IS DROPPED, WHATEVER ITS NAME", dropped),
    ];
    for (head, reasons) in unread.into_iter().filter(|(_, all)| !all.is_empty()) {
        out_line!();
        let row = |(reason, count): (&str, u64)| [count.to_string(), reason.to_owned()];
        print_rows(["COUNT", head], reasons.into_iter().map(row), "");
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads a counter of the program, by the end of its name.
fn read(store: &dyn Store, counter: &str) -> Result<Counts, Stop> {
    let schema = store.schema();
    let is_meant = |name: &str| name.rsplit('.').next() == Some(counter);
    let mut counters = schema.counters().map(|(object, _)| object);
    let Some(object) = counters.find(|object| is_meant(&schema.objects[*object].name)) else {
        return Ok(Counts::new());
    };
    let failed = not_done(format!("counter `{}` could not be read", shown(counter)));
    let all = store.counters(object).map_err(failed)?;
    Ok(all
        .into_iter()
        .map(|(at, count)| (at, count.packets))
        .collect())
}

//! `onpath firewall stats`

mod prometheus;
mod show;

use super::groups::ticks_of;
use super::pause::{group_name, paused};
use super::running::{Running, running};
use crate::commands::named::not_done;
use crate::commands::start;
use crate::output::{Done, Stop, err_line, print_json};
use crate::prometheus_page;
use control::Store;
use diag::shown;
use host::linux::monotonic_now;
use schema::{Object, Schema};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

/// Time between two readings for Prometheus.
const INTERVAL: Duration = Duration::from_secs(1);

/// Messages whose names are looked up, in the order of the counters' indices.
pub(super) const KINDS: [&str; 4] = ["dns", "http", "tls", "quic"];
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
/// Reasons for which the ports of a packet are not read.
const FRAGMENTS: [&str; 2] = [
    "a fragment of an IP packet",
    "a frame with other headers than are read",
];
/// Reasons for which a TCP segment is dropped, whatever its name, since TCP sends it again.
const DROPPED: [(u64, &str); 5] = [
    (8, "bytes before it are missing"),
    (9, "it brings other bytes than came before"),
    (10, "too much before it is not acknowledged"),
    (11, "another processor had its connection"),
    (12, "it is shorter than its headers say"),
];

/// States of connections, by the ends of their names.
const STATES: [(&str, &str); 3] = [
    ("decided", "connections that are decided"),
    ("followed", "connections that are not decided"),
    ("quic_flows", "connections of QUIC"),
];

/// Counts of one counter, by index.
type Counts = BTreeMap<u64, u64>;

/// Counts of a kind of message, of one group.
struct Messages {
    group: String,
    kind: &'static str,
    /// Those that were dropped.
    blocked: u64,
    /// Those that a list allows.
    allowed: u64,
    /// Those that a list blocks, and that passed since the group is paused or counts only.
    excused: u64,
}

/// Counts of a running firewall.
struct Stats {
    /// Name of the firewall.
    name: String,
    /// Each kind of message of each group; sources that belong to no group come first.
    messages: Vec<Messages>,
    has_groups: bool,
    /// Groups that are paused, and for how many units of the program's clock; `None` for ever.
    paused: Vec<(String, Option<u32>)>,
    /// Lists, if they only allow, and the number of messages for which they decide.
    lists: Vec<(String, bool, u64)>,
    /// Messages whose name could not be read: kind, reason and number.
    unread: Vec<(&'static str, &'static str, u64)>,
    /// Reasons for which connections are unknown.
    unknown: Vec<(&'static str, u64)>,
    /// Reasons for which segments are dropped.
    dropped: Vec<(&'static str, u64)>,
    /// Connections that made room for others, by their states.
    forgotten: Vec<(&'static str, u64)>,
    /// Packets with which connections of QUIC begin.
    quic: u64,
    /// Queries for HTTPS records that got none.
    withheld: u64,
}

/// Prints the counters of a running firewall, or serves them to Prometheus until an interrupt.
pub(super) fn run(name: Option<&str>, prometheus: Option<&str>, as_json: bool) -> Done {
    let address = prometheus_page::address(prometheus)?;
    let running = running(name)?;
    let interrupts = address.map(|_| start::hold()).transpose()?;
    let (Some((address, page)), Some(interrupts)) = (prometheus_page::serve(address)?, interrupts)
    else {
        let stats = Stats::read(&running)?;
        match as_json {
            true => print_json(&show::json(&stats)),
            false => show::print(&stats),
        }
        return Ok(ExitCode::SUCCESS);
    };
    page.publish(prometheus::page(&Stats::read(&running)?));
    err_line!(
        "{}: metrics for Prometheus at http://{address}/metrics",
        running.name
    );
    loop {
        let signal = interrupts.wait_for(INTERVAL);
        let signal = signal
            .map_err(|error| Stop::Failed(format!("no more interrupts are seen: {error}")))?;
        if signal.is_some() {
            return Ok(ExitCode::SUCCESS);
        }
        page.publish(prometheus::page(&Stats::read(&running)?));
    }
}

impl Stats {
    fn read(Running { name, files, store }: &Running) -> Result<Stats, Stop> {
        let counts = |counter| read(store, counter);
        let of = |counts: &Counts, index: usize| counts.get(&(index as u64)).copied().unwrap_or(0);
        let (blocked, allowed, excused) =
            (counts("blocked")?, counts("allowed")?, counts("excused")?);
        let groups = 0..=files.groups().len();
        let messages = groups.clone().flat_map(|group| {
            KINDS
                .iter()
                .enumerate()
                .map(move |(at, kind)| (group, 4 * group + at, *kind))
        });
        let messages = messages.map(|(group, at, kind)| Messages {
            group: group_name(files, group).to_owned(),
            kind,
            blocked: of(&blocked, at),
            allowed: of(&allowed, at),
            excused: of(&excused, at),
        });
        let failed = not_done("the pauses could not be read".to_owned());
        let pauses = paused(store).map_err(failed)?;
        let now = ticks_of(monotonic_now());
        let pauses = groups.filter_map(|group| {
            let until = pauses.get(&group).copied().filter(|until| *until > now)?;
            let left = (until != u32::MAX).then_some(until - now);
            Some((group_name(files, group).to_owned(), left))
        });
        let decided_by = counts("decided_by")?;
        let lists = files.shown().into_iter().zip(files.all()).enumerate();
        let lists =
            lists.map(|(at, (list, file))| (list, files.only_allows(file), of(&decided_by, at)));
        let unread = counts("unread")?;
        let unread = unread.iter().filter_map(|(index, count)| {
            let kind = KINDS.get((index / STATUSES) as usize)?;
            let reasons: &[_] = match index / STATUSES {
                QUIC => &REASONS_OF_QUIC,
                _ => &REASONS,
            };
            let reason = reasons.iter().find(|(at, _)| *at == index % STATUSES)?;
            Some((*kind, reason.1, *count))
        });
        let followings = counts("followings")?;
        let because = |reasons: &[(u64, &'static str)]| -> Vec<(&'static str, u64)> {
            let counted =
                |(at, reason): &(u64, &'static str)| (*reason, of(&followings, *at as usize));
            let all = reasons.iter().map(counted);
            all.filter(|(_, count)| *count > 0).collect()
        };
        let mut unknown = because(&UNKNOWN);
        let fragments = counts("fragments")?;
        let of_fragments = FRAGMENTS.iter().zip(0..);
        let of_fragments = of_fragments.map(|(reason, at)| (*reason, of(&fragments, at)));
        unknown.extend(of_fragments.filter(|(_, count)| *count > 0));
        Ok(Stats {
            name: name.clone(),
            messages: messages.collect(),
            has_groups: !files.groups().is_empty(),
            paused: pauses.collect(),
            lists: lists.collect(),
            unread: unread.collect(),
            unknown,
            dropped: because(&DROPPED),
            forgotten: forgotten(store)?,
            quic: of(&counts("quic")?, 0),
            withheld: of(&counts("withheld")?, 0),
        })
    }
}

/// Reads how many connections made room for others.
fn forgotten(store: &dyn Store) -> Result<Vec<(&'static str, u64)>, Stop> {
    let mut found = Vec::new();
    for (name, what) in STATES {
        if let Some(state) = object(store.schema(), name) {
            let failed = not_done("the connections could not be counted");
            let room = store.flow_room(state).map_err(failed)?;
            found.extend(
                room.evicted
                    .filter(|count| *count > 0)
                    .map(|count| (what, count)),
            );
        }
    }
    Ok(found)
}

/// Finds an object of the program by the end of its name.
fn object(schema: &Schema, end: &str) -> Option<Object> {
    let mut all = schema.objects.iter();
    let found = all.find(|(_, data)| data.name.rsplit('.').next() == Some(end));
    found.map(|(object, _)| object)
}

/// Reads a counter of the program, by the end of its name.
fn read(store: &dyn Store, counter: &str) -> Result<Counts, Stop> {
    let Some(object) = object(store.schema(), counter) else {
        return Ok(Counts::new());
    };
    let failed = not_done(format!("counter `{}` could not be read", shown(counter)));
    let all = store.counters(object).map_err(failed)?;
    Ok(all
        .into_iter()
        .map(|(at, count)| (at, count.packets))
        .collect())
}

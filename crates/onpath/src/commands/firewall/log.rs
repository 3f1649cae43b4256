//! `onpath firewall log`

use super::groups::{self, change, ticks_of};
use super::lists::Files;
use super::pause::group_name;
use super::running::{Running, running};
use super::stats::KINDS;
use crate::commands::named::not_done;
use crate::commands::stream::{Found, print_lines};
use crate::output::{Done, Stop, err_line};
use control::Store;
use diag::{counted, shown};
use firewall::rules::Origin;
use host::files::{self, Streams};
use host::linux::monotonic_now;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use kernel::KernelStore;
use serde_json::json;
use std::collections::HashMap;
use std::fs;
use std::net::{IpAddr, Ipv6Addr};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// Time for which a program goes on to report if this process ends.
const AHEAD: Duration = Duration::from_secs(10);
/// Time after which this process asks it to go on.
const RENEWED: Duration = Duration::from_secs(3);

/// Prints requests of a running firewall that are blocked, as they come.
pub(super) fn run(
    name: Option<&str>,
    has_clients: bool,
    count: Option<u64>,
    as_json: bool,
) -> Done {
    let Running {
        files, mut store, ..
    } = running(name)?;
    let begin = monotonic_now();
    let mut renewed: Option<Instant> = None;
    let mut lists = Lists {
        files: &files,
        read: HashMap::new(),
    };
    print_lines(count, |most, patience| {
        if let Some(late) = renewed.map(|at| at.elapsed()).filter(|late| *late > AHEAD) {
            let missed = (late - AHEAD).as_secs();
            err_line!(
                "warning: for some {missed} s nothing was reported: what this prints was not read"
            );
        }
        if renewed.is_none_or(|at| at.elapsed() > RENEWED) {
            watch(&mut store, &files, has_clients)?;
            renewed = Some(Instant::now());
        }
        let patience = patience.min(RENEWED);
        let digests = store.digests(most, patience);
        let digests = digests.map_err(not_done("the reports could not be read"))?;
        let values = digests.received.iter().map(|digest| &digest.values[..]);
        // Those that wait since another process watched are old.
        let requests = values
            .filter_map(Request::of)
            .filter(|request| request.time >= begin)
            // Another process may have asked for them.
            .map(|request| Request {
                client: request.client.filter(|_| has_clients),
                ..request
            });
        let lines = requests.map(|request| match as_json {
            true => lists.json(&request).to_string(),
            false => lists.text(&request),
        });
        let lost = (digests.lost > 0).then(|| {
            let lost = counted(digests.lost, "request");
            format!("{lost} not reported: more came than were read")
        });
        Ok(Found {
            lines: lines.collect(),
            lost,
        })
    })
}

/// Asks a program to report blocked requests of all groups for the next seconds.
fn watch(store: &mut KernelStore, files: &Files, has_clients: bool) -> Result<(), Stop> {
    let end = ticks_of(monotonic_now() + AHEAD.as_nanos() as u64) + 1;
    let groups = 0..=files.groups().len();
    let entries = groups.map(|group| {
        let entry = groups::watcher(group, end, has_clients);
        format!("modify {entry}")
    });
    change(store, entries.collect())
}

/// Report of a request.
struct Request {
    /// Nanoseconds of the monotonic clock.
    time: u64,
    rule: u32,
    message: &'static str,
    group: usize,
    is_excused: bool,
    /// Source of the request, if it was asked for.
    client: Option<IpAddr>,
}

impl Request {
    /// Reads a program's report.
    fn of(values: &[schema::Bits]) -> Option<Request> {
        let [time, rule, kind, group, is_excused, client] = values else {
            return None;
        };
        let number = |bits: &schema::Bits| bits.to_u64();
        let address = <[u8; 16]>::try_from(client.to_bytes()).ok()?;
        let client = Ipv6Addr::from(address);
        Some(Request {
            time: number(time)?,
            rule: number(rule)? as u32,
            message: KINDS.get(number(kind)? as usize)?,
            group: number(group)? as usize,
            is_excused: number(is_excused)? != 0,
            client: (!client.is_unspecified()).then(|| client.to_canonical()),
        })
    }

    /// Returns the time of day at which it came.
    fn moment(&self) -> Timestamp {
        let age = monotonic_now().saturating_sub(self.time);
        let now = Timestamp::now();
        now.checked_sub(Duration::from_nanos(age)).unwrap_or(now)
    }
}

/// Lists of a firewall, read for their lines.
struct Lists<'f> {
    files: &'f Files,
    read: HashMap<usize, List>,
}

/// Text of a list.
struct List {
    modified: Option<SystemTime>,
    bytes: Vec<u8>,
    /// Offsets at which its lines begin.
    lines: Vec<usize>,
}

impl List {
    fn read(file: &Path, modified: Option<SystemTime>) -> List {
        let bytes = files::read(file, Streams::Refused).unwrap_or_default();
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let lines = std::iter::once(0).chain(ends.map(|(at, _)| at + 1));
        List {
            modified,
            lines: lines.collect(),
            bytes,
        }
    }

    /// Returns a line by its number, from 1 on.
    fn line(&self, number: usize) -> Option<String> {
        let from = *self.lines.get(number.checked_sub(1)?)?;
        let rest = self.bytes.get(from..)?;
        let line = rest.split(|byte| *byte == b'\n').next()?;
        let line = String::from_utf8_lossy(line);
        (!line.trim().is_empty()).then(|| line.trim().to_owned())
    }
}

impl Lists<'_> {
    /// Returns the list and line of a rule, and the line as the list has it now.
    fn place(&mut self, rule: u32) -> (String, Option<String>) {
        let origin = Origin::of(rule);
        let all = self.files.all();
        let Some(file) = all.get(origin.list()) else {
            return (format!("rule {rule}"), None);
        };
        let modified = fs::metadata(file).and_then(|found| found.modified()).ok();
        let read = self.read.entry(origin.list());
        let list = read
            .and_modify(|list| {
                if list.modified != modified {
                    *list = List::read(file, modified);
                }
            })
            .or_insert_with(|| List::read(file, modified));
        let place = format!("{}:{}", file.to_string_lossy(), origin.line());
        (place, list.line(origin.line()))
    }

    fn text(&mut self, request: &Request) -> String {
        let (place, line) = self.place(request.rule);
        let time = request.moment().to_zoned(TimeZone::system());
        let mut text = format!("{} {:4} ", time.strftime("%H:%M:%S"), request.message);
        text += if request.is_excused {
            "excused"
        } else {
            "blocked"
        };
        if let Some(line) = line {
            text += &format!(" by `{}`", shown(&line));
        }
        text += &format!(", {}", shown(&place));
        if !self.files.groups().is_empty() {
            text += &format!(", {}", group_name(self.files, request.group));
        }
        if let Some(client) = request.client {
            text += &format!(", from {client}");
        }
        text
    }

    fn json(&mut self, request: &Request) -> serde_json::Value {
        let (place, line) = self.place(request.rule);
        json!({
            "time": request.moment().to_string(),
            "message": request.message,
            "excused": request.is_excused,
            "rule": line,
            "place": place,
            "group": group_name(self.files, request.group),
            "client": request.client,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::Bits;

    #[test]
    fn reports_are_read() {
        let mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1];
        let values = |client| {
            [
                Bits::new(64, 7u32),
                Bits::new(32, 9u32),
                Bits::new(8, 2u32),
                Bits::new(8, 1u32),
                Bits::new(8, 1u32),
                client,
            ]
        };
        let request = Request::of(&values(Bits::from_bytes(128, &mapped))).unwrap();
        assert_eq!(request.message, "tls");
        assert_eq!(request.client.unwrap().to_string(), "10.0.0.1");
        assert!(request.is_excused);
        let request = Request::of(&values(Bits::new(128, 0u32))).unwrap();
        assert!(request.client.is_none());
    }

    #[test]
    fn lines_are_found_by_their_numbers() {
        let bytes = b"a.example\n\n  b.example \r\nc.example".to_vec();
        let list = List {
            modified: None,
            lines: vec![0, 10, 11, 25],
            bytes,
        };
        let line = |number| list.line(number);
        assert_eq!(line(1).as_deref(), Some("a.example"));
        assert_eq!(line(2), None);
        assert_eq!(line(3).as_deref(), Some("b.example"));
        assert_eq!(line(4).as_deref(), Some("c.example"));
        assert_eq!(line(5), None);
        assert_eq!(line(0), None);
    }
}

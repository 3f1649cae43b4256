//! Entries of a program for groups of sources.

use crate::output::{Stop, print_diagnostics};
use control::entries::{self as lines, Existing};
use diag::SourceMap;
use firewall::config::{Group, Source, windows};
use host::linux::monotonic_now;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use kernel::KernelStore;
use std::fmt::Write;

/// The program's table of times has room for so many; one more is left.
const MOST_TIMES: usize = 8000;
/// Days for which a program knows times in advance, if it has the room for them.
const DAYS: u16 = 366;
/// A unit of the program's clock, in bits of a nanosecond.
const TICK_BITS: u32 = 30;
/// The end of all times, in these units.
pub(super) const NEVER: u32 = u32::MAX;

/// Moment of the program's clock, in its units.
pub(super) fn ticks_of(nanoseconds: u64) -> u32 {
    u32::try_from(nanoseconds >> TICK_BITS).unwrap_or(NEVER)
}

/// Length of a time in these units, in whole seconds that are left at least: a part of the first unit is over.
pub(super) fn seconds(ticks: u32) -> u64 {
    (u64::from(ticks.saturating_sub(1)) << TICK_BITS) / 1_000_000_000
}

/// Clock of a program beside that of the place.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    now: Timestamp,
    monotonic: u64,
    zone: TimeZone,
}

impl Clock {
    /// Returns the clocks of this machine.
    pub(super) fn of_machine() -> Clock {
        Clock {
            now: Timestamp::now(),
            monotonic: monotonic_now(),
            zone: TimeZone::system(),
        }
    }

    /// Returns a moment by the program's clock. Those before the clock began are its begin.
    fn ticks(&self, moment: Timestamp) -> u32 {
        let distance: SignedDuration = moment.duration_since(self.now);
        let then = i128::from(self.monotonic) + distance.as_nanos();
        ticks_of(u64::try_from(then.max(0)).unwrap_or(u64::MAX))
    }
}

/// Writes the entries of groups: their sources and times. The first group has number 1.
pub(super) fn entries(groups: &[Group], clock: &Clock) -> String {
    let mut text = String::new();
    let timed = groups
        .iter()
        .filter(|group| !group.times.is_empty())
        .count();
    for (group, number) in groups.iter().zip(1..) {
        for source in &group.sources {
            // Writing to a text does not fail.
            let _ = match source.mapped() {
                Source::Station(_) => {
                    writeln!(text, "add stations hdr.eth.src:{source} in_group({number})")
                }
                Source::Prefix(net) => {
                    writeln!(text, "add sources address:{net} in_group({number})")
                }
            };
        }
        for (begin, end) in times(group, timed, clock) {
            let _ = writeln!(
                text,
                "add times 1 group.number:{number} now:{begin}..{end} holds()"
            );
        }
    }
    text
}

/// Writes the entries with which a firewall begins, two for each group: those that count only are paused for ever, and
/// none is watched.
pub(super) fn beginning(groups: &[Group]) -> String {
    let counts = groups.iter().map(|group| group.is_counted_only);
    let all = std::iter::once(false).chain(counts).enumerate();
    let entries = all.map(|(number, counts)| {
        let paused = pause(number, if counts { NEVER } else { 0 });
        format!("add {paused}add {}", watcher(number, 0, false))
    });
    entries.collect()
}

/// Writes an entry by which blocked requests of a group are reported up to a moment, without a command.
pub(super) fn watcher(group: usize, until: u32, has_clients: bool) -> String {
    let clients = u8::from(has_clients);
    format!("watchers group.number:{group} report({until}, {clients})\n")
}

/// Changes entries of a running firewall. Each line has a command.
pub(super) fn change(store: &mut KernelStore, text: String) -> Result<(), Stop> {
    let mut map = SourceMap::new();
    let Some(id) = map.add("the groups", text) else {
        return Err(Stop::Failed("the groups are too many".into()));
    };
    lines::load(lines::lines(&map, id), Existing::Keep, store).map_err(|diagnostics| {
        print_diagnostics(&diagnostics, &map);
        Stop::AlreadyReported(1)
    })?;
    Ok(())
}

/// Writes an entry by which a group is paused up to a moment, without a command.
pub(super) fn pause(group: usize, until: u32) -> String {
    format!("pauses group.number:{group} until({until})\n")
}

/// Returns when the lists of a group hold, both ends included. `timed` groups share the room.
fn times(group: &Group, timed: usize, clock: &Clock) -> Vec<(u32, u32)> {
    if group.times.is_empty() {
        return vec![(0, NEVER)];
    }
    let mut all = windows(&group.times, clock.now, DAYS, &clock.zone);
    all.truncate(MOST_TIMES / timed.max(1));
    all.into_iter()
        .map(|(begin, end)| (clock.ticks(begin), clock.ticks(end).saturating_sub(1)))
        .filter(|(begin, end)| begin <= end)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_of_the_programs_clock() {
        let mut group = Group {
            name: "a".to_owned(),
            sources: vec![
                "10.0.3.0/24".parse().unwrap(),
                "02:00:00:00:00:01".parse().unwrap(),
            ],
            times: vec!["mon 08:00-09:00".parse().unwrap()],
            block: Vec::new(),
            allow: Vec::new(),
            is_counted_only: true,
        };
        // A Monday at 08:30, 100 ticks after the machine has started.
        let clock = Clock {
            now: "2026-11-30T08:30:00Z".parse().unwrap(),
            monotonic: 100 << TICK_BITS,
            zone: TimeZone::UTC,
        };
        let text = entries(std::slice::from_ref(&group), &clock);
        let mut lines = text.lines();
        assert_eq!(
            lines.next(),
            Some("add sources address:::ffff:10.0.3.0/120 in_group(1)")
        );
        assert_eq!(
            lines.next(),
            Some("add stations hdr.eth.src:02:00:00:00:00:01 in_group(1)")
        );
        let ticks = |seconds: u64| (seconds * 1_000_000_000) >> TICK_BITS;
        let end = 100 + ticks(1800) - 1;
        assert_eq!(
            lines.next(),
            Some(&*format!("add times 1 group.number:1 now:0..{end} holds()"))
        );
        assert_eq!(lines.count(), 52);
        assert_eq!(
            beginning(std::slice::from_ref(&group)),
            "add pauses group.number:0 until(0)\nadd watchers group.number:0 report(0, 0)\n\
             add pauses group.number:1 until(4294967295)\nadd watchers group.number:1 report(0, 0)\n"
        );
        group.times.clear();
        assert!(entries(&[group], &clock).ends_with("now:0..4294967295 holds()\n"));
    }
}

//! Schedule of specializations: soon after tables have stopped changing, and so rarely that compiling takes little of
//! a processor. A table that changes all the time does not delay the others.

use std::time::{Duration, Instant};

/// Time that a table must be unchanged before it is compiled in.
const QUIET: Duration = Duration::from_millis(200);
/// Pause between two compilations, as a multiple of the time that the last one took.
const PAUSE: u32 = 4;

/// State of a program's tables, and the earliest time of the next compilation.
#[derive(Debug)]
pub(super) struct Watch {
    tables: Vec<Watched>,
    not_before: Instant,
}

/// State of one table.
#[derive(Debug)]
struct Watched {
    /// Number of changes until now.
    count: u64,
    /// Time at which a new count was first seen; `None` if the table has not changed since the start.
    since: Option<Instant>,
    /// Number of changes at the last specialization.
    considered: Option<u64>,
}

impl Watch {
    /// Returns the state for this many tables without changes.
    pub(super) fn new(tables: usize, now: Instant) -> Watch {
        let unchanged = || Watched {
            count: 0,
            since: None,
            considered: None,
        };
        Watch {
            tables: (0..tables).map(|_| unchanged()).collect(),
            not_before: now,
        }
    }

    /// Takes the number of changes of each table. If a specialization is due, returns the indices of all tables that
    /// have been unchanged for [`QUIET`].
    pub(super) fn due(&mut self, now: Instant, counts: &[u64]) -> Option<Vec<usize>> {
        for (table, count) in self.tables.iter_mut().zip(counts) {
            if table.count != *count {
                table.count = *count;
                table.since = Some(now);
            }
        }
        let rests = |table: &Watched| match table.since {
            Some(since) => now.duration_since(since) >= QUIET,
            None => true,
        };
        let is_new = |table: &&Watched| rests(table) && table.considered != Some(table.count);
        if now < self.not_before || !self.tables.iter().any(|table| is_new(&table)) {
            return None;
        }
        let all = self.tables.iter().enumerate();
        Some(all.filter(|(_, t)| rests(t)).map(|(n, _)| n).collect())
    }

    /// Records a specialization to the tables of these indices, and the time that it took.
    pub(super) fn done(&mut self, tables: &[usize], now: Instant, took: Duration) {
        for number in tables {
            let table = &mut self.tables[*number];
            table.considered = Some(table.count);
        }
        self.not_before = now + took * PAUSE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn all_tables_are_due_at_the_start_and_then_what_has_changed_and_rests() {
        let start = Instant::now();
        let mut watch = Watch::new(2, start);
        assert_eq!(watch.due(start, &[0, 0]), Some(vec![0, 1]));
        watch.done(&[0, 1], start, MS);
        assert_eq!(watch.due(start + 100 * MS, &[0, 0]), None);
        assert_eq!(watch.due(start + 200 * MS, &[0, 1]), None);
        assert_eq!(watch.due(start + 399 * MS, &[0, 1]), None);
        assert_eq!(watch.due(start + 400 * MS, &[0, 1]), Some(vec![0, 1]));
    }

    #[test]
    fn a_table_that_never_rests_keeps_no_other_waiting() {
        let start = Instant::now();
        let mut watch = Watch::new(2, start);
        watch.due(start, &[0, 0]);
        watch.done(&[0, 1], start, MS);
        for turn in 1..=30u32 {
            let counts = [u64::from(turn), 1];
            let due = watch.due(start + 10 * turn * MS, &counts);
            assert_eq!(due, (turn >= 21).then_some(vec![1]), "{turn}");
        }
    }

    #[test]
    fn compiling_takes_a_fifth_of_the_time_at_most() {
        let start = Instant::now();
        let mut watch = Watch::new(1, start);
        watch.due(start, &[0]);
        watch.done(&[0], start, 500 * MS);
        watch.due(start + MS, &[1]);
        assert_eq!(watch.due(start + 1999 * MS, &[1]), None);
        assert_eq!(watch.due(start + 2000 * MS, &[1]), Some(vec![0]));
    }
}

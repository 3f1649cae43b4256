//! Trend of the first aggregate of each group, as a line of blocks.

use crate::aggregate::Cell;
use crate::report::{Report, Row, magnitude};
use crate::value::Value;
use std::collections::{HashMap, VecDeque};

/// Number of reports in a line.
pub const LENGTH: usize = 20;
/// Blocks, from nothing to the maximum of the line.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Last values of the groups that are shown.
#[derive(Clone, Debug, Default)]
pub struct Trends {
    groups: HashMap<Vec<Value<'static>>, VecDeque<f64>>,
    totals: Totals,
}

/// Totals of the first aggregate of all groups at the last report. They include groups that are not shown, since one
/// may be shown later.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals(HashMap<Vec<Value<'static>>, f64>);

impl Totals {
    /// Stores a group's total. Returns the last one, if the group is known.
    pub(super) fn replace(&mut self, keys: &[Value<'static>], now: f64) -> Option<f64> {
        match self.0.get_mut(keys) {
            Some(total) => Some(std::mem::replace(total, now)),
            None => self.0.insert(keys.to_vec(), now),
        }
    }
}

impl Trends {
    /// Adds a report, for the lines of its first `most` groups; other groups are forgotten. The growth of a total
    /// counts, or the value of another aggregate.
    pub fn take(&mut self, report: &Report, most: usize) {
        let mut groups = std::mem::take(&mut self.groups);
        let is_total = report.totals.first() == Some(&true);
        let most = most.min(report.shown().len());
        // For other aggregates, groups that are not shown do not matter.
        let all = if is_total { report.rows.len() } else { most };
        for (number, row) in report.rows[..all].iter().enumerate() {
            let first = row.cells.first().unwrap_or(&Cell::Nothing);
            let now = magnitude(first).max(0.0);
            let before = match is_total {
                true => self.totals.replace(&row.keys, now).unwrap_or(0.0),
                false => 0.0,
            };
            if number >= most {
                continue;
            }
            let mut trend = groups.remove(&row.keys).unwrap_or_default();
            trend.push_back((now - before).max(0.0));
            if trend.len() > LENGTH {
                trend.pop_front();
            }
            self.groups.insert(row.keys.clone(), trend);
        }
    }

    /// Returns a group's line: a block for each report, the last one at the right.
    pub fn line(&self, row: &Row) -> String {
        let Some(trend) = self.groups.get(&row.keys) else {
            return String::new();
        };
        let most = trend.iter().copied().fold(0.0, f64::max);
        let block = |&value: &f64| match most > 0.0 {
            true => BLOCKS[((value / most * 8.0).ceil() as usize).clamp(1, 8) - 1],
            false => BLOCKS[0],
        };
        trend.iter().map(block).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Counts, Unit};

    fn row(key: u64, value: u64) -> Row {
        Row {
            keys: vec![Value::Number(key)],
            cells: vec![Cell::Number(value)],
        }
    }

    fn report(totals: &[(u64, u64)]) -> Report {
        report_of(true, totals)
    }

    fn report_of(is_total: bool, values: &[(u64, u64)]) -> Report {
        Report {
            keys: vec!["k".into()],
            aggregates: vec!["count".into()],
            units: vec![Unit::Plain],
            totals: vec![is_total],
            rows: values.iter().map(|&(key, value)| row(key, value)).collect(),
            most: usize::MAX,
            counts: Counts::default(),
            seconds: 1.0,
            text: 0,
        }
    }

    #[test]
    fn a_line_shows_what_was_new_in_each_interval() {
        let mut trends = Trends::default();
        for total in [10, 10, 90, 130] {
            trends.take(&report(&[(1, total)]), 1);
        }
        assert_eq!(trends.line(&report(&[(1, 130)]).rows[0]), "▁▁█▄");
    }

    #[test]
    fn a_group_that_comes_to_be_shown_has_no_more_than_its_growth() {
        let mut trends = Trends::default();
        let mut report = report(&[(1, 1000), (2, 999)]);
        report.most = 1;
        trends.take(&report, 20);
        for last in [1010, 1050] {
            report.rows = vec![row(2, last), row(1, 1000)];
            trends.take(&report, 20);
        }
        assert_eq!(trends.line(&report.rows[0]), "▃█");
        assert_eq!(trends.line(&report.rows[1]), "");
    }

    #[test]
    fn of_what_is_no_total_a_line_shows_what_it_was() {
        let mut trends = Trends::default();
        for longest in [10, 10, 80, 40] {
            trends.take(&report_of(false, &[(1, longest)]), 1);
        }
        assert_eq!(trends.line(&report(&[(1, 40)]).rows[0]), "▁▁█▄");
    }

    #[test]
    fn only_groups_that_are_shown_are_remembered_and_no_more_than_a_line() {
        let mut trends = Trends::default();
        for total in 0..50 {
            trends.take(&report(&[(1, total), (2, total)]), 1);
        }
        let both = report(&[(1, 0), (2, 0)]).rows;
        assert_eq!(trends.line(&both[0]).chars().count(), LENGTH);
        assert_eq!(trends.line(&both[1]), "");
        trends.take(&report(&[(2, 1)]), 1);
        assert_eq!(trends.line(&both[0]), "");
    }
}

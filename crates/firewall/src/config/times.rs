//! Times of the week, and when they come next.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use std::fmt;
use std::str::FromStr;

/// Names of the days, from Monday on.
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const DAY_MINUTES: u16 = 24 * 60;

/// A time of some days, such as `mon-fri 08:00-16:00`. It may go on after midnight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The first and the last day on which it begins, from 0 for Monday; the last may be before the first.
    days: (u8, u8),
    /// Begin and end, in minutes of the day. An end that is not behind the begin is on the next day.
    minutes: (u16, u16),
}

/// A text that is no time of the week.
#[derive(Debug)]
pub struct NoSpan;

/// A time from one moment up to another.
pub type Window = (Timestamp, Timestamp);

impl Span {
    fn begins_on(self, day: u8) -> bool {
        let (first, last) = self.days;
        match first <= last {
            true => (first..=last).contains(&day),
            false => day >= first || day <= last,
        }
    }

    /// Returns when it is, if it begins on this date; where the clock is changed, as the clock shows it.
    fn on(self, date: Date, zone: &TimeZone) -> Option<Window> {
        let (begin, end) = self.minutes;
        let end_date = match end <= begin {
            true => date.tomorrow().ok()?,
            false => date,
        };
        let moment = |date: Date, minutes: u16| {
            // The end of a day is the begin of the next one.
            let (date, minutes) = match minutes == DAY_MINUTES {
                true => (date.tomorrow().ok()?, 0),
                false => (date, minutes),
            };
            let time = Time::new((minutes / 60) as i8, (minutes % 60) as i8, 0, 0).ok()?;
            let zoned = date.to_datetime(time).to_zoned(zone.clone()).ok()?;
            Some(zoned.timestamp())
        };
        Some((moment(date, begin)?, moment(end_date, end)?))
    }
}

/// Returns when these spans are, from a moment on for some days, in order. Those that overlap are one.
pub fn windows(spans: &[Span], from: Timestamp, days: u16, zone: &TimeZone) -> Vec<Window> {
    let Ok(first) = from.to_zoned(zone.clone()).date().yesterday() else {
        return Vec::new();
    };
    let dates = (0..=i64::from(days) + 1).filter_map(|day| first.checked_add(day.days()).ok());
    let mut all: Vec<Window> = dates
        .flat_map(|date| {
            let day = date.weekday().to_monday_zero_offset() as u8;
            let own = spans.iter().filter(move |span| span.begins_on(day));
            own.filter_map(move |span| span.on(date, zone))
        })
        .filter(|(begin, end)| begin < end && *end > from)
        .collect();
    all.sort_unstable();
    let mut joined: Vec<Window> = Vec::new();
    for (begin, end) in all {
        match joined.last_mut() {
            Some(last) if begin <= last.1 => last.1 = last.1.max(end),
            _ => joined.push((begin, end)),
        }
    }
    joined
}

impl FromStr for Span {
    type Err = NoSpan;

    fn from_str(text: &str) -> Result<Span, NoSpan> {
        let (days, hours) = match text.trim().split_once(char::is_whitespace) {
            Some((days, hours)) => (days, hours.trim()),
            None => ("mon-sun", text.trim()),
        };
        let day = |name: &str| {
            let known = DAYS.iter().position(|day| day.eq_ignore_ascii_case(name));
            known.map(|day| day as u8).ok_or(NoSpan)
        };
        let (first, last) = days.split_once('-').unwrap_or((days, days));
        let (begin, end) = hours.split_once('-').ok_or(NoSpan)?;
        let minutes = (minutes(begin)?, minutes(end)?);
        match minutes.0 == DAY_MINUTES {
            true => Err(NoSpan),
            false => Ok(Span {
                days: (day(first)?, day(last)?),
                minutes,
            }),
        }
    }
}

/// Returns a time of the day in minutes. 24:00 is the end of the day.
fn minutes(text: &str) -> Result<u16, NoSpan> {
    let number =
        |digits: &str| match digits.len() == 2 && digits.bytes().all(|d| d.is_ascii_digit()) {
            true => digits.parse::<u16>().map_err(|_| NoSpan),
            false => Err(NoSpan),
        };
    let (hour, minute) = text.split_once(':').ok_or(NoSpan)?;
    let (hour, minute) = (number(hour)?, number(minute)?);
    let is_time = minute < 60 && (hour < 24 || (hour, minute) == (24, 0));
    is_time.then_some(hour * 60 + minute).ok_or(NoSpan)
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, last] = [self.days.0, self.days.1].map(|day| DAYS[usize::from(day)]);
        let [begin, end] = [self.minutes.0, self.minutes.1]
            .map(|minutes| format!("{:02}:{:02}", minutes / 60, minutes % 60));
        match first == last {
            true => write!(f, "{first} {begin}-{end}"),
            false => write!(f, "{first}-{last} {begin}-{end}"),
        }
    }
}

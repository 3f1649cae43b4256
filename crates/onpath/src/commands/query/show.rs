//! Output of a query's metrics.

use super::drawing::Drawing;
use crate::args::Query;
use crate::output::{Reading, Stop, err_line, out, write_styled, write_watched};
use crate::prometheus_page::{self, Page};
use crate::screen;
use std::time::{Duration, Instant};
use telemetry::Report;
use telemetry::view::trend::Trends;
use telemetry::view::{csv, json, prometheus, table};

/// Maximum number of groups for Prometheus.
const GROUPS: usize = 1000;

/// Output of reports in the format that the flags choose.
pub(super) struct Show<'a> {
    args: &'a Query,
    query: telemetry::Query,
    page: Option<Page>,
    groups: prometheus::Groups,
    trends: Trends,
    drawing: Option<Drawing>,
}

/// Returns words on when the command ends, for its first line.
pub(super) fn ending(args: &Query) -> String {
    match Schedule::length(args) {
        Some(length) => format!("ends after {length:?}"),
        None => "interrupt to end".into(),
    }
}

/// Schedule of the reports on live packets.
pub(super) struct Schedule {
    begun: Instant,
    every: Duration,
    end: Option<Instant>,
    /// True to report at the end only.
    once: bool,
    /// Time of the last report.
    shown: Instant,
}

impl Schedule {
    /// Begins the schedule that the flags give.
    pub(super) fn begin(args: &Query) -> Schedule {
        let begun = Instant::now();
        Schedule {
            begun,
            every: args.every,
            end: Schedule::length(args).map(|length| begun + length),
            once: args.once,
            shown: begun,
        }
    }

    /// Returns its duration, if it ends by itself.
    fn length(args: &Query) -> Option<Duration> {
        args.duration.or(args.once.then_some(args.every))
    }

    /// Returns the time until the next report.
    pub(super) fn wait(&self) -> Duration {
        self.next().saturating_duration_since(Instant::now())
    }

    fn next(&self) -> Instant {
        let next = self.shown + self.every;
        match (self.once, self.end) {
            (true, Some(end)) => end,
            (_, end) => end.map_or(next, |end| end.min(next)),
        }
    }

    /// Returns true if a report is due.
    pub(super) fn is_due(&self) -> bool {
        self.wait().is_zero()
    }

    /// Returns true if the duration is over.
    pub(super) fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Records a report. Returns the seconds since the last one, and since the beginning.
    pub(super) fn take(&mut self) -> (f64, f64) {
        let now = Instant::now();
        let since = now - std::mem::replace(&mut self.shown, now);
        (since.as_secs_f64(), (now - self.begun).as_secs_f64())
    }
}

impl<'a> Show<'a> {
    /// Starts the page for Prometheus, if one is wanted, and prints the header of comma-separated values.
    pub(super) fn begin(args: &'a Query, query: telemetry::Query) -> Result<Show<'a>, Stop> {
        let address = prometheus_page::address(args.prometheus.as_deref())?;
        let served = prometheus_page::serve(address)?;
        if let Some((address, _)) = served {
            err_line!("metrics for Prometheus at http://{address}/metrics");
        }
        let drawing = args.svg.as_deref();
        let drawing = drawing.map(|file| Drawing::begin(file, &query, &args.query));
        let drawing = drawing.transpose()?;
        if args.csv {
            out!("{}", csv::header(&query));
        }
        Ok(Show {
            args,
            query,
            page: served.map(|(_, page)| page),
            groups: prometheus::Groups::default(),
            trends: Trends::default(),
            drawing,
        })
    }

    /// Shows a report on live packets, `elapsed` seconds after the beginning. The kernel dropped `dropped` packets.
    pub(super) fn report(
        &mut self,
        report: &Report,
        dropped: u64,
        elapsed: f64,
    ) -> Result<Reading, Stop> {
        self.draw(report, elapsed)?;
        Ok(self.print(report, dropped, elapsed))
    }

    fn draw(&mut self, report: &Report, elapsed: f64) -> Result<(), Stop> {
        match &mut self.drawing {
            None => Ok(()),
            Some(drawing) => {
                drawing.take(report, elapsed);
                drawing.write()
            }
        }
    }

    /// Returns the drawing, if one is wanted.
    pub(super) fn drawing(&mut self) -> Option<&mut Drawing> {
        self.drawing.as_mut()
    }

    fn print(&mut self, report: &Report, dropped: u64, elapsed: f64) -> Reading {
        let args = self.args;
        if let Some(page) = &self.page {
            let groups = (&mut self.groups, GROUPS);
            page.publish(prometheus::page(&self.query, report, dropped, groups));
        }
        if args.json {
            let mut object = json::object(report);
            object["elapsed"] = elapsed.into();
            object["counts"]["dropped"] = dropped.into();
            return write_watched(format_args!("{object}\n"));
        }
        if args.csv {
            let reading = write_watched(format_args!("{}", csv::lines(report, elapsed)));
            notes(report, dropped);
            return reading;
        }
        let screen = screen::size().filter(|_| !args.once);
        if screen.is_some() {
            self.trends.take(report, args.rows);
        }
        let trends = screen.is_some().then_some(&self.trends);
        let text = table::with_trends(report, args.rows, trends) + &drops(dropped);
        match screen {
            Some((width, height)) => {
                let text = screen::fit(&text, width, height);
                write_styled(&screen::redrawn(&text))
            }
            None if args.once => write_watched(format_args!("{text}")),
            None => write_watched(format_args!("{text}\n")),
        }
    }

    /// Shows the report of a capture.
    pub(super) fn capture(&self, report: &Report) {
        if self.args.json {
            out!("{}\n", json::object(report));
        } else if self.args.csv {
            out!("{}", csv::lines(report, report.seconds));
            notes(report, 0);
        } else {
            out!("{}", table::text(report, self.args.rows));
        }
    }
}

/// Prints notes on packets that were not counted, for formats without a line for them.
fn notes(report: &Report, dropped: u64) {
    for note in table::notes(report) {
        err_line!("{note}");
    }
    for note in drops(dropped).lines() {
        err_line!("{note}");
    }
}

fn drops(dropped: u64) -> String {
    match dropped {
        0 => String::new(),
        n => format!(
            "{} dropped by the kernel: this process was too slow\n",
            diag::counted(n, "packet")
        ),
    }
}

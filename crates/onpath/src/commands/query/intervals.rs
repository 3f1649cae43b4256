//! A capture's packets, divided into intervals of their own time.

use super::drawing::Drawing;
use crate::output::Stop;
use std::time::Duration;
use telemetry::{Evaluator, Frame};

/// Evaluator of packets that adds a report of each interval to the drawing.
pub(super) struct Intervals<'d, 'm> {
    evaluator: Evaluator<'m>,
    drawing: &'d mut Drawing,
    every: Duration,
    /// The time of the first packet, and the end of the last interval that was drawn.
    times: Option<(Duration, Duration)>,
    last: Duration,
}

impl<'d, 'm> Intervals<'d, 'm> {
    pub(super) fn new(
        evaluator: Evaluator<'m>,
        drawing: &'d mut Drawing,
        every: Duration,
    ) -> Intervals<'d, 'm> {
        Intervals {
            evaluator,
            drawing,
            every,
            times: None,
            last: Duration::ZERO,
        }
    }

    /// Takes a packet, after the reports of the intervals that ended before. A packet without a time is skipped.
    pub(super) fn packet(&mut self, frame: &Frame) {
        if !self.drawing.is_over_time() {
            return self.evaluator.packet(frame);
        }
        let Some(time) = frame.time else {
            return;
        };
        let (begun, reported) = *self.times.get_or_insert((time, time));
        let since = time.saturating_sub(reported);
        let passed = since.as_nanos() / self.every.as_nanos().max(1);
        if passed > 0 {
            // First the interval that has packets, then all empty ones as one.
            let first = reported + self.every;
            self.report(begun, first);
            if passed > 1 {
                let more = self.every.as_secs_f64() * (passed - 1) as f64;
                let empty = Duration::try_from_secs_f64(more).unwrap_or_default();
                self.report(begun, first.saturating_add(empty));
            }
        }
        self.evaluator.packet(frame);
        self.last = self.last.max(time);
    }

    fn report(&mut self, begun: Duration, at: Duration) {
        let since = self.times.map_or(begun, |(_, reported)| reported);
        let report = self
            .evaluator
            .report(at.saturating_sub(since).as_secs_f64());
        self.drawing
            .take(&report, at.saturating_sub(begun).as_secs_f64());
        self.times = Some((begun, at));
    }

    /// Draws the last interval, and writes the picture.
    pub(super) fn end(mut self) -> Result<(), Stop> {
        if !self.drawing.is_over_time() {
            self.report(Duration::ZERO, Duration::ZERO);
        } else if let Some((begun, reported)) = self.times
            && self.last > reported
            // A rate over a short time says little beside those of whole intervals.
            && (begun == reported || self.last - reported >= self.every / 2)
        {
            self.report(begun, self.last);
        }
        self.drawing.write()
    }
}

//! A query on the packets of an interface, off their path.

use super::args::Query;
use crate::output::{Done, Reading, Stop, err_line, failed, refused, write_watched};
use crate::screen;
use kernel::interrupt::Interrupts;
use kernel::packet_ring::PacketRing;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use telemetry::view::{csv, json, table};
use telemetry::{Evaluator, Frame, Link, Report};

/// Blocks of the ring: 16 MB.
const BLOCKS: usize = 32;

/// Takes packets, and shows the figures, until that is enough.
pub(super) fn run(args: &Query, device: &str, mut evaluator: Evaluator) -> Done {
    let interrupts = match Interrupts::hold() {
        Ok(interrupts) => interrupts,
        Err(error) => return failed(format!("interrupts could not be held back: {error}")),
    };
    let mut ring = PacketRing::open(device, BLOCKS).map_err(refused)?;
    err_line!("{device}: capturing, off the path; interrupt to end");
    let begun = Instant::now();
    let duration = args.duration.or(args.once.then_some(args.every));
    let end = duration.map(|duration| begun + duration);
    let mut shown = begun;
    loop {
        let taken = ring.take(|packet| {
            evaluator.packet(&Frame {
                bytes: packet.bytes,
                length: packet.length,
                time: packet.time,
                link: Link::Ethernet,
            });
        });
        let next = match args.once {
            true => end.unwrap_or(shown + args.every),
            false => end.map_or(shown + args.every, |end| end.min(shown + args.every)),
        };
        let wait = match taken {
            0 => next.saturating_duration_since(Instant::now()),
            // There may be more.
            _ => Duration::ZERO,
        };
        let interrupted = interrupts
            .wait_beside(ring.ready(), wait)
            .map_err(|e| Stop::Failed(format!("waiting for packets failed: {e}")))?
            .is_some();
        let failure = if taken == 0 { ring.failure() } else { None };
        let now = Instant::now();
        let last = interrupted || failure.is_some() || end.is_some_and(|end| now >= end);
        if last || now >= next {
            let report = evaluator.report((now - shown).as_secs_f64());
            let dropped = ring
                .dropped()
                .map_err(|e| Stop::Failed(format!("the kernel's counts cannot be read: {e}")))?;
            shown = now;
            let reading = show(args, &report, dropped, (now - begun).as_secs_f64());
            if let Some(error) = failure {
                let why = diag::system_message(&error);
                return failed(format!(
                    "no more packets of `{device}` can be captured: {why}"
                ));
            }
            if last || reading == Reading::Over {
                return Ok(ExitCode::SUCCESS);
            }
        }
    }
}

/// Shows the figures, `elapsed` seconds after the beginning.
fn show(args: &Query, report: &Report, dropped: u64, elapsed: f64) -> Reading {
    if args.json {
        let mut object = json::object(report);
        object["elapsed"] = elapsed.into();
        object["counts"]["dropped"] = dropped.into();
        return write_watched(format_args!("{object}\n"));
    }
    if args.csv {
        let reading = write_watched(format_args!("{}", csv::lines(report, elapsed)));
        report_notes(report, dropped);
        return reading;
    }
    let mut text = table::text(report, args.rows);
    text += &drops(dropped);
    match screen::size().filter(|_| !args.once) {
        Some((width, height)) => {
            let text = screen::fit(&text, width, height);
            write_watched(format_args!("{}", screen::redrawn(&text)))
        }
        None if args.once => write_watched(format_args!("{text}")),
        None => write_watched(format_args!("{text}\n")),
    }
}

/// What was not counted, for formats that have no line for it.
pub(super) fn report_notes(report: &Report, dropped: u64) {
    for note in table::notes(&report.counts) {
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

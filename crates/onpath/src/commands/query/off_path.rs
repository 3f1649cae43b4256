//! A query on copies of the packets of an interface, in this process: to its end, or until its program runs on the path.

use super::args::Query;
use super::devices::Devices;
use super::show::{Schedule, Show, ending};
use crate::output::{Done, Reading, Stop, err_line, refused};
use host::interrupt::Interrupts;
use net::packet_ring::PacketRing;
use std::io;
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use telemetry::{Evaluator, Frame, Link, Report};

/// Time between two looks at whether the interfaces are still there.
const LOOK: Duration = Duration::from_millis(200);
/// Time between two looks at what was captured while something else is done.
const PAUSE: Duration = Duration::from_millis(10);
/// Blocks of all rings together: 16 MB.
const BLOCKS: usize = 32;
/// Blocks of a ring, at least.
const FEWEST_BLOCKS: usize = 4;
/// Interfaces at once, each of which takes a descriptor and a ring: 128 MB together.
const MOST_INTERFACES: usize = 64;

/// Refuses more interfaces than rings may take memory for.
pub(super) fn check(devices: &Devices) -> Result<(), Stop> {
    let number = devices.names().count();
    match number > MOST_INTERFACES {
        false => Ok(()),
        true => Err(Stop::Usage(format!(
            "`--dev {}` stands for {number} interfaces, and off the path a query reads at {MOST_INTERFACES} at most, each of which takes \
             memory for its packets: name fewer interfaces, or omit `--off-path`",
            diag::shown(&devices.called)
        ))),
    }
}

/// Copies of the packets of interfaces, and the figures of those that were taken.
pub(super) struct Copies<'a> {
    rings: Vec<PacketRing>,
    evaluator: Evaluator<'a>,
}

impl<'a> Copies<'a> {
    /// Begins to capture.
    pub(super) fn begin(devices: &Devices, evaluator: Evaluator<'a>) -> Result<Copies<'a>, Stop> {
        let blocks = (BLOCKS / devices.names().count()).max(FEWEST_BLOCKS);
        let rings = devices.names().map(|name| PacketRing::open(name, blocks));
        let rings = rings.collect::<Result<_, _>>().map_err(refused)?;
        Ok(Copies { rings, evaluator })
    }

    /// Takes the packets that there are: how many.
    fn take(&mut self) -> usize {
        let evaluator = &mut self.evaluator;
        let taken = self.rings.iter_mut().map(|ring| {
            ring.take(|packet| {
                evaluator.packet(&Frame {
                    bytes: packet.bytes,
                    length: packet.length,
                    time: Some(packet.time),
                    link: Link::Ethernet,
                });
            })
        });
        taken.sum()
    }

    /// The figures of so many seconds, and how many packets the kernel had no room to copy.
    fn report(&mut self, seconds: f64) -> Result<(Report, u64), Stop> {
        let report = self.evaluator.report(seconds);
        let dropped: io::Result<u64> = self.rings.iter_mut().map(PacketRing::dropped).sum();
        let dropped = dropped.map_err(|e| {
            Stop::Failed(format!(
                "the kernel's counts cannot be read: {}",
                diag::system_message(&e)
            ))
        })?;
        Ok((report, dropped))
    }
}

/// Takes packets, and shows the figures, until that is enough.
pub(super) fn run(
    args: &Query,
    mut devices: Devices,
    evaluator: Evaluator,
    mut show: Show,
    interrupts: &Interrupts,
) -> Done {
    let mut copies = Copies::begin(&devices, evaluator)?;
    let device = devices.called.clone();
    err_line!("{device}: capturing, off the path; {}", ending(args));
    let mut schedule = Schedule::begin(args);
    loop {
        let taken = copies.take();
        let wait = match taken {
            0 => schedule.wait().min(LOOK),
            // There may be more.
            _ => Duration::ZERO,
        };
        let ready: Vec<_> = copies.rings.iter().map(PacketRing::ready).collect();
        let interrupted = interrupts
            .wait_beside(&ready, wait)
            .map_err(|e| {
                Stop::Failed(format!(
                    "waiting for packets failed: {}",
                    diag::system_message(&e)
                ))
            })?
            .is_some();
        let is_quiet = taken == 0;
        if is_quiet {
            // An interface that is only down may come up again, and its packets with it.
            (copies.rings.iter()).for_each(|ring| drop(ring.take_failure()));
        }
        let is_gone = is_quiet && devices.are_gone();
        let last = interrupted || is_gone || schedule.is_over();
        if last || schedule.is_due() {
            let (seconds, elapsed) = schedule.take();
            let (report, dropped) = copies.report(seconds)?;
            let reading = show.report(&report, dropped, elapsed)?;
            if is_gone {
                err_line!("{device}: the interface is gone");
            }
            if last || reading == Reading::Over {
                return Ok(ExitCode::SUCCESS);
            }
        }
    }
}

/// Does something that takes its time, and shows the figures meanwhile, by the schedule and at the end.
pub(super) fn meanwhile<T>(
    args: &Query,
    mut copies: Copies<'_>,
    show: &mut Show,
    work: impl FnOnce() -> T,
) -> Result<T, Stop> {
    let (working, is_done) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let showing = scope.spawn(move || {
            let mut schedule = Schedule::begin(args);
            let mut pause = Duration::ZERO;
            loop {
                let last = is_done.recv_timeout(pause) != Err(RecvTimeoutError::Timeout);
                // There may be more.
                pause = if copies.take() > 0 {
                    Duration::ZERO
                } else {
                    PAUSE
                };
                if last || schedule.is_due() {
                    let (seconds, elapsed) = schedule.take();
                    let (report, dropped) = copies.report(seconds)?;
                    let reading = show.report(&report, dropped, elapsed)?;
                    if last || reading == Reading::Over {
                        return Ok(elapsed);
                    }
                }
            }
        });
        let done = work();
        drop(working);
        let shown: Result<f64, Stop> = showing
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let elapsed = shown?;
        err_line!(
            "the figures above are of copies of the packets, off the path, of {elapsed:.2} s"
        );
        Ok(done)
    })
}

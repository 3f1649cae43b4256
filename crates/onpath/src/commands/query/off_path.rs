//! Evaluation of a query in this process, on copies of an interface's packets, to its end or until its program runs
//! on the path.

use super::devices::Devices;
use super::show::{Schedule, Show, ending};
use crate::args::Query;
use crate::output::{Done, Reading, Stop, err_line, refused};
use host::interrupt::Interrupts;
use net::packet_ring::PacketRing;
use std::io;
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use telemetry::{Evaluator, Frame, Link, Report};

/// Time between two checks that the interfaces still exist.
const LOOK: Duration = Duration::from_millis(200);
/// Time between two reads of captured packets while other work is done.
const PAUSE: Duration = Duration::from_millis(10);
/// Number of blocks of all rings together: 16 MB.
const BLOCKS: usize = 32;
/// Minimum number of blocks of a ring.
const FEWEST_BLOCKS: usize = 4;
/// Maximum number of interfaces. Each takes a file descriptor and a ring: 128 MB together.
const MOST_INTERFACES: usize = 64;

/// Refuses more interfaces than [`MOST_INTERFACES`], whose rings would take too much memory.
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

/// Rings with copies of interfaces' packets, and the metrics of the packets taken from them.
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

    /// Takes the packets that are in the rings. Returns their number.
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

    /// Returns the metrics of the last `seconds`, and the number of packets that the kernel had no room to copy.
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

/// Takes packets and shows the metrics, until the query ends.
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
            // An interface that is down may come up again, and its packets with it.
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

/// Does `work`, and shows the metrics meanwhile, by the schedule and at the end.
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
            "the metrics above are of copies of the packets, off the path, of {elapsed:.2} s"
        );
        Ok(done)
    })
}

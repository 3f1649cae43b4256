//! A query on copies of the packets of an interface, in this process.

use super::args::Query;
use super::devices::Devices;
use super::show::{Schedule, Show, ending};
use crate::output::{Done, Reading, Stop, err_line, refused};
use kernel::interrupt::Interrupts;
use kernel::packet_ring::PacketRing;
use std::io;
use std::process::ExitCode;
use std::time::Duration;
use telemetry::{Evaluator, Frame, Link};

/// Time between two looks at whether the interfaces are still there.
const LOOK: Duration = Duration::from_millis(200);
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

/// Takes packets, and shows the figures, until that is enough.
pub(super) fn run(
    args: &Query,
    mut devices: Devices,
    mut evaluator: Evaluator,
    mut show: Show,
    interrupts: &Interrupts,
) -> Done {
    let blocks = (BLOCKS / devices.names().count()).max(FEWEST_BLOCKS);
    let rings = devices.names().map(|name| PacketRing::open(name, blocks));
    let mut rings: Vec<PacketRing> = rings.collect::<Result<_, _>>().map_err(refused)?;
    let device = devices.called.clone();
    err_line!("{device}: capturing, off the path; {}", ending(args));
    let mut schedule = Schedule::begin(args);
    loop {
        let mut taken = 0;
        for ring in &mut rings {
            taken += ring.take(|packet| {
                evaluator.packet(&Frame {
                    bytes: packet.bytes,
                    length: packet.length,
                    time: Some(packet.time),
                    link: Link::Ethernet,
                });
            });
        }
        let wait = match taken {
            0 => schedule.wait().min(LOOK),
            // There may be more.
            _ => Duration::ZERO,
        };
        let ready: Vec<_> = rings.iter().map(PacketRing::ready).collect();
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
            rings.iter().for_each(|ring| drop(ring.take_failure()));
        }
        let is_gone = is_quiet && devices.are_gone();
        let last = interrupted || is_gone || schedule.is_over();
        if last || schedule.is_due() {
            let (seconds, elapsed) = schedule.take();
            let report = evaluator.report(seconds);
            let dropped: io::Result<u64> = rings.iter_mut().map(PacketRing::dropped).sum();
            let dropped = dropped.map_err(|e| {
                Stop::Failed(format!(
                    "the kernel's counts cannot be read: {}",
                    diag::system_message(&e)
                ))
            })?;
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

//! A query on copies of the packets of an interface, in this process.

use super::args::Query;
use super::show::{Schedule, Show};
use crate::output::{Done, Reading, Stop, err_line, refused};
use kernel::interface;
use kernel::interrupt::Interrupts;
use kernel::packet_ring::PacketRing;
use std::process::ExitCode;
use std::time::Duration;
use telemetry::{Evaluator, Frame, Link};

/// How often is looked whether the interface is still there.
const LOOK: Duration = Duration::from_millis(200);
/// Blocks of the ring: 16 MB.
const BLOCKS: usize = 32;

/// Takes packets, and shows the figures, until that is enough.
pub(super) fn run(
    args: &Query,
    device: &str,
    mut evaluator: Evaluator,
    mut show: Show,
    interrupts: &Interrupts,
) -> Done {
    let index = interface::index(device).map_err(refused)?;
    let mut ring = PacketRing::open(device, BLOCKS).map_err(refused)?;
    err_line!("{device}: capturing, off the path; interrupt to end");
    let mut schedule = Schedule::begin(args);
    loop {
        let taken = ring.take(|packet| {
            evaluator.packet(&Frame {
                bytes: packet.bytes,
                length: packet.length,
                time: Some(packet.time),
                link: Link::Ethernet,
            });
        });
        let wait = match taken {
            0 => schedule.wait().min(LOOK),
            // There may be more.
            _ => Duration::ZERO,
        };
        let interrupted = interrupts
            .wait_beside(ring.ready(), wait)
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
            ring.take_failure();
        }
        let is_gone = is_quiet && interface::name(index).is_none();
        let last = interrupted || is_gone || schedule.is_over();
        if last || schedule.is_due() {
            let (seconds, elapsed) = schedule.take();
            let report = evaluator.report(seconds);
            let dropped = ring.dropped().map_err(|e| {
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

//! A query on copies of the packets of an interface, in this process.

use super::args::Query;
use super::show::{Schedule, Show};
use crate::output::{Done, Reading, Stop, err_line, failed, refused};
use kernel::interrupt::Interrupts;
use kernel::packet_ring::PacketRing;
use std::process::ExitCode;
use std::time::Duration;
use telemetry::{Evaluator, Frame, Link};

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
    let mut ring = PacketRing::open(device, BLOCKS).map_err(refused)?;
    err_line!("{device}: capturing, off the path; interrupt to end");
    let mut schedule = Schedule::begin(args);
    loop {
        let taken = ring.take(|packet| {
            evaluator.packet(&Frame {
                bytes: packet.bytes,
                length: packet.length,
                time: packet.time,
                link: Link::Ethernet,
            });
        });
        let wait = match taken {
            0 => schedule.wait(),
            // There may be more.
            _ => Duration::ZERO,
        };
        let interrupted = interrupts
            .wait_beside(ring.ready(), wait)
            .map_err(|e| Stop::Failed(format!("waiting for packets failed: {e}")))?
            .is_some();
        let failure = if taken == 0 { ring.failure() } else { None };
        let last = interrupted || failure.is_some() || schedule.is_over();
        if last || schedule.is_due() {
            let (seconds, elapsed) = schedule.take();
            let report = evaluator.report(seconds);
            let dropped = ring
                .dropped()
                .map_err(|e| Stop::Failed(format!("the kernel's counts cannot be read: {e}")))?;
            let reading = show.report(&report, dropped, elapsed);
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

//! Several captures merged, in the order of their packets' times.

use super::Capture;
use crate::evaluate::Frame;
use crate::link::Link;
use diag::Diagnostics;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::time::Duration;

/// Next packet of a capture.
struct Next<'f> {
    capture: Capture<'f>,
    bytes: Vec<u8>,
    length: u32,
    time: Option<Duration>,
    link: Link,
    /// Time by which it is ordered: its own, or that of the packet before it.
    place: Duration,
}

impl Next<'_> {
    /// Advances to the next packet: `false` if there is none.
    fn go_on(&mut self, wrong: &mut Diagnostics) -> bool {
        let Next {
            capture,
            bytes,
            length,
            time,
            link,
            place,
        } = self;
        let went_on = capture.next(|frame| {
            bytes.clear();
            bytes.extend_from_slice(frame.bytes);
            (*length, *time, *link) = (frame.length, frame.time, frame.link);
            *place = frame.time.unwrap_or(*place);
        });
        went_on.unwrap_or_else(|error| {
            wrong.push(*error);
            false
        })
    }
}

/// Calls `each` with the packets of all captures until it breaks off. The packets of a capture keep their order; one
/// without a time follows the packet before it. A damaged capture ends at the damage, and the others continue.
pub(super) fn read(
    captures: Vec<Capture>,
    each: &mut dyn FnMut(&Frame) -> ControlFlow<()>,
    wrong: &mut Diagnostics,
) {
    let mut waiting: Vec<Next> = Vec::new();
    // Of equal times, the first named capture's comes first.
    let mut order = BinaryHeap::new();
    for capture in captures {
        let mut next = Next {
            capture,
            bytes: Vec::new(),
            length: 0,
            time: None,
            link: Link::Ethernet,
            place: Duration::ZERO,
        };
        if next.go_on(wrong) {
            order.push(Reverse((next.place, waiting.len())));
            waiting.push(next);
        }
    }
    while let Some(Reverse((_, number))) = order.pop() {
        let next = &mut waiting[number];
        let flow = each(&Frame {
            bytes: &next.bytes,
            length: next.length,
            time: next.time,
            link: next.link,
        });
        if flow.is_break() {
            return;
        }
        if next.go_on(wrong) {
            order.push(Reverse((next.place, number)));
        }
    }
}

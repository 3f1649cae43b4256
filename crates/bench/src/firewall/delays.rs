//! Delays of requests: in the device and end to end, of one flow at a time and of many.

use super::capture::Capture;
use super::flows::{self, Outcome, Request};
use super::messages::{Kind, unlisted};
use super::network::SERVER;
use super::peers::{Peer, Running};
use crate::error::Error;
use kernel::bench::median;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Size of a packet with a request, if nothing else is said.
const USUAL: usize = 330;
/// Time to wait for an answer to one request. A blocked request gets none.
const PATIENCE: Duration = Duration::from_millis(700);
/// Time to wait for the answers to many.
const PATIENCE_WITH_MANY: Duration = Duration::from_secs(12);

/// Delays of a peer, in microseconds.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Delays {
    pub(super) peer: &'static str,
    /// Number of names, of flows, or of bytes of a packet.
    pub(super) at: usize,
    pub(super) names: usize,
    pub(super) message: &'static str,
    pub(super) device: Option<f64>,
    pub(super) device_p90: Option<f64>,
    pub(super) end_to_end: Option<f64>,
    /// Requests that were answered, and all.
    pub(super) answered: usize,
    pub(super) requests: usize,
    /// Packets with requests that came to the router and did not leave it.
    pub(super) dropped: usize,
}

/// Samples of a peer over several rounds.
#[derive(Default)]
pub(super) struct Samples {
    device: Vec<f64>,
    end_to_end: Vec<f64>,
    requests: usize,
    dropped: usize,
}

fn quantile(values: &[f64], part: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last as f64 * part) as usize).copied()
}

impl Samples {
    /// Summarises them.
    pub(super) fn delays(&self, peer: Peer, kind: Kind, names: usize, at: usize) -> Delays {
        let middle = |values: &[f64]| (!values.is_empty()).then(|| median(values));
        Delays {
            peer: peer.name(),
            at,
            names,
            message: kind.name(),
            device: middle(&self.device),
            device_p90: quantile(&self.device, 0.9),
            end_to_end: middle(&self.end_to_end),
            answered: self.end_to_end.len(),
            requests: self.requests,
            dropped: self.dropped,
        }
    }
}

/// Returns a number that no other request of this process has.
fn next() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn request(kind: Kind, name: Option<&str>, size: usize) -> Request {
    let number = next();
    let own = unlisted(number);
    Request {
        kind,
        to: SERVER,
        bytes: kind.request(name.unwrap_or(&own), number, size),
    }
}

/// Asserts that a peer passes a request for a name on no list, and blocks one for a listed name if it can.
pub(super) fn check(running: &Running, kind: Kind, listed: &str) -> Result<(), Error> {
    let ask = |name| -> Result<Outcome, Error> {
        let requests = [request(kind, name, USUAL)];
        flows::run(&running.network, &requests, PATIENCE).map_err(Error::system("a request"))
    };
    if ask(None)?.answered.is_empty() && ask(None)?.answered.is_empty() {
        return Err(Error::new(format!("no answer to a {}", kind.name())));
    }
    let passes = !ask(Some(listed))?.answered.is_empty();
    match passes != running.peer.blocks(kind) {
        true => Ok(()),
        false => Err(Error::new(format!(
            "it {} a {} for a listed name",
            if passes { "passes" } else { "blocks" },
            kind.name()
        ))),
    }
}

/// Sends requests one after the other, and adds their delays.
pub(super) fn single(
    running: &Running,
    kind: Kind,
    (count, size): (usize, Option<usize>),
    samples: &mut Samples,
) -> Result<(), Error> {
    let failed = Error::system("delays");
    let capture = Capture::start(&running.network).map_err(&failed)?;
    for _ in 0..count {
        let requests = [request(kind, None, size.unwrap_or(USUAL))];
        let outcome = flows::run(&running.network, &requests, PATIENCE).map_err(&failed)?;
        samples.end_to_end.extend(outcome.answered);
    }
    add(capture, count, samples)
}

/// Sends the requests of many flows at once, and adds their delays.
pub(super) fn parallel(
    running: &Running,
    kind: Kind,
    count: usize,
    samples: &mut Samples,
) -> Result<(), Error> {
    let failed = Error::system("flows");
    let requests: Vec<Request> = (0..count).map(|_| request(kind, None, USUAL)).collect();
    let capture = Capture::start(&running.network).map_err(&failed)?;
    let outcome = flows::run(&running.network, &requests, PATIENCE_WITH_MANY).map_err(&failed)?;
    samples.end_to_end.extend(outcome.answered);
    add(capture, count, samples)
}

fn add(capture: Capture, count: usize, samples: &mut Samples) -> Result<(), Error> {
    let passages = capture.finish().map_err(Error::system("a capture"))?;
    samples.requests += count;
    for passage in passages.values() {
        samples.device.extend(passage.delay());
        samples.dropped += passage.dropped();
    }
    Ok(())
}

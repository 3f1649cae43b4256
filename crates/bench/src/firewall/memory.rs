//! Memory of a peer, the time until it is ready, and the time to read its list again.

use super::peers::{Peer, Running, Starter, reload};
use serde::Serialize;
use std::time::Instant;

/// Memory and times of a peer with a list.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Memory {
    pub(super) peer: &'static str,
    pub(super) names: usize,
    /// Milliseconds from its start until it was ready.
    pub(super) ready_ms: f64,
    /// Milliseconds to read the list again, if it can.
    pub(super) reload_ms: Option<f64>,
    /// Most memory of its process, in bytes.
    pub(super) process: Option<u64>,
    /// Memory of its maps in the kernel, in bytes.
    pub(super) maps: Option<u64>,
}

/// Measures a peer that is no baseline.
pub(super) fn measure(running: &Running, starter: &Starter, names: usize) -> Option<Memory> {
    if running.peer.is_baseline() {
        return None;
    }
    let process = running.process.as_ref();
    let peak = process.and_then(|process| process.peak_memory().ok());
    let is_ours = matches!(running.peer, Peer::OnpathXdp | Peer::OnpathTc);
    let reload_ms = is_ours.then(|| {
        let begun = Instant::now();
        let done = reload(starter.root, running.folder());
        done.ok().map(|()| begun.elapsed().as_secs_f64() * 1e3)
    });
    Some(Memory {
        peer: running.peer.name(),
        names,
        ready_ms: running.ready.as_secs_f64() * 1e3,
        reload_ms: reload_ms.flatten(),
        process: peak,
        maps: running.maps,
    })
}

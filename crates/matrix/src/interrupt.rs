//! Orderly end of a run by an interrupt: processes that it started are ended, and results so far are shown.

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Turns SIGINT and SIGTERM into requests to end the run.
pub(crate) fn listen() {
    let action = SigAction::new(
        SigHandler::Handler(request),
        SaFlags::SA_RESTART,
        SigSet::empty(),
    );
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        // SAFETY: the handler stores a flag and does nothing else. It cannot be refused for these signals.
        let _ = unsafe { sigaction(signal, &action) };
    }
}

extern "C" fn request(_: i32) {
    REQUESTED.store(true, Ordering::Relaxed);
}

/// Returns true if the run should end.
pub(crate) fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

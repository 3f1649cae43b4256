//! An interrupt ends a run in order: what it started is ended, and what is known so far is shown.

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// From now on SIGINT and SIGTERM are requests.
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

/// Whether somebody wants the run to end.
pub(crate) fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

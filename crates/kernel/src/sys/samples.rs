//! Parts of the verifier's log, read while it runs. They show on what the verifier spends its time, for a program that
//! it takes too long for.
//!
//! A log of a million instructions takes up to 20 s, so the verifier is interrupted after a second: it gives up at a
//! signal. Its log until then shows which instructions it meets repeatedly.

use super::lines::{InstructionLines, instruction_lines};
use super::object::{Adjust, Detail, load};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use std::os::unix::thread::JoinHandleExt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time for which the verifier is watched. It is `LONGEST` if on a busy machine the verifier gets so little time that
/// it writes nothing.
const WATCHED: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(2);

/// Time between two readings of the log.
const INTERVAL: Duration = Duration::from_millis(50);

/// Signal that interrupts the verifier. It is ignored by default. The kernel sends it only for urgent data of sockets,
/// which nothing here asks for.
const SIGNAL: Signal = Signal::SIGURG;

/// Parts of the verifier's log of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Samples {
    /// The parts. Each may begin and end anywhere in a line, and holds NULs where a later line has overwritten an
    /// earlier one.
    pub parts: Vec<String>,
    /// Source lines of the instructions; may be empty. A log names a source line only where it changes, so a part that
    /// repeats a single line does not show it.
    pub lines: InstructionLines,
}

/// Makes one sample of a whole log, in which source lines precede their instructions.
impl From<String> for Samples {
    fn from(log: String) -> Samples {
        Samples {
            parts: vec![log],
            lines: InstructionLines::default(),
        }
    }
}

/// Loads an object once more, for about a second at most, and returns the end of the verifier's log at several times.
///
/// Returns none if the kernel keeps the beginning of a log instead of its end (before Linux 6.4), if the verifier is
/// done too soon, or if this process uses the signal for something else.
pub fn samples(object: &[u8]) -> Samples {
    if !can_interrupt() {
        return Samples::default();
    }
    let lines = instruction_lines(object).unwrap_or_default();
    let log: Arc<[AtomicU8]> = Detail::Samples.buffer().into();
    let (object, written) = (object.to_vec(), Arc::clone(&log));
    let loading = thread::spawn(move || {
        // Without the signal it only takes longer.
        let _ = SigSet::from(SIGNAL).thread_unblock();
        // That it is refused is known already.
        let _ = load(&object, Adjust::trial(), Detail::Samples, &written);
    });
    let begun = Instant::now();
    let mut samples: Vec<Vec<u8>> = Vec::new();
    let moves = |samples: &[Vec<u8>]| !of_a_moving_end(samples).is_empty();
    while begun.elapsed() < WATCHED || begun.elapsed() < LONGEST && !moves(&samples) {
        thread::sleep(INTERVAL);
        let now = log.iter().map(|b| b.load(Ordering::Relaxed)).collect();
        if loading.is_finished() {
            break;
        }
        samples.push(now);
    }
    end(loading);
    Samples {
        parts: of_a_moving_end(&samples),
        lines,
    }
}

/// Returns the samples, if the log was still being written when they were taken. A kernel that keeps the beginning of
/// a log has filled it long before half of them. On a busy machine the last ones may be equal.
fn of_a_moving_end(samples: &[Vec<u8>]) -> Vec<String> {
    let middle = samples.get(samples.len().saturating_sub(1) / 2);
    if middle == samples.last() {
        return Vec::new();
    }
    let text = |sample: &Vec<u8>| String::from_utf8_lossy(sample).into_owned();
    samples.iter().map(text).collect()
}

/// Interrupts the verifier until it has given up: libbpf repeats the call some times.
fn end(loading: JoinHandle<()>) {
    while !loading.is_finished() {
        // SAFETY: the thread is not joined yet, so its id is one.
        unsafe { libc::pthread_kill(loading.as_pthread_t(), SIGNAL as libc::c_int) };
        thread::sleep(Duration::from_millis(1));
    }
    // A panic there costs the samples, which only improve a report.
    let _ = loading.join();
}

/// Returns true if the signal can be sent without ending or disturbing anything.
fn can_interrupt() -> bool {
    static READY: OnceLock<bool> = OnceLock::new();
    *READY.get_or_init(|| take(SIGNAL))
}

/// Gives a signal a handler that does nothing, because an ignored signal interrupts nothing. Returns `false`, without
/// a change, if the signal has a handler already.
fn take(signal: Signal) -> bool {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler = SigHandler::Handler(nothing);
    let action = SigAction::new(handler, SaFlags::SA_RESTART, SigSet::empty());
    // SAFETY: the handler touches nothing.
    let Ok(before) = (unsafe { sigaction(signal, &action) }) else {
        return false;
    };
    let free = matches!(before.handler(), SigHandler::SigDfl);
    if !free {
        // SAFETY: this is what was there.
        let _ = unsafe { sigaction(signal, &before) };
    }
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_keeps_its_beginning_gives_no_samples() {
        let taken = |texts: &[&str]| -> Vec<Vec<u8>> {
            texts.iter().map(|text| text.as_bytes().to_vec()).collect()
        };
        assert_eq!(of_a_moving_end(&taken(&["a", "b"])), ["a", "b"]);
        assert_eq!(of_a_moving_end(&taken(&["a", "b", "b"])), [""; 0]);
        assert_eq!(
            of_a_moving_end(&taken(&["a", "b", "c", "c"])),
            ["a", "b", "c", "c"]
        );
        assert_eq!(of_a_moving_end(&taken(&["a", "b", "b", "b"])), [""; 0]);
        assert_eq!(of_a_moving_end(&taken(&["a"])), [""; 0]);
    }

    #[test]
    fn a_signal_that_is_handled_already_is_left_alone() {
        extern "C" fn handled(_: libc::c_int) {}
        let handler = || {
            let action = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
            // SAFETY: the default action is always one; what was there is put back.
            unsafe {
                let now = sigaction(Signal::SIGWINCH, &action).expect("asked");
                sigaction(Signal::SIGWINCH, &now).expect("put back");
                now.handler()
            }
        };
        assert!(take(Signal::SIGWINCH));
        assert_ne!(handler(), SigHandler::SigDfl);
        let action = SigAction::new(
            SigHandler::Handler(handled),
            SaFlags::empty(),
            SigSet::empty(),
        );
        // SAFETY: the handler touches nothing.
        unsafe { sigaction(Signal::SIGWINCH, &action) }.expect("set");
        assert!(!take(Signal::SIGWINCH));
        assert_eq!(handler(), SigHandler::Handler(handled));
    }
}

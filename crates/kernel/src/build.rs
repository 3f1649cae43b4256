//! The verifier's answer to an object: accepted, or refused for an obstacle that another compilation may overcome.

use crate::sys::{Adjust, load_object_with};
use crate::verifier_log::{self, Refusal};
use std::io;
use std::time::{Duration, Instant};

/// Reason for a refusal that another compilation of the same program may overcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// A function, or functions that call each other, need more stack than there is.
    Stack,
    /// The verifier lost track of a pointer or a value. Either clang separated an access from its bounds check, or
    /// clang reads an uninitialised register whose value is not used.
    LostPointer,
    /// The verifier gave up after a million instructions, or a long sequence of jumps.
    TooLarge,
    /// A function has more instructions than its jumps can span, or than clang is given to compile.
    TooLong,
}

/// Result of having the verifier check an object that is not to run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trial {
    /// Obstacle that another compilation may overcome, with the verifier's reason.
    pub obstacle: Option<(Obstacle, String)>,
    /// Time that the verifier took.
    pub took: Duration,
}

/// Makes the verifier check an object, if this process may do so. If it may not, no obstacle is reported.
pub fn trial(object: &[u8]) -> Trial {
    let begun = Instant::now();
    match load_object_with(object, Adjust::trial()) {
        Ok(_) => Trial {
            obstacle: None,
            took: begun.elapsed(),
        },
        Err(failure) => Trial {
            obstacle: obstacle(&failure.log, &failure.error),
            took: failure.took,
        },
    }
}

impl Obstacle {
    /// Returns true if another compilation may overcome the obstacle. If a program is too large, that takes one that
    /// can be compiled to less code (`can_shrink`).
    pub fn is_surmountable(self, can_shrink: bool) -> bool {
        match self {
            Obstacle::Stack | Obstacle::LostPointer | Obstacle::TooLong => true,
            Obstacle::TooLarge => can_shrink,
        }
    }
}

/// Phrase in the verifier's log for a program with more pending branches than it keeps.
const TOO_COMPLEX: &str = "too complex";

/// Reason that is reported where the log has none.
const TOO_LARGE: &str = "BPF program is too large";

/// Reads the verifier's refusal from its log and the system's error; `None` if something else refused the object.
///
/// If a program is too large, its log may be too. Kernels before 6.4 then keep the beginning of the log, and its last
/// line is neither the reason nor the location.
pub(crate) fn refusal(log: &str, error: &io::Error) -> Option<Refusal> {
    // A resource that the machine lacks at this moment is not the program's fault, whatever the log says.
    let of_machine = matches!(
        error.raw_os_error(),
        Some(libc::ENOMEM | libc::EAGAIN | libc::EINTR | libc::EMFILE | libc::ENFILE)
    );
    // Too many branches also make the verifier run out of memory; its log says so.
    if of_machine && !log.contains(TOO_COMPLEX) {
        return None;
    }
    let too_large = matches!(error.raw_os_error(), Some(libc::E2BIG | libc::EFAULT));
    if too_large && !log.is_empty() && !verifier_log::is_whole(log) {
        return Some(Refusal {
            reason: TOO_LARGE.into(),
            ..Refusal::default()
        });
    }
    verifier_log::read(log)
}

/// Returns true if clang copies a register that has no value yet, on a path where the copy is not used. `R0` is
/// excluded: it is the result of a function that has none, which is not clang's doing.
fn reads_nothing(reason: &str) -> bool {
    reason.contains("!read_ok") && !reason.contains("R0 ")
}

/// Returns the obstacle and the verifier's reason, from the log and the system's error, if another compilation may
/// overcome it.
pub(crate) fn obstacle(log: &str, error: &io::Error) -> Option<(Obstacle, String)> {
    let reason = refusal(log, error)?.reason;
    let obstacle = if reason.contains("combined stack size") {
        Obstacle::Stack
    } else if reason.contains("invalid access to packet")
        || reason.contains("pointer") && reason.contains("prohibited")
        || reads_nothing(&reason)
    {
        Obstacle::LostPointer
    } else if reason.contains("too large") || reason.contains(TOO_COMPLEX) {
        Obstacle::TooLarge
    } else if reason.contains("cannot be patched") {
        // The verifier replaces calls by longer sequences, which 16-bit jumps may no longer span.
        Obstacle::TooLong
    } else {
        return None;
    };
    Some((obstacle, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the obstacle for a verifier's reason, with a system error that carries no information.
    fn found(reason: &str) -> Option<Obstacle> {
        let log = format!("0: R1=ctx() R10=fp0\n0: (b7) r0 = 0\n{reason}\n");
        let error = io::Error::from_raw_os_error(libc::EINVAL);
        obstacle(&log, &error).map(|(obstacle, _)| obstacle)
    }

    #[test]
    fn retryable_refusals_are_distinguished() {
        assert_eq!(
            found("invalid access to packet, off=14 size=4, R1(id=0,off=14,r=0)"),
            Some(Obstacle::LostPointer)
        );
        assert_eq!(
            found("combined stack size of 2 calls is 544. Too large"),
            Some(Obstacle::Stack)
        );
        assert_eq!(
            found("BPF program is too large. Processed 1000001 insn"),
            Some(Obstacle::TooLarge)
        );
        assert_eq!(
            found("The sequence of 8193 jumps is too complex."),
            Some(Obstacle::TooLarge)
        );
        assert_eq!(
            found("insn 9363 cannot be patched due to 16-bit range"),
            Some(Obstacle::TooLong)
        );
        assert_eq!(found("R4 !read_ok"), Some(Obstacle::LostPointer));
        assert_eq!(found("R0 !read_ok"), None);
    }

    #[test]
    fn a_program_too_large_is_known_by_the_error_where_its_log_has_no_end() {
        let cut = "0: R1=ctx() R10=fp0\n0: (b7) r0 = 0\n1: (05) goto pc";
        let remark = "reg type unsupported for arg#1 function turn#104\n0: (b7) r0 = 0\nR1 is not a scalar\n";
        for log in [cut, remark] {
            let found = |errno| obstacle(log, &io::Error::from_raw_os_error(errno)).map(|(o, _)| o);
            assert_eq!(found(libc::EFAULT), Some(Obstacle::TooLarge));
            assert_eq!(found(libc::E2BIG), Some(Obstacle::TooLarge));
            assert_eq!(found(libc::EINVAL), None);
            let error = io::Error::from_raw_os_error(libc::E2BIG);
            let refusal = refusal(log, &error).expect("a refusal");
            assert_eq!(refusal.reason, TOO_LARGE);
            assert_eq!((refusal.instruction, refusal.location), (None, None));
        }
        assert_eq!(
            obstacle("", &io::Error::from_raw_os_error(libc::E2BIG)),
            None
        );
    }

    #[test]
    fn what_the_machine_lacks_is_no_refusal_of_the_verifier() {
        let log = "0: R1=ctx() R10=fp0\n0: (b7) r0 = 0\nR4 !read_ok\n";
        for errno in [libc::ENOMEM, libc::EAGAIN, libc::EINTR, libc::EMFILE] {
            assert_eq!(refusal(log, &io::Error::from_raw_os_error(errno)), None);
        }
        assert!(refusal(log, &io::Error::from_raw_os_error(libc::EACCES)).is_some());
        let jumps = "0: R1=ctx() R10=fp0\nThe sequence of 8193 jumps is too complex.\n";
        assert!(refusal(jumps, &io::Error::from_raw_os_error(libc::ENOMEM)).is_some());
    }

    #[test]
    fn a_program_too_large_is_compiled_again_only_if_it_can_shrink() {
        assert!(Obstacle::TooLarge.is_surmountable(true));
        assert!(!Obstacle::TooLarge.is_surmountable(false));
        assert!(Obstacle::Stack.is_surmountable(false));
    }
}

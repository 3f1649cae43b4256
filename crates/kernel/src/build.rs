//! Whether the kernel takes an object, and whether another object for the same program may fare better.

use crate::sys::{Adjust, load_object_with};
use crate::verifier_log::{self, Refusal};
use std::io;
use std::time::{Duration, Instant};

/// What another compilation of the same program may overcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// A function, or functions that call each other, need more stack than there is.
    Stack,
    /// The verifier lost track of a pointer or of a value: each access is behind its check, but clang took the checks apart; or
    /// what clang reads without a value is not used.
    LostPointer,
    /// The verifier gave up after a million instructions, or a long sequence of jumps.
    TooLarge,
    /// A function has more instructions than its jumps can pass over, or than clang is to work on.
    TooLong,
}

/// What the verifier reported of an object that it was only asked about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trial {
    /// What another compilation may overcome, with the verifier's reason.
    pub obstacle: Option<(Obstacle, String)>,
    /// How long it took.
    pub took: Duration,
}

/// Asks the verifier about an object, where this process may; what keeps it from asking is no obstacle.
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
    /// Whether another compilation may overcome it for a program that can be compiled to less if it `can_shrink`.
    pub fn is_surmountable(self, can_shrink: bool) -> bool {
        match self {
            Obstacle::Stack | Obstacle::LostPointer | Obstacle::TooLong => true,
            Obstacle::TooLarge => can_shrink,
        }
    }
}

/// The verifier's report of a program with more branches to come back to than it keeps.
const TOO_COMPLEX: &str = "too complex";

/// The reason where the log has none.
const TOO_LARGE: &str = "BPF program is too large";

/// What the verifier refused, by its log and the system's error; `None` if it was not the verifier.
///
/// Of a program that is too large the log may be too. Kernels before 6.4 keep its beginning then, and what stands last in
/// it is neither the reason nor the place.
pub(crate) fn refusal(log: &str, error: &io::Error) -> Option<Refusal> {
    // What the machine has not got at this moment is no fault of the program's, whatever the log has by then.
    let of_machine = matches!(
        error.raw_os_error(),
        Some(libc::ENOMEM | libc::EAGAIN | libc::EINTR | libc::EMFILE | libc::ENFILE)
    );
    // The verifier has no memory left for what a program makes of branches either, and says that.
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

/// Whether clang copies a register that has no value yet, on a path where the copy is not used. A function without a result
/// (`R0`) is no matter of clang's.
fn reads_nothing(reason: &str) -> bool {
    reason.contains("!read_ok") && !reason.contains("R0 ")
}

/// The obstacle, by the verifier's log and the system's error, if another compilation may overcome it.
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
        // What the verifier puts in place of calls is longer, and short jumps no longer pass over it.
        Obstacle::TooLong
    } else {
        return None;
    };
    Some((obstacle, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the verifier's reason comes to, with an error that says nothing.
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

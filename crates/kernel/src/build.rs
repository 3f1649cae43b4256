//! Whether the kernel takes an object, and whether another object for the same program may fare better.

use crate::sys::{Adjust, load_object_with};
use crate::verifier_log;
use std::time::{Duration, Instant};

/// What another compilation of the same program may overcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// A function, or functions that call each other, need more stack than there is.
    Stack,
    /// The verifier lost track of a pointer: each access is behind its check, but clang took the checks apart.
    LostPointer,
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
    let failure = load_object_with(object, Adjust::trial()).err();
    Trial {
        obstacle: failure.and_then(|failure| obstacle(&failure.log)),
        took: begun.elapsed(),
    }
}

/// Whether another compilation may help where the verifier refused an object with this log.
pub fn is_retryable(log: &str) -> bool {
    obstacle(log).is_some()
}

/// The obstacle, by the verifier's log, if another compilation may overcome it.
fn obstacle(log: &str) -> Option<(Obstacle, String)> {
    let reason = verifier_log::read(log)?.reason;
    let obstacle = if reason.contains("combined stack size") {
        Obstacle::Stack
    } else if reason.contains("invalid access to packet")
        || reason.contains("pointer") && reason.contains("prohibited")
    {
        Obstacle::LostPointer
    } else {
        return None;
    };
    Some((obstacle, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retryable_refusals_are_distinguished() {
        let found = |reason: &str| {
            let log = format!("0: R1=ctx() R10=fp0\n0: (b7) r0 = 0\n{reason}\n");
            assert_eq!(is_retryable(&log), obstacle(&log).is_some());
            obstacle(&log).map(|(obstacle, _)| obstacle)
        };
        assert_eq!(
            found("invalid access to packet, off=14 size=4, R1(id=0,off=14,r=0)"),
            Some(Obstacle::LostPointer)
        );
        assert_eq!(
            found("combined stack size of 2 calls is 544. Too large"),
            Some(Obstacle::Stack)
        );
        assert_eq!(found("R0 !read_ok"), None);
        assert!(!is_retryable(""));
    }
}

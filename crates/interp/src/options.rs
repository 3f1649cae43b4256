//! What can be chosen about a run.

/// Where the time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// It stands still but for this many nanoseconds from packet to packet and what
    /// [`crate::Interpreter::wait`] adds: the same run gives the same times.
    Virtual {
        /// Nanoseconds from one packet to the next.
        step: u64,
    },
    /// The machine's own monotonic clock, from 0 when the interpreter was made.
    System,
}

/// What can be chosen about a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Where random numbers begin.
    pub seed: u64,
    /// Where the time comes from.
    pub clock: Clock,
    /// Statements and parser states that one packet may run before it is given up.
    pub steps: u64,
}

impl Default for Options {
    /// The same run each time, a microsecond from packet to packet, a million steps.
    fn default() -> Options {
        Options {
            seed: 0,
            clock: Clock::Virtual { step: 1_000 },
            steps: 1_000_000,
        }
    }
}

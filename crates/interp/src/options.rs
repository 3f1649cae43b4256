//! What can be chosen about a run.

use arch::tc::Direction;
use arch::v1model::traffic::MOST_ROUNDS;
use control::repeatable;

/// Where the time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// It begins at [`repeatable::START`] and stands still but for this many nanoseconds from packet to
    /// packet and what [`crate::Interpreter::wait`] adds: the same run gives the same times.
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
    /// Statements and parser states that one packet may run before it is aborted. In a parser they end with
    /// `ParserTimeout`; what follows a parser has as many again, and so has each copy.
    pub steps: u64,
    /// How often a packet may begin anew before it is dropped: resubmitted, recirculated or cloned (`v1model`).
    pub rounds: u32,
    /// The packets' direction (`tc_model`).
    pub direction: Direction,
    /// The MTU of every interface, without the Ethernet header (`tc_model`).
    pub mtu: u32,
}

impl Default for Options {
    /// Deterministic: a microsecond from packet to packet, a million steps, 4,096 rounds, packets that come
    /// in, the MTU of the loopback device (on which the kernel's test runs run).
    fn default() -> Options {
        Options {
            seed: repeatable::SEED,
            clock: Clock::Virtual {
                step: repeatable::STEP,
            },
            steps: 1_000_000,
            rounds: MOST_ROUNDS,
            direction: Direction::Ingress,
            mtu: 65_536,
        }
    }
}

//! Options of a run.

use arch::tc::Direction;
use arch::v1model::traffic::MOST_ROUNDS;
use control::repeatable;

/// Source of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Virtual clock: it begins at [`repeatable::START`], and advances by a fixed step from packet to packet, and by
    /// [`crate::Interpreter::wait`]. The same run has the same times.
    Virtual {
        /// Step from one packet to the next, in nanoseconds.
        step: u64,
    },
    /// The machine's monotonic clock, counted from the creation of the interpreter.
    System,
}

/// Options of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Seed of the random numbers.
    pub seed: u64,
    /// Source of the time.
    pub clock: Clock,
    /// Number of statements and parser states that one packet may run before it is aborted. A parser that exceeds it
    /// ends with `ParserTimeout`. The budget applies again to the blocks after a parser, and to each copy.
    pub steps: u64,
    /// Number of times that a packet may be resubmitted, recirculated or cloned before it is dropped (`v1model`).
    pub rounds: u32,
    /// Direction of the packets (`tc_model`).
    pub direction: Direction,
    /// MTU of every interface, without the Ethernet header (`tc_model`).
    pub mtu: u32,
}

impl Default for Options {
    /// Returns deterministic options: a microsecond from packet to packet, a million steps, 4,096 rounds, and ingress
    /// packets. The MTU is that of the loopback device, on which the kernel's test runs run.
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

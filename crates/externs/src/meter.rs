//! `v1model`: indexed meters.
//!
//! ```p4
//! extern meter {
//!     meter(bit<32> size, MeterType type);
//!     void execute_meter<T>(in bit<32> index, out T result);
//! }
//! ```
//!
//! Two rates, three colours (RFC 2698), colour-blind. A meter without rates is always green.

use crate::call::{Arg, Env, Fault, Reply, index};
use crate::counter::size_of;
use crate::{Extern, ExternState, Meaning};
use ir::{Bits, CtorValue, ExternData};
use std::collections::HashMap;

/// `meter`
pub const EXTERN: Extern = Extern {
    name: "meter",
    meaning: Meaning::Object {
        create: |data| ExternState::Meters(Meters::new(size_of(data, "size"), counts_bytes(data))),
        methods: &[("execute_meter", execute)],
    },
};

/// A packet's colour, by its number in P4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// Within the committed rate.
    Green = 0,
    /// Above the committed, within the peak rate.
    Yellow = 1,
    /// Above the peak rate.
    Red = 2,
}

/// Returns true if a meter's constructor asks for bytes: the second member of `MeterType`.
pub fn counts_bytes(data: &ExternData) -> bool {
    data.args
        .iter()
        .any(|(name, value)| name == "type" && matches!(value, CtorValue::Member(_, 1)))
}

/// Number of parts of a token. A rate of one token a second brings one part in a microsecond.
const TOKEN: u128 = 1_000_000;

/// Limits of a meter: tokens per second and the largest number of tokens, of the committed and the peak bucket.
pub type Limits = [(u64, u64); 2];

/// Token bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bucket {
    /// Tokens a second.
    rate: u64,
    /// Largest number of tokens.
    burst: u64,
    /// Number of whole tokens in it.
    tokens: u64,
    /// Millionths of a token that are not a whole one yet. They are kept while the bucket is full.
    part: u32,
}

impl Bucket {
    fn fill(&mut self, microseconds: u64) {
        let more = u128::from(self.rate) * u128::from(microseconds) + u128::from(self.part);
        self.part = (more % TOKEN) as u32;
        let tokens = u128::from(self.tokens) + more / TOKEN;
        self.tokens = tokens.min(u128::from(self.burst)) as u64;
    }

    /// Takes tokens, if there are enough.
    fn take(&mut self, tokens: u64) -> bool {
        let left = self.tokens.checked_sub(tokens);
        self.tokens = left.unwrap_or(self.tokens);
        left.is_some()
    }
}

/// Two-rate three-colour marker, colour-blind (RFC 2698, section 3). A packet is red, and takes no tokens, if the peak
/// bucket has too few for it. Otherwise it is yellow if the committed bucket has too few. Tokens are added by the
/// microsecond, whole ones only, as BMv2 counts them.
#[derive(Clone, Debug, PartialEq)]
pub struct Meter {
    bytes: bool,
    /// Committed and peak bucket; `None` until rates are set.
    buckets: Option<[Bucket; 2]>,
    /// Time of the last update, in microseconds.
    last: u64,
}

impl Meter {
    /// Makes a meter of packets or of bytes, without rates.
    pub fn new(bytes: bool) -> Meter {
        Meter {
            bytes,
            buckets: None,
            last: 0,
        }
    }

    /// Sets the limits of the committed and the peak bucket, both full at `now` (nanoseconds); `None` removes them.
    pub fn set_limits(&mut self, now: u64, limits: Option<Limits>) {
        self.last = now / 1_000;
        self.buckets = limits.map(|limits| {
            limits.map(|(rate, burst)| Bucket {
                rate,
                burst,
                tokens: burst,
                part: 0,
            })
        });
    }

    /// Returns the limits, if there are any.
    pub fn limits(&self) -> Option<Limits> {
        let limits = |bucket: Bucket| (bucket.rate, bucket.burst);
        self.buckets.map(|buckets| buckets.map(limits))
    }

    /// Returns the colour of a packet of `bytes` bytes at `now` (nanoseconds), and takes its tokens.
    pub fn execute(&mut self, now: u64, bytes: u64) -> Color {
        let Some([committed, peak]) = &mut self.buckets else {
            return Color::Green;
        };
        let now = now / 1_000;
        let passed = now.saturating_sub(self.last);
        self.last = self.last.max(now);
        let cost = if self.bytes { bytes } else { 1 };
        peak.fill(passed);
        committed.fill(passed);
        if !peak.take(cost) {
            return Color::Red;
        }
        match committed.take(cost) {
            true => Color::Green,
            false => Color::Yellow,
        }
    }
}

/// Meters by index.
#[derive(Clone, Debug, PartialEq)]
pub struct Meters {
    size: u64,
    bytes: bool,
    cells: HashMap<u64, Meter>,
}

impl Meters {
    /// Makes `size` meters of packets or of bytes, without rates.
    pub fn new(size: u64, bytes: bool) -> Meters {
        Meters {
            size,
            bytes,
            cells: HashMap::new(),
        }
    }

    /// Returns the number of meters.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the limits of a meter, if there are any; `None` out of range.
    pub fn limits(&self, index: u64) -> Option<Option<Limits>> {
        let limits = || self.cells.get(&index).and_then(Meter::limits);
        (index < self.size).then(limits)
    }

    /// Returns a meter; `None` out of range.
    pub fn get_mut(&mut self, index: u64) -> Option<&mut Meter> {
        let bytes = self.bytes;
        (index < self.size).then(|| self.cells.entry(index).or_insert_with(|| Meter::new(bytes)))
    }
}

fn execute(state: &mut ExternState, args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let ExternState::Meters(meters) = state else {
        return Err(Fault::Malformed);
    };
    let color = match meters.get_mut(index(args, 0)?) {
        Some(meter) => meter.execute(env.now, env.packet.len() as u64),
        None => Color::Green,
    };
    Ok(Reply::out(1, vec![Bits::new(32, color as u32)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_follow_the_two_rates() {
        let mut meter = Meter::new(false);
        assert_eq!(meter.execute(0, 100), Color::Green);
        meter.set_limits(0, Some([(1, 1), (2, 2)]));
        let colours: Vec<Color> = (0..3).map(|_| meter.execute(0, 100)).collect();
        assert_eq!(colours, [Color::Green, Color::Yellow, Color::Red]);
        // Half a second brings one token to the peak bucket and half a one to the committed.
        assert_eq!(meter.execute(500_000_000, 100), Color::Yellow);
        assert_eq!(meter.execute(1_000_000_000, 100), Color::Green);
        assert_eq!(meter.limits(), Some([(1, 1), (2, 2)]));
        meter.set_limits(1_000_000_000, None);
        assert_eq!(meter.execute(1_000_000_000, 100), Color::Green);
    }

    #[test]
    fn bytes_cost_their_number_and_buckets_do_not_overflow() {
        let mut meter = Meter::new(true);
        meter.set_limits(0, Some([(u64::MAX, 64), (u64::MAX, 100)]));
        assert_eq!(meter.execute(u64::MAX, 101), Color::Red);
        assert_eq!(meter.execute(u64::MAX, 65), Color::Yellow);
        assert_eq!(meter.execute(u64::MAX, 35), Color::Green);
        assert_eq!(
            meter.execute(5, 1),
            Color::Red,
            "a clock that goes back adds no tokens"
        );
    }

    #[test]
    fn a_red_packet_takes_no_tokens_and_a_yellow_one_none_of_the_committed() {
        let mut meter = Meter::new(true);
        meter.set_limits(0, Some([(0, 50), (0, 200)]));
        let colours: Vec<Color> = [201, 60, 50, 91, 90]
            .map(|bytes| meter.execute(0, bytes))
            .into();
        use Color::{Green, Red, Yellow};
        assert_eq!(colours, [Red, Yellow, Green, Red, Yellow]);
    }

    /// BMv2 takes whole tokens only, of all microseconds since the beginning, so that rounding never adds up.
    #[test]
    fn tokens_are_those_of_all_the_time_that_went_by() {
        let mut meter = Meter::new(false);
        meter.set_limits(0, Some([(300_000, 1), (300_000, 1)]));
        meter.execute(0, 1);
        let mut passed = 0u64;
        for microsecond in 1..=1_000u64 {
            let green = meter.execute(microsecond * 1_000, 1) == Color::Green;
            passed += u64::from(green);
            assert_eq!(passed, microsecond * 3 / 10, "after {microsecond} us");
        }
        // Less than a microsecond is no time.
        assert_eq!(meter.execute(1_003_999, 1), Color::Red);
    }

    #[test]
    fn what_a_full_bucket_has_of_a_token_is_kept() {
        let mut meter = Meter::new(false);
        meter.set_limits(0, Some([(400_000, 1), (400_000, 1)]));
        // 0.8 tokens came while it was full; 0.4 more make one.
        assert_eq!(meter.execute(2_000, 1), Color::Green);
        assert_eq!(meter.execute(3_000, 1), Color::Green);
    }
}

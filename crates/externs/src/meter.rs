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
use crate::{Extern, Meaning, State};
use ir::{Bits, CtorValue, ExternData};
use std::collections::HashMap;

/// `meter`
pub const EXTERN: Extern = Extern {
    name: "meter",
    meaning: Meaning::Object {
        create: |data| State::Meters(Meters::new(size_of(data, "size"), counts_bytes(data))),
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

/// Whether a meter's constructor asks for bytes: the second member of `MeterType`.
pub fn counts_bytes(data: &ExternData) -> bool {
    data.args
        .iter()
        .any(|(name, value)| name == "type" && matches!(value, CtorValue::Member(_, 1)))
}

/// Billionths of a token: what a rate of one a second brings in a nanosecond.
const TOKEN: u128 = 1_000_000_000;

/// One token bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bucket {
    /// Tokens a second.
    rate: u64,
    /// The most it holds.
    burst: u64,
    /// Billionths of tokens in it.
    level: u128,
}

impl Bucket {
    fn fill(&mut self, nanoseconds: u64) {
        let more = u128::from(self.rate) * u128::from(nanoseconds);
        self.level = (self.level + more).min(u128::from(self.burst) * TOKEN);
    }
}

/// A two-rate three-colour marker.
#[derive(Clone, Debug, PartialEq)]
pub struct Meter {
    bytes: bool,
    /// Committed and peak; `None` until rates are set.
    buckets: Option<[Bucket; 2]>,
    last: u64,
}

impl Meter {
    /// A meter of packets or of bytes, without rates.
    pub fn new(bytes: bool) -> Meter {
        Meter {
            bytes,
            buckets: None,
            last: 0,
        }
    }

    /// Sets tokens a second and burst of the committed and the peak bucket, both full at `now`
    /// (nanoseconds).
    pub fn set_rates(&mut self, now: u64, rates: [(u64, u64); 2]) {
        self.last = now;
        self.buckets = Some(rates.map(|(rate, burst)| Bucket {
            rate,
            burst,
            level: u128::from(burst) * TOKEN,
        }));
    }

    /// The colour of a packet of `bytes` bytes at `now` (nanoseconds), which takes its tokens.
    pub fn execute(&mut self, now: u64, bytes: u64) -> Color {
        let Some([committed, peak]) = &mut self.buckets else {
            return Color::Green;
        };
        let passed = now.saturating_sub(self.last);
        self.last = self.last.max(now);
        committed.fill(passed);
        peak.fill(passed);
        let cost = u128::from(if self.bytes { bytes } else { 1 }) * TOKEN;
        if peak.level < cost {
            return Color::Red;
        }
        peak.level -= cost;
        if committed.level < cost {
            return Color::Yellow;
        }
        committed.level -= cost;
        Color::Green
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
    /// `size` meters of packets or of bytes, without rates.
    pub fn new(size: u64, bytes: bool) -> Meters {
        Meters {
            size,
            bytes,
            cells: HashMap::new(),
        }
    }

    /// How many there are.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// A meter; `None` outside.
    pub fn get_mut(&mut self, index: u64) -> Option<&mut Meter> {
        let bytes = self.bytes;
        (index < self.size).then(|| self.cells.entry(index).or_insert_with(|| Meter::new(bytes)))
    }
}

fn execute(state: &mut State, args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let State::Meters(meters) = state else {
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
        meter.set_rates(0, [(1, 1), (2, 2)]);
        let colours: Vec<Color> = (0..3).map(|_| meter.execute(0, 100)).collect();
        assert_eq!(colours, [Color::Green, Color::Yellow, Color::Red]);
        // Half a second brings one token to the peak bucket and half a one to the committed.
        assert_eq!(meter.execute(500_000_000, 100), Color::Yellow);
        assert_eq!(meter.execute(1_000_000_000, 100), Color::Green);
    }

    #[test]
    fn bytes_cost_their_number_and_buckets_do_not_overflow() {
        let mut meter = Meter::new(true);
        meter.set_rates(0, [(u64::MAX, 64), (u64::MAX, 100)]);
        assert_eq!(meter.execute(u64::MAX, 101), Color::Red);
        assert_eq!(meter.execute(u64::MAX, 65), Color::Yellow);
        assert_eq!(meter.execute(u64::MAX, 35), Color::Green);
        assert_eq!(
            meter.execute(5, 1),
            Color::Red,
            "a clock that goes back adds no tokens"
        );
    }
}

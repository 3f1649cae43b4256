//! The clock, of `telemetry.p4` and of `xdp_model`.
//!
//! ```p4
//! extern bit<64> monotonic_ns();
//! extern bit<32> BPF_KTIME_GET_NS();
//! ```
//!
//! The second one has the low 32 bits of the nanoseconds.

use crate::{Extern, Meaning, Reply};
use ir::Bits;

/// `monotonic_ns`
pub(crate) const WHOLE: Extern = Extern {
    name: "monotonic_ns",
    meaning: Meaning::Function(|_, env| Ok(Reply::value(Bits::new(64, env.now)))),
};

/// `BPF_KTIME_GET_NS`
pub(crate) const LOW: Extern = Extern {
    name: "BPF_KTIME_GET_NS",
    meaning: Meaning::Function(|_, env| Ok(Reply::value(Bits::new(32, env.now)))),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::with_env;

    #[test]
    fn the_low_half_wraps_at_32_bits() {
        let read = |clock: &Extern| {
            let Meaning::Function(now) = clock.meaning else {
                unreachable!()
            };
            let (reply, _) = with_env(&[], 0, |env| {
                env.now = (1 << 32) + 5;
                now(&[], env)
            });
            reply
        };
        assert_eq!(read(&LOW), Ok(Reply::value(Bits::new(32, 5u32))));
        assert_eq!(
            read(&WHOLE),
            Ok(Reply::value(Bits::new(64, (1u64 << 32) + 5)))
        );
    }
}

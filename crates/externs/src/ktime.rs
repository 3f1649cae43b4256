//! `xdp_model`: the clock.
//!
//! ```p4
//! extern bit<32> BPF_KTIME_GET_NS();
//! ```
//!
//! The low 32 bits of the nanoseconds.

use crate::{Extern, Meaning, Reply};
use ir::Bits;

/// `BPF_KTIME_GET_NS`
pub(crate) const EXTERN: Extern = Extern {
    name: "BPF_KTIME_GET_NS",
    meaning: Meaning::Function(|_, env| Ok(Reply::value(Bits::new(32, env.now)))),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::with_env;

    #[test]
    fn it_wraps_at_32_bits() {
        let Meaning::Function(now) = EXTERN.meaning else {
            unreachable!()
        };
        let (reply, _) = with_env(&[], 0, |env| {
            env.now = (1 << 32) + 5;
            now(&[], env)
        });
        assert_eq!(reply, Ok(Reply::value(Bits::new(32, 5u32))));
    }
}

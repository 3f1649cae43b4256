//! `v1model`: members and groups kept separate from a table's entries.
//!
//! ```p4
//! extern action_profile { action_profile(bit<32> size); }
//! extern action_selector { action_selector(HashAlgorithm algorithm, bit<32> size, bit<32> outputWidth); }
//! ```
//!
//! Both are values of a table's `implementation` property. An entry of such a table carries its
//! actions itself (one-shot); with a selector there may be several, and the hash over the table's
//! `selector` keys chooses.

use crate::{Extern, Meaning, hash, stateless};
use ir::Bits;

/// Actions shared by entries.
pub(crate) const ACTION_PROFILE: Extern = Extern {
    name: "action_profile",
    meaning: Meaning::Object {
        create: stateless,
        methods: &[],
    },
};

/// Groups of actions from which a hash chooses.
pub(crate) const ACTION_SELECTOR: Extern = Extern {
    name: "action_selector",
    meaning: Meaning::Object {
        create: stateless,
        methods: &[],
    },
};

impl hash::Algorithm {
    /// Which of `count` members (at least 1) the values of the selector keys choose.
    pub fn select(self, keys: &[Bits], width: u32, count: usize) -> usize {
        let hashed = self.compute(keys);
        let cut = Bits::new(width.clamp(1, 64), hashed);
        let chosen = cut.to_u64().unwrap_or(0) % count.max(1) as u64;
        chosen as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_keeps_its_member_and_all_members_are_used() {
        let member = |flow: u32| hash::Algorithm::Crc16.select(&[Bits::new(32, flow)], 16, 3);
        assert_eq!(member(7), member(7));
        for want in 0..3 {
            assert!((0..64).any(|flow| member(flow) == want));
        }
    }
}

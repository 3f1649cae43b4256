//! `v1model`: members and groups kept separate from a table's entries.
//!
//! ```p4
//! extern action_profile { action_profile(bit<32> size); }
//! extern action_selector { action_selector(HashAlgorithm algorithm, bit<32> size, bit<32> outputWidth); }
//! ```
//!
//! Both are values of a table's `implementation` property. An entry of such a table names a member, which is an action
//! with its arguments, or its own action; with a selector it may name a group of members, and the hash over the
//! table's `selector` keys chooses one of them.

use crate::{Extern, ExternState, Meaning, hash};
use ir::{ActionCall, Bits};
use std::collections::BTreeMap;

/// Actions shared by entries.
pub(crate) const ACTION_PROFILE: Extern = Extern {
    name: "action_profile",
    meaning: Meaning::Object {
        create: |_| ExternState::Profile(Profile::default()),
        methods: &[],
    },
};

/// Groups of actions from which a hash chooses.
pub(crate) const ACTION_SELECTOR: Extern = Extern {
    name: "action_selector",
    meaning: Meaning::Object {
        create: |_| ExternState::Profile(Profile::default()),
        methods: &[],
    },
};

/// Members and groups of an action profile or selector.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Profile {
    /// Action of each member; its number is an index into the actions that members may run.
    pub members: BTreeMap<u32, ActionCall>,
    /// Members of each group, ascending. No group is empty, and all members exist.
    pub groups: BTreeMap<u32, Vec<u32>>,
}

impl hash::Algorithm {
    /// Chooses one of `count` members (at least 1) by the values of the selector keys. As in BMv2, it is the whole
    /// hash modulo their number. The constructor's `outputWidth` has no effect.
    pub fn select(self, keys: &[Bits], count: usize) -> usize {
        (self.compute(keys) % count.max(1) as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_keeps_its_member_and_all_members_are_used() {
        let member = |flow: u32| hash::Algorithm::Crc16.select(&[Bits::new(32, flow)], 3);
        assert_eq!(member(7), member(7));
        for want in 0..3 {
            assert!((0..64).any(|flow| member(flow) == want));
        }
    }

    #[test]
    fn the_whole_hash_counts() {
        let all = hash::Algorithm::Identity.select(&[Bits::new(32, 0x1_0005u32)], 0x1_0000);
        assert_eq!(all, 5);
        let crc =
            hash::Algorithm::Crc32.select(&[Bits::new(72, 0x31_3233_3435_3637_3839u128)], 1 << 31);
        assert_eq!(crc, 0x4bf4_3926);
    }
}

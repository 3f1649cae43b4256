//! Name sets: rules for domain names, in an array of buckets and an array of records.

use serde::{Deserialize, Serialize};

/// Slots of a bucket.
pub const NAME_SLOTS: u32 = 8;
/// Size of a record in bytes.
pub const NAME_RECORD: u32 = 32;
/// Bytes of a name in a rule's first record, at its end.
pub const NAME_IN_FRONT: u32 = 22;
/// Bit of a rule that covers the name itself.
pub const NAME_ITSELF: u8 = 1;
/// Bit of a rule that covers the names below it.
pub const NAME_BELOW: u8 = 2;

/// Name set (`tables/include/onpath/name_set.h`). Numbers are in the machine's byte order.
///
/// A bucket is `{u32 record, u32 tag}[8]`: the number of a rule's first record, or 0 for a free slot, and the upper half
/// of its name's hash. The lower half chooses the bucket, as a fraction of their number. If that is full, the rule is in the first bucket
/// behind it that is not, the first bucket following the last. Slots are taken in order.
///
/// A rule's first record is `{u32 number, u32 lists, u8 length, u8 scope, u8 name[22]}`. Further records have the name's
/// other bytes, and zeros behind them. Record 0 is none of a rule: it has the number of records in use, itself included,
/// the number of rules, and the greatest number of labels of a rule, in the places of `number`, `lists` and `length`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NameSetAbi {
    /// Number in the program and in the schema.
    pub index: u32,
    /// Control-plane name of the set.
    pub name: String,
    /// Map of buckets.
    pub buckets: String,
    /// Map of records.
    pub records: String,
    /// Number of buckets.
    pub bucket_count: u32,
    /// Number of records.
    pub record_count: u32,
    /// Capacity in rules.
    pub capacity: u32,
}

impl NameSetAbi {
    /// Returns the maps, which are replaced together.
    pub fn maps(&self) -> [&str; 2] {
        [&self.buckets, &self.records]
    }
}

/// Most records that are reserved for names of any length; beyond them names are taken to have average lengths.
const RECORDS_FOR_ANY: u32 = 32 << 10;
/// Records of the longest name.
const RECORDS_OF_LONGEST: u32 = name_records(253);

/// Returns the number of records of a name of this length.
pub const fn name_records(length: u32) -> u32 {
    1 + length.saturating_sub(NAME_IN_FRONT).div_ceil(NAME_RECORD)
}

/// Rules per bucket, of eight slots, if a set is full.
const LOAD: u32 = 5;

/// Returns the numbers of buckets and records of a set with this capacity. Every other rule may have two records, or all
/// may have those of the longest name if that is little memory.
pub fn name_set_room(capacity: u32) -> (u32, u32) {
    let average = capacity + capacity / 20 * 11;
    let any = capacity
        .saturating_mul(RECORDS_OF_LONGEST)
        .min(RECORDS_FOR_ANY);
    (capacity.div_ceil(LOAD).max(1), 1 + average.max(any))
}

/// Hash of names, with the seed of a program's buckets. A name is taken from its end, eight bytes of a label at a time.
#[derive(Clone, Copy, Debug)]
pub struct NameHash {
    factor: u64,
    hash: u64,
}

impl NameHash {
    /// Creates the hash of no byte.
    pub fn new(seed: u64) -> NameHash {
        NameHash {
            factor: 0x9e37_79b9_7f4a_7c15 ^ seed << 1,
            hash: !seed,
        }
    }

    /// Returns the bucket of a whole name, of this number of buckets, and its tag.
    pub fn of(self, name: &[u8], buckets: u32) -> (u32, u32) {
        let mut hash = self.hash;
        for (number, label) in name.rsplit(|byte| *byte == b'.').enumerate() {
            if number > 0 {
                hash = (hash ^ u64::from(b'.')).wrapping_mul(self.factor);
            }
            for piece in label.rchunks(8) {
                let mut word = [0; 8];
                word[8 - piece.len()..].copy_from_slice(piece);
                hash = (hash ^ u64::from_be_bytes(word)).wrapping_mul(self.factor);
                hash ^= hash >> 32;
            }
        }
        hash ^= hash >> 32;
        hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash ^= hash >> 32;
        let bucket = (u64::from(hash as u32) * u64::from(buckets)) >> 32;
        (bucket as u32, (hash >> 32) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_of_eight_slots_stay_free() {
        for capacity in [1, 3, 4, 5, 100, 65_536, 1_000_000, 2_000_000] {
            let (buckets, records) = name_set_room(capacity);
            assert!(5 * buckets * NAME_SLOTS >= 8 * capacity, "{capacity}");
            assert!(records > capacity, "{capacity}");
        }
        let (buckets, records) = name_set_room(1_000_000);
        let bytes = u64::from(buckets) * 64 + u64::from(records) * u64::from(NAME_RECORD);
        assert!(bytes < 63_000_000, "{bytes}");
    }

    #[test]
    fn seeds_change_the_hash() {
        let of = |seed| NameHash::new(seed).of(b"example.com", 1000);
        assert_ne!(of(1), of(2));
        let hash = NameHash::new(1);
        assert_ne!(hash.of(b"a.com", 1), hash.of(b"b.com", 1));
    }
}

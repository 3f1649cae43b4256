//! Secret seeds of the hashes of a loaded program.

/// Secret seeds of one loading (`struct hash_seeds` in `onpath/seeds.h`). All programs over the same maps have the
/// same.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct HashSeeds {
    /// Key of the hash of keys that packets insert: `externs::flow_state::hash`.
    pub key: [u64; 2],
    /// Seed of the hash of tables in buckets, into which the control plane inserts.
    pub buckets: u64,
}

impl HashSeeds {
    /// Size of the section, in bytes.
    pub const SIZE: usize = 24;

    /// Encodes the section: words in the machine's byte order.
    pub fn to_bytes(self) -> [u8; HashSeeds::SIZE] {
        let [low, high] = self.key;
        let mut bytes = [0; HashSeeds::SIZE];
        for (to, word) in bytes.chunks_exact_mut(8).zip([low, high, self.buckets]) {
            to.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    /// Decodes the section. `None` if the size is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Option<HashSeeds> {
        let bytes: &[u8; HashSeeds::SIZE] = bytes.try_into().ok()?;
        let word = |at: usize| bytes[at..at + 8].try_into().map_or(0, u64::from_ne_bytes);
        Some(HashSeeds {
            key: [word(0), word(8)],
            buckets: word(16),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_read_as_they_are_written() {
        let seeds = HashSeeds {
            key: [1, 2],
            buckets: 3,
        };
        let bytes = seeds.to_bytes();
        assert_eq!(HashSeeds::from_bytes(&bytes), Some(seeds));
        assert_eq!(HashSeeds::from_bytes(&bytes[..8]), None);
    }
}

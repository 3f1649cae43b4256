//! Sizes by tag, as arrays in read-only data. If the tags are dense, the array is indexed by tag; otherwise by a
//! hash that gives each tag an entry of its own. Either way, a look-up takes no loop.

use ir::SkipTable;

/// Greatest length of an array indexed by tag: this many entries for each tag, plus [`PLACES_BESIDES`].
const PLACES_PER_TAG: u64 = 8;
const PLACES_BESIDES: u64 = 256;
/// Number of multipliers that are tried for each length of the array.
const TRIES: u64 = 100;

/// Representation of sizes by tag.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Sizes {
    /// Indexed by the tag.
    Dense {
        /// Tag of the first entry.
        first: u64,
        /// Sizes of attributes, in bytes; 0 for a value that is not a tag.
        sizes: Vec<u32>,
    },
    /// Indexed by a hash of the tag.
    Hashed(Hashed),
}

/// Perfect hash of tags: the high bits of a hash select a displacement, with which its low bits are combined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Hashed {
    /// True if tags have more than 32 bits. The high bits of a tag only affect the high bits of a product, so they
    /// are first combined with the low ones.
    pub folds: bool,
    /// Multiplier that makes a 64-bit hash of a tag.
    pub multiplier: u64,
    /// Number of bits by which the hash is shifted to select a displacement.
    pub shift: u32,
    /// Displacements, combined with the hash by exclusive or.
    pub displacements: Vec<u32>,
    /// Tag of each entry; arbitrary if the entry's size is 0.
    pub tags: Vec<u64>,
    /// Sizes of attributes, in bytes.
    pub sizes: Vec<u32>,
}

impl Sizes {
    /// Makes the arrays of a table.
    pub(crate) fn new(table: &SkipTable) -> Sizes {
        let tags: Vec<(u64, u32)> = table
            .sizes
            .iter()
            .map(|(tag, bytes)| (tag.to_u64().unwrap_or(0), *bytes))
            .collect();
        let (lowest, highest) = match (tags.first(), tags.last()) {
            (Some(first), Some(last)) => (first.0, last.0),
            _ => (0, 0),
        };
        let most = PLACES_PER_TAG * tags.len() as u64 + PLACES_BESIDES;
        // An array that begins at 0 needs no subtraction.
        let first = if highest < most { 0 } else { lowest };
        if highest - first >= most {
            return Sizes::Hashed(Hashed::new(&tags, table.width > LOW));
        }
        // If every tag has an entry, no comparison with the last one is needed.
        let places = match table.width {
            1..=8 => 1 << table.width,
            _ => highest - first + 1,
        };
        let mut sizes = vec![0; places as usize];
        for (tag, bytes) in tags {
            sizes[(tag - first) as usize] = bytes;
        }
        Sizes::Dense { first, sizes }
    }
}

impl Hashed {
    fn new(tags: &[(u64, u32)], folds: bool) -> Hashed {
        let least = (tags.len() * 5 / 4).next_power_of_two().max(8);
        let mut places = least;
        loop {
            let found =
                (1..=TRIES).find_map(|n| Hashed::with(tags, folds, scrambled(n) | 1, places));
            if let Some(found) = found {
                return found;
            }
            places *= 2;
        }
    }

    /// Makes the arrays with this multiplier, if it gives each tag an entry.
    fn with(tags: &[(u64, u32)], folds: bool, multiplier: u64, places: usize) -> Option<Hashed> {
        let groups = places / 4;
        let mut hashed = Hashed {
            folds,
            multiplier,
            shift: 64 - groups.ilog2(),
            displacements: vec![0; groups],
            tags: vec![0; places],
            sizes: vec![0; places],
        };
        let mut members: Vec<(usize, Vec<(u64, u32)>)> =
            (0..groups).map(|group| (group, Vec::new())).collect();
        for &tag in tags {
            members[hashed.group(tag.0)].1.push(tag);
        }
        // Large groups first, while there is room.
        members.sort_by_key(|(_, tags)| std::cmp::Reverse(tags.len()));
        for (group, tags) in members {
            let displacement = (0..places as u32).find(|&displacement| {
                hashed.displacements[group] = displacement;
                let mut own: Vec<usize> = tags.iter().map(|tag| hashed.place(tag.0)).collect();
                let free = own.iter().all(|&place| hashed.sizes[place] == 0);
                own.sort_unstable();
                own.dedup();
                free && own.len() == tags.len()
            })?;
            hashed.displacements[group] = displacement;
            for (tag, bytes) in tags {
                let place = hashed.place(tag);
                (hashed.tags[place], hashed.sizes[place]) = (tag, bytes);
            }
        }
        Some(hashed)
    }

    fn hash(&self, tag: u64) -> u64 {
        let folded = if self.folds { tag ^ tag >> LOW } else { tag };
        folded.wrapping_mul(self.multiplier)
    }

    fn group(&self, tag: u64) -> usize {
        (self.hash(tag) >> self.shift) as usize
    }

    /// Returns the mask of an index.
    pub(crate) fn mask(&self) -> u64 {
        self.tags.len() as u64 - 1
    }

    /// Returns the index of a tag, as [`super::parser`] has the C compute it.
    fn place(&self, tag: u64) -> usize {
        let displacement = self.displacements[self.group(tag)];
        ((self.hash(tag) >> LOW ^ u64::from(displacement)) & self.mask()) as usize
    }
}

/// Number of bits by which a hash is shifted to get an index: the lowest bits of a product depend only on the
/// lowest bits of the tag.
pub(crate) const LOW: u32 = 32;

/// Scrambles a number (the step of SplitMix64).
fn scrambled(number: u64) -> u64 {
    let mut bits = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::Bits;

    fn table(width: u32, tags: impl Iterator<Item = u64>) -> SkipTable {
        let mut sizes: Vec<(Bits, u32)> = tags
            .map(|tag| (Bits::new(width, tag), 2 + (tag % 50) as u32))
            .collect();
        sizes.sort_by(|(a, _), (b, _)| a.value().cmp(b.value()));
        SkipTable {
            skip: 0,
            width,
            sizes,
        }
    }

    #[test]
    fn dense_tags_are_places() {
        let Sizes::Dense { first, sizes } = Sizes::new(&table(16, 10..522)) else {
            panic!("512 tags in a row");
        };
        assert_eq!((first, sizes.len()), (0, 522));
        assert_eq!((sizes[9], sizes[10], sizes[521]), (0, 12, 23));
        let Sizes::Dense { first, sizes } = Sizes::new(&table(32, 0x80_0000..0x80_0008)) else {
            panic!("8 tags in a row");
        };
        assert_eq!((first, sizes.len()), (0x80_0000, 8));
    }

    #[test]
    fn every_value_of_a_byte_has_a_place() {
        let Sizes::Dense { first, sizes } = Sizes::new(&table(8, 200..208)) else {
            panic!("bytes");
        };
        assert_eq!((first, sizes.len()), (0, 256));
    }

    #[test]
    fn every_sparse_tag_has_a_place_of_its_own() {
        for (width, count, step) in [
            (16, 9, 7001),
            (16, 512, 127),
            (32, 512, 8_388_593),
            (64, 2000, 1 << 53),
        ] {
            let table = table(width, (0..count).map(|i| i * step + 5));
            let Sizes::Hashed(hashed) = Sizes::new(&table) else {
                panic!("{count} tags of {width} bits");
            };
            for (tag, bytes) in &table.sizes {
                let tag = tag.to_u64().unwrap();
                let place = hashed.place(tag);
                assert_eq!((hashed.tags[place], hashed.sizes[place]), (tag, *bytes));
            }
            assert!(
                hashed.tags.len() <= 4 * count as usize,
                "{count}: {}",
                hashed.tags.len()
            );
        }
    }
}

//! Sizes by tag, as arrays in read-only data: one by the tags themselves, where these are dense, else a hash with a place of its
//! own for each. Either way a tag is found without a loop.

use ir::SkipTable;

/// An array by tag has no more places than this for each of them, and these besides.
const PLACES_PER_TAG: u64 = 8;
const PLACES_BESIDES: u64 = 256;
/// Multipliers that are tried for each size of the array.
const TRIES: u64 = 100;

/// How sizes are found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Sizes {
    /// By the tag.
    Dense {
        /// The tag of the first place.
        first: u64,
        /// The bytes of attributes, 0 where there is no such tag.
        sizes: Vec<u32>,
    },
    /// By its hash.
    Hashed(Hashed),
}

/// Tags with a place for each: the high bits of a hash choose a displacement, which its low
/// ones are combined with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Hashed {
    /// Tags have more than 32 bits: their high ones, which a product only has in its own, are combined with the low ones first.
    pub folds: bool,
    /// Makes a hash of 64 bits of a tag.
    pub multiplier: u64,
    /// How far the hash is shifted to choose a displacement.
    pub shift: u32,
    /// They are combined with the hash by exclusive or.
    pub displacements: Vec<u32>,
    /// The tag at each place, any where its size is 0.
    pub tags: Vec<u64>,
    /// The bytes of attributes.
    pub sizes: Vec<u32>,
}

impl Sizes {
    /// The arrays of a table.
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
        // From 0 on nothing need be subtracted.
        let first = if highest < most { 0 } else { lowest };
        if highest - first >= most {
            return Sizes::Hashed(Hashed::new(&tags, table.width > LOW));
        }
        // Where every tag has a place, none need be compared with the last.
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

    /// With this multiplier, if it leaves each tag a place.
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
        // Large groups while there is room.
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

    /// The mask of a place's number.
    pub(crate) fn mask(&self) -> u64 {
        self.tags.len() as u64 - 1
    }

    /// The place of a tag, as [`super::parser`] has the C compute it.
    fn place(&self, tag: u64) -> usize {
        let displacement = self.displacements[self.group(tag)];
        ((self.hash(tag) >> LOW ^ u64::from(displacement)) & self.mask()) as usize
    }
}

/// How far a hash is shifted for its place: the lowest bits of a product depend on the lowest of the tag alone.
pub(crate) const LOW: u32 = 32;

/// A number with no pattern (the step of SplitMix64).
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

//! Most frequent items: Space-Saving, in sets.

use crate::{Error, HashKey, checked, hash};

/// Item with its count.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Item {
    /// Upper bound of the true weight.
    pub count: u64,
    /// Greatest excess of `count` over the true weight.
    pub error: u64,
    /// Bytes of the item.
    pub bytes: Vec<u8>,
}

/// Counts of the most frequent items (A. Metwally and others, *Efficient computation of frequent and top-k elements in
/// data streams*, 2005). There are `2^sets_log2` sets of `ways` counters, so that an update touches only one set. With
/// one set, this is the algorithm of the paper.
///
/// The item's set is its hash (see [`hash`](crate::hash()), with the key of all summaries) modulo the number of sets.
/// An item of weight `w` is added as follows:
///
/// 1. If one of the set's counters has the item, its count grows by `w`.
/// 2. Otherwise, if not all counters are in use, the next one in order gets the item, count `w`, error 0.
/// 3. Otherwise the counter with the least count, the first among equal ones, is given to the item: its error becomes
///    the count that it had, and its count grows by `w`.
///
/// A weight of 0 changes nothing. Counts saturate. For each kept item, `count - error <= true weight <= count`. The
/// weight of any other item is at most the least count of its set ([`Self::unseen`]). That count is at most the weight
/// added to the set, divided by `ways`. So every item with more weight is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpaceSaving {
    key: HashKey,
    ways: usize,
    /// Counters of each set, in the order in which they came into use.
    sets: Vec<Vec<Item>>,
    total: u64,
}

impl SpaceSaving {
    /// Returns an empty summary: `2^sets_log2` sets (0 to 16) of 1 to 256 counters.
    pub fn new(key: HashKey, sets_log2: u32, ways: usize) -> Result<SpaceSaving, Error> {
        checked("sets_log2", sets_log2.into(), 0, 16)?;
        checked("ways", ways as u64, 1, 256)?;
        Ok(SpaceSaving {
            key,
            ways,
            sets: vec![Vec::new(); 1 << sets_log2],
            total: 0,
        })
    }

    /// Builds a summary from the counters of another implementation: those in use in each set, in order.
    pub fn from_sets(
        key: HashKey,
        ways: usize,
        sets: Vec<Vec<Item>>,
    ) -> Result<SpaceSaving, Error> {
        let log2 = sets.len().checked_ilog2().unwrap_or(u32::MAX);
        let mut all = SpaceSaving::new(key, log2, ways)?;
        if sets.len() != all.sets.len() || sets.iter().any(|set| set.len() > ways) {
            return Err(Error::Different);
        }
        // The counts of a set sum to its weight: an item's error was counted for an earlier one.
        let counts = sets.iter().flatten().map(|item| item.count);
        all.total = counts.fold(0, u64::saturating_add);
        all.sets = sets;
        Ok(all)
    }

    /// Returns the weight of all that was added.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the number of counters.
    pub fn capacity(&self) -> usize {
        self.sets.len() * self.ways
    }

    /// Returns the set of an item.
    fn set_of(&self, item: &[u8]) -> usize {
        hash(self.key, item) as usize & (self.sets.len() - 1)
    }

    /// Adds an item with a weight.
    pub fn add(&mut self, item: &[u8], weight: u64) {
        if weight == 0 {
            return;
        }
        self.total = self.total.saturating_add(weight);
        let index = self.set_of(item);
        let set = &mut self.sets[index];
        if let Some(known) = set.iter_mut().find(|known| known.bytes == item) {
            known.count = known.count.saturating_add(weight);
            return;
        }
        if set.len() < self.ways {
            set.push(Item {
                count: weight,
                error: 0,
                bytes: item.to_vec(),
            });
            return;
        }
        // `min_by_key` returns the first of equal ones.
        let Some(least) = set.iter_mut().min_by_key(|known| known.count) else {
            return;
        };
        least.error = least.count;
        least.count = least.count.saturating_add(weight);
        least.bytes.clear();
        least.bytes.extend_from_slice(item);
    }

    /// Returns the greatest weight that an item without a counter may have: the least count of its set, or 0 if the set
    /// has unused counters.
    pub fn unseen(&self, item: &[u8]) -> u64 {
        least(&self.sets[self.set_of(item)], self.ways)
    }

    /// Returns the greatest weight that any item without a counter may have.
    pub fn greatest_unseen(&self) -> u64 {
        let bounds = self.sets.iter().map(|set| least(set, self.ways));
        bounds.max().unwrap_or(0)
    }

    /// Returns the `k` items with the largest counts, in descending order. Ties are broken by the smaller error, then
    /// by the smaller bytes.
    pub fn top(&self, k: usize) -> Vec<Item> {
        let mut items: Vec<Item> = self.sets.iter().flatten().cloned().collect();
        items.sort_by(ranked);
        items.truncate(k);
        items
    }

    /// Adds another summary of the same key and shape. In each set, an item gets the sum of both counts and of both
    /// errors. If one summary does not keep it, that summary's least count ([`Self::unseen`]) is its count and its
    /// error there. The first `ways` items in the order of [`Self::top`] are kept, in that order. The bounds hold for
    /// the sum (P. Agarwal and others, *Mergeable summaries*, 2012). Afterwards, a set's counts may sum to more than
    /// its weight.
    pub fn merge(&mut self, other: &SpaceSaving) -> Result<(), Error> {
        let shape = |s: &SpaceSaving| (s.key, s.ways, s.sets.len());
        if shape(self) != shape(other) {
            return Err(Error::Different);
        }
        for (mine, theirs) in self.sets.iter_mut().zip(&other.sets) {
            let (unseen_here, unseen_there) = (least(mine, self.ways), least(theirs, self.ways));
            let mut both: Vec<Item> = mine
                .iter()
                .map(|item| sum(item, theirs, unseen_there))
                .collect();
            let new = |item: &&Item| !mine.iter().any(|known| known.bytes == item.bytes);
            both.extend(
                theirs
                    .iter()
                    .filter(new)
                    .map(|item| sum(item, &[], unseen_here)),
            );
            both.sort_by(ranked);
            both.truncate(self.ways);
            *mine = both;
        }
        self.total = self.total.saturating_add(other.total);
        Ok(())
    }
}

/// Returns the greatest weight of an item that this set does not keep.
fn least(set: &[Item], ways: usize) -> u64 {
    if set.len() < ways {
        return 0;
    }
    set.iter().map(|item| item.count).min().unwrap_or(0)
}

/// Adds a set of the other summary to an item. If the set does not keep the item, `unseen` is the bound there.
fn sum(item: &Item, set: &[Item], unseen: u64) -> Item {
    let found = set.iter().find(|other| other.bytes == item.bytes);
    let (count, error) = found.map_or((unseen, unseen), |other| (other.count, other.error));
    Item {
        count: item.count.saturating_add(count),
        error: item.error.saturating_add(error),
        bytes: item.bytes.clone(),
    }
}

/// Orders items by the largest count, then the smallest error, then the smallest bytes.
fn ranked(a: &Item, b: &Item) -> std::cmp::Ordering {
    let keys = (b.count, a.error).cmp(&(a.count, b.error));
    keys.then_with(|| a.bytes.cmp(&b.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: HashKey = [0, 9];

    fn shown(sketch: &SpaceSaving) -> Vec<(String, u64, u64)> {
        let name = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let items = sketch.top(usize::MAX).into_iter();
        items.map(|i| (name(i.bytes), i.count, i.error)).collect()
    }

    #[test]
    fn the_first_of_the_least_counts_is_replaced() {
        let mut sketch = SpaceSaving::new(KEY, 0, 2).unwrap();
        for item in ["a", "b", "b", "a", "c", "c"] {
            sketch.add(item.as_bytes(), 1);
        }
        // `a` and `b` had 2 each; `a` came first.
        assert_eq!(shown(&sketch), [("c".into(), 4, 2), ("b".into(), 2, 0)]);
        assert_eq!(sketch.total(), 6);
        assert_eq!(sketch.unseen(b"a"), 2);
    }

    #[test]
    fn a_merge_bounds_what_one_side_does_not_keep() {
        let mut one = SpaceSaving::new(KEY, 0, 2).unwrap();
        one.add(b"a", 10);
        one.add(b"b", 3);
        let mut two = SpaceSaving::new(KEY, 0, 2).unwrap();
        two.add(b"c", 5);
        two.add(b"a", 1);
        one.merge(&two).unwrap();
        assert_eq!(shown(&one), [("a".into(), 11, 0), ("c".into(), 8, 3)]);
        assert_eq!(one.total(), 19);
        assert_eq!(one.greatest_unseen(), 8);
    }

    #[test]
    fn what_was_written_elsewhere_is_read_back() {
        let mut sketch = SpaceSaving::new(KEY, 2, 4).unwrap();
        for i in 0..100u8 {
            sketch.add(&[i % 23], 1 + u64::from(i % 3));
        }
        let read = SpaceSaving::from_sets(KEY, 4, sketch.sets.clone()).unwrap();
        assert_eq!(read, sketch);
    }

    #[test]
    fn shapes_have_a_range_and_have_to_agree() {
        assert!(SpaceSaving::new(KEY, 17, 1).is_err());
        assert!(SpaceSaving::new(KEY, 0, 0).is_err());
        let mut one = SpaceSaving::new(KEY, 1, 2).unwrap();
        let key = SpaceSaving::new([0, 1], 1, 2).unwrap();
        assert_eq!(one.merge(&key), Err(Error::Different));
        let three = vec![Vec::new(); 3];
        assert_eq!(SpaceSaving::from_sets(KEY, 1, three), Err(Error::Different));
        assert!(SpaceSaving::from_sets(KEY, 1, Vec::new()).is_err());
    }

    #[test]
    fn a_weight_of_nothing_changes_nothing() {
        let mut sketch = SpaceSaving::new(KEY, 0, 1).unwrap();
        sketch.add(b"a", 0);
        assert_eq!(sketch, SpaceSaving::new(KEY, 0, 1).unwrap());
    }
}

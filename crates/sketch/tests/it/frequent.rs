//! Space-Saving, compared with exact counts.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sketch::SpaceSaving;

type Exact = BTreeMap<Vec<u8>, u64>;

/// Items with weights, few of which are frequent.
fn stream() -> impl Strategy<Value = Vec<(u8, u64)>> {
    let item = (any::<u8>(), any::<u8>()).prop_map(|(a, b)| a & b & 0x3f);
    proptest::collection::vec((item, 0..5u64), 0..400)
}

fn of(stream: &[(u8, u64)], sets: u32, ways: usize, exact: &mut Exact) -> SpaceSaving {
    let mut sketch = SpaceSaving::new([3, 0], sets, ways).unwrap();
    for &(item, weight) in stream {
        sketch.add(&[item], weight);
        *exact.entry(vec![item]).or_default() += weight;
    }
    sketch
}

/// Checks each bound that the summary states.
fn check(sketch: &SpaceSaving, exact: &Exact) -> Result<(), TestCaseError> {
    let kept = sketch.top(usize::MAX);
    for item in &kept {
        let weight = exact.get(&item.bytes).copied().unwrap_or(0);
        prop_assert!(
            item.count - item.error <= weight && weight <= item.count,
            "{item:?}: {weight}"
        );
    }
    for (item, &weight) in exact {
        if !kept.iter().any(|known| known.bytes == *item) {
            prop_assert!(weight <= sketch.unseen(item), "{item:?}: {weight}");
            prop_assert!(weight <= sketch.greatest_unseen());
        }
    }
    prop_assert_eq!(sketch.total(), exact.values().sum::<u64>());
    prop_assert!(kept.windows(2).all(|pair| pair[0].count >= pair[1].count));
    Ok(())
}

proptest! {
    #[test]
    fn the_bounds_hold(stream in stream(), sets in 0..3u32, ways in 1..9usize) {
        let mut exact = Exact::new();
        let sketch = of(&stream, sets, ways, &mut exact);
        check(&sketch, &exact)?;
        if sets == 0 {
            // The least count is at most the mean.
            prop_assert!(sketch.greatest_unseen() <= sketch.total() / ways as u64);
        }
    }

    #[test]
    fn the_bounds_hold_for_a_merge_of_several(
        streams in proptest::collection::vec(stream(), 1..5), sets in 0..3u32, ways in 1..9usize
    ) {
        let mut exact = Exact::new();
        let mut merged = SpaceSaving::new([3, 0], sets, ways).unwrap();
        for stream in &streams {
            merged.merge(&of(stream, sets, ways, &mut exact)).unwrap();
            check(&merged, &exact)?;
        }
    }
}

#[test]
fn the_ten_most_frequent_of_a_skewed_stream_are_found() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut sketch = SpaceSaving::new([3, 0], 4, 16).unwrap();
    let mut exact: BTreeMap<u64, u64> = BTreeMap::new();
    for _ in 0..200_000 {
        // Item n has a share of about 1/n.
        let item = (10_000f64.powf(random.random::<f64>())) as u64;
        sketch.add(&item.to_le_bytes(), 1);
        *exact.entry(item).or_default() += 1;
    }
    let mut ranked: Vec<(u64, u64)> = exact.into_iter().map(|(item, n)| (n, item)).collect();
    ranked.sort_unstable_by(|a, b| b.cmp(a));
    let expected: Vec<u64> = ranked.iter().take(10).map(|&(_, item)| item).collect();
    let found: Vec<u64> = sketch
        .top(10)
        .iter()
        .map(|item| u64::from_le_bytes(item.bytes[..].try_into().unwrap()))
        .collect();
    assert_eq!(found, expected);
}

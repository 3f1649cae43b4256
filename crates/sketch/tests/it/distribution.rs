//! Histogram, compared with all numbers, sorted.

use proptest::prelude::*;
use sketch::Histogram;

/// Numbers of all magnitudes.
fn numbers() -> impl Strategy<Value = Vec<u64>> {
    let number = (0..64u32, any::<u64>()).prop_map(|(shift, bits)| bits >> shift);
    proptest::collection::vec(number, 1..200)
}

fn of(detail: u32, numbers: &[u64]) -> Histogram {
    let mut histogram = Histogram::new(detail).unwrap();
    numbers.iter().for_each(|&number| histogram.add(number));
    histogram
}

proptest! {
    #[test]
    fn a_quantile_is_within_the_stated_error(
        numbers in numbers(), detail in 0..=Histogram::GREATEST, share in 0.0..=1.0f64
    ) {
        let histogram = of(detail, &numbers);
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        let rank = ((share * sorted.len() as f64).ceil() as usize).max(1);
        let exact = sorted[rank - 1];
        let found = histogram.quantile(share).unwrap();
        // Products with a 64-bit number are rounded to 53 bits.
        let bound = exact as f64 * histogram.relative_error() * (1.0 + 1e-9);
        prop_assert!(found.abs_diff(exact) as f64 <= bound, "{found} for {exact}");
    }

    #[test]
    fn a_merge_is_one_histogram_of_all(a in numbers(), b in numbers(), detail in 0..=Histogram::GREATEST) {
        let mut merged = of(detail, &a);
        merged.merge(&of(detail, &b)).unwrap();
        let all = [a, b].concat();
        prop_assert_eq!(merged.total(), all.len() as u64);
        prop_assert_eq!(merged, of(detail, &all));
    }
}

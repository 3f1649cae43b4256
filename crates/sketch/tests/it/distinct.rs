//! HyperLogLog, compared with the number of values that were added.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sketch::{HyperLogLog, hash_u64};

/// Returns the relative errors of many runs with `n` values each.
fn errors(precision: u32, n: u64, runs: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(n);
    let mut error = |_| {
        let key = random.random();
        let mut sketch = HyperLogLog::new(precision).unwrap();
        (0..n).for_each(|value| sketch.add(hash_u64(key, value)));
        sketch.estimate() / n as f64 - 1.0
    };
    (0..runs).map(&mut error).collect()
}

/// With 200 runs, the root mean square is within 20 % of the standard error (four standard deviations), and the mean is
/// within 4 / sqrt(200) of it.
#[test]
fn the_error_is_the_stated_one_at_any_number_of_values() {
    const RUNS: u64 = 200;
    for (precision, n) in [
        (4, 3_000),
        (8, 100),
        (8, 700),
        (8, 5_000),
        (10, 2_500),
        (10, 20_000),
    ] {
        let stated = HyperLogLog::new(precision).unwrap().standard_error();
        let errors = errors(precision, n, RUNS);
        let mean = errors.iter().sum::<f64>() / RUNS as f64;
        let square = errors.iter().map(|e| e * e).sum::<f64>() / RUNS as f64;
        let case = format!(
            "precision {precision}, {n} values: mean {mean}, {}, stated {stated}",
            square.sqrt()
        );
        assert!(square.sqrt() < 1.2 * stated, "{case}");
        assert!(mean.abs() < 0.3 * stated, "{case}");
    }
}

#[test]
fn few_values_are_counted_nearly_exactly() {
    for n in 1..30 {
        let worst = errors(14, n, 20)
            .into_iter()
            .fold(0.0, |a: f64, e| a.max(e.abs()));
        // Two of 30 values share a register in one of 40 runs.
        assert!(worst * (n as f64) < 1.1, "{n} values: {worst}");
    }
}

#[test]
fn a_value_counts_once_and_a_merge_is_the_union() {
    let mut all = HyperLogLog::new(12).unwrap();
    let mut parts = vec![HyperLogLog::new(12).unwrap(); 4];
    for value in 0..40_000u64 {
        let hash = hash_u64([5, 0], value % 10_000);
        all.add(hash);
        parts[(value % 7 % 4) as usize].add(hash);
    }
    let mut merged = parts.remove(0);
    for part in &parts {
        merged.merge(part).unwrap();
    }
    assert_eq!(merged, all);
    assert!((all.estimate() / 10_000.0 - 1.0).abs() < 4.0 * all.standard_error());
}

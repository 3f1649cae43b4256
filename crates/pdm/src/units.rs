//! Durations for people.

/// Formats nanoseconds with three significant digits, in a suitable unit.
pub fn delay(ns: u64) -> String {
    let (value, unit) = match ns {
        0..1_000 => return format!("{ns} ns"),
        1_000..999_500 => (ns as f64 / 1e3, "µs"),
        999_500..999_500_000 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    let decimals = match value {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_have_three_digits() {
        let shown: Vec<String> = [
            0,
            999,
            1_000,
            12_345,
            999_499,
            999_500,
            25_000_000,
            999_500_000,
            12_000_000_000,
        ]
        .map(delay)
        .to_vec();
        assert_eq!(
            shown,
            [
                "0 ns", "999 ns", "1.00 µs", "12.3 µs", "999 µs", "1.00 ms", "25.0 ms", "1.00 s",
                "12.0 s"
            ]
        );
    }
}

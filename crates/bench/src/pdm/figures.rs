//! Statistics of many measurements, and goals for them.

use kernel::bench::median;
use serde::Serialize;
use std::fmt;

/// Returns the quantile `part` (0 to 1) of the values: the nearest measured one.
pub(crate) fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let rank = (part * last as f64).round() as usize;
    sorted.get(rank.min(last)).copied().unwrap_or(f64::NAN)
}

/// Median and quartiles of many values.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(crate) struct Spread {
    pub lower_quartile: f64,
    pub median: f64,
    pub upper_quartile: f64,
}

impl Spread {
    /// Summarises these values.
    pub(crate) fn of(values: &[f64]) -> Spread {
        Spread {
            lower_quartile: quantile(values, 0.25),
            median: median(values),
            upper_quartile: quantile(values, 0.75),
        }
    }
}

/// Value with an upper bound.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(crate) struct Goal {
    pub value: f64,
    pub most: f64,
    pub met: bool,
}

impl Goal {
    /// Compares a value with its bound. NaN does not meet it.
    pub(crate) fn new(value: f64, most: f64) -> Goal {
        Goal {
            value,
            most,
            met: value <= most,
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.met { "met" } else { "**missed**" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let values: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        assert_eq!(quantile(&values, 0.2), 20.0);
        assert_eq!(quantile(&values, 0.8), 80.0);
        assert_eq!(quantile(&[3.0, 1.0], 1.0), 3.0);
        assert_eq!(quantile(&[7.0], 0.2), 7.0);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn half_of_the_figures_are_between_the_quartiles() {
        let spread = Spread::of(&[9.0, 1.0, 5.0, 3.0, 7.0]);
        let expected = Spread {
            lower_quartile: 3.0,
            median: 5.0,
            upper_quartile: 7.0,
        };
        assert_eq!(spread, expected);
    }

    #[test]
    fn a_goal_is_met_up_to_its_limit() {
        assert!(Goal::new(1.15, 1.15).met && Goal::new(-2.0, 4.1).met);
        assert!(!Goal::new(1.1501, 1.15).met && !Goal::new(f64::NAN, 1.15).met);
        assert_eq!(Goal::new(1.0, 1.15).to_string(), "met");
        assert_eq!(Goal::new(2.0, 1.15).to_string(), "**missed**");
    }
}

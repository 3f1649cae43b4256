//! The figures for people and for programs.

pub mod csv;
pub mod json;
pub mod prometheus;
pub mod table;
pub mod trend;

use crate::aggregate::Cell;

/// The quantiles of a histogram that are shown.
const QUANTILES: [(&str, f64); 3] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)];

/// A figure with as many digits as it has; fractions with three.
fn number(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Number(number) => Some(number.to_string()),
        Cell::Real(number) => Some(format!("{number:.3}")),
        Cell::Estimate(number, _) => Some(format!("{number:.0}")),
        _ => None,
    }
}

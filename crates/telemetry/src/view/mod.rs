//! Views of metrics, for people and for programs.

mod axes;
pub mod csv;
pub mod json;
pub mod plot;
pub mod prometheus;
pub mod table;
pub mod trend;

use crate::aggregate::Cell;
use crate::report::Unit;

/// Quantiles of a histogram that are shown.
const QUANTILES: [(&str, f64); 3] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)];

/// Formats a number with all its digits; fractions have three.
fn number(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Number(number) => Some(number.to_string()),
        Cell::Real(number) => Some(format!("{number:.3}")),
        Cell::Estimate(number, _) => Some(format!("{number:.0}")),
        _ => None,
    }
}

/// Formats a number, or a time in the largest unit that is not greater.
fn scaled(number: u64, unit: Unit) -> String {
    match (unit, number) {
        (Unit::Plain, _) => number.to_string(),
        (Unit::Time, 0..1_000) => format!("{number} ns"),
        (Unit::Time, 1_000..1_000_000) => three_digits(number, 1e3, "µs"),
        (Unit::Time, 1_000_000..1_000_000_000) => three_digits(number, 1e6, "ms"),
        (Unit::Time, _) => three_digits(number, 1e9, "s"),
    }
}

fn three_digits(time: u64, unit: f64, name: &str) -> String {
    let number = time as f64 / unit;
    match number {
        ..10.0 => format!("{number:.2} {name}"),
        ..100.0 => format!("{number:.1} {name}"),
        _ => format!("{number:.0} {name}"),
    }
}

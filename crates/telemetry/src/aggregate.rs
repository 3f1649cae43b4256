//! Metrics of a group.

use crate::MAX_TEXT;
use crate::catalogue::Type;
use crate::query::{Function, Query};
use crate::value::Value;
use sketch::{HashKey, Histogram, HyperLogLog, SpaceSaving};

/// Precision of estimates of distinct values: a standard error of 1.6 %.
pub(crate) const PRECISION: u32 = 12;
/// Detail of histograms, the same as in programs on the path: quantiles are within 6.2 %.
pub(crate) const DETAIL: u32 = externs::metrics::DETAIL;
/// Number of counters in a set of `top`.
pub(crate) const WAYS: usize = 16;

/// Returns the number of sets of `top(k, ..)`, as a power of two. There are at least 256 counters, and 32 for each of
/// the `k` values.
pub(crate) fn sets_log2(k: usize) -> u32 {
    (k * 32).max(256).div_ceil(WAYS).next_power_of_two().ilog2()
}

/// State of an aggregate. Sums saturate.
#[derive(Clone, Debug)]
pub(crate) enum AggregateState {
    Total(u64),
    Least(Option<u64>),
    Greatest(Option<u64>),
    Mean {
        sum: u128,
        number: u64,
    },
    Distinct(HyperLogLog),
    /// Boxed, so that the states of other aggregates take less memory.
    Top(Box<SpaceSaving>),
    Histogram(Histogram),
    Rate {
        total: u64,
        reported: u64,
    },
}

/// Value of an aggregate, for reports.
#[derive(Clone, PartialEq, Debug)]
pub enum Cell {
    /// No value: no record had the attribute, or no time has passed.
    Nothing,
    /// An exact number.
    Number(u64),
    /// A number with a fraction.
    Real(f64),
    /// An estimate, and its relative standard error.
    Estimate(f64, f64),
    /// The most frequent values.
    Top {
        /// Value, upper bound of its count, and greatest error of that bound.
        items: Vec<(Value<'static>, u64, u64)>,
        /// Greatest count that a value without a counter may have.
        unseen: u64,
    },
    /// A distribution, and the relative error of its quantiles.
    Histogram(Histogram, f64),
}

impl AggregateState {
    /// Returns the state before the first record; `hash_key` is the key of the hash.
    pub(crate) fn new(function: Function, hash_key: HashKey) -> AggregateState {
        // The parameters are in their ranges.
        let made = match function {
            Function::Count | Function::Bytes | Function::Sum(_) => Ok(AggregateState::Total(0)),
            Function::Min(_) => Ok(AggregateState::Least(None)),
            Function::Max(_) => Ok(AggregateState::Greatest(None)),
            Function::Mean(_) => Ok(AggregateState::Mean { sum: 0, number: 0 }),
            Function::Rate(_) => Ok(AggregateState::Rate {
                total: 0,
                reported: 0,
            }),
            Function::Distinct(_) => HyperLogLog::new(PRECISION).map(AggregateState::Distinct),
            Function::Top(k, _) => SpaceSaving::new(hash_key, sets_log2(k), WAYS)
                .map(|top| AggregateState::Top(Box::new(top))),
            Function::Histogram(_) => Histogram::new(DETAIL).map(AggregateState::Histogram),
        };
        made.unwrap_or(AggregateState::Total(0))
    }

    /// Adds a value: for `count` and the like, the number to add.
    pub(crate) fn add(&mut self, value: &Value, hash_key: HashKey) {
        match (self, value) {
            (AggregateState::Distinct(sketch), value) => {
                sketch.add(sketch::hash(hash_key, &value.bytes()))
            }
            (AggregateState::Top(sketch), value) => sketch.add(&value.bytes(), 1),
            (
                AggregateState::Total(total) | AggregateState::Rate { total, .. },
                Value::Number(n),
            ) => {
                *total = total.saturating_add(*n);
            }
            (AggregateState::Least(least), Value::Number(n)) => {
                *least = Some(least.map_or(*n, |least| least.min(*n)));
            }
            (AggregateState::Greatest(greatest), Value::Number(n)) => {
                *greatest = Some(greatest.map_or(*n, |greatest| greatest.max(*n)));
            }
            (AggregateState::Mean { sum, number }, Value::Number(n)) => {
                *sum += u128::from(*n);
                *number += 1;
            }
            (AggregateState::Histogram(histogram), Value::Number(n)) => histogram.add(*n),
            // The check lets only numbers go where numbers are needed.
            _ => {}
        }
    }

    /// Returns the aggregate's value, `seconds` after the last report.
    pub(crate) fn cell(&mut self, function: Function, query: &Query, seconds: f64) -> Cell {
        match self {
            AggregateState::Total(total) => Cell::Number(*total),
            AggregateState::Least(value) | AggregateState::Greatest(value) => {
                value.map_or(Cell::Nothing, Cell::Number)
            }
            AggregateState::Mean { number: 0, .. } => Cell::Nothing,
            AggregateState::Mean { sum, number } => Cell::Real(*sum as f64 / *number as f64),
            AggregateState::Distinct(sketch) => {
                Cell::Estimate(sketch.estimate(), sketch.standard_error())
            }
            AggregateState::Histogram(histogram) => {
                Cell::Histogram(histogram.clone(), histogram.relative_error())
            }
            AggregateState::Rate { total, reported } => {
                let new = total.saturating_sub(*reported);
                *reported = *total;
                match seconds > 0.0 {
                    true => Cell::Real(new as f64 / seconds),
                    false => Cell::Nothing,
                }
            }
            AggregateState::Top(sketch) => {
                let Function::Top(k, attribute) = function else {
                    return Cell::Nothing;
                };
                let ty = query.attributes[attribute].ty;
                let items = sketch.top(k).into_iter();
                let value = |item: sketch::Item| {
                    Some((Value::from_bytes(ty, &item.bytes)?, item.count, item.error))
                };
                Cell::Top {
                    items: items.filter_map(value).collect(),
                    unseen: sketch.greatest_unseen(),
                }
            }
        }
    }
}

/// Returns the greatest memory that an aggregate takes in a group, in bytes.
pub(crate) fn memory(function: Function, query: &Query) -> usize {
    match function {
        Function::Distinct(_) => 1 << PRECISION,
        Function::Histogram(_) => ((65 - DETAIL as usize) << DETAIL) * 8,
        Function::Top(k, attribute) => {
            let value = value_memory(query.attributes[attribute].ty);
            (WAYS << sets_log2(k)) * (size_of::<sketch::Item>() + value)
        }
        _ => size_of::<AggregateState>(),
    }
}

/// Returns the greatest memory that the bytes of a value take.
pub(crate) fn value_memory(ty: Type) -> usize {
    match ty {
        Type::Number(_) | Type::Time => 8,
        Type::Text => MAX_TEXT,
        Type::Ipv4 => 4,
        Type::Ipv6 | Type::Address => 16,
        Type::Mac => 6,
        Type::Flow => 37,
    }
}

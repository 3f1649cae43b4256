//! Metrics as JSON.

use super::QUANTILES;
use crate::aggregate::Cell;
use crate::report::Report;
use crate::value::Value;
use serde_json::{Map, json};

/// Returns an object: `seconds`; `groups`, an array of objects with `keys` and `values` by name; and `counts`.
///
/// Numbers are numbers, all other keys are texts as in the table. The value of an aggregate is a number, or null if
/// there is none. An estimate is an object of `estimate` and `standard_error`. `top` is an object of `items` and
/// `unseen`; an item has `value`, `count`, and `error`, the greatest excess of the count. No value outside of the items
/// counted more than `unseen`. A histogram is an object of `count`, quantiles, `relative_error` and `buckets`; a bucket
/// is an array of the least number, the greatest one and the count.
pub fn object(report: &Report) -> serde_json::Value {
    let groups: Vec<serde_json::Value> = report
        .shown()
        .iter()
        .map(|row| {
            let keys = report.keys.iter().cloned().zip(row.keys.iter().map(value));
            let values = report.aggregates.iter().cloned();
            let values = values.zip(row.cells.iter().map(metric));
            json!({ "keys": keys.collect::<Map<_, _>>(), "values": values.collect::<Map<_, _>>() })
        })
        .collect();
    let counts = report.counts.totals().into_iter();
    let counts = counts.chain(report.counts.waiting());
    let counts: Map<_, _> = counts
        .map(|(name, _, number)| (name.to_string(), json!(number)))
        .collect();
    json!({
        "seconds": report.seconds,
        "groups": groups,
        "counts": counts,
    })
}

fn value(value: &Value) -> serde_json::Value {
    match value {
        Value::Number(number) => json!(number),
        other => json!(other.to_string()),
    }
}

/// Returns the value of an aggregate, as in [`object`].
pub(super) fn metric(cell: &Cell) -> serde_json::Value {
    match cell {
        Cell::Nothing => serde_json::Value::Null,
        Cell::Number(number) => json!(number),
        Cell::Real(number) => json!(number),
        Cell::Estimate(number, error) => {
            json!({ "estimate": number.round(), "standard_error": error })
        }
        Cell::Top { items, unseen } => {
            let items: Vec<serde_json::Value> = items
                .iter()
                .map(|(item, count, error)| {
                    json!({ "value": value(item), "count": count, "error": error })
                })
                .collect();
            json!({ "items": items, "unseen": unseen })
        }
        Cell::Histogram(histogram, error) => {
            let mut object = json!({
                "count": histogram.total(),
                "relative_error": error,
                "buckets": histogram.buckets().collect::<Vec<_>>(),
            });
            for (name, q) in QUANTILES {
                object[name] = json!(histogram.quantile(q));
            }
            object
        }
    }
}

//! `onpath metrics`

use super::instance::open;
use super::named::{not_done, one_or_all, print_array};
use crate::args::Metrics;
use crate::output::{Done, out_line};
use control::metric::{find_metrics, json, objects, remarks, show_group};
use control::{Groups, Metric};
use diag::counted;
use schema::Bits;
use serde_json::Value;
use std::process::ExitCode;

/// Prints the metrics that a running program keeps about groups of packets.
pub(crate) fn run(args: Metrics) -> Done {
    let store = open(&args.instance)?;
    let schema = &**store.schema();
    let all = objects(schema).map(|(object, _)| object);
    let named = args.object.as_deref();
    let wanted = one_or_all(named, |text| find_metrics(schema, text), all)?;
    if wanted.is_empty() && !args.json {
        out_line!("the program has no metrics: `telemetry.p4` declares the externs that keep some");
    }
    let mut shown: Vec<Value> = Vec::new();
    for object in wanted {
        let data = &schema.objects[object];
        let unread = not_done(format!("the metrics of `{}` could not be read", data.name));
        let mut groups = store.metrics(object).map_err(unread)?;
        sort(&mut groups);
        let all = groups.groups.len();
        groups.groups.truncate(args.most.unwrap_or(usize::MAX));
        if args.json {
            shown.push(json(schema, data, &groups));
            continue;
        }
        out_line!("{}: {}", data.name, counted(all, "group"));
        for group in &groups.groups {
            out_line!("  {}", show_group(schema, data, group));
        }
        for remark in remarks(data, &groups) {
            out_line!("{remark}");
        }
    }
    if args.json {
        print_array(shown);
    }
    Ok(ExitCode::SUCCESS)
}

/// Sorts groups by weight, the greatest first. Groups without weights are sorted by key, as they come in no order.
fn sort(groups: &mut Groups) {
    let weight = |metric: &Metric| match metric {
        Metric::Top { weight, .. } => *weight,
        _ => 0,
    };
    groups.groups.sort_by(|a, b| {
        let keys = |key: &[Bits]| {
            key.iter()
                .map(|bits| bits.value().clone())
                .collect::<Vec<_>>()
        };
        let by_weight = weight(&b.metric).cmp(&weight(&a.metric));
        by_weight.then_with(|| keys(&a.key).cmp(&keys(&b.key)))
    });
}

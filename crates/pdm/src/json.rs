//! Measurements as JSON, for programs: an object for each interval. The names are documented in
//! `programs/pdm/README.md`. They are stable, and may be extended. Units are in the names.

use crate::histogram::Histogram;
use crate::snapshot::{Count, Delay, MeasuredFlow, Packets, Snapshot, protocol};
use serde_json::{Map, Value, json};

/// Returns a snapshot with at most `most` flows.
pub fn object(snapshot: &Snapshot, most: usize) -> Value {
    let flows: Vec<Value> = snapshot.flows.iter().take(most).map(flow).collect();
    let mut totals = packets(&snapshot.totals.packets);
    for (name, counts) in [
        ("packets_sent_without", &snapshot.totals.sent_without),
        (
            "packets_received_without",
            &snapshot.totals.received_without,
        ),
        ("packets_changed", &snapshot.totals.changed),
    ] {
        totals.insert(name.into(), by_name(counts));
    }
    let histograms: Map<String, Value> = snapshot
        .delays
        .named()
        .into_iter()
        .map(|(name, h)| (format!("{name}_delay"), histogram(h)))
        .collect();
    json!({
        "time_ns": snapshot.time_ns,
        "measured_ns": snapshot.measured_ns,
        "interface": snapshot.interface,
        "mode": snapshot.mode,
        "flows_known": snapshot.flows.len(),
        "flows": flows,
        "totals": totals,
        "histograms": histograms,
    })
}

fn flow(flow: &MeasuredFlow) -> Value {
    let mut object = Map::new();
    object.insert("protocol".into(), protocol(flow.key.protocol).into());
    object.insert("local_address".into(), flow.key.local.to_string().into());
    object.insert("local_port".into(), flow.key.local_port.into());
    object.insert("remote_address".into(), flow.key.remote.to_string().into());
    object.insert("remote_port".into(), flow.key.remote_port.into());
    object.append(&mut packets(&flow.packets));
    for (name, measured) in flow.delays.named() {
        object.insert(format!("{name}_delay"), delay(measured));
    }
    object.into()
}

fn by_name(counts: &[Count]) -> Value {
    let pair = |count: &Count| (count.what.name.to_string(), count.packets.into());
    Value::Object(counts.iter().map(pair).collect())
}

fn packets(packets: &Packets) -> Map<String, Value> {
    Map::from_iter([
        ("packets_sent".to_string(), packets.sent.into()),
        ("packets_received".to_string(), packets.received.into()),
        ("packets_lost".to_string(), packets.lost().into()),
        ("packets_reordered".to_string(), packets.reordered.into()),
        ("packets_duplicated".to_string(), packets.duplicates.into()),
    ])
}

/// Returns a delay. Without samples, it has no lengths.
fn delay(delay: &Delay) -> Value {
    match delay.mean() {
        None => json!({ "samples": 0 }),
        Some(mean) => json!({
            "samples": delay.samples,
            "last_ns": delay.last,
            "min_ns": delay.min,
            "mean_ns": mean,
            "max_ns": delay.max,
        }),
    }
}

/// Returns a histogram, without the empty buckets.
fn histogram(histogram: &Histogram) -> Value {
    let filled = histogram.buckets.iter().filter(|(_, count)| *count > 0);
    let buckets: Vec<Value> = filled
        .map(|(bound, count)| json!({ "up_to_ns": bound, "count": count }))
        .collect();
    json!({
        "samples": histogram.samples(),
        "p50_ns": histogram.percentile(50),
        "p90_ns": histogram.percentile(90),
        "p99_ns": histogram.percentile(99),
        "buckets": buckets,
        "longer": histogram.above,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::sample;

    #[test]
    fn every_name_is_as_documented() {
        let expected = json!({
            "time_ns": 1_700_000_000_000_000_000u64,
            "measured_ns": 12_000_000_000u64,
            "interface": "eth0",
            "mode": "conformant",
            "flows_known": 2,
            "flows": [{
                "protocol": "tcp",
                "local_address": "2001:db8::1",
                "local_port": 43210,
                "remote_address": "2001:db8::2",
                "remote_port": 443,
                "packets_sent": 1200,
                "packets_received": 1001,
                "packets_lost": 3,
                "packets_reordered": 1,
                "packets_duplicated": 1,
                "round_trip_delay": { "samples": 4, "last_ns": 1_500_000, "min_ns": 750_000, "mean_ns": 1_500_000, "max_ns": 3_000_000 },
                "server_delay": { "samples": 4, "last_ns": 500_000, "min_ns": 250_000, "mean_ns": 500_000, "max_ns": 1_000_000 },
                "network_delay": { "samples": 4, "last_ns": 1_000_000, "min_ns": 500_000, "mean_ns": 1_000_000, "max_ns": 2_000_000 },
            }],
            "totals": {
                "packets_sent": 1205,
                "packets_received": 1001,
                "packets_lost": 3,
                "packets_reordered": 1,
                "packets_duplicated": 1,
                "packets_sent_without": { "exceeds_link_mtu": 7, "fragment": 0 },
                "packets_received_without": { "no_option": 2 },
                "packets_changed": { "mss_clamped": 1 },
            },
            "histograms": {
                "round_trip_delay": {
                    "samples": 4, "p50_ns": 1193, "p90_ns": 1739, "p99_ns": 2016, "longer": 0,
                    "buckets": [
                        { "up_to_ns": 1279, "count": 3 },
                        { "up_to_ns": 2047, "count": 1 },
                    ],
                },
                "server_delay": {
                    "samples": 5, "p50_ns": 1236, "p90_ns": 2047, "p99_ns": 2047, "longer": 1,
                    "buckets": [
                        { "up_to_ns": 1279, "count": 3 },
                        { "up_to_ns": 2047, "count": 1 },
                    ],
                },
                "network_delay": { "samples": 0, "p50_ns": null, "p90_ns": null, "p99_ns": null, "longer": 0, "buckets": [] },
            },
        });
        assert_eq!(object(&sample(), 1), expected);
    }

    #[test]
    fn a_flow_without_delays_has_no_lengths() {
        let object = object(&sample(), 10);
        let flow = &object["flows"][1];
        assert_eq!(flow["protocol"], "icmpv6");
        assert_eq!(flow["round_trip_delay"], json!({ "samples": 0 }));
    }
}

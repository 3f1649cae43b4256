//! Measurements as text, for people: a table of flows, and totals. Less important columns come last, since a narrow
//! terminal does not show them.

use crate::counters;
use crate::snapshot::{Count, Delay, MeasuredFlow, Snapshot, protocol};
use crate::units::delay;
use diag::columns;
use std::fmt::Write;
use std::net::Ipv6Addr;

/// Formats a snapshot with at most `most` flows. Lines end in a line feed, and are not cut.
pub fn text(snapshot: &Snapshot, most: usize) -> String {
    let mut out = String::new();
    let packets = &snapshot.totals.packets;
    let _ = writeln!(
        out,
        "{}, {}, {} s: {} packets sent, {} received, {} lost, {} reordered",
        snapshot.interface,
        snapshot.mode,
        snapshot.measured_ns / 1_000_000_000,
        packets.sent,
        packets.received,
        packets.lost(),
        packets.reordered
    );
    let _ = writeln!(
        out,
        "sent without the option: {}",
        list(&snapshot.totals.sent_without)
    );
    let _ = writeln!(
        out,
        "received without it: {}",
        list(&snapshot.totals.received_without)
    );
    // Removal of the option is expected.
    let expected = |count: &&Count| count.what == counters::REMOVED;
    let changed: Vec<Count> = snapshot
        .totals
        .changed
        .iter()
        .filter(|c| !expected(c))
        .cloned()
        .collect();
    if changed.iter().any(|c| c.packets > 0) {
        let _ = writeln!(out, "besides: {}", list(&changed));
    }
    out.push('\n');
    out += &columns(&distribution(snapshot));
    out.push('\n');
    if snapshot.flows.is_empty() {
        out += "no flow so far\n";
        return out;
    }
    let mut rows = vec![
        [
            "FLOW",
            "SENT",
            "RECEIVED",
            "LOST",
            "REORDERED",
            "ROUND TRIP",
            "SERVER",
            "NETWORK",
            "MIN/MEAN/MAX",
        ]
        .map(String::from)
        .to_vec(),
    ];
    rows.extend(snapshot.flows.iter().take(most).map(row));
    out += &columns(&rows);
    let more = snapshot.flows.len().saturating_sub(most);
    if more > 0 {
        let _ = writeln!(out, "and {more} more");
    }
    out
}

fn list(counts: &[Count]) -> String {
    let some: Vec<String> = counts
        .iter()
        .filter(|c| c.packets > 0)
        .map(|c| format!("{} {}", c.packets, c.what.words))
        .collect();
    if some.is_empty() {
        "none".into()
    } else {
        some.join(", ")
    }
}

fn distribution(snapshot: &Snapshot) -> Vec<Vec<String>> {
    let mut rows = vec![
        ["DELAY", "SAMPLES", "P50", "P90", "P99"]
            .map(String::from)
            .to_vec(),
    ];
    for (name, histogram) in snapshot.delays.named() {
        let mut row = vec![name.replace('_', " "), histogram.samples().to_string()];
        row.extend([50, 90, 99].map(|p| shown(histogram.percentile(p))));
        rows.push(row);
    }
    rows
}

/// Formats a delay. Returns `-` if it was never measured.
fn shown(ns: Option<u64>) -> String {
    ns.map_or_else(|| "-".into(), delay)
}

fn row(flow: &MeasuredFlow) -> Vec<String> {
    let measured = |d: &Delay| d.samples > 0;
    let round_trip = &flow.delays.round_trip;
    let range = match round_trip.mean() {
        Some(mean) => [round_trip.min, mean, round_trip.max]
            .map(delay)
            .join(" / "),
        None => "-".into(),
    };
    let last = |d: &Delay| shown(measured(d).then_some(d.last));
    vec![
        name(flow),
        flow.packets.sent.to_string(),
        flow.packets.received.to_string(),
        flow.packets.lost().to_string(),
        flow.packets.reordered.to_string(),
        last(round_trip),
        last(&flow.delays.server),
        last(&flow.delays.network),
        range,
    ]
}

/// Formats a flow: protocol, local end and remote end.
fn name(flow: &MeasuredFlow) -> String {
    let key = &flow.key;
    let end = |address: Ipv6Addr, port: u16| match port {
        0 => address.to_string(),
        port => format!("[{address}]:{port}"),
    };
    format!(
        "{} {} - {}",
        protocol(key.protocol),
        end(key.local, key.local_port),
        end(key.remote, key.remote_port)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::sample;

    #[test]
    fn the_table_as_a_whole() {
        assert_eq!(
            text(&sample(), 10),
            "\
eth0, conformant, 12 s: 1205 packets sent, 1001 received, 3 lost, 1 reordered
sent without the option: 7 too long for the MTU
received without it: 2 without the option
besides: 1 with a lowered MSS

DELAY       SAMPLES  P50      P90      P99
round trip  4        1.19 µs  1.74 µs  2.02 µs
server      5        1.24 µs  2.05 µs  2.05 µs
network     0        -        -        -

FLOW                                         SENT  RECEIVED  LOST  REORDERED  ROUND TRIP  SERVER  NETWORK  MIN/MEAN/MAX
tcp [2001:db8::1]:43210 - [2001:db8::2]:443  1200  1001      3     1          1.50 ms     500 µs  1.00 ms  750 µs / 1.50 ms / 3.00 ms
icmpv6 2001:db8::1 - 2001:db8::2             5     0         0     0          -           -       -        -
"
        );
    }

    #[test]
    fn flows_beyond_the_limit_are_counted() {
        assert!(text(&sample(), 1).ends_with("\nand 1 more\n"));
    }

    #[test]
    fn before_the_first_packet_it_says_so() {
        let shown = text(&Snapshot::default(), 10);
        assert!(shown.contains("sent without the option: none\n"), "{shown}");
        assert!(shown.ends_with("\nno flow so far\n"), "{shown}");
    }
}

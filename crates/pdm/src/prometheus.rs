//! Measurements in Prometheus' text format, whose base unit of time is the second.

use crate::histogram::Histogram;
use crate::snapshot::{Delay, MeasuredFlow, Packets, Snapshot, protocol};
use control::exposition::{self, Family, FamilyKind, Labels, Page, Unit, Value};

/// Least bound of a histogram, about 1 µs. The bounds are a nanosecond below powers of two.
const SHORTEST: u64 = (1 << 10) - 1;
/// Greatest bound of a histogram, about 1 minute.
const LONGEST: u64 = (1 << 36) - 1;

/// Quantity of a page: the suffix of its name, type, unit, help, and a function that returns its value.
struct Quantity<T> {
    name: &'static str,
    kind: FamilyKind,
    unit: Unit,
    help: &'static str,
    of: fn(&T) -> u64,
}

/// Quantities of packets. One that may decrease is a gauge: a late packet counts as lost until it arrives.
const PACKETS: [Quantity<Packets>; 5] = [
    Quantity {
        name: "packets_sent",
        kind: FamilyKind::Counter,
        unit: Unit::Plain,
        help: "Packets sent with the option.",
        of: |p| p.sent,
    },
    Quantity {
        name: "packets_received",
        kind: FamilyKind::Counter,
        unit: Unit::Plain,
        help: "Packets received with the option.",
        of: |p| p.received,
    },
    Quantity {
        name: "packets_lost",
        kind: FamilyKind::Gauge,
        unit: Unit::Plain,
        help: "Packets that the other ends sent and that did not arrive; falls when one comes late.",
        of: |p| p.lost(),
    },
    Quantity {
        name: "packets_reordered",
        kind: FamilyKind::Counter,
        unit: Unit::Plain,
        help: "Packets that arrived after one that was sent later.",
        of: |p| p.reordered,
    },
    Quantity {
        name: "packets_duplicated",
        kind: FamilyKind::Counter,
        unit: Unit::Plain,
        help: "Packets that arrived again.",
        of: |p| p.duplicates,
    },
];

const DELAYS: [Quantity<Delay>; 5] = [
    Quantity {
        name: "_samples",
        kind: FamilyKind::Counter,
        unit: Unit::Plain,
        help: "How often the delay was measured.",
        of: |d| d.samples,
    },
    Quantity {
        name: "",
        kind: FamilyKind::Counter,
        unit: Unit::Time,
        help: "All measured delays together.",
        of: |d| d.sum,
    },
    Quantity {
        name: "_last",
        kind: FamilyKind::Gauge,
        unit: Unit::Time,
        help: "The last measured delay.",
        of: |d| d.last,
    },
    Quantity {
        name: "_min",
        kind: FamilyKind::Gauge,
        unit: Unit::Time,
        help: "The shortest measured delay.",
        of: |d| d.min,
    },
    Quantity {
        name: "_max",
        kind: FamilyKind::Gauge,
        unit: Unit::Time,
        help: "The longest measured delay.",
        of: |d| d.max,
    },
];

/// Returns the page for a snapshot, with at most `most` flows.
pub fn page(snapshot: &Snapshot, most: usize) -> String {
    let mut page = Page::new("onpath_pdm");
    let interface = Labels::default().and("interface", &snapshot.interface);
    for quantity in &PACKETS {
        let value = (quantity.of)(&snapshot.totals.packets);
        let samples = [(&interface, Value::Whole(value))];
        page.numbers(quantity.kind, quantity.family(quantity.name), samples);
    }
    for (name, help, label, counts) in [
        (
            "packets_sent_without",
            "Packets that went out without the option, by reason.",
            "reason",
            &snapshot.totals.sent_without,
        ),
        (
            "packets_received_without",
            "Packets that came in without the option, by reason.",
            "reason",
            &snapshot.totals.received_without,
        ),
        (
            "packets_changed",
            "What was done to packets besides inserting the option.",
            "change",
            &snapshot.totals.changed,
        ),
    ] {
        let samples = counts.iter().map(|count| {
            let labels = interface.and(label, count.what.name);
            (labels, Value::Whole(count.packets))
        });
        page.numbers(FamilyKind::Counter, Family::plain(name, help), samples);
    }
    let flows = Value::Whole(snapshot.flows.len() as u64);
    let family = Family::plain("flows", "Flows that are known.");
    page.numbers(FamilyKind::Gauge, family, [(&interface, flows)]);
    for (delay, histogram) in snapshot.delays.named() {
        let family = Family {
            name: &format!("{delay}_delay"),
            unit: Unit::Time,
            help: "Measured delays, of all flows.",
        };
        page.histograms(family, [(interface.clone(), buckets(histogram))]);
    }

    let flows = snapshot.flows.iter().take(most);
    let flows: Vec<(&MeasuredFlow, Labels)> =
        flows.map(|flow| (flow, labels(&interface, flow))).collect();
    for quantity in &PACKETS {
        let samples = flows
            .iter()
            .map(|(flow, labels)| (labels, Value::Whole((quantity.of)(&flow.packets))));
        let name = format!("flow_{}", quantity.name);
        page.numbers(quantity.kind, quantity.family(&name), samples);
    }
    for (i, (delay, _)) in snapshot.delays.named().into_iter().enumerate() {
        for quantity in &DELAYS {
            let measured = flows
                .iter()
                .map(|(flow, labels)| (labels, flow.delays.named()[i].1))
                .filter(|(_, delay)| delay.samples > 0);
            let samples =
                measured.map(|(labels, delay)| (labels, Value::Whole((quantity.of)(delay))));
            let name = format!("flow_{delay}_delay{}", quantity.name);
            page.numbers(quantity.kind, quantity.family(&name), samples);
        }
    }
    page.text()
}

impl<T> Quantity<T> {
    fn family<'a>(&self, name: &'a str) -> Family<'a> {
        Family {
            name,
            unit: self.unit,
            help: self.help,
        }
    }
}

fn labels(interface: &Labels, flow: &MeasuredFlow) -> Labels {
    let key = &flow.key;
    interface
        .and("protocol", protocol(key.protocol))
        .and("local_address", key.local)
        .and("local_port", key.local_port)
        .and("remote_address", key.remote)
        .and("remote_port", key.remote_port)
}

fn buckets(histogram: &Histogram) -> exposition::Histogram {
    let shown = |bound: u64| (SHORTEST..=LONGEST).contains(&bound) && (bound + 1).is_power_of_two();
    let bounds = histogram.cumulative().filter(|(bound, _)| shown(*bound));
    exposition::Histogram {
        buckets: bounds
            .map(|(bound, count)| (Value::Whole(bound), count))
            .collect(),
        sum: Value::Whole(histogram.sum),
        count: histogram.samples(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::sample;
    use lab::promtool;

    #[test]
    fn prometheus_accepts_the_page() {
        let mut snapshot = sample();
        snapshot.interface = "a\"b\\c\nd\x1b[2J".into();
        for snapshot in [snapshot, Snapshot::default()] {
            promtool::check(&page(&snapshot, 10));
        }
    }

    #[test]
    fn in_all_and_by_flow() {
        let page = page(&sample(), 1);
        for wanted in [
            "# HELP onpath_pdm_packets_sent_total Packets sent with the option.\n\
             # TYPE onpath_pdm_packets_sent_total counter\n\
             onpath_pdm_packets_sent_total{interface=\"eth0\"} 1205\n",
            "onpath_pdm_packets_sent_without_total{interface=\"eth0\",reason=\"exceeds_link_mtu\"} 7\n",
            "onpath_pdm_packets_changed_total{interface=\"eth0\",change=\"mss_clamped\"} 1\n",
            "onpath_pdm_flows{interface=\"eth0\"} 2\n",
            "# TYPE onpath_pdm_flow_packets_lost gauge\n\
             onpath_pdm_flow_packets_lost{interface=\"eth0\",protocol=\"tcp\",local_address=\"2001:db8::1\",local_port=\"43210\",remote_address=\"2001:db8::2\",remote_port=\"443\"} 3\n",
            "remote_port=\"443\"} 0.0015\n",
        ] {
            assert!(page.contains(wanted), "{wanted}\nis not in\n{page}");
        }
        assert!(!page.contains("icmpv6"), "a flow too many\n{page}");
    }

    #[test]
    fn histograms_are_cumulative() {
        let page = page(&sample(), 0);
        let wanted = "# TYPE onpath_pdm_server_delay_seconds histogram\n\
             onpath_pdm_server_delay_seconds_bucket{interface=\"eth0\",le=\"0.000001023\"} 0\n\
             onpath_pdm_server_delay_seconds_bucket{interface=\"eth0\",le=\"0.000002047\"} 4\n\
             onpath_pdm_server_delay_seconds_bucket{interface=\"eth0\",le=\"+Inf\"} 5\n\
             onpath_pdm_server_delay_seconds_sum{interface=\"eth0\"} 0.00001\n\
             onpath_pdm_server_delay_seconds_count{interface=\"eth0\"} 5\n";
        assert!(page.contains(wanted), "{wanted}\nis not in\n{page}");
    }

    #[test]
    fn each_quantity_is_described_once_and_its_lines_are_together() {
        let page = page(&sample(), 10);
        let mut seen = std::collections::BTreeSet::new();
        for line in page.lines().filter_map(|l| l.strip_prefix("# TYPE ")) {
            assert!(seen.insert(line.to_string()), "twice: {line}");
        }
        assert!(page.ends_with('\n'));
    }

    #[test]
    fn labels_are_escaped() {
        let mut snapshot = sample();
        snapshot.interface = "a\"b\\c\nd\x1b[2J".into();
        let page = page(&snapshot, 0);
        assert!(
            page.contains("{interface=\"a\\\"b\\\\c\\nd\\\\u001b[2J\"}"),
            "{page}"
        );
    }
}

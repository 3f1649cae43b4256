//! Measurements in Prometheus' text format, version 0.0.4. Its base unit of time is the second.

use crate::histogram::Histogram;
use crate::snapshot::{Delay, Flow, Packets, Snapshot, protocol};
use crate::units::seconds;
use std::fmt::Write;

/// The bounds of histograms are a nanosecond less than the powers of two between these: about 1 µs and 1 minute.
const SHORTEST: u64 = (1 << 10) - 1;
/// See [`SHORTEST`].
const LONGEST: u64 = (1 << 36) - 1;

/// One quantity of a page: its name without `onpath_pdm_`, type, help, and how much of it there is.
struct Quantity<T: ?Sized> {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    of: fn(&T) -> String,
}

/// A number of packets that may fall is a gauge: a late packet is lost until it comes.
const PACKETS: [Quantity<Packets>; 5] = [
    Quantity {
        name: "packets_sent_total",
        kind: "counter",
        help: "Packets sent with the option.",
        of: |p| p.sent.to_string(),
    },
    Quantity {
        name: "packets_received_total",
        kind: "counter",
        help: "Packets received with the option.",
        of: |p| p.received.to_string(),
    },
    Quantity {
        name: "packets_lost",
        kind: "gauge",
        help: "Packets that the other ends sent and that did not arrive; falls when one comes late.",
        of: |p| p.lost().to_string(),
    },
    Quantity {
        name: "packets_reordered_total",
        kind: "counter",
        help: "Packets that arrived after one that was sent later.",
        of: |p| p.reordered.to_string(),
    },
    Quantity {
        name: "packets_duplicated_total",
        kind: "counter",
        help: "Packets that arrived again.",
        of: |p| p.duplicates.to_string(),
    },
];

const DELAYS: [Quantity<Delay>; 5] = [
    Quantity {
        name: "samples_total",
        kind: "counter",
        help: "How often the delay was measured.",
        of: |d| d.samples.to_string(),
    },
    Quantity {
        name: "seconds_total",
        kind: "counter",
        help: "All measured delays together.",
        of: |d| seconds(d.sum),
    },
    Quantity {
        name: "last_seconds",
        kind: "gauge",
        help: "The last measured delay.",
        of: |d| seconds(d.last),
    },
    Quantity {
        name: "min_seconds",
        kind: "gauge",
        help: "The shortest measured delay.",
        of: |d| seconds(d.min),
    },
    Quantity {
        name: "max_seconds",
        kind: "gauge",
        help: "The longest measured delay.",
        of: |d| seconds(d.max),
    },
];

/// The page for a snapshot, with at most `most` flows.
pub fn page(snapshot: &Snapshot, most: usize) -> String {
    let mut out = Page::default();
    let interface = [("interface", snapshot.interface.as_str())];
    for quantity in &PACKETS {
        out.head(quantity.name, quantity.kind, quantity.help);
        out.line(
            quantity.name,
            &interface,
            &(quantity.of)(&snapshot.totals.packets),
        );
    }
    for (name, help, label, counts) in [
        (
            "packets_sent_without_total",
            "Packets that went out without the option, by reason.",
            "reason",
            &snapshot.totals.sent_without,
        ),
        (
            "packets_received_without_total",
            "Packets that came in without the option, by reason.",
            "reason",
            &snapshot.totals.received_without,
        ),
        (
            "packets_changed_total",
            "What was done to packets besides inserting the option.",
            "change",
            &snapshot.totals.changed,
        ),
    ] {
        out.head(name, "counter", help);
        for count in counts {
            let labels = [interface[0], (label, count.what.name)];
            out.line(name, &labels, &count.packets.to_string());
        }
    }
    out.head("flows", "gauge", "Flows that are known.");
    out.line("flows", &interface, &snapshot.flows.len().to_string());
    for (delay, histogram) in snapshot.delays.named() {
        out.histogram(&format!("{delay}_delay_seconds"), &interface, histogram);
    }

    let flows: Vec<(&Flow, Vec<(&str, String)>)> = snapshot
        .flows
        .iter()
        .take(most)
        .map(|flow| (flow, labels(&snapshot.interface, flow)))
        .collect();
    for quantity in &PACKETS {
        let name = format!("flow_{}", quantity.name);
        out.head(&name, quantity.kind, quantity.help);
        for (flow, labels) in &flows {
            out.line(&name, labels, &(quantity.of)(&flow.packets));
        }
    }
    for (i, (delay, _)) in snapshot.delays.named().into_iter().enumerate() {
        for quantity in &DELAYS {
            let name = format!("flow_{delay}_delay_{}", quantity.name);
            out.head(&name, quantity.kind, quantity.help);
            for (flow, labels) in &flows {
                let measured = flow.delays.named()[i].1;
                if measured.samples > 0 {
                    out.line(&name, labels, &(quantity.of)(measured));
                }
            }
        }
    }
    out.0
}

fn labels<'a>(interface: &str, flow: &Flow) -> Vec<(&'a str, String)> {
    let key = &flow.key;
    vec![
        ("interface", interface.to_string()),
        ("protocol", protocol(key.protocol)),
        ("local_address", key.local.to_string()),
        ("local_port", key.local_port.to_string()),
        ("remote_address", key.remote.to_string()),
        ("remote_port", key.remote_port.to_string()),
    ]
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        let _ = write!(
            self.0,
            "# HELP onpath_pdm_{name} {help}\n# TYPE onpath_pdm_{name} {kind}\n"
        );
    }

    fn line<V: AsRef<str>>(&mut self, name: &str, labels: &[(&str, V)], value: &str) {
        let labels: Vec<String> = labels
            .iter()
            .map(|(label, value)| format!("{label}=\"{}\"", escaped(value.as_ref())))
            .collect();
        let _ = writeln!(self.0, "onpath_pdm_{name}{{{}}} {value}", labels.join(","));
    }

    fn histogram(&mut self, name: &str, labels: &[(&str, &str)], histogram: &Histogram) {
        self.head(name, "histogram", "Measured delays, of all flows.");
        let bucket = format!("{name}_bucket");
        let bounds = histogram
            .cumulative()
            .filter(|(bound, _)| {
                (SHORTEST..=LONGEST).contains(bound) && (bound + 1).is_power_of_two()
            })
            .map(|(bound, count)| (seconds(bound), count));
        for (bound, count) in bounds.chain([("+Inf".to_string(), histogram.samples())]) {
            let mut labels = labels.to_vec();
            labels.push(("le", &bound));
            self.line(&bucket, &labels, &count.to_string());
        }
        self.line(&format!("{name}_sum"), labels, &seconds(histogram.sum));
        self.line(
            &format!("{name}_count"),
            labels,
            &histogram.samples().to_string(),
        );
    }
}

/// A label's value as it stands between quotes.
fn escaped(value: &str) -> String {
    diag::shown_lines(value)
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::sample;

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

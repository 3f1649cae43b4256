//! Tests of `onpath pdm` at both ends of a network: every view reports the known counts of the traffic. Needs root.

mod exposition;
mod measured;

use exposition::Family;
use lab::traffic::{ping, udp};
use lab::{CLIENT, Ends, Pair, Route, SERVER};
use measured::{Measured, flow};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

const PORT: u16 = 7000;

fn at(port: u16) -> SocketAddr {
    (SERVER, port).into()
}

/// Returns a field of a flow as a number.
fn number(of: &Value, name: &str) -> u64 {
    of[name]
        .as_u64()
        .unwrap_or_else(|| panic!("no `{name}` in {of}"))
}

/// Exchanges requests and answers by UDP. Each request is sent after the answer to the one before.
fn exchange(net: &impl Route, count: u64) -> udp::Exchanged {
    let server = udp::Server::start(net.server(), at(PORT), Duration::ZERO).expect("a server");
    let plan = udp::Exchange {
        count,
        port: 4000,
        patience: Duration::from_secs(10),
        ..udp::Exchange::default()
    };
    let seen = udp::exchange(net.client(), at(PORT), plan).expect("an exchange");
    server.finish().expect("a server");
    seen
}

#[test]
fn counts_are_those_of_the_traffic_in_every_view() {
    let net = Pair::new(Ends::default()).expect("this test needs root");
    let mut client = Measured::start(&net, "c0", &["--prometheus", "127.0.0.1:9464"]);
    let mut server = Measured::start(&net, "s0", &[]);
    assert_eq!(client.gso_max_segs(), Some(1), "one option a packet");

    let pinged = ping::ping(&net, 20, Duration::from_millis(10)).expect("pings");
    assert_eq!(pinged.received, 20);
    assert_eq!(exchange(&net, 30).unanswered, 0);

    for (end, samples) in [(&mut client, (20, 30)), (&mut server, (19, 29))] {
        let object = end.metrics();
        for (protocol, count, samples) in [("icmpv6", 20, samples.0), ("udp", 30, samples.1)] {
            let flow = flow(&object, protocol).expect("the flow");
            for (name, wanted) in [
                ("packets_sent", count),
                ("packets_received", count),
                ("packets_lost", 0),
                ("packets_reordered", 0),
                ("packets_duplicated", 0),
            ] {
                assert_eq!(number(flow, name), wanted, "{name} in {flow}");
            }
            for delay in ["round_trip_delay", "server_delay", "network_delay"] {
                assert_eq!(
                    number(&flow[delay], "samples"),
                    samples,
                    "{delay} in {flow}"
                );
            }
        }
        let totals = &object["totals"];
        assert_eq!(number(totals, "packets_sent"), 50, "{totals}");
        assert_eq!(number(totals, "packets_received"), 50, "{totals}");
        assert_eq!(number(totals, "packets_lost"), 0, "{totals}");
        for histogram in ["round_trip_delay", "server_delay", "network_delay"] {
            let histogram = &object["histograms"][histogram];
            assert_eq!(number(histogram, "samples"), samples.0 + samples.1);
            let buckets = histogram["buckets"].as_array().expect("buckets");
            let all: u64 = buckets.iter().map(|b| number(b, "count")).sum();
            assert_eq!(all, samples.0 + samples.1, "{histogram}");
        }
    }

    let object = client.metrics();
    let udp = flow(&object, "udp").expect("the flow");
    assert_eq!(udp["local_address"], CLIENT.to_string());
    assert_eq!(udp["remote_address"], SERVER.to_string());
    assert_eq!(
        (number(udp, "local_port"), number(udp, "remote_port")),
        (4000, u64::from(PORT))
    );
    let page = net.client().run(|| get("127.0.0.1:9464")).expect("a page");
    check_page(&page, udp);

    client.end();
    server.end();
}

/// Requests a page as Prometheus does.
fn get(address: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(
        b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: text/plain;version=0.0.4\r\n\r\n",
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, page) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(
        head.contains("Content-Type: text/plain; version=0.0.4"),
        "{head}"
    );
    Ok(page.to_string())
}

/// Checks that the page is well-formed and agrees with the JSON object.
fn check_page(page: &str, udp: &Value) {
    lab::promtool::check(page);
    let families = exposition::parse(page).unwrap_or_else(|wrong| panic!("{wrong}\n{page}"));
    let only = |name: &str, labels: &[(&str, &str)]| value(&families, name, labels);
    let end = [("interface", "c0")];
    assert_eq!(only("onpath_pdm_packets_sent_total", &end), 50.0);
    assert_eq!(only("onpath_pdm_packets_received_total", &end), 50.0);
    assert_eq!(only("onpath_pdm_packets_lost", &end), 0.0);
    assert_eq!(only("onpath_pdm_flows", &end), 2.0);
    let flow = [("protocol", "udp"), ("remote_port", "7000")];
    assert_eq!(only("onpath_pdm_flow_packets_sent_total", &flow), 30.0);
    let seconds = only("onpath_pdm_flow_round_trip_delay_last_seconds", &flow);
    let ns = number(&udp["round_trip_delay"], "last_ns");
    assert!(
        (seconds * 1e9 - ns as f64).abs() < 0.5,
        "{seconds} s, {ns} ns"
    );
    let histogram = &families["onpath_pdm_server_delay_seconds"];
    let count = histogram
        .samples
        .iter()
        .find(|s| s.name.ends_with("_count"));
    assert_eq!(count.map(|s| s.value), Some(50.0));
}

/// Returns the value of the only line of a metric that has these labels.
fn value(families: &BTreeMap<String, Family>, name: &str, labels: &[(&str, &str)]) -> f64 {
    let family = families.get(name).unwrap_or_else(|| panic!("no {name}"));
    let has = |sample: &exposition::Sample, label: &str, wanted: &str| {
        sample.labels.get(label).is_some_and(|l| l == wanted)
    };
    let all = family.samples.iter();
    let found: Vec<_> = all
        .filter(|sample| {
            labels
                .iter()
                .all(|(label, wanted)| has(sample, label, wanted))
        })
        .collect();
    assert_eq!(found.len(), 1, "{name} {labels:?}");
    found[0].value
}

#[test]
fn filters_modes_and_what_is_left_when_it_ends() {
    let net = Pair::new(Ends::default()).expect("this test needs root");
    let before = measured::gso_max_segs(net.client(), "c0");
    let filter = format!("{SERVER}/128/{PORT}");
    let flags = ["--filter", &filter, "--mode", "mark-once"];
    let mut client = Measured::start(&net, "c0", &flags);
    assert_eq!(client.gso_max_segs(), before, "left as it is");
    ping::ping(&net, 3, Duration::from_millis(10)).expect("pings");
    assert_eq!(exchange(&net, 5).unanswered, 0);
    let object = client.metrics();
    let udp = flow(&object, "udp").expect("the flow");
    assert_eq!(number(udp, "packets_sent"), 5, "{udp}");
    assert_eq!(object["mode"], "mark-once");
    assert!(flow(&object, "icmpv6").is_none(), "{object}");
    let totals = &object["totals"];
    assert_eq!(
        number(&totals["packets_sent_without"], "filtered"),
        3,
        "{totals}"
    );
    // The server does not measure, so its answers have no option in any flow.
    let without = &totals["packets_received_without"];
    assert_eq!(number(without, "no_option"), 8, "{totals}");
    client.end();

    let client = Measured::start(&net, "c0", &[]);
    assert_eq!(client.gso_max_segs(), Some(1));
    client.end();
    assert_eq!(
        measured::gso_max_segs(net.client(), "c0"),
        before,
        "restored"
    );
}

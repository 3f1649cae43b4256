//! Views of metrics, for people and for programs.

use crate::evaluation::{run, run_on, run_with};
use crate::frames::{self, End::Client, End::Server, segment};
use crate::toy::Toy;
use diag::SourceMap;
use lab::promtool;
use telemetry::view::plot::History;
use telemetry::view::trend::Trends;
use telemetry::view::{csv, json, prometheus, table};
use telemetry::{Catalogue, Messages, Schemas, compile, explain};

fn packets() -> Vec<Vec<u8>> {
    let text = "method=GET;host=a,\"b\"\nmethod=GET;host=\x1b[2J\nno=host\nrubbish\n";
    let mut packets = vec![frames::udp(1, 1, (1, 7000), text.as_bytes())];
    for i in 0..20u8 {
        packets.push(frames::udp(
            i % 4,
            1,
            (53, 53),
            &vec![0; usize::from(i) * 50],
        ));
    }
    packets
}

#[test]
fn groups_are_a_table_and_what_was_not_counted_is_below() {
    let report = run_with(
        "count, histogram(packet.length), top(5, ip.dst), mean(ip.ttl) by ip.src",
        &packets(),
        Some(2),
    );
    assert_eq!(
        table::text(&report, 1),
        "\
IP.SRC    COUNT  HISTOGRAM(PACKET.LENGTH)   TOP(5, IP.DST)  MEAN(IP.TTL)
10.0.0.1  6      p50 303, p90 863, p99 863  10.0.1.1 (6)    64.000
and 1 other group
10 records not counted: the table of groups is full (--groups)
"
    );
    let report = run("count by kv.host", &packets());
    assert_eq!(
        table::text(&report, 20),
        "\
KV.HOST  COUNT
\\x1b[2J  1
a,\"b\"    1
1 record without kv.host
1 packet with a malformed message
"
    );
}

#[test]
fn without_keys_each_metric_has_its_lines() {
    let report = run(
        "count, distinct(ip.src), top(2, ip.src), histogram(packet.length), min(tcp.seq), histogram(tcp.seq)",
        &packets(),
    );
    assert_eq!(
        table::text(&report, 20),
        "\
count: 21
distinct(ip.src): 4 (standard error 1.6 %)
top(2, ip.src):
  10.0.0.1  6
  10.0.0.0  5
histogram(packet.length): p50 495, p90 863, p99 991 (within 6.2 %)
  32 to 63     1   ####
  64 to 127    2   ########
  128 to 255   3   ############
  256 to 511   5   ####################
  512 to 1023  10  ########################################
min(tcp.seq): -
histogram(tcp.seq): -
"
    );
}

#[test]
fn json_has_everything_by_name() {
    let report = run(
        "count, top(1, kv.method), distinct(ip.src), mean(tcp.seq) by kv.host, ip.ttl",
        &packets(),
    );
    let object = json::object(&report);
    assert_eq!(object["groups"][1]["keys"]["kv.host"], "a,\"b\"");
    assert_eq!(object["groups"][1]["keys"]["ip.ttl"], 64);
    let values = &object["groups"][1]["values"];
    assert_eq!(values["count"], 1);
    assert_eq!(values["top(1, kv.method)"]["items"][0]["value"], "GET");
    assert_eq!(values["distinct(ip.src)"]["estimate"], 1.0);
    assert!(values["mean(tcp.seq)"].is_null());
    assert_eq!(object["counts"]["malformed"], 1);
    assert_eq!(object["counts"]["packets"], 21);
    let histogram = json::object(&run("histogram(ip.ttl)", &packets()));
    let values = &histogram["groups"][0]["values"]["histogram(ip.ttl)"];
    assert_eq!(values["buckets"], serde_json::json!([[64, 71, 21]]));
    assert_eq!(values["count"], 21);
}

#[test]
fn csv_has_a_column_for_each_metric() {
    let text = "count, histogram(packet.length), top(1, ip.src), min(tcp.seq) by kv.host";
    let query = compile(text, &Catalogue::new(&Toy), &mut SourceMap::new()).unwrap();
    assert_eq!(
        csv::header(&query),
        "seconds,kv.host,count,histogram(packet.length).p50,histogram(packet.length).p90,histogram(packet.length).p99,\
         \"top(1, ip.src)\",min(tcp.seq)\n"
    );
    assert_eq!(
        csv::lines(&run(text, &packets()), 1.5).lines().nth(1),
        Some(
            "1.500,\"a,\"\"b\"\"\",1,99,99,99,\"[{\"\"count\"\":1,\"\"error\"\":0,\"\"value\"\":\"\"10.0.0.1\"\"}]\","
        )
    );
}

/// Returns the page of a query, after running Prometheus' own checker on it.
fn exposed(messages: &dyn Messages, text: &str, packets: &[Vec<u8>], most: usize) -> String {
    let query = compile(text, &Catalogue::new(messages), &mut SourceMap::new()).unwrap();
    let report = run_on(messages, text, packets, None);
    let page = prometheus::page(
        &query,
        &report,
        7,
        (&mut prometheus::Groups::default(), most),
    );
    promtool::check(&page);
    page
}

fn has_lines(page: &str, lines: &[&str]) {
    for line in lines {
        assert!(
            page.lines().any(|l| l == *line),
            "{line}\nis not in\n{page}"
        );
    }
}

#[test]
fn prometheus_has_keys_as_labels() {
    let text = "count, mean(ip.ttl), top(1, ip.src), histogram(packet.length) by kv.host";
    let page = exposed(&Toy, text, &packets(), 10);
    has_lines(
        &page,
        &[
            "# TYPE onpath_query_count_total counter",
            r#"onpath_query_count_total{kv_host="a,\"b\""} 1"#,
            r#"onpath_query_count_total{kv_host="\\x1b[2J"} 1"#,
            "# TYPE onpath_query_mean gauge",
            r#"onpath_query_top{kv_host="a,\"b\"",of="ip.src",k="1",item="10.0.0.1"} 1"#,
            "# TYPE onpath_query_distribution summary",
            r#"onpath_query_distribution{kv_host="a,\"b\"",of="packet.length",quantile="0.5"} 99"#,
            r#"onpath_query_distribution_sum{kv_host="a,\"b\"",of="packet.length"} 99"#,
            r#"onpath_query_distribution_count{kv_host="a,\"b\"",of="packet.length"} 1"#,
            "onpath_query_malformed_total 1",
            "onpath_query_without_key_total 1",
            "onpath_query_cut_total 0",
            "onpath_query_unread_total 0",
            "onpath_query_dropped_total 7",
            "onpath_query_groups_left_out 0",
        ],
    );
    let few = exposed(&Toy, text, &packets(), 1);
    assert_eq!(few.matches("onpath_query_count_total{").count(), 1);
    assert!(few.contains("\nonpath_query_groups_left_out 1\n"), "{few}");
}

/// Prometheus refuses a page with two metrics, or two labels, of the same name.
#[test]
fn prometheus_has_no_name_twice() {
    let text = "distinct(kv.x.a-b), count, distinct(kv.x.a_b), top(1, kv.host), top(2, kv.host) by kv.x.a-b, kv.x.a_b";
    let packet = frames::udp(1, 1, (1, 7000), b"a-b=1;a_b=2;host=h\n");
    let page = exposed(&Toy, text, &[packet], 10);
    has_lines(
        &page,
        &[
            r#"onpath_query_top{kv_x_a_b="1",kv_x_a_b_2="2",of="kv.host",k="1",item="h"} 1"#,
            r#"onpath_query_top{kv_x_a_b="1",kv_x_a_b_2="2",of="kv.host",k="2",item="h"} 1"#,
        ],
    );
    for start in [
        r#"onpath_query_distinct{kv_x_a_b="1",kv_x_a_b_2="2",of="kv.x.a-b"} 1"#,
        r#"onpath_query_distinct{kv_x_a_b="1",kv_x_a_b_2="2",of="kv.x.a_b"} 1"#,
    ] {
        assert!(
            page.lines().any(|l| l.starts_with(start)),
            "{start}\nis not in\n{page}"
        );
    }
}

#[test]
fn prometheus_accepts_every_aggregate_and_any_name() {
    let packets = packets();
    for text in [
        "count, bytes, sum(packet.length), min(ip.ttl), max(ip.ttl), mean(ip.ttl), rate, rate(ip.ttl)",
        "min(tcp.seq), mean(tcp.seq), histogram(tcp.seq), top(3, tcp.seq)",
        "count, distinct(ip.src), top(5, flow), histogram(packet.length), histogram(ip.ttl) by flow",
    ] {
        exposed(&Toy, text, &packets, 10);
        exposed(&Toy, text, &[], 10);
    }
    // Units, types and capitals, which must not be in a name.
    let names =
        "distinct(kv.x.ms), top(1, kv.x.histogram), distinct(kv.x.gauge_s) by kv.x.userId, kv.x.h";
    let packet = frames::udp(
        1,
        1,
        (1, 7000),
        b"ms=1;histogram=2;gauge_s=\\;userId=\"\xc3\x84;h=\x07\n",
    );
    let page = exposed(&Toy, names, &[packet], 10);
    let labels = r#"kv_x_user_id="\"Ä",kv_x_h="\\x07",of="kv.x.histogram",k="1""#;
    has_lines(
        &page,
        &[&format!("onpath_query_top{{{labels},item=\"2\"}} 1")],
    );
}

/// The base unit of time is the second.
#[test]
fn prometheus_has_times_in_seconds() {
    let text = "mean(http.response_time), max(http.response_time), sum(http.response_time), rate(http.response_time), \
                histogram(http.response_time), max(ip.ttl), histogram(ip.ttl)";
    let packets = [
        segment(40000, 80, Client, 1, b"GET / HTTP/1.1\r\n\r\n"),
        segment(40000, 80, Server, 1, b"HTTP/1.1 204 X\r\n\r\n"),
    ];
    let page = exposed(&Schemas::builtin(), text, &packets, 10);
    let of = r#"{of="http.response_time"}"#;
    let lines = [
        format!("onpath_query_mean_seconds{of} 0.001"),
        format!("onpath_query_max_seconds{of} 0.001"),
        format!("onpath_query_sum_seconds_total{of} 0.001"),
        format!("onpath_query_rate_seconds{of} 1"),
        format!("onpath_query_distribution_seconds_count{of} 1"),
        r#"onpath_query_max{of="ip.ttl"} 64"#.to_string(),
        r#"onpath_query_distribution_count{of="ip.ttl"} 1"#.to_string(),
    ];
    has_lines(&page, &lines.each_ref().map(String::as_str));
    let quantile =
        r#"onpath_query_distribution_seconds{of="http.response_time",quantile="0.5"} 0.00"#;
    assert!(page.contains(quantile), "{page}");
}

#[test]
fn a_counter_that_prometheus_knows_does_not_vanish() {
    let text = "count by ip.src top 1";
    let query = compile(text, &Catalogue::new(&Toy), &mut SourceMap::new()).unwrap();
    let mut groups = prometheus::Groups::default();
    let mut page = |counts: [usize; 2], most| {
        let packets = (0..).zip(counts).flat_map(|(from, count)| {
            std::iter::repeat_n(frames::udp(from, 1, (1, 2), b""), count)
        });
        let report = run(text, &packets.collect::<Vec<_>>());
        assert_eq!(table::text(&report, 20).lines().count(), 2);
        prometheus::page(&query, &report, 0, (&mut groups, most))
    };
    let line =
        |from, count| format!("onpath_query_count_total{{ip_src=\"10.0.0.{from}\"}} {count}");
    let first = page([3, 2], 9);
    has_lines(&first, &[&line(0, 3), "onpath_query_groups_left_out 1"]);
    assert!(!first.contains(&line(1, 2)), "{first}");
    has_lines(
        &page([3, 4], 9),
        &[&line(0, 3), &line(1, 4), "onpath_query_groups_left_out 0"],
    );
    has_lines(
        &page([3, 4], 1),
        &[&line(1, 4), "onpath_query_groups_left_out 1"],
    );
}

#[test]
fn a_table_may_show_how_groups_went_of_late() {
    let report = run("count by ip.src", &packets());
    let mut trends = Trends::default();
    trends.take(&report, 1);
    assert_eq!(
        table::with_trends(&report, 1, Some(&trends)),
        "\
IP.SRC    COUNT  OF LATE
10.0.0.1  6      █
and 3 other groups
"
    );
    let report = run("count", &packets());
    trends.take(&report, 1);
    assert_eq!(
        table::with_trends(&report, 1, Some(&trends)),
        "count: 21\ncount, trend: █\n"
    );
}

/// The plot of a capture is deterministic. `ONPATH_BLESS=1` rewrites it.
#[test]
fn metrics_are_drawn_over_time() {
    let text = "count by ip.src";
    let mut map = SourceMap::new();
    let query = compile(text, &Catalogue::new(&Toy), &mut map).unwrap();
    let mut history = History::new(&query, text);
    for second in 1..=6 {
        let packets: Vec<Vec<u8>> = (0..second * second * 30u64)
            .map(|i| frames::udp(if i % 3 == 0 { 1 } else { 2 }, 1, (1, 2), b"x"))
            .collect();
        history.take(&run(text, &packets), second as f64);
    }
    let drawn = history.svg().expect("a picture");
    for part in [
        ">10.0.0.1</text>",
        "count, new a second",
        "seconds",
        "10.0.0.2",
    ] {
        assert!(drawn.replace('\n', "").contains(part), "{part}: {drawn}");
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/plot.svg");
    if std::env::var_os("ONPATH_BLESS").is_some() {
        std::fs::write(path, &drawn).expect("written");
    }
    assert_eq!(drawn, std::fs::read_to_string(path).expect("there"));
}

#[test]
fn many_reports_are_halved_and_the_histogram_has_its_unit() {
    let drawn = |text: &str, reports: u64| {
        let mut map = SourceMap::new();
        let query = compile(text, &Catalogue::new(&Toy), &mut map).unwrap();
        let mut history = History::new(&query, text);
        let report = run(text, &packets());
        (1..=reports).for_each(|second| history.take(&report, second as f64));
        history.svg().expect("a picture")
    };
    let (few, many) = (drawn("mean(ip.ttl)", 400), drawn("mean(ip.ttl)", 4000));
    assert!(many.len() < 2 * few.len(), "{} {}", few.len(), many.len());
    let bars = drawn("histogram(packet.length)", 1);
    assert!(
        bars.contains("20 records") || bars.contains("21 records"),
        "{bars}"
    );
}

/// Returns the texts of a plot, with their vertical positions.
fn texts(svg: &str) -> Vec<(f64, String)> {
    let elements = svg.split("<text ").skip(1);
    let text = |element: &str| {
        let (attributes, rest) = element.split_once('>')?;
        let down = attributes.split(" y=\"").nth(1)?.split('"').next()?;
        let text = rest.split("</text>").next()?;
        Some((down.parse().ok()?, text.trim().to_owned()))
    };
    elements.filter_map(text).collect()
}

#[test]
fn the_axes_of_histograms_have_whole_numbers() {
    for text in [
        "histogram(packet.length)",
        "histogram(ip.ttl)",
        "histogram(udp.dst_port) by ip.src",
    ] {
        let mut map = SourceMap::new();
        let query = compile(text, &Catalogue::new(&Toy), &mut map).unwrap();
        let mut history = History::new(&query, text);
        history.take(&run(text, &packets()), 1.0);
        let svg = history.svg().expect("a picture");
        let numbers: Vec<f64> = texts(&svg)
            .iter()
            .filter_map(|(_, t)| t.parse().ok())
            .collect();
        assert!(numbers.len() > 3, "{text}: {numbers:?}");
        let broken = numbers.iter().find(|number| number.fract() != 0.0);
        assert_eq!(broken, None, "{text}: {numbers:?}");
    }
}

/// Whatever the number of lines, their names are above all of them.
#[test]
fn names_hide_no_line() {
    for hosts in [1, 3, 8] {
        let text = "count by ip.src";
        let mut map = SourceMap::new();
        let query = compile(text, &Catalogue::new(&Toy), &mut map).unwrap();
        let mut history = History::new(&query, text);
        let packets: Vec<Vec<u8>> = (0..hosts * 30)
            .map(|i| frames::udp(1 + i % hosts, 1, (1, 2), b"x"))
            .collect();
        for second in 1..=100 {
            history.take(&run(text, &packets), f64::from(second));
        }
        let svg = history.svg().expect("a picture");
        let names = texts(&svg)
            .into_iter()
            .filter(|(_, text)| text.starts_with("10.0."));
        let lowest = names.map(|(down, _)| down).fold(0.0, f64::max);
        let lines = svg
            .split("<polyline ")
            .skip(1)
            .filter(|line| line.contains("stroke-width=\"2\""));
        let points = lines.filter_map(|line| line.split(" points=\"").nth(1)?.split('"').next());
        let points = points.flat_map(str::split_whitespace);
        let downs = points.filter_map(|point| point.split_once(',')?.1.parse::<f64>().ok());
        let highest = downs.fold(f64::INFINITY, f64::min);
        assert!(
            highest.is_finite() && highest > lowest,
            "{hosts}: {highest} {lowest}"
        );
    }
}

#[test]
fn a_query_is_explained_with_its_memory() {
    let text = "count, distinct(ip.src), top(10, kv.host), histogram(kv.size) by kv.method where kv.host ~ \"x\"";
    let query = compile(text, &Catalogue::new(&Toy), &mut SourceMap::new()).unwrap();
    let explained = explain(&query, &Toy, Some(100));
    for line in [
        "record: each message of kv",
        "reads ip.src: an IP address, from the headers",
        "reads kv.size: a number of 32 bits, from the message",
        "distinct(ip.src): HyperLogLog of 4096 registers, standard error 1.6 %, 4 KB a group",
        "top(10, kv.host): Space-Saving in 32 sets of 16 counters, 148 KB a group",
        "histogram(kv.size): 8 buckets a power of two, quantiles within 6.2 %, 4 KB a group",
    ] {
        assert!(
            explained.lines().any(|l| l == line),
            "{line}\nis not in\n{explained}"
        );
    }
    assert!(
        explained.contains("groups by kv.method: 100 at most; memory: 16 MB at most"),
        "{explained}"
    );
}

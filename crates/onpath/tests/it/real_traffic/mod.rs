//! Tests of queries on the path of real traffic. nginx answers clients that keep connections, send several requests
//! at once and speak TLS. The queries' counts must agree with nginx's own log. Needs root, nginx, curl and openssl.

mod client;
mod server;

use client::Length;
use lab::{Pair, Route, SERVER, Space, Task};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use server::{Server, counted};
use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead};

/// Number of requests. Each connection has `KEPT` of them, and `THREADS` threads make them.
const REQUESTS: usize = 10_000;
const KEPT: usize = 250;
const THREADS: usize = 4;
/// Number of requests that are longer than segments.
const LONG: usize = 2_000;
/// Number of requests by curl over one connection.
const BY_CURL: usize = 200;

/// A query that runs at the server's device.
struct Query(Task);

impl Query {
    fn start(space: &Space, query: &str) -> Query {
        let script = "mount -t bpf bpf /sys/fs/bpf && exec \"$0\" \"$@\" 2>&1";
        let onpath = env!("CARGO_BIN_EXE_onpath");
        let mut words = vec![
            "unshare", "--mount", "sh", "-c", script, onpath, "query", query,
        ];
        words.extend(["--dev", "s0", "--every", "1h", "--json"]);
        let mut task = space.start(&words).expect("onpath starts");
        task.wait_for("interrupt to end").expect("the query runs");
        Query(task)
    }

    /// Ends the query. Returns its metrics by group, and checks that none are missing.
    fn finish(mut self) -> Vec<Value> {
        let id = Pid::from_raw(self.0.id() as i32);
        kill(id, Signal::SIGINT).expect("interrupted");
        let lines = self.0.reader().expect("its output").lines();
        let mut lines = lines.map_while(Result::ok);
        let report = lines.find(|line| line.starts_with('{')).expect("a report");
        let report: Value = serde_json::from_str(&report).expect("JSON");
        for missing in [
            "not_grouped",
            "malformed",
            "cut",
            "unread",
            "unfinished",
            "gaps",
            "sent_again",
            "unfollowed",
        ] {
            assert_eq!(report["counts"][missing], 0, "{report}");
        }
        report["groups"].as_array().expect("groups").clone()
    }

    /// Ends a query for `count` by these keys. Returns the counts.
    fn counts(self, keys: &[&str]) -> HashMap<Vec<String>, u64> {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let groups = self.finish().into_iter();
        let count = |group: Value| {
            let key = keys.iter().map(|&key| text(&group["keys"][key])).collect();
            (key, group["values"]["count"].as_u64().expect("a count"))
        };
        groups.map(count).collect()
    }
}

/// Returns the number of segments that a namespace has retransmitted.
fn sent_again(space: &Space) -> u64 {
    let read = || std::fs::read_to_string("/proc/thread-self/net/snmp");
    let text = space.run(read).expect("statistics of TCP");
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp: "));
    let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
    let all: HashMap<&str, &str> = names.split(' ').zip(values.split(' ')).collect();
    all["RetransSegs"].parse().expect("a number")
}

/// Returns two ends that retransmit nothing, even on a busy machine, as a query counts all packets that pass.
fn patient() -> Pair {
    patient_with(lab::Offloads::All, "1440")
}

/// Returns two ends that retransmit nothing, with a maximum segment size of `most` bytes.
fn patient_with(offloads: lab::Offloads, most: &str) -> Pair {
    let ends = lab::Ends {
        offloads,
        ..lab::Ends::default()
    };
    let pair = Pair::new(ends).expect("this test needs root");
    for (space, device) in [(pair.client(), "c0"), (pair.server(), "s0")] {
        space.set("ipv4/tcp_early_retrans", "0").expect("no probes");
        let route = [
            "ip",
            "-6",
            "route",
            "replace",
            "fd00:7::/64",
            "dev",
            device,
            "rto_min",
            "20s",
            "advmss",
            most,
        ];
        space.output(&route).expect("a patient route");
    }
    pair
}

/// Requests several paths by curl over one connection.
fn curl(space: &Space, more: &[&str], name: &str, port: u16, path: &str) {
    let to = format!("{name}:{port}:[{SERVER}]");
    let scheme = if port == 443 { "https" } else { "http" };
    let url = format!("{scheme}://{name}{path}");
    let mut words = vec![
        "curl",
        "--silent",
        "--show-error",
        "--max-time",
        "20",
        "--resolve",
        &to,
    ];
    words.extend(more);
    words.extend(["--output", "/dev/null", &url]);
    space.output(&words).expect("this test needs curl");
}

/// Makes requests by several threads at once.
fn make(pair: &Pair, requests: usize, length: Length) {
    let each = requests / THREADS;
    let work = || -> io::Result<()> {
        std::thread::scope(|scope| {
            let one = |seed| scope.spawn(move || client::requests(seed, each, KEPT, length));
            let all: Vec<_> = (0..THREADS as u64).map(one).collect();
            all.into_iter()
                .try_for_each(|t| t.join().expect("no panic"))
        })
    };
    pair.client().run(work).expect("all requests are answered");
}

/// Makes requests with long cookies before the host and with long bodies, several of them at once. Checks that
/// queries count what nginx logs.
fn long_requests_are_counted(pair: &Pair) {
    let server = Server::start(pair.server());
    let start = |query: &str| Query::start(pair.server(), query);
    let by_request = start("count by http.method, http.host");
    let by_status = start("count by http.status");
    make(pair, LONG, Length::Several);
    let log = server.log(80, LONG);
    assert_eq!(sent_again(pair.server()) + sent_again(pair.client()), 0);
    let requests = by_request.counts(&["http.method", "http.host"]);
    let logged = counted(&log, |l| vec![l.method.clone(), l.host.clone()]);
    assert_eq!(requests, logged);
    let statuses = by_status.counts(&["http.status"]);
    assert_eq!(statuses, counted(&log, |l| vec![l.status.to_string()]));
}

/// Segments have 400 bytes.
#[test]
fn requests_that_segments_cut_are_counted_as_by_the_server() {
    long_requests_are_counted(&patient_with(lab::Offloads::None, "400"));
}

/// Packets have up to 64 KB, as the device would segment them (GSO). They are not linear, and a message may begin
/// anywhere in one.
#[test]
fn requests_in_packets_of_many_segments_are_counted_as_by_the_server() {
    let pair = patient();
    let longest = Query::start(pair.server(), "max(packet.length) where tcp.dst_port == 80");
    long_requests_are_counted(&pair);
    let [all] = &longest.finish()[..] else {
        panic!("one group");
    };
    let longest = all["values"]["max(packet.length)"].as_u64();
    // This is more than is copied to memory at once.
    assert!(longest.is_some_and(|longest| longest > 16_384), "{all}");
}

#[test]
fn http_is_counted_as_by_the_server() {
    let pair = patient();
    let server = Server::start(pair.server());
    let start = |query: &str| Query::start(pair.server(), query);
    let by_request = start("count by http.method, http.host");
    let by_status = start("count by http.status");
    let by_answer = start("count by http.method, http.status where http.response_time < 60s");
    let paths = start("top(20, http.path), distinct(http.path)");

    make(&pair, REQUESTS, Length::OneSegment);
    let range = format!("/curl/[1-{BY_CURL}]");
    curl(pair.client(), &[], "curl.example", 80, &range);
    curl(
        pair.client(),
        &["--head"],
        "curl.example",
        80,
        "/head?of=it",
    );

    let log = server.log(80, REQUESTS + BY_CURL + 1);
    assert_eq!(sent_again(pair.server()) + sent_again(pair.client()), 0);
    let connections = counted(&log, |l| l.connection.clone());
    assert_eq!(connections.len(), REQUESTS / KEPT + 2);

    let requests = by_request.counts(&["http.method", "http.host"]);
    let logged = counted(&log, |l| vec![l.method.clone(), l.host.clone()]);
    assert_eq!(requests, logged);
    let statuses = by_status.counts(&["http.status"]);
    assert_eq!(statuses, counted(&log, |l| vec![l.status.to_string()]));
    let answers = by_answer.counts(&["http.method", "http.status"]);
    let logged = counted(&log, |l| vec![l.method.clone(), l.status.to_string()]);
    assert_eq!(answers, logged);
    let [all] = &paths.finish()[..] else {
        panic!("one group");
    };
    are_within_bounds(&all["values"], &counted(&log, |l| l.path.clone()));
}

/// Checks `top` and `distinct` of paths against the exact counts.
fn are_within_bounds(values: &Value, exact: &HashMap<String, u64>) {
    let number = |value: &Value| value.as_u64().expect("a number");
    let top = &values["top(20, http.path)"];
    let items = top["items"].as_array().expect("items");
    assert_eq!(items.len(), 20);
    let mut listed = HashSet::new();
    for item in items {
        let path = item["value"].as_str().expect("a path");
        let (count, error) = (number(&item["count"]), number(&item["error"]));
        let came = exact.get(path).copied().unwrap_or(0);
        assert!((count - error..=count).contains(&came), "{item}: {came}");
        listed.insert(path);
    }
    let least = items.iter().map(|item| number(&item["count"])).min();
    let most_else = number(&top["unseen"]).max(least.unwrap_or(0));
    for (path, &came) in exact
        .iter()
        .filter(|(path, _)| !listed.contains(path.as_str()))
    {
        assert!(came <= most_else, "{path} came {came} times: {top}");
    }
    let distinct = &values["distinct(http.path)"];
    let real = |name: &str| distinct[name].as_f64().expect("a number");
    let off = (real("estimate") / exact.len() as f64 - 1.0).abs();
    // Five standard errors: less than once in a million.
    assert!(
        off <= 5.0 * real("standard_error"),
        "{distinct} of {}",
        exact.len()
    );
}

#[test]
fn tls_is_counted_as_by_the_server() {
    let pair = patient();
    let server = Server::start(pair.server());
    let names = Query::start(pair.server(), "count by tls.sni");
    let mut made = 0;
    for connection in 0..40 {
        let name = format!(
            "{}.tls.example",
            ["a", "b", "c", "some-longer-name"][connection % 7 % 4]
        );
        let last = 1 + connection % 5;
        let kinds: &[&str] = if connection % 2 == 0 {
            &["--http1.1"]
        } else {
            &["--tls-max", "1.2"]
        };
        let trust = [&["--insecure"], kinds].concat();
        curl(pair.client(), &trust, &name, 443, &format!("/[1-{last}]"));
        made += last;
    }
    let log = server.log(443, made);
    assert_eq!(sent_again(pair.server()) + sent_again(pair.client()), 0);
    let connections = log.iter().map(|l| (&l.server_name, &l.connection));
    let connections: HashSet<_> = connections.collect();
    assert_eq!(connections.len(), 40);
    let mut logged: HashMap<Vec<String>, u64> = HashMap::new();
    for (name, _) in connections {
        *logged.entry(vec![name.clone()]).or_default() += 1;
    }
    assert_eq!(names.counts(&["tls.sni"]), logged);
}

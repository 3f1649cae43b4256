//! Flags of `onpath query`.

use crate::args::time;
use crate::complete::names;
use clap::{ArgGroup, Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// End of `onpath query --help`.
const FORM: &str = "\
A query is AGGREGATES [by ATTRIBUTES] [where CONDITION] [order by AGGREGATE|KEY] [top N]:
  count, bytes by ip.src where tcp.dst_port in [80, 443]
  top(10, flow), histogram(packet.length) where ip.src in 10.0.0.0/8
  count by http.host where http.method == \"POST\" and not http.path starts with \"/api\"
  count, bytes by ip.dst order by bytes top 5

Aggregates: count, bytes, rate, sum(x), min(x), max(x), mean(x), distinct(x), top(k, x),
histogram(x).
Comparisons: == != < <= > >=, in [..] or a prefix, starts with \"..\", ~ \"regular expression\";
between them and, or, not, parentheses.
Attributes are such as eth.src, ip.dst, ipv6.src, tcp.dst_port, packet.length, flow; of messages
(HTTP, DNS, TLS ClientHello and others) such as http.host, http.status, dns.qname, tls.sni.
`onpath query --list` lists them all, `onpath explain http.host` explains one.
The file docs/queries.md of the repository has the grammar and examples.

Memory is bounded: what a full table of groups could not hold is counted and shown.

Exit status: 0 done or interrupted, 1 refused or failed, 2 wrong usage.";

/// `--target`
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ingress {
    /// Traffic control: packets as the host is about to take them
    TcIngress,
    /// XDP: packets as the driver receives them, faster; one program at an interface
    Xdp,
}

/// `--direction`
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Packets that come in
    In,
    /// Packets that go out
    Out,
    /// All of them
    Both,
}

/// `onpath query`
#[derive(Args, Debug)]
#[command(after_long_help = FORM, group(ArgGroup::new("source").required(true).args(["read", "dev", "explain", "p4", "list"])))]
pub struct Query {
    /// What to ask
    #[arg(
        value_name = "QUERY",
        required_unless_present = "list",
        default_value = ""
    )]
    pub query: String,
    /// List the attributes that a query may ask about, or those whose names begin so, such as http
    ///
    /// Each with its type, the message that has it, whether it can be read on the path (`first`: its first value of a
    /// message), and a line about it. `onpath explain http.host` tells more of one.
    #[arg(
        long,
        value_name = "PREFIX",
        num_args = 0..=1,
        default_missing_value = "",
        conflicts_with_all = ["query", "csv", "svg", "groups"],
        add = names::attributes()
    )]
    pub list: Option<String>,
    /// Answer it from a capture file, pcap or pcapng, also packed by gzip or zstd; `-` is standard input
    ///
    /// Of several (`--read A --read B`), the packets are read in the order of their times, as if they were in one.
    #[arg(long, value_name = "FILE")]
    pub read: Vec<PathBuf>,
    /// Answer it from the packets of an interface, while they pass; of several (`--dev a,b`), or of `any`
    ///
    /// A program of the query runs at the interface as long as this command does, and changes no packet. A packet
    /// that passes several of them is read at each. `any` are all that there are when the command starts. Needs
    /// CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON, and CAP_SYS_ADMIN for both directions or several interfaces.
    #[arg(long, value_name = "IF", value_delimiter = ',', add = names::interfaces())]
    pub dev: Vec<String>,
    /// Where packets that come in are read; those that go out are read by traffic control
    #[arg(
        long,
        value_enum,
        default_value = "tc-ingress",
        conflicts_with_all = ["read", "explain", "p4"],
        conflicts_with = "off_path"
    )]
    pub target: Ingress,
    /// Which packets are read; both, but on loopback, where all that goes out comes in
    #[arg(long, value_enum, conflicts_with_all = ["read", "explain", "p4", "off_path"])]
    pub direction: Option<Direction>,
    /// The name by which the other commands know it; query- and the interface's by default
    #[arg(long, conflicts_with_all = ["read", "explain", "p4", "off_path"])]
    pub name: Option<String>,
    /// Show the kernel verifier's full log if it rejects the program
    #[arg(long, conflicts_with_all = ["read", "explain", "p4", "off_path"])]
    pub verbose: bool,
    /// Answer it in this process instead, from copies of the packets (AF_PACKET)
    ///
    /// Packets in both directions. What the kernel had no room to copy is counted and shown. Needs
    /// CAP_NET_RAW.
    #[arg(long, conflicts_with_all = ["read", "explain", "p4"])]
    pub off_path: bool,
    /// Answer it as with --off-path until the program runs on the path: compiling and verifying it take a second or more
    ///
    /// Then the metrics begin again, from nothing. Needs CAP_NET_RAW too.
    #[arg(long, conflicts_with_all = ["read", "explain", "p4", "off_path", "direction", "once", "svg"])]
    pub at_once: bool,
    /// Show the metrics so often, such as 500ms, 1s or 5m
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = time)]
    pub every: Duration,
    /// End after this time
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with_all = ["read", "explain", "p4"])]
    pub duration: Option<Duration>,
    /// Show the metrics once, at the end: after --duration, or after one interval
    #[arg(long, conflicts_with_all = ["read", "explain", "p4"])]
    pub once: bool,
    /// Serve the metrics to Prometheus at http://ADDR/metrics, such as 127.0.0.1:9464
    #[arg(long, value_name = "ADDR", conflicts_with_all = ["read", "explain", "p4"])]
    pub prometheus: Option<String>,
    /// Print the metrics as JSON, an object a line
    #[arg(long, conflicts_with_all = ["csv", "explain"])]
    pub json: bool,
    /// Print the metrics as comma-separated values, a line a group
    #[arg(long, conflicts_with = "explain")]
    pub csv: bool,
    /// Draw the first metric over time, a line a group, or its histogram, and write that as SVG so often as metrics are shown
    #[arg(long, value_name = "FILE", conflicts_with_all = ["explain", "p4"])]
    pub svg: Option<PathBuf>,
    /// The most groups that there is room for: by default 4096, or fewer if a group takes much memory
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=telemetry::MAX_GROUPS as i64))]
    pub groups: Option<u32>,
    /// Show at most this many groups in the table, those with the largest first metric
    #[arg(long, value_name = "N", default_value = "20")]
    pub rows: usize,
    /// Show what the query reads, how it is computed and its memory, instead of answering it
    #[arg(long)]
    pub explain: bool,
    /// Print a P4 program that keeps the metrics on the path, instead of answering: `onpath run` runs it, and
    /// `onpath metrics` reads them
    ///
    /// It reads headers and messages, and changes no packet.
    #[arg(long, conflicts_with_all = ["json", "csv", "explain"])]
    pub p4: bool,
}

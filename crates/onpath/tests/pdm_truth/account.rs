//! Comparison of both ends' reports with the real traffic, printed for a reader.

use crate::measured::Measured;
use crate::traffic::Came;
use lab::{Pair, Route, Space};
use std::sync::Once;
use std::time::Duration;

/// Beginning of every line, by which `make soak` finds the lines in the test runner's output.
const MARK: &str = "soak: ";

/// Explanation of the lines.
const LEGEND: &str = "\
PDM on real traffic: IPv6 between two namespaces on this machine, over a pair of virtual devices with all offloads on,
the option added and removed at both ends by `onpath pdm`. Conformant: each packet on the wire has an option and a
number of its own. Marked once: a TCP packet that segmentation offload will take apart has one.

Each kind of traffic has a paragraph: how long it ran, what came of it, the longest time in which nothing arrived (a
stall is 2 s), and for each direction the packets with the option:

  sent           as the sending end's `onpath pdm` counted them
  received       as the receiving end's counted them
  reported lost  what the receiving end's reports as lost, by the sequence numbers alone; likewise reordered, which are
                 packets that another one overtook, and for duplicated

With losses: a relay between the two loses every 97th packet towards the server and counts them; the report is next to it.

The test fails if a byte is not as sent, if anything stalls, if reported lost differs from sent less received, if more is lost than
the devices counted as dropped, if any packet is reported as duplicated, or if the relay's counts differ.";

/// Account of the real and the reported traffic, for one kind of traffic after another.
pub(crate) struct Account<'a> {
    mode: &'a str,
    net: &'a Pair,
    ends: &'a [Measured<'a>; 2],
    before: Now,
}

/// All counts until now.
struct Now {
    /// Counts of the client and of the server.
    ends: [End; 2],
    /// Packets that the devices dropped.
    dropped: u64,
}

struct End {
    sent: u64,
    received: u64,
    lost: u64,
    reordered: u64,
    duplicated: u64,
}

impl<'a> Account<'a> {
    /// Begins with the counts before any traffic.
    pub(crate) fn open(mode: &'a str, net: &'a Pair, ends: &'a [Measured<'a>; 2]) -> Account<'a> {
        Account {
            mode,
            net,
            ends,
            before: Now::of(net, ends),
        }
    }

    /// Checks and prints the report on a kind of traffic.
    pub(crate) fn check(&mut self, what: &str, took: Duration, came: &Came) {
        let now = Now::of(self.net, self.ends);
        let dropped = now.dropped - self.before.dropped;
        let mut lines = format!(
            "\n{}, {what}: {:.1} s; {}; longest gap {:.1} ms\n",
            self.mode,
            took.as_secs_f64(),
            came.text,
            1e3 * came.longest_gap.as_secs_f64(),
        );
        for (direction, from, to) in [("client to server", 0, 1), ("server to client", 1, 0)] {
            let count = |end: usize, name: fn(&End) -> u64| {
                name(&now.ends[end]) - name(&self.before.ends[end])
            };
            let sent = count(from, |end| end.sent);
            let received = count(to, |end| end.received);
            let lost = count(to, |end| end.lost);
            let reordered = count(to, |end| end.reordered);
            let duplicated = count(to, |end| end.duplicated);
            lines += &format!(
                "  {direction}: {sent} sent, {received} received; reported lost {lost}, reordered {reordered}, \
                 duplicated {duplicated}\n"
            );
            let what = format!("{}, {what}, {direction}", self.mode);
            let silent = from == 1 && !came.both_ways;
            assert!(
                sent > 0 || silent,
                "{what}: nothing was sent with the option"
            );
            assert_eq!(lost, sent - received, "{what}: {dropped} dropped");
            // The programs drop nothing, so the devices must have counted all losses.
            assert!(lost <= dropped, "{what}: {lost} lost, {dropped} dropped");
            assert_eq!(duplicated, 0, "{what}");
        }
        lines += &format!("  dropped by the devices: {dropped}");
        print_lines(&lines);
        self.before = now;
    }
}

impl Now {
    fn of(net: &Pair, ends: &[Measured<'_>; 2]) -> Now {
        let dropped = |space: &Space, device| {
            let counted = space.statistics(device).expect("a device");
            counted.tx_dropped + counted.rx_dropped
        };
        Now {
            ends: ends.each_ref().map(|end| {
                let metrics = end.metrics();
                End {
                    sent: metrics.total("packets_sent"),
                    received: metrics.total("packets_received"),
                    lost: metrics.total("packets_lost"),
                    reordered: metrics.total("packets_reordered"),
                    duplicated: metrics.total("packets_duplicated"),
                }
            }),
            dropped: dropped(net.client(), "c0") + dropped(net.server(), "s0"),
        }
    }
}

/// Prints lines of the report, and its head before the first of all.
pub(crate) fn print_lines(text: &str) {
    static HEAD: Once = Once::new();
    HEAD.call_once(|| {
        let machine = lab::Machine::this();
        print(&format!("{machine}. Written by `make soak`.\n\n{LEGEND}"));
    });
    print(text);
}

fn print(text: &str) {
    for line in text.split('\n') {
        println!("{MARK}{line}");
    }
}

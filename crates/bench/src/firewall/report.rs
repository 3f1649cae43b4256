//! Results as Markdown.

use super::delays::Delays;
use super::memory::Memory;
use super::times::Times;
use super::{Missing, Results, published};
use crate::specialized::taken_on;
use std::fmt::Write;

fn shown(value: Option<f64>, digits: usize) -> String {
    value.map_or("–".into(), |value| format!("{value:.digits$}"))
}

fn milliseconds(value: Option<f64>) -> String {
    shown(value.map(|micros| micros / 1e3), 3)
}

fn mebibytes(value: Option<u64>) -> String {
    shown(value.map(|bytes| bytes as f64 / f64::from(1 << 20)), 1)
}

impl Results {
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!(
            "# Firewalls by names, side by side\n\n{}. Written by `make bench-firewall`.\n\n\
             A client, a router and a server are namespaces that are joined by virtual Ethernet with the offloads that Linux gives it. \
             Each firewall runs at a router of its own that forwards by the kernel's stack; all of them take turns, {} of {} requests each. \
             Packages have {} different names, of which {} cover each other nowhere and are used; lists with more have composed ones.{}\n",
            taken_on(&self.machine),
            self.rounds,
            self.requests,
            self.found,
            self.real,
            match self.packages_missing.is_empty() {
                true => String::new(),
                false => format!(" Missing packages: {}.", self.packages_missing.join(", ")),
            }
        );
        self.delays(&mut text);
        self.flows(&mut text);
        self.rates(&mut text);
        self.sizes(&mut text);
        times(&mut text, &self.times);
        memory(&mut text, &self.memory);
        self.missing(&mut text);
        text
    }

    fn delays(&self, text: &mut String) {
        text.push_str(
            "\n## Delay by number of names\n\n![delay in the device](firewall_delays.svg)\n\n\
             Medians in milliseconds, for names on no list. *Device* is from the first packet with a request, as the client's stack hands it to the link, \
             to the last one that leaves the router for the server; *end to end* is from the request to the first byte of its answer, \
             on a connection that is open. Published, in the device and end to end: ",
        );
        let netfilter = published::NETFILTER_DEVICE.map(|(n, ms)| format!("{ms} at {n} names"));
        let ends = published::NETFILTER_END_TO_END.map(|(n, ms)| format!("{ms} at {n}"));
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{} and {} whatever the list; netfilter {} in the device, {} end to end.\n\n\
             | names | firewall | message | device | 9 of 10 below | end to end | answered |\n|--:|---|---|--:|--:|--:|--:|",
            published::DEVICE,
            published::END_TO_END,
            netfilter.join(", "),
            ends.join(" and ")
        );
        for row in &self.delays {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} | {} of {} |",
                row.names,
                row.peer,
                row.message,
                milliseconds(row.device),
                milliseconds(row.device_p90),
                milliseconds(row.end_to_end),
                row.answered,
                row.requests
            );
        }
    }

    fn flows(&self, text: &mut String) {
        text.push_str(
            "\n## Parallel flows\n\nAll connections are open before the first ClientHello is sent, and then all are sent at once. *Dropped* are packets with one that came to the router and did not leave it. \
             Medians in milliseconds.\n\n| names | flows | firewall | device | end to end | answered | dropped |\n|--:|--:|---|--:|--:|--:|--:|\n",
        );
        for row in &self.flows {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} | {} |",
                row.names,
                row.at,
                row.peer,
                milliseconds(row.device),
                milliseconds(row.end_to_end),
                row.answered,
                row.dropped
            );
        }
        for (names, flows, [end, device], [their_end, their_device]) in published::FLOWS {
            let _ = writeln!(
                text,
                "| {names} | {flows} | published | {device} | {end} | | |\n| {names} | {flows} | published, netfilter | {their_device} | {their_end} | | |"
            );
        }
        let [ours, netfilter] = published::DROPPED;
        let _ = writeln!(
            text,
            "\nPublished at 10,000 flows and 5,000 names: {ours} packets dropped, {netfilter} by netfilter."
        );
    }

    fn rates(&self, text: &mut String) {
        let _ = writeln!(
            text,
            "\n## Streams\n\n`iperf3` through the router, a second for each turn. The loss is against the no-op at XDP for programs at XDP, since a device whose far end has one sends no large packets, \
             and against no program for others. A stream that a firewall does not pass has no rate. Published: {} of 10 Gbit/s whatever the list.\n\n\
             | names | port | firewall | Gbit/s | loss, % |\n|--:|--:|---|--:|--:|",
            published::STREAM
        );
        for row in &self.rates {
            let (names, port, peer) = (row.names, row.port, row.peer);
            let (gbits, loss) = (shown(row.gbits, 2), shown(row.loss, 1));
            let _ = writeln!(text, "| {names} | {port} | {peer} | {gbits} | {loss} |");
        }
    }

    fn sizes(&self, text: &mut String) {
        text.push_str("\n## Delay by size of the packet\n\nIn the device, in milliseconds, with a ClientHello in a packet of this size.\n\n| names | bytes | firewall | device |\n|--:|--:|---|--:|\n");
        for row in &self.sizes {
            let Delays {
                names, at, peer, ..
            } = row;
            let _ = writeln!(
                text,
                "| {names} | {at} | {peer} | {} |",
                milliseconds(row.device)
            );
        }
        for (bytes, ours, netfilter) in published::SIZES {
            let _ = writeln!(
                text,
                "| | {bytes} | published | {ours} |\n| 5000 | {bytes} | published, netfilter | {netfilter} |"
            );
        }
    }

    fn missing(&self, text: &mut String) {
        text.push_str("\n## Not measured\n\n- nftables compares bytes at fixed offsets only, and this kernel has no `queue` for it.\n- The published program at tc and on the interpreter is not among these.\n- `iptables` has no list above 5,000 names. A name in DNS has lengths in place of dots, so its rules do not find it there; HAProxy and Squid read no DNS, and dnsmasq, Unbound and dnsdist nothing else.\n- HAProxy and Suricata look names up exactly, the others with those below them.\n");
        missing(text, &self.missing);
    }
}

/// Appends the times per packet.
pub(super) fn times(text: &mut String, times: &Times) {
    text.push_str(
        "\n## Time per packet\n\nTest runs at XDP, in nanoseconds net of the no-op, which has its own column. Each packet is run once: a request of a connection whose SYN came before. \
         So code and memory are as cold as a system call leaves them. *Names in turn* is 1 where the memory of the list is warm. The hand-written program does not follow requests that are cut, nor streams.\n\n\
         | names | message | name | names in turn | Onpath | hand-written C | ratio | no-op |\n|--:|---|---|--:|--:|--:|--:|--:|\n",
    );
    for row in &times.requests {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:.0} | {:.0} | {:.2} | {:.0} |",
            row.names,
            row.message,
            if row.is_listed {
                "listed"
            } else {
                "not listed"
            },
            row.rotated,
            row.ours,
            row.hand_written,
            row.ours / row.hand_written,
            row.no_op
        );
    }
    let decided = &times.decided;
    let _ = writeln!(
        text,
        "\nData of a decided TLS connection, one packet again and again: {:.0} ns, and {:.0} for an exact look-up of the connection, hand-written: {:.2} times.",
        decided.ours,
        decided.look_up,
        decided.ours / decided.look_up
    );
    let quic = &times.quic;
    let _ = writeln!(
        text,
        "\nFor QUIC, *names in turn* are new connections, whose keys are derived; the one is sent again and again. \
         The hand-written program reads QUIC alone, version 1 over IPv4, and holds nothing: {} verified instructions. Reading QUIC adds {} to the firewall.",
        quic.hand_written, quic.ours
    );
}

/// Appends memory and times to load.
pub(super) fn memory(text: &mut String, rows: &[Memory]) {
    text.push_str("\n## Memory and time to load\n\nMemory in MiB. *Ready* is from the start until packets meet the list, and includes clang for Onpath and the hand-written program.\n\n| names | firewall | ready, s | reload, s | process, at the most | maps in the kernel |\n|--:|---|--:|--:|--:|--:|\n");
    for row in rows {
        let _ = writeln!(
            text,
            "| {} | {} | {:.2} | {} | {} | {} |",
            row.names,
            row.peer,
            row.ready_ms / 1e3,
            shown(row.reload_ms.map(|ms| ms / 1e3), 2),
            mebibytes(row.process),
            mebibytes(row.maps)
        );
    }
}

/// Appends the peers that could not be measured.
pub(super) fn missing(text: &mut String, rows: &[Missing]) {
    for row in rows {
        let (peer, names, reason) = (row.peer, row.names, &row.reason);
        let _ = writeln!(text, "- {peer} with {names} names: {reason}");
    }
}

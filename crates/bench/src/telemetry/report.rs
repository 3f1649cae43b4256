//! Results as text.

use super::cores::{BURST, PARSED};
use super::message::Technique;
use super::rates::{
    APPLICATION, APPLICATION_QUERY, OFF_PATH, OFF_PATH_QUERY, PATH, Rate, gbits as gbits_of,
};
use super::{Results, Spread, published};
use crate::specialized::taken_on;
use std::fmt::Write;

impl Results {
    pub(crate) fn markdown(&self) -> String {
        let mut out = format!(
            "# Telemetry: where messages are parsed\n\n{}. Written by `make bench-telemetry`; {} rounds, in each of which every case has its turn.\n\n\
             A sink takes UDP datagrams of 1,400 bytes from a socket, one a system call. Its processor also has the kernel's stack, the program on the path, and \
             the reader of copies; the packets come from the other processor, from a generator in the kernel, which goes on only as far as the receivers \
             are (224 packets, and 4,096 copies), so that none is lost: a turn that loses more than 0.1 % is refused. So the rates are those at \
             which that processor is saturated. The query attribute has 25 bytes and ends what is parsed. On the path it is looked for by a parser in P4, which \
             keeps a tally; in the application and off the path, where the copies come through a ring (`TPACKET_V3`), by the vectorized search of the crate `memchr`. \
             Parts are of the rate without a parser, which is measured before and after each turn. Medians; in parentheses the middle half of the rounds.\n\n\
             Published figures are of {}.\n\n",
            taken_on(&self.machine),
            self.rounds,
            published::SETTING
        );
        self.places(&mut out);
        techniques(
            &mut out,
            "## On the path, by technique and bytes\n\nAttributes of 25 bytes; `byte by byte` searches, `skip ahead` reads each tag, `direct jump` knows the offset.\n\n",
            "bytes parsed",
            &self.rates.techniques,
        );
        techniques(
            &mut out,
            "## On the path, by technique and attributes\n\nAll 1,400 bytes, in so many attributes.\n\n",
            "attributes",
            &self.rates.attributes,
        );
        out += "![rates by technique](telemetry_techniques.svg)\n\n";
        self.cores(&mut out);
        self.visible(&mut out);
        self.round_trip(&mut out);
        out
    }

    fn places(&self, out: &mut String) {
        let nowhere = self.rates.nowhere;
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "## By place and bytes\n\nGigabits a second of Ethernet frames. Without a parser: {}; published: {}. With a program on the path that only passes packets on: {} of that.\n\n\
             | bytes parsed | on the path | part | in the application | part | off the path | part | on / off the path | published: path | application | off | on / off |\n\
             |--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
            range(nowhere, 2),
            published::NOWHERE,
            percent(self.rates.passed)
        );
        let rates = &self.rates.places;
        let find = |of: &str, at: usize| rates.iter().find(|rate| rate.of == of && rate.at == at);
        for rate in rates.iter().filter(|rate| rate.of == PATH) {
            let at = rate.at;
            let (Some(application), Some(off)) = (find(APPLICATION, at), find(OFF_PATH, at)) else {
                continue;
            };
            let _ = write!(out, "| {at} ");
            for rate in [rate, application, off] {
                let _ = write!(out, "| {:.2} | {} ", rate.gbits.median, percent(rate.part));
            }
            let ratio = self.rates.on_to_off.iter().find(|(bytes, _)| *bytes == at);
            let ratio = ratio.map_or(String::new(), |(_, ratio)| range(*ratio, 2));
            let _ = write!(out, "| {ratio} ");
            match published::PLACES.iter().find(|(bytes, _)| *bytes == at) {
                Some((_, rates)) => {
                    for rate in rates {
                        let part = 100.0 * rate / published::NOWHERE;
                        let _ = write!(out, "| {rate:.1} ({part:.0} %) ");
                    }
                    let _ = writeln!(out, "| {:.2} |", rates[0] / rates[2]);
                }
                None => *out += "| | | | |\n",
            }
        }
        let _ = writeln!(
            out,
            "\n![rates by place](telemetry_places.svg)\n\nWhat parsing adds to a packet's time on the receiving processor, in nanoseconds, from the medians:\n\n\
             | bytes parsed | on the path | in the application | off the path |\n|--:|--:|--:|--:|"
        );
        let added = |rate: Option<&Rate>| {
            let whole = time(nowhere.median);
            let more = rate.map_or(f64::NAN, |rate| whole / rate.part.median - whole);
            // No negative zero.
            more.round() + 0.0
        };
        for rate in rates.iter().filter(|rate| rate.of == PATH) {
            let of = |place| added(find(place, rate.at));
            let _ = writeln!(
                out,
                "| {} | {:.0} | {:.0} | {:.0} |",
                rate.at,
                of(PATH),
                of(APPLICATION),
                of(OFF_PATH)
            );
        }
        *out += "\n";
        self.queries(out);
    }

    fn queries(&self, out: &mut String) {
        *out += "## Queries\n\nThe same packets, looked at by `telemetry::Evaluator` with a schema of the messages, in place of a search: off the path as `onpath query --off-path` \
                 does, in the application by `Evaluator::received`.\n\n\
                 | bytes parsed | in the application | part | off the path | part | on the path, above / query off the path |\n|--:|--:|--:|--:|--:|--:|\n";
        let rates = &self.rates.queries;
        for (at, ratio) in &self.rates.on_to_query {
            let find = |of: &str| rates.iter().find(|rate| rate.of == of && rate.at == *at);
            let (Some(application), Some(off)) = (find(APPLICATION_QUERY), find(OFF_PATH_QUERY))
            else {
                continue;
            };
            let _ = writeln!(
                out,
                "| {at} | {:.2} | {} | {:.2} | {} | {} |",
                application.gbits.median,
                percent(application.part),
                off.gbits.median,
                percent(off.part),
                range(*ratio, 2)
            );
        }
        *out += "\n";
    }

    fn cores(&self, out: &mut String) {
        let _ = writeln!(
            out,
            "## One processor and both\n\n{PARSED} bytes parsed, gigabits a second. Here one thread on each processor generates the packets, has them go through the \
             stack, and takes them from the socket, {} at a time: the generator's time is part of every figure.\n\n\
             | parsed | one | both | both / one | published: one | two | two / one |\n|---|--:|--:|--:|--:|--:|--:|",
            BURST
        );
        for cores in &self.cores {
            let published = match cores.of {
                PATH => Some(published::CORES[0]),
                OFF_PATH => Some(published::CORES[1]),
                _ => None,
            };
            let published = published.map_or("| | ".into(), |[one, two]| {
                format!("{one} | {two} | {:.2}", two / one)
            });
            let _ = writeln!(
                out,
                "| {} | {} | {} | {:.2} | {published} |",
                cores.of,
                range(cores.one, 2),
                range(cores.both, 2),
                cores.both.median / cores.one.median
            );
        }
        *out += "\n";
    }

    fn visible(&self, out: &mut String) {
        let [[on, on_too], [off, off_too]] = published::VISIBLE;
        let _ = writeln!(
            out,
            "## Until a count is seen\n\nMicroseconds, of single packets. On the path a reader on the other processor looks at the tally in memory that it maps: from \
             when the program read the clock, with which it counts the packet, and from before the sender's system call. Off the path: from the kernel's time \
             stamp until the copy was searched. Published: {on} and {on_too} on the path, {off} and {off_too} off it.\n\n\
             | bytes parsed | on the path | from the sender | off the path |\n|--:|--:|--:|--:|"
        );
        for row in &self.visible {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} |",
                row.bytes,
                range(row.path, 2),
                range(row.from_sender, 1),
                range(row.off_path, 0)
            );
        }
        *out += "\n";
    }

    fn round_trip(&self, out: &mut String) {
        let _ = writeln!(
            out,
            "## Round trips\n\nMicroseconds from a request of 1,400 bytes, all of which are parsed, to its answer. Published: {} more on the path. A virtual device copies \
             packets of sockets for any program, which the second row shows.\n\n\
             | parsed | round trip | added |\n|---|--:|--:|",
            published::ROUND_TRIP
        );
        for row in &self.round_trip {
            let _ = writeln!(
                out,
                "| {} | {} | {} |",
                row.of,
                range(row.took, 1),
                range(row.added, 1)
            );
        }
    }
}

fn techniques(out: &mut String, begin: &str, across: &str, rates: &[Rate]) {
    let mut places: Vec<usize> = Vec::new();
    for rate in rates {
        if !places.contains(&rate.at) {
            places.push(rate.at);
        }
    }
    *out += begin;
    let head: String = places.iter().map(|at| format!(" {at} |")).collect();
    let rule = "--:|".repeat(places.len());
    let _ = writeln!(out, "| {across} |{head}\n|---|{rule}");
    for technique in Technique::ALL {
        let of = rates.iter().filter(|rate| rate.of == technique.name());
        let cells: String = of
            .map(|rate| {
                format!(
                    " {:.2} ({:.1} %) |",
                    rate.gbits.median,
                    100.0 * rate.part.median
                )
            })
            .collect();
        let _ = writeln!(out, "| {} |{cells}", technique.name());
    }
    *out += "\n";
}

/// Returns the nanoseconds per packet at this rate.
fn time(gbits: f64) -> f64 {
    1e9 / (gbits / gbits_of(1.0))
}

/// Formats the median and the quartiles.
fn range(spread: Spread, digits: usize) -> String {
    let tenth = 10f64.powi(digits as i32);
    // No negative zero.
    let [median, lower, upper] =
        [spread.median, spread.lower, spread.upper].map(|x| (x * tenth).round() / tenth + 0.0);
    format!("{median:.digits$} ({lower:.digits$} to {upper:.digits$})")
}

fn percent(spread: Spread) -> String {
    let [median, lower, upper] = [spread.median, spread.lower, spread.upper].map(|x| 100.0 * x);
    format!("{median:.1} % ({lower:.1} to {upper:.1})")
}

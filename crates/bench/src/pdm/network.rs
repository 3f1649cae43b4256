//! Traffic between two namespaces whose devices have the programs.

use super::figures::quantile;
use super::programs::{self, Code, Codes, End, Offloaded, Version};
use super::{Rounds, turns};
use crate::error::Error;
use kernel::sys::Link;
use lab::traffic::iperf::{self, Load};
use lab::{Ends, Offloads, Pair, Route, Space};
use std::io;
use std::time::Duration;

/// Extent of the measurements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Number of turns of each version.
    pub rounds: usize,
    /// Number of requests in a turn.
    pub requests: u64,
}

/// Duration of one stream. It is short, so that the machine's speed changes little during a round.
const STREAM: Duration = Duration::from_secs(1);

/// Quantile of the rates of a stream's intervals that counts. Other work on the machine only lowers a rate, and the few
/// intervals above this quantile fill queues that were empty.
const UNDISTURBED: f64 = 0.8;

impl Effort {
    /// Returns the benchmark's effort. `ONPATH_BENCH_ROUNDS` gives another number of rounds.
    pub(crate) fn from_environment() -> Effort {
        let rounds = std::env::var("ONPATH_BENCH_ROUNDS").ok();
        Effort {
            rounds: rounds.and_then(|r| r.parse().ok()).unwrap_or(15).max(1),
            requests: 5000,
        }
    }

    /// Returns the number of rounds of short turns, which is greater.
    pub(crate) fn slices(self) -> usize {
        12 * self.rounds
    }
}

/// Versions that have a network each.
pub(crate) const VERSIONS: [Version; 3] = [Version::None, Version::Onpath, Version::HandWritten];

/// Kind of traffic over devices with one configuration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenario {
    /// Name of the traffic and of the devices' configuration.
    pub traffic: &'static str,
    /// Name of the way in which packets are marked.
    pub mode: &'static str,
    /// Offloads of the devices.
    pub offloads: Offloads,
    /// True if offload must not put more than one segment into a packet.
    pub one_segment: bool,
    /// Treatment of packets of several segments by the programs.
    pub offloaded: Offloaded,
    /// Load of the network.
    pub load: Load,
}

impl Scenario {
    /// Returns its full name.
    pub(crate) fn title(&self) -> String {
        format!("{}, {}", self.traffic, self.mode)
    }
}

/// Mode that puts one option on a packet of several segments.
pub(crate) const MARKED_ONCE: &str = "marked once";
const ONE_SEGMENT: &str = "conformant (`gso_max_segs 1`)";
const CONFORMANT: &str = "conformant";

/// Size of a small datagram, in bytes.
const SMALL: u32 = 64;

/// All scenarios of the benchmark.
pub(crate) const SCENARIOS: [Scenario; 4] = [
    Scenario {
        traffic: "TCP, offloads on",
        mode: MARKED_ONCE,
        offloads: Offloads::All,
        one_segment: false,
        offloaded: Offloaded::MarkedOnce,
        load: Load::Tcp,
    },
    Scenario {
        traffic: "TCP, offloads on",
        mode: ONE_SEGMENT,
        offloads: Offloads::All,
        one_segment: true,
        offloaded: Offloaded::Left,
        load: Load::Tcp,
    },
    Scenario {
        traffic: "TCP, offloads off",
        mode: ONE_SEGMENT,
        offloads: Offloads::None,
        one_segment: true,
        offloaded: Offloaded::Left,
        load: Load::Tcp,
    },
    Scenario {
        traffic: "UDP, 64 bytes",
        mode: CONFORMANT,
        offloads: Offloads::All,
        one_segment: false,
        offloaded: Offloaded::Left,
        load: Load::Udp {
            size: SMALL,
            rate: 0,
        },
    },
];

/// Names of the client's and the server's device.
pub(crate) const DEVICES: [&str; 2] = ["c0", "s0"];

fn spaces(net: &Pair) -> [(&Space, &'static str); 2] {
    [(net.client(), DEVICES[0]), (net.server(), DEVICES[1])]
}

/// Makes two namespaces with a scenario's settings.
pub(crate) fn pair(offloads: Offloads, one_segment: bool) -> Result<Pair, Error> {
    let ends = Ends {
        offloads,
        mtu: 1500,
    };
    let net = Pair::new(ends).map_err(Error::system("two namespaces"))?;
    if one_segment {
        for (space, device) in spaces(&net) {
            space
                .one_segment(device)
                .map_err(Error::system("gso_max_segs"))?;
        }
    }
    Ok(net)
}

/// Attaches the programs of the client's and the server's end, each at egress and ingress.
pub(crate) fn attach(net: &Pair, ends: &[End]) -> Result<Vec<[Link; 2]>, Error> {
    let attach = |((space, device), end): ((&Space, &str), &End)| {
        let (egress, ingress) = (&end.egress, &end.ingress);
        space.run(|| programs::attach(egress, ingress, device))
    };
    let links = spaces(net).into_iter().zip(ends).map(attach);
    links
        .collect::<io::Result<_>>()
        .map_err(Error::system("attaching"))
}

/// Replaces the attached programs by others of the same ends, in the same order.
pub(crate) fn replace(attached: &[[Link; 2]], ends: &[End]) -> Result<(), Error> {
    for (links, end) in attached.iter().zip(ends) {
        for (link, prog) in links.iter().zip([&end.egress, &end.ingress]) {
            link.update(prog).map_err(Error::system("taking turns"))?;
        }
    }
    Ok(())
}

/// Loads a version's programs for both ends, if there are any. Each end has state of its own.
pub(crate) fn load(code: &Code, offloaded: Offloaded) -> Result<Option<Vec<End>>, Error> {
    let ends = DEVICES.map(|_| code.load(offloaded));
    ends.into_iter().collect()
}

/// Network with a version's programs. They and their state live as long as the links.
pub(crate) type Network = (Pair, Vec<[Link; 2]>);

/// Makes two namespaces with a version's programs at both ends, if there are any.
fn network(code: &Code, scenario: &Scenario) -> Result<Network, Error> {
    let net = pair(scenario.offloads, scenario.one_segment)?;
    let ends = load(code, scenario.offloaded)?;
    let links = attach(&net, &ends.unwrap_or_default())?;
    Ok((net, links))
}

/// Method of measuring a rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum By {
    /// `iperf3`, with a stream of a second for each version.
    Iperf,
    /// One continuous stream, see [`turns`].
    Turns,
}

/// Rates of a scenario: bits per second for TCP, packets per second for UDP.
pub(crate) struct Line {
    /// Scenario that was measured.
    pub scenario: Scenario,
    /// Method of the measurement.
    pub by: By,
    /// Rates by version, then by round: without, Onpath, hand-written, and by turns also the headroom baseline.
    pub rates: Rounds,
}

/// Makes a network for each version, with its programs.
pub(crate) fn networks(codes: &Codes, scenario: &Scenario) -> Result<Vec<Network>, Error> {
    let of_version = |code| network(code, scenario);
    codes.of(&VERSIONS).into_iter().map(of_version).collect()
}

/// Returns the order of the versions' turns in a round. It varies, so that no version is always first or always after
/// the same one.
pub(crate) fn order<const COUNT: usize>(round: usize) -> [usize; COUNT] {
    std::array::from_fn(|turn| match round / COUNT % 2 {
        0 => (round + turn) % COUNT,
        _ => (round + COUNT - turn) % COUNT,
    })
}

/// Measures a scenario; TCP by both methods.
pub(crate) fn measure(
    codes: &Codes,
    scenario: Scenario,
    effort: Effort,
) -> Result<Vec<Line>, Error> {
    let line = |by, rates| Line {
        scenario,
        by,
        rates,
    };
    let mut lines = vec![line(By::Iperf, by_iperf(codes, &scenario, effort.rounds)?)];
    if scenario.load == Load::Tcp {
        let rates = turns::measure(codes, &scenario, effort.slices())?;
        lines.push(line(By::Turns, rates));
    }
    Ok(lines)
}

fn by_iperf(codes: &Codes, scenario: &Scenario, rounds: usize) -> Result<Rounds, Error> {
    let nets = networks(codes, scenario)?;
    let mut rates = vec![Vec::new(); nets.len()];
    for round in 0..rounds {
        for version in order::<{ VERSIONS.len() }>(round) {
            let rate = rate(&nets[version].0, scenario.load).map_err(Error::system("iperf3"))?;
            rates[version].push(rate);
        }
    }
    Ok(rates)
}

/// Returns the undisturbed rate: bits per second, or datagrams per second that arrived.
fn rate(net: &Pair, load: Load) -> io::Result<f64> {
    let measured = iperf::run(net, load, STREAM)?;
    let undisturbed = quantile(&measured.intervals, UNDISTURBED);
    Ok(match load {
        Load::Tcp => undisturbed,
        Load::Udp { size, .. } => undisturbed / 8.0 / f64::from(size),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_has_each_position_and_each_neighbour() {
        let orders: Vec<[usize; 3]> = (0..6).map(order).collect();
        for position in 0..3 {
            let mut versions: Vec<_> = orders.iter().map(|o| o[position]).collect();
            versions.sort_unstable();
            assert_eq!(versions, [0, 0, 1, 1, 2, 2]);
        }
        let follows = |a, b| orders.iter().any(|o| o.windows(2).any(|w| w == [a, b]));
        assert!(follows(0, 1) && follows(1, 0) && follows(0, 2) && follows(2, 0));
    }

    #[test]
    fn traffic_goes_through_the_hand_written_programs() {
        let code =
            Code::build(&crate::root(), Version::HandWritten).expect("this test needs clang");
        for scenario in SCENARIOS {
            let (net, _links) = network(&code, &scenario).expect("this test needs root and iperf3");
            let load = match scenario.load {
                Load::Udp { size, .. } => Load::Udp {
                    size,
                    rate: 1_000_000,
                },
                other => other,
            };
            let rate = rate(&net, load).expect("works");
            assert!(rate > 1000.0, "{}: {rate}", scenario.title());
        }
    }
}

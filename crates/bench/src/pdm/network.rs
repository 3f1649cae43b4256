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

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// How often each version gets its turn.
    pub rounds: usize,
    /// Requests in a turn.
    pub requests: u64,
}

/// Of one stream: short, so that a round is over before the machine is another one.
const STREAM: Duration = Duration::from_secs(1);

/// Of a stream's intervals the rate of this part from below counts: the machine only ever takes away, and the few above it
/// fill queues that were empty.
const UNDISTURBED: f64 = 0.8;

impl Effort {
    /// The benchmark's, or another number of rounds by `ONPATH_BENCH_ROUNDS`.
    pub(crate) fn from_environment() -> Effort {
        let rounds = std::env::var("ONPATH_BENCH_ROUNDS").ok();
        Effort {
            rounds: rounds.and_then(|r| r.parse().ok()).unwrap_or(15).max(1),
            requests: 5000,
        }
    }

    /// Rounds of short turns, of which there are more.
    pub(crate) fn slices(self) -> usize {
        12 * self.rounds
    }
}

/// The versions that have a network each.
pub(crate) const VERSIONS: [Version; 3] = [Version::None, Version::Onpath, Version::HandWritten];

/// One kind of traffic over devices with one configuration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenario {
    /// What is sent, over which devices.
    pub traffic: &'static str,
    /// How packets are marked.
    pub mode: &'static str,
    /// What the devices do.
    pub offloads: Offloads,
    /// Whether offload may put more than one segment into a packet.
    pub one_segment: bool,
    /// What the programs do with packets of several segments.
    pub offloaded: Offloaded,
    /// The traffic.
    pub load: Load,
}

impl Scenario {
    /// All of its name.
    pub(crate) fn title(&self) -> String {
        format!("{}, {}", self.traffic, self.mode)
    }
}

/// The mode that puts one option on a packet of several segments.
pub(crate) const MARKED_ONCE: &str = "marked once";
const ONE_SEGMENT: &str = "conformant (`gso_max_segs 1`)";
const CONFORMANT: &str = "conformant";

/// Bytes of a small datagram.
const SMALL: u32 = 64;

/// What the benchmark goes through.
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

/// The client's device and the server's.
pub(crate) const DEVICES: [&str; 2] = ["c0", "s0"];

fn spaces(net: &Pair) -> [(&Space, &'static str); 2] {
    [(net.client(), DEVICES[0]), (net.server(), DEVICES[1])]
}

/// Two namespaces set as a scenario has them.
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

/// Attaches the programs of the client's end and the server's: of each egress and ingress.
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

/// Replaces the attached programs by others, of the same ends in the same order.
pub(crate) fn replace(attached: &[[Link; 2]], ends: &[End]) -> Result<(), Error> {
    for (links, end) in attached.iter().zip(ends) {
        for (link, prog) in links.iter().zip([&end.egress, &end.ingress]) {
            link.update(prog).map_err(Error::system("taking turns"))?;
        }
    }
    Ok(())
}

/// A version's programs for both ends, each end with state of its own, if there are any.
pub(crate) fn load(code: &Code, offloaded: Offloaded) -> Result<Option<Vec<End>>, Error> {
    let ends = DEVICES.map(|_| code.load(offloaded));
    ends.into_iter().collect()
}

/// A network with a version's programs. They and their state live as long as the links.
pub(crate) type Network = (Pair, Vec<[Link; 2]>);

/// Two namespaces with a version's programs at both ends, if there are any.
fn network(code: &Code, scenario: &Scenario) -> Result<Network, Error> {
    let net = pair(scenario.offloads, scenario.one_segment)?;
    let ends = load(code, scenario.offloaded)?;
    let links = attach(&net, &ends.unwrap_or_default())?;
    Ok((net, links))
}

/// Who sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum By {
    /// `iperf3`, a second each.
    Iperf,
    /// One stream that goes on, see [`turns`].
    Turns,
}

/// A scenario's figures: bits a second for TCP, packets a second for UDP.
pub(crate) struct Line {
    /// What was measured.
    pub scenario: Scenario,
    /// How.
    pub by: By,
    /// By version, then by round: without, Onpath, hand-written, and in turns the headroom baseline.
    pub rates: Rounds,
}

/// One network a version, each with its programs, which take turns.
pub(crate) fn networks(codes: &Codes, scenario: &Scenario) -> Result<Vec<Network>, Error> {
    let of_version = |code| network(code, scenario);
    codes.of(&VERSIONS).into_iter().map(of_version).collect()
}

/// In which order so many versions have their turns in a round: none is always the first, or always behind the same one.
pub(crate) fn order<const COUNT: usize>(round: usize) -> [usize; COUNT] {
    std::array::from_fn(|turn| match round / COUNT % 2 {
        0 => (round + turn) % COUNT,
        _ => (round + COUNT - turn) % COUNT,
    })
}

/// Measures a scenario: TCP by both methods.
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

/// Bits a second, or datagrams a second that arrived, when nothing disturbs.
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

//! Traffic between two namespaces whose devices have the programs.

use super::Rounds;
use super::programs::{Code, Codes, End, Offloaded, Version};
use crate::error::Error;
use kernel::bench::median;
use kernel::sys::Link;
use lab::traffic::iperf::{self, Load};
use lab::traffic::udp;
use lab::{Ends, Offloads, Pair, Route, SERVER};
use std::io;
use std::time::Duration;

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// How often each version gets its turn.
    pub rounds: usize,
    /// Of one stream.
    pub time: Duration,
    /// Requests in a turn.
    pub requests: u64,
}

impl Effort {
    /// The benchmark's, or another number of rounds by `ONPATH_BENCH_ROUNDS`.
    pub fn from_environment() -> Effort {
        let rounds = std::env::var("ONPATH_BENCH_ROUNDS").ok();
        Effort {
            rounds: rounds.and_then(|r| r.parse().ok()).unwrap_or(7),
            time: Duration::from_secs(2),
            requests: 5000,
        }
    }
}

/// The versions that take turns.
pub const VERSIONS: [Version; 3] = [Version::None, Version::Onpath, Version::ByHand];

/// One kind of traffic over devices that are set in one way.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// As the report calls it.
    pub title: &'static str,
    /// What the devices do.
    pub offloads: Offloads,
    /// Whether offload may put more than one segment into a packet.
    pub one_segment: bool,
    /// What the programs do with packets of several segments.
    pub offloaded: Offloaded,
    /// The traffic.
    pub load: Load,
}

/// Bytes of a small datagram.
const SMALL: u32 = 64;

/// What the benchmark goes through.
pub const SCENARIOS: [Scenario; 4] = [
    Scenario {
        title: "TCP, offloads on, marked once",
        offloads: Offloads::All,
        one_segment: false,
        offloaded: Offloaded::MarkedOnce,
        load: Load::Tcp,
    },
    Scenario {
        title: "TCP, offloads on, conformant (`gso_max_segs 1`)",
        offloads: Offloads::All,
        one_segment: true,
        offloaded: Offloaded::Left,
        load: Load::Tcp,
    },
    Scenario {
        title: "TCP, offloads off, conformant (`gso_max_segs 1`)",
        offloads: Offloads::None,
        one_segment: true,
        offloaded: Offloaded::Left,
        load: Load::Tcp,
    },
    Scenario {
        title: "UDP, 64 bytes, conformant",
        offloads: Offloads::All,
        one_segment: false,
        offloaded: Offloaded::Left,
        load: Load::Udp {
            size: SMALL,
            rate: 0,
        },
    },
];

/// The programs of both ends, attached.
pub struct Attached {
    _links: Vec<Link>,
    /// The client's and the server's.
    pub ends: Vec<End>,
}

/// Two namespaces set as a scenario has them.
pub fn pair(offloads: Offloads, one_segment: bool) -> Result<Pair, Error> {
    let ends = Ends {
        offloads,
        mtu: 1500,
    };
    let net = Pair::new(ends).map_err(Error::system("two namespaces"))?;
    if one_segment {
        for (space, device) in [(net.client(), "c0"), (net.server(), "s0")] {
            space
                .ip(&format!("link set dev {device} gso_max_segs 1\n"))
                .map_err(Error::system("gso_max_segs"))?;
        }
    }
    Ok(net)
}

/// Attaches a version's programs at both ends.
pub fn attach(net: &Pair, code: &Code, offloaded: Offloaded) -> Result<Attached, Error> {
    let mut attached = Attached {
        _links: Vec::new(),
        ends: Vec::new(),
    };
    for (space, device) in [(net.client(), "c0"), (net.server(), "s0")] {
        if let Some(end) = code.load(offloaded)? {
            let links = space
                .run(|| end.attach(device))
                .map_err(Error::system("attaching"))?;
            attached._links.extend(links);
            attached.ends.push(end);
        }
    }
    Ok(attached)
}

/// A scenario's figures: bits a second for TCP, packets a second for UDP.
pub struct Line {
    /// What was measured.
    pub scenario: Scenario,
    /// By version, then by round.
    pub rates: Rounds,
}

/// One network a version, each with its programs, which take turns.
fn networks(
    codes: &Codes,
    offloads: Offloads,
    one_segment: bool,
    offloaded: Offloaded,
) -> Result<Vec<(Pair, Attached)>, Error> {
    codes
        .of(&VERSIONS)
        .into_iter()
        .map(|code| {
            let net = pair(offloads, one_segment)?;
            let attached = attach(&net, code, offloaded)?;
            Ok((net, attached))
        })
        .collect()
}

/// Measures a scenario.
pub fn measure(codes: &Codes, scenario: Scenario, effort: Effort) -> Result<Line, Error> {
    let nets = networks(
        codes,
        scenario.offloads,
        scenario.one_segment,
        scenario.offloaded,
    )?;
    let mut rates = vec![Vec::new(); nets.len()];
    for _ in 0..effort.rounds {
        for ((net, _), rates) in nets.iter().zip(&mut rates) {
            rates.push(rate(net, scenario.load, effort.time).map_err(Error::system("iperf3"))?);
        }
    }
    Ok(Line { scenario, rates })
}

/// Bits a second, or datagrams a second that arrived.
pub fn rate(net: &Pair, load: Load, time: Duration) -> io::Result<f64> {
    let measured = iperf::run(net, load, time)?;
    Ok(match load {
        Load::Tcp => measured.bits_per_second,
        Load::Udp { size, .. } => measured.bits_per_second / 8.0 / f64::from(size),
    })
}

/// Microseconds from a request to its answer, over the rounds: the median and the 99th part of a hundred.
pub struct Latency {
    /// By version, then by round.
    pub middle: Rounds,
    /// By version, then by round.
    pub slow: Rounds,
}

/// Requests of 64 bytes, one after the other, answered at once.
pub fn latency(codes: &Codes, effort: Effort) -> Result<Latency, Error> {
    let nets = networks(codes, Offloads::All, false, Offloaded::Left)?;
    let mut latency = Latency {
        middle: vec![Vec::new(); nets.len()],
        slow: vec![Vec::new(); nets.len()],
    };
    for _ in 0..effort.rounds {
        for (n, (net, _)) in nets.iter().enumerate() {
            let times =
                round_trips(net, effort.requests).map_err(Error::system("requests and answers"))?;
            latency.middle[n].push(median(&times));
            latency.slow[n].push(times[(times.len() * 99 / 100).min(times.len() - 1)]);
        }
    }
    Ok(latency)
}

/// Sorted, in microseconds.
fn round_trips(net: &Pair, requests: u64) -> io::Result<Vec<f64>> {
    let to = (SERVER, 7000).into();
    let _server = udp::Server::start(net.server(), to, Duration::ZERO)?;
    let plan = udp::Exchange {
        count: requests,
        ..udp::Exchange::default()
    };
    let seen = udp::exchange(net.client(), to, plan)?;
    let mut times: Vec<f64> = seen
        .round_trips
        .iter()
        .map(|t| t.as_secs_f64() * 1e6)
        .collect();
    if times.is_empty() {
        return Err(io::Error::other("nothing was answered"));
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traffic_goes_through_the_programs_by_hand() {
        let second = Duration::from_secs(1);
        let code = Code::build(&crate::root(), Version::ByHand).expect("this test needs clang");
        for scenario in SCENARIOS {
            let net = pair(scenario.offloads, scenario.one_segment)
                .expect("this test needs root and iperf3");
            let attached = attach(&net, &code, scenario.offloaded).expect("attaches");
            let load = match scenario.load {
                Load::Udp { size, .. } => Load::Udp {
                    size,
                    rate: 1_000_000,
                },
                other => other,
            };
            let rate = rate(&net, load, second).expect("works");
            assert!(rate > 1000.0, "{}: {rate}", scenario.title);
            drop(attached);
        }
    }
}

//! `bench firewall`: `onpath firewall` beside other firewalls, at a router between a client and a server. Published
//! results stand beside.
//!
//! All peers of one list run at a time, each at a router of its own, and take short turns.

mod capture;
mod delays;
mod flows;
mod lists;
mod memory;
mod messages;
mod network;
mod origin;
mod peers;
mod plots;
mod poll;
mod published;
mod quic;
mod rates;
mod report;
mod times;

use crate::arguments::OfFirewall;
use crate::error::Error;
use crate::machine::Machine;
use delays::{Delays, Samples};
use host::interrupt::Interrupts;
use kernel::bench::median;
use lab::Route;
use lists::Names;
use memory::Memory;
use messages::Kind;
use origin::Origin;
use peers::{Peer, Running, Starter};
use rates::Rate;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Extent of the measurements.
#[derive(Clone, Debug)]
pub(crate) struct Effort {
    /// Sizes of lists.
    counts: &'static [usize],
    /// Lists with which streams are measured.
    streams: &'static [usize],
    /// Lists and numbers of parallel flows.
    flows: (&'static [usize], &'static [usize]),
    /// Bytes of packets.
    sizes: &'static [usize],
    /// Rounds, and requests of a peer in a round.
    rounds: usize,
    requests: usize,
    times: times::Extent,
    /// Lists of test runs.
    time_counts: &'static [usize],
}

impl Effort {
    /// Returns the full extent, or the one of a few minutes.
    pub(crate) fn new(is_quick: bool) -> Effort {
        let decided = |rounds| kernel::bench::Effort {
            rounds,
            runs: 10_000,
        };
        if is_quick {
            return Effort {
                counts: &[1, 1_000],
                streams: &[1_000],
                flows: (&[1_000], &[1, 100]),
                sizes: &[250, 1250],
                rounds: 1,
                requests: 10,
                times: times::Extent {
                    packets: 500,
                    decided: decided(20),
                },
                time_counts: &[100, 10_000],
            };
        }
        Effort {
            counts: &[1, 10, 100, 1_000, 5_000, 100_000, 1_000_000],
            streams: &[1, 1_000, 5_000, 1_000_000],
            flows: (&[1_000, 5_000], &[1, 100, 1_000, 10_000]),
            sizes: &[250, 500, 750, 1000, 1250],
            rounds: 3,
            requests: 40,
            times: times::Extent {
                packets: 20_000,
                decided: decided(200),
            },
            time_counts: &[100, 10_000, 1_000_000],
        }
    }
}

/// Most names on the list of measurements with packets of several sizes.
const NAMES_OF_SIZES: usize = 5_000;

/// A peer that could not be measured.
#[derive(Clone, Debug, Serialize)]
struct Missing {
    peer: &'static str,
    names: usize,
    reason: String,
}

/// Results of all measurements.
#[derive(Serialize)]
pub(crate) struct Results {
    machine: Machine,
    rounds: usize,
    requests: usize,
    found: usize,
    real: usize,
    packages_missing: Vec<&'static str>,
    delays: Vec<Delays>,
    flows: Vec<Delays>,
    sizes: Vec<Delays>,
    rates: Vec<Rate>,
    times: times::Times,
    memory: Vec<Memory>,
    missing: Vec<Missing>,
}

/// Measures everything.
pub(crate) fn measure(root: &Path, effort: &Effort) -> Result<Results, Error> {
    let interrupts = Interrupts::hold().map_err(Error::system("signals"))?;
    let most = effort.counts.iter().chain(effort.time_counts).max();
    let most = most.copied().unwrap_or(1);
    eprintln!("names ...");
    let names = Names::read(&root.join("target/names"), most)?;
    let starter = Starter {
        root,
        interrupts: &interrupts,
    };
    let mut results = Results {
        machine: Machine::this(),
        rounds: effort.rounds,
        requests: effort.requests,
        found: names.found,
        real: names.real,
        packages_missing: names.missing.clone(),
        delays: Vec::new(),
        flows: Vec::new(),
        sizes: Vec::new(),
        rates: Vec::new(),
        times: {
            eprintln!("test runs ...");
            times::measure(root, &names.all, effort.time_counts, effort.times)?
        },
        memory: Vec::new(),
        missing: Vec::new(),
    };
    for &count in effort.counts {
        let list = &names.all[..count.min(names.all.len())];
        let mut running = start(&starter, list, &mut results.missing)?;
        with_list(&mut running, &starter, count, effort, &mut results)?;
    }
    Ok(results)
}

/// Measures one part, and returns its table.
pub(crate) fn measure_part(
    root: &Path,
    effort: &Effort,
    part: OfFirewall,
) -> Result<String, Error> {
    let most = |counts: &[usize]| counts.iter().max().copied().unwrap_or(1);
    let names = |most| Names::read(&root.join("target/names"), most);
    let mut text = String::new();
    match part {
        OfFirewall::Times => {
            let names = names(most(effort.time_counts))?;
            let times = times::measure(root, &names.all, effort.time_counts, effort.times)?;
            report::times(&mut text, &times);
        }
        OfFirewall::Memory => {
            let count = most(effort.counts);
            let names = names(count)?;
            let interrupts = Interrupts::hold().map_err(Error::system("signals"))?;
            let starter = Starter {
                root,
                interrupts: &interrupts,
            };
            let list = &names.all[..count.min(names.all.len())];
            let mut missing = Vec::new();
            let all = start(&starter, list, &mut missing)?;
            let measured = all
                .iter()
                .filter_map(|running| memory::measure(running, &starter, count));
            report::memory(&mut text, &measured.collect::<Vec<_>>());
            report::missing(&mut text, &missing);
        }
    }
    Ok(text)
}

/// Ends the benchmark if it was interrupted.
fn go_on(interrupts: &Interrupts) -> Result<(), Error> {
    let signal = interrupts.wait_for(Duration::ZERO);
    match signal.map_err(Error::system("signals"))? {
        None => Ok(()),
        Some(signal) => Err(Error::new(format!("interrupted by {signal}"))),
    }
}

/// Starts the peers that take a list, and checks that each blocks its names. Those that fail are missing.
fn start(
    starter: &Starter,
    names: &[String],
    missing: &mut Vec<Missing>,
) -> Result<Vec<Running>, Error> {
    let mut all = Vec::new();
    for peer in Peer::ALL {
        go_on(starter.interrupts)?;
        if names.len() > peer.most_names() {
            continue;
        }
        eprintln!("{} names: {} ...", names.len(), peer.name());
        let listed = &names[names.len() / 2];
        let started = peers::start(starter, peer, names).and_then(|running| {
            let server = running.network.server();
            let _origin = Origin::start(server).map_err(Error::system("a server"))?;
            for kind in Kind::ALL.into_iter().filter(|kind| peer.reads(*kind)) {
                delays::check(&running, kind, listed)?;
            }
            Ok(running)
        });
        match started {
            Ok(running) => all.push(running),
            Err(error) => {
                let reason = error.to_string().replace('\n', " ");
                eprintln!("  {}: {reason}", peer.name());
                missing.push(Missing {
                    peer: peer.name(),
                    names: names.len(),
                    reason,
                });
            }
        }
    }
    Ok(all)
}

fn with_list(
    all: &mut [Running],
    starter: &Starter,
    count: usize,
    effort: &Effort,
    results: &mut Results,
) -> Result<(), Error> {
    for running in all.iter_mut() {
        results
            .memory
            .extend(memory::measure(running, starter, count));
    }
    if effort.streams.contains(&count) {
        eprintln!("{count} names: streams ...");
        streams(all, starter, count, effort, results)?;
    }
    let origins = all
        .iter()
        .map(|running| Origin::start(running.network.server()));
    let _origins: Vec<Origin> = origins
        .collect::<std::io::Result<_>>()
        .map_err(Error::system("a server"))?;
    eprintln!("{count} names: delays ...");
    for kind in Kind::ALL {
        let cases = [(effort.requests, None)];
        let measured = in_turn(all, starter, kind, effort.rounds, &cases)?;
        results.delays.extend(
            measured
                .into_iter()
                .map(|(peer, _, samples)| samples.delays(peer, kind, count, count)),
        );
    }
    let largest = effort
        .counts
        .iter()
        .filter(|count| **count <= NAMES_OF_SIZES);
    if largest.max() == Some(&count) {
        let cases: Vec<_> = effort
            .sizes
            .iter()
            .map(|size| (effort.requests, Some(*size)))
            .collect();
        let kind = Kind::Tls;
        let measured = in_turn(all, starter, kind, effort.rounds, &cases)?;
        results.sizes.extend(
            measured
                .into_iter()
                .map(|(peer, case, samples)| samples.delays(peer, kind, count, effort.sizes[case])),
        );
    }
    let (lists, numbers) = effort.flows;
    if lists.contains(&count) {
        eprintln!("{count} names: flows ...");
        let most = flows::most().map_err(Error::system("descriptors"))?;
        for number in numbers.iter().map(|number| *number.min(&most)) {
            for running in all.iter().filter(|all| all.peer.reads(Kind::Tls)) {
                go_on(starter.interrupts)?;
                let mut samples = Samples::default();
                delays::parallel(running, Kind::Tls, number, &mut samples)?;
                let delays = samples.delays(running.peer, Kind::Tls, count, number);
                results.flows.push(delays);
            }
        }
    }
    Ok(())
}

/// Measures single requests of each peer in each case, in turn.
fn in_turn(
    all: &[Running],
    starter: &Starter,
    kind: Kind,
    rounds: usize,
    cases: &[(usize, Option<usize>)],
) -> Result<Vec<(Peer, usize, Samples)>, Error> {
    let mut samples: BTreeMap<(Peer, usize), Samples> = BTreeMap::new();
    for round in 0..rounds {
        for (case, what) in cases.iter().enumerate() {
            for turn in 0..all.len() {
                go_on(starter.interrupts)?;
                let running = &all[(turn + round) % all.len()];
                if running.peer.reads(kind) {
                    let samples = samples.entry((running.peer, case)).or_default();
                    delays::single(running, kind, *what, samples)?;
                }
            }
        }
    }
    let all = samples.into_iter();
    Ok(all.map(|((peer, case), s)| (peer, case, s)).collect())
}

fn streams(
    all: &[Running],
    starter: &Starter,
    count: usize,
    effort: &Effort,
    results: &mut Results,
) -> Result<(), Error> {
    let mut samples: BTreeMap<(Peer, u16), Vec<f64>> = BTreeMap::new();
    for round in 0..effort.rounds {
        for turn in 0..all.len() {
            for kind in [Kind::Http, Kind::Tls] {
                go_on(starter.interrupts)?;
                let running = &all[(turn + round) % all.len()];
                // Some peers pass no stream that is neither TLS nor HTTP.
                if running.peer.reads(kind)
                    && let Ok(rate) = rates::once(running, kind.port())
                {
                    let of_peer = samples.entry((running.peer, kind.port())).or_default();
                    of_peer.push(rate);
                }
            }
        }
    }
    let rate = |peer, port| samples.get(&(peer, port)).map(|rates| median(rates));
    for running in all.iter().filter(|all| all.peer.reads(Kind::Tls)) {
        for kind in [Kind::Http, Kind::Tls] {
            let gbits = rate(running.peer, kind.port());
            let baseline = rate(running.peer.baseline(), kind.port());
            results.rates.push(Rate {
                peer: running.peer.name(),
                names: count,
                port: kind.port(),
                gbits,
                loss: gbits
                    .zip(baseline)
                    .map(|(own, other)| 100.0 * (1.0 - own / other)),
            });
        }
    }
    Ok(())
}

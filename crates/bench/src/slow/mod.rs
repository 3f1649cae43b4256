//! `bench slow`: worst-case cost of a packet. For each reader of messages and each search, payloads are mutated
//! repeatedly, and the slowest ones are kept. So the measured time guides the search.

mod changes;
mod inputs;
mod readers;
mod report;
mod shown;

use crate::error::Error;
use changes::{Changes, filled};
use kernel::bench::attached;
use readers::{AUTOMATON, Reader, SEARCHES, Search};
pub(crate) use report::Results;
use std::path::Path;
use std::time::{Duration, Instant};

/// Size of a payload in bytes, in a packet of 1,500.
const BYTES: usize = 1_486;
/// Bound of the time per byte, as a multiple of the typical time.
const MOST: f64 = 4.0;
/// Bound of the time per byte of other searches, as a multiple of the automaton's typical time: such a search skips
/// most bytes of usual payloads.
const MOST_OF_AUTOMATON: f64 = 2.0;
/// Number of payloads that are kept for further mutation.
const KEPT: usize = 24;
/// Approximate duration of a turn in nanoseconds: long enough for the clock, and short enough to be undisturbed
/// sometimes.
const TURN: f64 = 20_000.0;

/// Time for which each reader is tried, and the seed of the random numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) time: Duration,
    pub(crate) seed: u64,
}

/// Slowest packet of a reader.
#[derive(serde::Serialize)]
pub(crate) struct Slowest {
    pub(crate) reader: String,
    /// Typical nanoseconds per byte: the mean of usual payloads.
    typical_ns_a_byte: f64,
    /// Upper bound of the nanoseconds per byte.
    bound_ns_a_byte: f64,
    /// Nanoseconds of the slowest packet.
    pub(crate) ns: f64,
    payload: String,
    hex: String,
    /// Number of payloads that were tried.
    tried: usize,
}

impl Slowest {
    /// Returns the nanoseconds per byte of the slowest packet.
    pub(crate) fn ns_a_byte(&self) -> f64 {
        self.ns / BYTES as f64
    }

    #[cfg(test)]
    pub(crate) fn is_over(&self) -> bool {
        self.ns_a_byte() > self.bound_ns_a_byte
    }
}

/// Measures all readers.
pub(crate) fn measure(root: &Path, effort: Effort) -> Result<Results, Error> {
    let messages = ::payload::builtin::ALL.iter().map(|builtin| {
        eprintln!("{} ...", builtin.name);
        of_message(root, builtin.name, effort)
    });
    let searches = SEARCHES.iter().map(|search| {
        eprintln!("{} ...", search.name());
        of_search(root, search, effort)
    });
    let all = messages.chain(searches).collect::<Result<_, _>>()?;
    Ok(Results::new(effort.seed, all))
}

/// Finds the slowest packet of a message's reader.
fn of_message(root: &Path, name: &str, effort: Effort) -> Result<Slowest, Error> {
    let reader = Reader::of_message(root, name)?;
    let _attached = attached(&[&reader.ready.prog]).map_err(Error::system("devices"))?;
    let bound = || Ok((typical(&reader)?, MOST));
    slowest(&reader, effort, &bound, &|_| false)
}

/// Finds the slowest packet of a search.
fn of_search(root: &Path, search: &Search, effort: Effort) -> Result<Slowest, Error> {
    let reader = Reader::of_search(root, search)?;
    let automaton = Reader::of_search(root, &AUTOMATON)?;
    let both = [&reader.ready.prog, &automaton.ready.prog];
    let _attached = attached(&both).map_err(Error::system("devices"))?;
    let bound = || {
        let own = typical(&reader)?;
        let most = (MOST_OF_AUTOMATON * typical(&automaton)? / own).max(MOST);
        Ok((own, most))
    };
    slowest(&reader, effort, &bound, &|payload| search.ends_in(payload))
}

/// Searches for the slowest packet. `bound` measures the typical time per byte, and returns it with the allowed
/// multiple. `skip` holds for payloads that are not read to their end; they are left out.
fn slowest(
    reader: &Reader,
    effort: Effort,
    bound: &dyn Fn() -> Result<(f64, f64), Error>,
    skip: &dyn Fn(&[u8]) -> bool,
) -> Result<Slowest, Error> {
    let mut changes = Changes::new(effort.seed, BYTES);
    let whole = |payload: &Vec<u8>| filled(payload.clone(), BYTES);
    let fills = (0..=255).map(|byte| vec![byte; BYTES]);
    let first = reader.slow.iter().map(whole);
    let first = first.chain(reader.usual.iter().map(whole)).chain(fills);
    let mut kept: Vec<(f64, Vec<u8>)> = Vec::new();
    let mut tried = 0;
    let mut consider = |kept: &mut Vec<(f64, Vec<u8>)>, payload: Vec<u8>| {
        if skip(&payload) {
            return Ok(());
        }
        tried += 1;
        let least = match kept.len() {
            KEPT => kept[KEPT - 1].0,
            _ => 0.0,
        };
        // Most are no slower than those that are kept, as a short turn shows.
        if nanoseconds(reader, &payload, 2)? <= least {
            return Ok(());
        }
        let ns = nanoseconds(reader, &payload, 4)?;
        if ns > least && !kept.iter().any(|(_, known)| *known == payload) {
            kept.push((ns, payload));
            kept.sort_by(|a, b| b.0.total_cmp(&a.0));
            kept.truncate(KEPT);
        }
        Ok::<(), Error>(())
    };
    for payload in first {
        consider(&mut kept, payload)?;
    }
    let begun = Instant::now();
    while begun.elapsed() < effort.time {
        let which = changes.below(kept.len());
        let other = changes.below(kept.len());
        let changed = changes.changed(&kept[which].1, &kept[other].1);
        consider(&mut kept, changed)?;
    }
    let (typical, most) = bound()?;
    let mut slowest: Option<(f64, &[u8])> = None;
    for (_, payload) in kept.iter().take(4) {
        let ns = nanoseconds(reader, payload, 15)?;
        if slowest.is_none_or(|(known, _)| ns > known) {
            slowest = Some((ns, payload));
        }
    }
    let (mut ns, payload) = slowest.ok_or_else(|| Error::new("no payload"))?;
    // Another program on this processor makes turns longer, never shorter. So a result over the bound is measured
    // again, together with the typical time, and the least of both counts.
    let mut bounded = (typical, most);
    for _ in 0..8 {
        if ns <= bounded.0 * bounded.1 * BYTES as f64 {
            break;
        }
        let again = bound()?;
        if again.0 * again.1 < bounded.0 * bounded.1 {
            bounded = again;
        }
        ns = ns.min(nanoseconds(reader, payload, 15)?);
    }
    let (typical, most) = bounded;
    Ok(Slowest {
        reader: reader.name.clone(),
        typical_ns_a_byte: typical,
        bound_ns_a_byte: typical * most,
        ns,
        payload: shown::shown(payload),
        hex: payload.iter().map(|byte| format!("{byte:02x}")).collect(),
        tried,
    })
}

/// Returns the nanoseconds per byte of usual payloads: their mean.
fn typical(reader: &Reader) -> Result<f64, Error> {
    let mut sum = 0.0;
    for payload in &reader.usual {
        sum += nanoseconds(reader, payload, 15)? / payload.len() as f64;
    }
    Ok(sum / reader.usual.len() as f64)
}

/// Returns the nanoseconds of a packet with a payload: the least of several turns.
fn nanoseconds(reader: &Reader, payload: &[u8], turns: u32) -> Result<f64, Error> {
    let packet = reader.packet(payload);
    let mut out = vec![0; 4096];
    let mut turn = |runs: u32| {
        let ran = reader.ready.prog.run_xdp(&packet, &mut out, 0, runs);
        // The kernel reports whole nanoseconds.
        let ran = ran.map_err(Error::system("a test run"))?;
        Ok::<f64, Error>(f64::from(ran.nanoseconds).max(1.0))
    };
    // The first turn warms the caches.
    let mut least = turn(2)?;
    for _ in 0..turns {
        least = least.min(turn((TURN / least).clamp(4.0, 400.0) as u32)?);
    }
    Ok(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the seed of the searches in tests: from the environment, or from the clock.
    fn seed() -> u64 {
        let given = std::env::var("ONPATH_SLOW_SEED").ok();
        given.and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
            let time = std::time::UNIX_EPOCH.elapsed();
            time.map_or(0, |time| time.as_nanos() as u64)
        })
    }

    fn bounded(found: Result<Slowest, Error>, seed: u64) {
        let found = found.unwrap_or_else(|error| panic!("this test needs root and clang: {error}"));
        assert!(
            !found.is_over(),
            "ONPATH_SLOW_SEED={seed}: {} takes {:.1} µs, {:.2} ns a byte where it may take {:.2}: {}\n{}",
            found.reader,
            found.ns / 1e3,
            found.ns_a_byte(),
            found.bound_ns_a_byte,
            found.payload,
            found.hex
        );
        println!(
            "{}: {:.1} µs at most, {:.2} ns a byte where it may take {:.2}, of {} payloads: {}",
            found.reader,
            found.ns / 1e3,
            found.ns_a_byte(),
            found.bound_ns_a_byte,
            found.tried,
            found.payload
        );
    }

    fn message(name: &str, time: Duration) {
        let seed = seed();
        bounded(
            of_message(&crate::root(), name, Effort { time, seed }),
            seed,
        );
    }

    macro_rules! messages {
        ($($test:ident: $name:literal),* $(,)?) => {
            $(#[test]
            fn $test() {
                message($name, Duration::from_millis(300));
            })*

            #[test]
            fn every_message_is_tried() {
                let all: Vec<&str> = ::payload::builtin::ALL.iter().map(|builtin| builtin.name).collect();
                let tried = [$($name),*];
                assert!(all.iter().all(|name| tried.contains(name)), "{all:?}");
            }
        };
    }

    messages! {
        dns: "dns",
        http: "http",
        tls: "tls",
        gtpu: "gtpu",
        pfcp: "pfcp",
        memcached: "memcached",
        memcached_binary: "memcached-binary",
        postgresql: "postgresql",
        mqtt: "mqtt",
        redis: "redis",
        json: "json",
        xml: "xml",
    }

    #[test]
    fn searches() {
        for search in &SEARCHES {
            let (time, seed) = (Duration::from_millis(100), seed());
            bounded(
                of_search(&crate::root(), search, Effort { time, seed }),
                seed,
            );
        }
    }

    #[test]
    #[ignore = "long: make test-all"]
    fn all_for_long() {
        for builtin in ::payload::builtin::ALL {
            message(builtin.name, Duration::from_secs(15));
        }
        for search in &SEARCHES {
            let (time, seed) = (Duration::from_secs(5), seed());
            bounded(
                of_search(&crate::root(), search, Effort { time, seed }),
                seed,
            );
        }
    }
}

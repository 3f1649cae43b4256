//! Nanoseconds per packet beyond an empty program: compiled, hand-written, and their ratio.

use super::Rounds;
use super::figures::{Goal, quantile};
use super::programs::Version;
use super::report::PUBLISHED;
use super::single::{self, Single};
use super::statistics::{self, Statistics};
use super::stream::{SIZE, TrafficKind};
use kernel::bench::{median, undisturbed};
use serde::Serialize;
use std::fmt::Write;

/// Upper bound of the ratio of compiled to hand-written.
const MOST_RATIO: f64 = 1.1;

/// Directions, each with the time in nanoseconds that was published of an eBPF prototype on another machine.
const DIRECTIONS: [(&str, f64); 2] = [
    ("egress", 1000.0 * PUBLISHED.ebpf_egress_us),
    ("ingress", 1000.0 * PUBLISHED.ebpf_ingress_us),
];

/// Quantile of the slices under traffic that counts. A neighbour takes a processor for many slices in a row, so enough
/// slices are undisturbed, and the few below the quantile may be lucky.
const UNDISTURBED: f64 = 0.2;

/// Sentence of the sections that describes [`Time::ratio`].
const RATIO_MEANING: &str = "The programs are loaded several times, minutes apart: a ratio is of one loading, and the median of \
                        them stands here.";

/// Index of each version in the turns.
const EMPTY: usize = 0;
const ONPATH: usize = 1;
const HAND_WRITTEN: usize = 2;
const WEAKER_HASH: usize = 3;

/// Times of a direction. Unless named otherwise, they are of undisturbed turns. Programs are loaded several times,
/// since the addresses of code and maps matter. A ratio is of one loading each, and the median counts.
#[derive(Debug, Serialize)]
struct Time {
    direction: &'static str,
    empty_ns: f64,
    onpath_net_ns: f64,
    hand_written_net_ns: f64,
    ratio: Goal,
    published_ns: f64,
    /// Median of all turns, like the next two.
    onpath_median_net_ns: f64,
    hand_written_median_net_ns: f64,
    ratio_of_medians: f64,
    turns: Turns,
}

/// Nanoseconds of each turn, as measured.
#[derive(Debug, Serialize)]
struct Turns {
    empty: Vec<f64>,
    onpath: Vec<f64>,
    hand_written: Vec<f64>,
}

impl Time {
    /// Summarises the loadings. `of_turns` makes one value of all turns.
    fn new(
        (direction, published_ns): (&'static str, f64),
        loadings: Vec<Rounds>,
        of_turns: fn(&[f64]) -> f64,
    ) -> Time {
        let ratio = |of| ratio_to(HAND_WRITTEN, &loadings, of);
        let (ratio, ratio_of_medians) = (ratio(of_turns), ratio(median));
        let [empty, onpath, hand_written] = [EMPTY, ONPATH, HAND_WRITTEN].map(|version| {
            let turns = loadings.iter().flat_map(|rounds| turns_of(rounds, version));
            turns.copied().collect::<Vec<f64>>()
        });
        let net =
            |of: fn(&[f64]) -> f64| [of(&onpath) - of(&empty), of(&hand_written) - of(&empty)];
        let ([onpath_net_ns, hand_written_net_ns], [middle, hand_written_middle]) =
            (net(of_turns), net(median));
        Time {
            direction,
            empty_ns: of_turns(&empty),
            onpath_net_ns,
            hand_written_net_ns,
            ratio: Goal::new(ratio, MOST_RATIO),
            published_ns,
            onpath_median_net_ns: middle,
            hand_written_median_net_ns: hand_written_middle,
            ratio_of_medians,
            turns: Turns {
                empty,
                onpath,
                hand_written,
            },
        }
    }

    fn pair(egress: Vec<Rounds>, ingress: Vec<Rounds>, of_turns: fn(&[f64]) -> f64) -> [Time; 2] {
        let [first, second] = DIRECTIONS;
        [
            Time::new(first, egress, of_turns),
            Time::new(second, ingress, of_turns),
        ]
    }
}

/// Returns the turns of a version.
fn turns_of(rounds: &Rounds, version: usize) -> &[f64] {
    rounds.get(version).map_or(&[], Vec::as_slice)
}

/// Returns the median over all loadings of the ratio of compiled programs to another version, both beyond an empty
/// program. `of` makes one value of all turns.
fn ratio_to(version: usize, loadings: &[Rounds], of: fn(&[f64]) -> f64) -> f64 {
    let ratios = loadings.iter().map(|rounds| {
        let [empty, onpath, other] =
            [EMPTY, ONPATH, version].map(|version| of(turns_of(rounds, version)));
        (onpath - empty) / (other - empty)
    });
    median(&ratios.collect::<Vec<_>>())
}

/// Formats some times as a table, each with a name.
fn table<'a>(times: impl IntoIterator<Item = (String, &'a Time)>) -> String {
    let mut text = format!(
        "| | empty | Onpath | hand-written | ratio | ≤ {MOST_RATIO} | published |\n|---|--:|--:|--:|--:|---|--:|\n"
    );
    for (name, t) in times {
        let _ = writeln!(
            text,
            "| {name} | {:.0} | {:.0} ({:.0}) | {:.0} ({:.0}) | {:.3} ({:.3}) | {} | {:.0} |",
            t.empty_ns,
            t.onpath_net_ns,
            t.onpath_median_net_ns,
            t.hand_written_net_ns,
            t.hand_written_median_net_ns,
            t.ratio.value,
            t.ratio_of_medians,
            t.ratio,
            t.published_ns
        );
    }
    text
}

/// Times by test runs.
#[derive(Debug, Serialize)]
pub(crate) struct TestRuns {
    times: [Time; 2],
    /// Ratios to hand-written programs with the weaker hash: egress, ingress.
    weaker_hash_ratios: [f64; 2],
    verified_instructions: Vec<Verified>,
}

#[derive(Debug, Serialize)]
struct Verified {
    version: &'static str,
    egress: u32,
    ingress: u32,
}

impl TestRuns {
    /// Summarises the loadings.
    pub(crate) fn new(loadings: Vec<Single>) -> TestRuns {
        let verified = loadings.first().map(|single| single.verified.clone());
        let verified = single::VERSIONS.iter().zip(verified.unwrap_or_default());
        let verified_instructions: Vec<Verified> = verified
            .filter(|(version, _)| **version != Version::Empty)
            .map(|(version, [egress, ingress])| Verified {
                version: version.name(),
                egress,
                ingress,
            })
            .collect();
        let (egress, ingress): (Vec<Rounds>, Vec<Rounds>) =
            loadings.into_iter().map(|s| (s.egress, s.ingress)).unzip();
        let to_weaker = |direction: &[Rounds]| ratio_to(WEAKER_HASH, direction, undisturbed);
        TestRuns {
            weaker_hash_ratios: [to_weaker(&egress), to_weaker(&ingress)],
            times: Time::pair(egress, ingress, undisturbed),
            verified_instructions,
        }
    }

    /// Formats the results as a section.
    pub(crate) fn markdown(&self) -> String {
        let rows = self.times.iter().map(|t| (t.direction.to_owned(), t));
        let verified: Vec<String> = self
            .verified_instructions
            .iter()
            .map(|v| format!("{} {} and {}", v.version, v.egress, v.ingress))
            .collect();
        let [egress, ingress] = self.weaker_hash_ratios;
        format!(
            "\n## Time by test runs\n\n\
             Nanoseconds a packet (UDP, {SIZE} bytes) in `BPF_PROG_TEST_RUN` beyond an empty program, one run a system call, in \
             turn: the undisturbed time (of 100 turns the 5th from below); in brackets from the medians. {RATIO_MEANING}\n\n{}\n\
             Both find a flow by SipHash-1-3 of its key. The ratio to hand-written programs with a sum of products instead is {:.3} \
             on egress and {:.3} on ingress: that hash is faster, but whoever observes which flows are evicted learns about its seed.\n\n\
             Instructions that the verifier processed: {} (egress and ingress).\n",
            table(rows),
            egress,
            ingress,
            verified.join(", ")
        )
    }
}

/// Times by the kernel's statistics, a pair for each kind of traffic.
#[derive(Debug, Serialize)]
pub(crate) struct UnderTraffic(Vec<UnderOne>);

#[derive(Debug, Serialize)]
struct UnderOne {
    traffic: TrafficKind,
    times: [Time; 2],
}

impl UnderTraffic {
    /// Summarises the loadings.
    pub(crate) fn new(loadings: Vec<Statistics>) -> UnderTraffic {
        let one = |kind: TrafficKind| {
            let of = |s: &&Statistics| s.kind == kind;
            let times = |s: &Statistics| (s.egress.clone(), s.ingress.clone());
            let (egress, ingress) = loadings.iter().filter(of).map(times).unzip();
            UnderOne {
                traffic: kind,
                times: Time::pair(egress, ingress, |all| quantile(all, UNDISTURBED)),
            }
        };
        UnderTraffic(statistics::KINDS.into_iter().map(one).collect())
    }

    /// Formats the results as a section.
    pub(crate) fn markdown(&self) -> String {
        let rows = self.0.iter().flat_map(|under| {
            let traffic = match under.traffic {
                TrafficKind::OneWay => "one way",
                TrafficKind::Answered => "answered",
            };
            let name = move |t: &Time| format!("{traffic}, {}", t.direction);
            under.times.iter().map(move |t| (name(t), t))
        });
        format!(
            "\n## Time by the kernel's statistics\n\n\
             The same by `BPF_ENABLE_STATS` under real traffic over one pair of devices, on which the versions take turns of \
             25 ms during the stream: the undisturbed time (of 100 turns the 20th from below); in brackets from the medians. \
             *One way*: datagrams of {SIZE} bytes at the maximum rate. *Answered*: each is sent back before the next one goes \
             out, so every incoming packet is a delay sample; the processors idle in between, and both \
             ends' programs count. {RATIO_MEANING}\n\n{}",
            table(rows)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_are_at_their_indices() {
        for versions in [&single::VERSIONS[..], &statistics::VERSIONS] {
            let three = [EMPTY, ONPATH, HAND_WRITTEN].map(|version| versions[version]);
            let expected = [Version::Empty, Version::Onpath, Version::HandWritten];
            assert_eq!(three, expected);
        }
        assert_eq!(single::VERSIONS[WEAKER_HASH], Version::WeakerHash);
    }

    #[test]
    fn the_ratio_is_of_what_is_beyond_an_empty_program() {
        let turns = |ns: f64| vec![ns, ns + 1.0, ns + 90.0];
        let rounds = || vec![turns(40.0), turns(150.0), turns(140.0)];
        let [egress, ingress] = Time::pair(vec![rounds()], vec![rounds()], |t| quantile(t, 0.0));
        assert_eq!((egress.empty_ns, egress.onpath_net_ns), (40.0, 110.0));
        assert_eq!(egress.ratio, Goal::new(1.1, 1.1));
        assert!(egress.ratio.met);
        assert_eq!(ingress.published_ns, 550.0);
        let text = table([("egress".to_owned(), &egress)]);
        let row = "| egress | 40 | 110 (110) | 100 (100) | 1.100 (1.100) | met | 1280 |";
        assert!(text.contains(row), "{text}");
    }

    #[test]
    fn a_ratio_is_of_one_loading_and_the_middle_one_counts() {
        let loading = |onpath: f64| vec![vec![40.0], vec![onpath], vec![140.0]];
        let loadings = vec![loading(150.0), loading(300.0), loading(145.0)];
        let [egress, _] = Time::pair(loadings.clone(), loadings, |t| quantile(t, 0.0));
        assert_eq!(egress.ratio.value, 1.1);
        assert_eq!(egress.onpath_net_ns, 105.0);
    }

    #[test]
    fn too_slow_is_reported() {
        let loadings = vec![vec![vec![40.0], vec![250.0], vec![140.0]]];
        let [_, ingress] = Time::pair(loadings.clone(), loadings, median);
        assert!(!ingress.ratio.met);
        let text = table([("ingress".to_owned(), &ingress)]);
        assert!(text.contains("| **missed** | 550 |"), "{text}");
    }
}

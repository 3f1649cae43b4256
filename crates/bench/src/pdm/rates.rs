//! Throughput, and the loss of each version.

use super::figures::{Goal, Spread};
use super::network::{By, Line, MARKED_ONCE};
use super::report::PUBLISHED;
use super::turns;
use kernel::bench::median;
use lab::traffic::iperf::{CONGESTION_CONTROL, Load};
use serde::Serialize;
use std::fmt::Write;

/// Points of loss by which generated programs may exceed hand-written ones.
const MORE: f64 = 1.0;

/// Rates in each scenario.
#[derive(Debug, Serialize)]
pub(crate) struct Throughput(Vec<Rate>);

#[derive(Debug, Serialize)]
struct Rate {
    traffic: &'static str,
    by: &'static str,
    mode: &'static str,
    unit: &'static str,
    /// Median over the rounds, like the next two.
    without: f64,
    onpath: f64,
    hand_written: f64,
    /// Loss of each round against the same round without programs, in percent.
    onpath_loss: Spread,
    hand_written_loss: Spread,
    /// Loss of the programs that only insert and remove the option's bytes: the lower bound of any loss. Measured by
    /// turns only.
    headroom_loss: Option<Spread>,
    /// Goal for the loss of TCP, by turns: that of the hand-written programs and [`MORE`].
    goal: Option<Goal>,
    rounds: RateRounds,
}

/// Rate of each round, in the unit.
#[derive(Debug, Serialize)]
struct RateRounds {
    without: Vec<f64>,
    onpath: Vec<f64>,
    hand_written: Vec<f64>,
    headroom: Vec<f64>,
}

/// Returns the loss of each round against the same round without programs, in percent.
fn losses(rates: &[f64], without: &[f64]) -> Vec<f64> {
    let loss = |(rate, without): (&f64, &f64)| 100.0 * (1.0 - rate / without);
    rates.iter().zip(without).map(loss).collect()
}

impl Rate {
    fn new(line: Line) -> Rate {
        let scenario = line.scenario;
        let (unit, scale) = match scenario.load {
            Load::Tcp => ("Gbit/s", 1e9),
            Load::Udp { .. } => ("1000 packets/s", 1e3),
        };
        let mut rates = line.rates.into_iter().map(|rounds| {
            let scaled = |rate: f64| rate / scale;
            rounds.into_iter().map(scaled).collect::<Vec<_>>()
        });
        let [without, onpath, hand_written, headroom] =
            std::array::from_fn(|_| rates.next().unwrap_or_default());
        let onpath_loss = Spread::of(&losses(&onpath, &without));
        let hand_written_loss = Spread::of(&losses(&hand_written, &without));
        let decides = scenario.load == Load::Tcp && line.by == By::Turns;
        Rate {
            traffic: scenario.traffic,
            by: match line.by {
                By::Iperf => "`iperf3`",
                By::Turns => "turns",
            },
            mode: scenario.mode,
            unit,
            without: median(&without),
            onpath: median(&onpath),
            hand_written: median(&hand_written),
            onpath_loss,
            hand_written_loss,
            headroom_loss: (!headroom.is_empty()).then(|| Spread::of(&losses(&headroom, &without))),
            goal: decides.then(|| Goal::new(onpath_loss.median, hand_written_loss.median + MORE)),
            rounds: RateRounds {
                without,
                onpath,
                hand_written,
                headroom,
            },
        }
    }
}

impl Throughput {
    /// Summarises the measurements.
    pub(crate) fn new(lines: Vec<Line>) -> Throughput {
        Throughput(lines.into_iter().map(Rate::new).collect())
    }

    /// Formats the results as a section.
    pub(crate) fn markdown(&self) -> String {
        let (prototype, kernel) = (
            PUBLISHED.ebpf_throughput_loss_percent,
            PUBLISHED.kernel_throughput_loss_percent,
        );
        let mut text = format!(
            "\n## Throughput\n\n\
             Over IPv6 at an MTU of 1500, both ends on this machine, TCP by {CONGESTION_CONTROL}; losses are against the same round \
             without PDM: the median, and in brackets the quartiles, between which half of the rounds lie. *`iperf3`*: in each round \
             every version has a stream of a second, in an order that changes, of which the undisturbed rate counts (of its ten \
             intervals the third best); which processors both ends get is chance, so its rounds lie far apart, and the turns \
             decide. *Turns*: one continuous stream, whose two ends share a processor that is never idle; the versions \
             take turns of {turn} ms on its devices. Its segments leave space for the option under all versions, so \
             these losses exclude the 1.1 % by which a full segment is shorter. *Headroom baseline*: programs that keep no state, count \
             nothing and read no clock insert 16 bytes into each packet and remove them again (`bench/pdm/headroom.c`): no program \
             avoids what the kernel needs for that. The goal is the loss of the hand-written programs and {MORE} point. Published losses: {prototype} % of the eBPF prototype on another \
             machine, {kernel} % in the kernel.\n\n\
             | | by | mode | rounds | unit | without | Onpath | loss, % | goal | hand-written | loss, % | headroom baseline, loss, % |\n\
             |---|---|---|--:|---|--:|--:|--:|---|--:|--:|--:|\n",
            turn = turns::TURN.as_millis(),
        );
        let shown = |s: &Spread| {
            let [low, middle, high] = [s.lower_quartile, s.median, s.upper_quartile];
            format!("{middle:.1} ({low:.1} to {high:.1})")
        };
        for r in &self.0 {
            let goal = r.goal.map_or("–".to_owned(), |goal| {
                format!("≤ {:.1}: {goal}", goal.most)
            });
            let headroom = r.headroom_loss.as_ref().map_or("–".to_owned(), shown);
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {:.2} | {:.2} | {} | {goal} | {:.2} | {} | {headroom} |",
                r.traffic,
                r.by,
                r.mode,
                r.rounds.without.len(),
                r.unit,
                r.without,
                r.onpath,
                shown(&r.onpath_loss),
                r.hand_written,
                shown(&r.hand_written_loss)
            );
        }
        let tcp = |mode_is: fn(&str) -> bool| {
            let is_it = |r: &&Rate| r.goal.is_some() && mode_is(r.mode);
            self.0.iter().find(is_it).map(|r| r.without)
        };
        let untouched = tcp(|mode| mode == MARKED_ONCE);
        let conformant = tcp(|mode| mode != MARKED_ONCE);
        if let (Some(untouched), Some(conformant)) = (untouched, conformant) {
            let _ = write!(
                text,
                "\nThe conformant mode has a cost of its own, which is in its column *without* too: here, in turns, a stream \
                 that hands over one packet at a time reaches {conformant:.2} Gbit/s, one that leaves segmentation to the device \
                 {untouched:.2}.\n"
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdm::network::SCENARIOS;

    fn line(scenario: usize, rates: [[f64; 3]; 3]) -> Line {
        Line {
            scenario: SCENARIOS[scenario],
            by: By::Turns,
            rates: rates.map(Vec::from).into(),
        }
    }

    #[test]
    fn losses_are_those_of_a_round() {
        // The machine was slower in the second round, for all versions alike.
        let rates = [[10e9, 5e9, 10e9], [9.95e9, 4.975e9, 9e9], [10e9, 5e9, 10e9]];
        let rate = Rate::new(line(0, rates));
        assert!((rate.onpath_loss.median - 0.5).abs() < 1e-9, "{rate:?}");
        assert_eq!(rate.hand_written_loss.median, 0.0);
        assert!(rate.goal.is_some_and(|goal| goal.met));
        let slow = [[10e9; 3], [9e9; 3], [9.2e9; 3]];
        let text = Throughput::new(vec![line(0, slow), line(3, slow)]).markdown();
        assert!(
            text.contains(
                "| marked once | 3 | Gbit/s | 10.00 | 9.00 | 10.0 (10.0 to 10.0) | ≤ 9.0: **missed** |"
            ),
            "{text}"
        );
        assert!(text.contains("| 10.0 (10.0 to 10.0) | – |"), "{text}");
    }

    #[test]
    fn turns_show_the_headroom_baseline() {
        let mut turns = line(0, [[10e9; 3], [9e9; 3], [9e9; 3]]);
        turns.rates.push(vec![9.5e9; 3]);
        let text = Throughput::new(vec![turns]).markdown();
        assert!(text.contains("| 5.0 (5.0 to 5.0) |\n"), "{text}");
    }
}

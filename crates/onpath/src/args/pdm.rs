//! Flags of `onpath pdm`.

use crate::complete::names;
use clap::{Args, ValueEnum};
use pdm::Mode;
use std::path::PathBuf;

/// `--mode`
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModeName {
    /// One option and one sequence number for each packet on the wire, as RFC 8250 means it
    Conformant,
    /// One option for each packet that the host hands over, which may become several
    MarkOnce,
}

impl ModeName {
    /// Returns the mode of this name.
    pub fn mode(self) -> Mode {
        match self {
            ModeName::Conformant => Mode::Conformant,
            ModeName::MarkOnce => Mode::MarkOnce,
        }
    }
}

/// End of `onpath pdm --help`.
const MEANING: &str = "\
What the metrics mean. Each end measures by its own clock; the clocks need not agree.
  SENT, RECEIVED  packets with the option
  LOST            packets that the other end sent, by its sequence numbers, and that did not
                  arrive; one that comes late is lost until it comes. What is lost
                  in the other direction is counted by the other end
  REORDERED       packets that arrived after one that was sent later
  ROUND TRIP      from sending a packet to receiving the other end's answer to it
  SERVER          how much of that the other end took, as it reports
  NETWORK         the rest: both directions through the network, and what the hosts do below this
  P50, P90, P99   half, 90 % and 99 % of the delays of all flows were not longer
Delays are measured when a packet arrives that answers the last one sent. Where the other end does
not run this, packets go out with the option, and there are no delays.

A packet that cannot have the option passes as it is and is counted, by reason. So does one that
would not fit into the interface's MTU then, or into the path's, where a router reported it;
TCP connections agree on segments that leave space for the option.

Exit status: 0 done or interrupted, 1 refused or failed, 2 wrong usage.";

/// `onpath pdm`
#[derive(Args, Debug)]
#[command(after_long_help = MEANING)]
pub struct Pdm {
    /// The interface
    #[arg(long, value_name = "IF", required_unless_present = "attach", add = names::interfaces())]
    pub dev: Option<String>,
    /// Measure only the flows that this names; may be given several times
    ///
    /// By a prefix of the other end's address, by a port at either end, or by both: 2001:db8::/32,
    /// /443, 2001:db8::/32/443.
    #[arg(long, value_name = "PREFIX/PORT")]
    pub filter: Vec<String>,
    /// How packets are marked where segmentation offload is at work
    ///
    /// A conformant measurement limits the segmentation offload of the interface to one segment as
    /// long as it runs: the host hands each packet over on its own, which takes more of the
    /// processor and slows fast streams down. With mark-once, offload stays as it is and copies an option into all packets that
    /// it makes of one. On the wire that is not conformant: the other end sees sequence numbers
    /// again and again, and counts them as duplicates.
    #[arg(long, value_enum, default_value = "conformant")]
    pub mode: ModeName,
    /// Leave the option in packets that come in, for the host to see
    #[arg(long)]
    pub keep_option: bool,
    /// Run the programs that `onpath build programs/pdm/pdm.toml -o DIR` wrote, without clang
    #[arg(long, value_name = "DIR")]
    pub built: Option<PathBuf>,
    /// The name by which the other commands know it; pdm- and the interface's by default
    #[arg(long)]
    pub name: Option<String>,
    /// Show the kernel verifier's full log if it rejects the program
    #[arg(long)]
    pub verbose: bool,
    /// Leave it running, pinned, and return; `--attach` shows it, `onpath unload` ends it
    #[arg(long, conflicts_with_all = ["json", "prometheus", "once", "duration", "quiet"])]
    pub detach: bool,
    /// Show what is running under this name already, and leave it running
    #[arg(long, value_name = "NAME", add = names::instances(), conflicts_with_all = ["dev", "filter", "mode", "keep_option", "built", "name", "verbose"])]
    pub attach: Option<String>,
    /// Print one JSON object per interval, one per line
    #[arg(long)]
    pub json: bool,
    /// Serve the metrics for Prometheus at http://ADDR:PORT/metrics; anyone who can reach that address reads them
    #[arg(long, value_name = "ADDR:PORT")]
    pub prometheus: Option<String>,
    /// Seconds between updates
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub interval: f64,
    /// End after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub duration: Option<f64>,
    /// Show the metrics once, at the end: after --duration, or after one interval; with --attach, at once
    #[arg(long)]
    pub once: bool,
    /// Show at most this many flows, those with the most packets: by default 20 in the table, 1000 in
    /// JSON and for Prometheus
    #[arg(long, value_name = "N")]
    pub flows: Option<usize>,
    /// Print nothing, for example if only Prometheus reads the metrics
    #[arg(long, short, conflicts_with_all = ["json", "once"])]
    pub quiet: bool,
}

/// Parses a time in seconds, from a millisecond to a year.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.001..=31_536_000.0).contains(&seconds) => Ok(seconds),
        _ => Err("write seconds, from 0.001 to 31536000 (a year), such as 0.5 or 10".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_more_than_none() {
        assert_eq!(seconds("0.5"), Ok(0.5));
        for text in ["0", "-1", "NaN", "inf", "1s", "31536001", ""] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}

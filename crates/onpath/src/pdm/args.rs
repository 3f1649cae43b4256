//! The flags of `onpath pdm`.

use clap::{Args, ValueEnum};

/// What marking a packet means where segmentation offload is at work.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// One option and one sequence number for each packet on the wire, as RFC 8250 means it
    ///
    /// The link's segmentation offload is limited to one segment as long as this runs, so that the host hands
    /// each packet over on its own. That takes more of the processor than handing over many packets as one.
    Conformant,
    /// One option for each packet that the host hands over
    ///
    /// Segmentation offload stays as it is, and copies the option into all segments that it makes. On the wire
    /// that is not what RFC 8250 means: sequence numbers repeat, and count for the other end as duplicates.
    MarkOnce,
}

impl Mode {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Conformant => "conformant",
            Mode::MarkOnce => "mark-once",
        }
    }
}

/// The end of `onpath pdm --help`.
const MEANING: &str = "\
What the figures mean. Both ends measure, each by its own clock; the clocks need not agree.
  SENT, RECEIVED    packets with the option
  LOST              packets that the other end sent, by its sequence numbers, and that did not arrive; what
                    is lost on the way there is seen by the other end. A late packet is lost until it comes.
  REORDERED         packets that arrived after one that was sent later
  ROUND TRIP        from sending a packet to receiving the other end's answer to it
  SERVER            how much of that the other end took, as it says itself
  NETWORK           the rest: both ways through the network, and the hosts below the measurement
  P50, P90, P99     half, 90 % and 99 % of all delays of all flows were not longer
Delays are measured when a packet arrives that answers the last one sent. If the other end does not
measure, packets are sent with the option and there are no delays.

Packets without the option pass as they are, and are counted by reason. Where the option would not
fit into the interface's MTU, or into what a router said is the path's, a packet goes without it; the
maximum segment size of TCP connections is lowered in their first packets, so that it fits.

The option is taken off packets that come in, unless --keep-option leaves it for the host to see.

Exit status: 0 done or interrupted, 1 refused or failed, 2 wrong usage.";

/// `onpath pdm`
#[derive(Args, Debug)]
#[command(after_long_help = MEANING)]
pub struct Pdm {
    /// The interface
    #[arg(long, value_name = "IF", required_unless_present = "attach")]
    pub dev: Option<String>,
    /// Measure only flows whose other end has an address in this prefix, and that have this port at either
    /// end: 2001:db8::/32, 2001:db8::/32/443 or /443. May be given several times
    #[arg(long, value_name = "PREFIX/PORT")]
    pub filter: Vec<String>,
    /// What a packet is
    #[arg(long, value_enum, default_value = "conformant")]
    pub mode: Mode,
    /// Leave the option in packets that come in
    #[arg(long)]
    pub keep_option: bool,
    /// The name by which the other commands know it; pdm- and the interface's by default
    #[arg(long)]
    pub name: Option<String>,
    /// Show the kernel verifier's whole log if it refuses
    #[arg(long)]
    pub verbose: bool,
    /// Leave it running, pinned, and return; `--attach` shows it, `onpath unload` ends it
    #[arg(long, conflicts_with_all = ["json", "prometheus", "once", "duration", "quiet"])]
    pub detach: bool,
    /// Show what is running under this name already, and leave it running
    #[arg(long, value_name = "NAME", conflicts_with_all = ["dev", "filter", "mode", "keep_option", "name", "verbose"])]
    pub attach: Option<String>,
    /// Print a JSON object an interval, on a line of its own
    #[arg(long)]
    pub json: bool,
    /// Serve the figures for Prometheus at http://ADDR:PORT/metrics; whoever reaches that address reads them
    #[arg(long, value_name = "ADDR:PORT")]
    pub prometheus: Option<String>,
    /// Seconds between two looks at the figures
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub interval: f64,
    /// End after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub duration: Option<f64>,
    /// Show the figures once, at the end: after --duration, or after one interval; with --attach, at once
    #[arg(long)]
    pub once: bool,
    /// Show at most this many flows, those with the most packets: by default 20 in the table, 1000 in
    /// JSON and for Prometheus
    #[arg(long, value_name = "N")]
    pub flows: Option<usize>,
    /// Show nothing, such as where Prometheus reads the figures
    #[arg(long, short, conflicts_with_all = ["json", "once"])]
    pub quiet: bool,
}

/// A length of time in seconds, a millisecond to a year.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.001..=31_536_000.0).contains(&seconds) => Ok(seconds),
        _ => Err("write seconds, from 0.001 on, such as 0.5 or 10".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_more_than_none() {
        assert_eq!(seconds("0.5"), Ok(0.5));
        for text in ["0", "-1", "NaN", "inf", "1s", ""] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}

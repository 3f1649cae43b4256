//! The command line.

use crate::pdm::BenchmarkPart;
use crate::telemetry::ROUNDS;
use clap::{Parser, Subcommand, ValueEnum};

/// Measures what Onpath makes of P4 against hand-written C.
#[derive(Parser, Debug)]
#[command(
    name = "bench",
    after_help = "With --only it measures one part, and prints its table without writing the files of results.\n\n\
                  Environment:\n  ONPATH_BENCH_ROUNDS   how often each version of PDM has its turn (15)\n\n\
                  Results go to `bench/results/` as JSON and Markdown. It needs root and takes minutes: `pdm` about eight."
)]
pub(crate) struct Arguments {
    /// The measurement.
    #[command(subcommand)]
    pub command: Command,
}

/// A measurement.
#[derive(Subcommand, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    /// Eight XDP programs, and packets through a pair of devices
    Xdp {
        /// Time and size of one program of bench/xdp/workload.json; or `architectures`: the router for v1model
        /// against the one for xdp_model; or `copies`: clones and multicast copies at tc
        #[arg(long, value_name = "PROGRAM")]
        only: Option<String>,
    },
    /// Performance and Diagnostic Metrics, at both ends of a pair of devices
    Pdm {
        /// Only this
        #[arg(long, value_name = "PART")]
        only: Option<BenchmarkPart>,
    },
    /// Many entries into tables of each kind: time and memory; look-ups; the hash of keys
    Tables {
        /// Only this
        #[arg(long, value_name = "PART")]
        only: Option<OfTables>,
    },
    /// Programs with what is in their tables compiled in, against the same that look it up
    Specialized,
    /// Parsers that search messages, by how much there is to skip
    Payload,
    /// The firewall by names, by the number of names
    Names,
    /// The firewall by names beside other firewalls, at a router
    Firewall {
        /// Few lists, flows and rounds: some minutes
        #[arg(long)]
        quick: bool,
        /// Only this
        #[arg(long, value_name = "PART")]
        only: Option<OfFirewall>,
    },
    /// The slowest packets of each reader of messages and each search
    Slow {
        /// For how long each is tried
        #[arg(long, value_name = "N", default_value_t = 10)]
        seconds: u16,
        /// The random numbers of the search
        #[arg(long, value_name = "N", default_value_t = 1)]
        seed: u64,
    },
    /// Messages parsed on the path, in the application and off the path: throughput of a socket, and delays
    Telemetry {
        /// How often each case has its turn: 1 to 10000
        #[arg(long, value_name = "N", default_value_t = ROUNDS, value_parser = clap::value_parser!(u16).range(1..=10_000))]
        rounds: u16,
    },
}

/// A part of the benchmark of firewalls.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OfFirewall {
    /// Time per packet, by test runs
    Times,
    /// Memory and time to load the longest list
    Memory,
}

/// A part of the benchmark of tables.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OfTables {
    /// Look-ups by kind, entries and layout
    LookUps,
    /// The hash of keys that packets insert, against the one before
    KeyHash,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parsed(line: &str) -> Result<Command, String> {
        let words = ["bench"].into_iter().chain(line.split_whitespace());
        let parsed = Arguments::try_parse_from(words).map_err(|e| e.to_string());
        parsed.map(|arguments| arguments.command)
    }

    #[test]
    fn a_part_is_known_by_its_name() {
        assert_eq!(parsed("pdm"), Ok(Command::Pdm { only: None }));
        assert_eq!(parsed("xdp"), Ok(Command::Xdp { only: None }));
        let only = Some("vxlan".into());
        assert_eq!(parsed("xdp --only vxlan"), Ok(Command::Xdp { only }));
        assert_eq!(parsed("payload"), Ok(Command::Payload));
        assert_eq!(parsed("names"), Ok(Command::Names));
        assert_eq!(parsed("specialized"), Ok(Command::Specialized));
        let slow = |seconds, seed| Ok(Command::Slow { seconds, seed });
        assert_eq!(parsed("slow"), slow(10, 1));
        assert_eq!(parsed("slow --seconds 2 --seed 7"), slow(2, 7));
        let telemetry = |rounds| Ok(Command::Telemetry { rounds });
        assert_eq!(parsed("telemetry"), telemetry(ROUNDS));
        assert_eq!(parsed("telemetry --rounds 3"), telemetry(3));
        assert!(parsed("telemetry --rounds 0").is_err());
        assert!(parsed("telemetry --rounds 10001").is_err());
        let tables = |only| Ok(Command::Tables { only });
        assert_eq!(parsed("tables"), tables(None));
        assert_eq!(
            parsed("tables --only look-ups"),
            tables(Some(OfTables::LookUps))
        );
        assert_eq!(
            parsed("tables --only key-hash"),
            tables(Some(OfTables::KeyHash))
        );
        for (name, part) in [
            ("single", BenchmarkPart::Single),
            ("statistics", BenchmarkPart::Statistics),
            ("throughput", BenchmarkPart::Throughput),
            ("latency", BenchmarkPart::Latency),
        ] {
            let only = Some(part);
            assert_eq!(
                parsed(&format!("pdm --only {name}")),
                Ok(Command::Pdm { only })
            );
        }
        let wrong = parsed("pdm --only all").expect_err("there is none");
        assert!(wrong.contains("single, statistics"), "{wrong}");
        assert!(parsed("").is_err() && parsed("pdm --only").is_err());
    }

    #[test]
    fn the_help_names_parts_that_are_no_programs() {
        let mut command = Arguments::command();
        let xdp = command.find_subcommand_mut("xdp").expect("a command");
        let help = xdp.render_help().to_string();
        for name in [crate::architectures::NAME, crate::copies::NAME] {
            assert!(help.contains(&format!("`{name}`")), "{help}");
        }
    }
}

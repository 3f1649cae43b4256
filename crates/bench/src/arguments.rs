//! The command line.

use crate::error::Error;
use crate::pdm::Part;
use crate::telemetry::ROUNDS;

/// The text of `--help`.
pub(crate) const HELP: &str = "\
Measures what Onpath makes of P4 against hand-written C.

Usage: bench xdp [--only PROGRAM]
       bench pdm [--only PART]
       bench tables [--only PART]
       bench specialized
       bench payload
       bench telemetry [--rounds N]

Commands:
  xdp   eight XDP programs, and packets through a pair of devices
  pdm   Performance and Diagnostic Metrics, at both ends of a pair of devices
  tables  many entries into tables of each kind: time and memory; look-ups; the hash of keys
  specialized  programs with what is in their tables compiled in, against the same that look it up
  payload  parsers that search messages, by how much there is to skip
  telemetry  messages parsed on the path, in the application and off the path: throughput of a socket, and delays

Options:
  --only PART   measures one part, and prints its table without writing the files of results:
                  single       single packets by test runs
                  statistics   the kernel's statistics under traffic
                  throughput   iperf3, and TCP in turns of a moment
                  latency      requests and answers
                  look-ups     of tables: look-ups by kind, entries and layout
                  key-hash     of tables: the hash of keys that packets insert, against the one before
                  NAME         of xdp: time and size of one program of bench/xdp/workload.json
                  architectures  of xdp: the router for v1model against the one for xdp_model
                  copies  of xdp: clones and multicast copies at tc
  --rounds N    how often each case has its turn (21)
  --help        this text

Environment:
  ONPATH_BENCH_ROUNDS   how often each version of PDM has its turn (15)

Results go to `bench/results/` as JSON and Markdown. It needs root and takes minutes: `pdm` about eight.
";

/// What is to be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    /// `--help`
    Help,
    /// `xdp`: all programs, or one by its name.
    Xdp(Option<String>),
    /// `tables`
    Tables,
    /// `specialized`
    Specialized,
    /// `payload`
    Payload,
    /// `telemetry`, with so many rounds
    Telemetry(usize),
    /// `tables --only look-ups`
    LookUps,
    /// `tables --only key-hash`
    KeyHash,
    /// `pdm`: all of it, or a part.
    Pdm(Option<Part>),
}

/// Reads the arguments after the program's name.
pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Command, Error> {
    let words: Vec<String> = arguments.into_iter().collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["--help" | "-h", ..] | [_, "--help" | "-h"] => Ok(Command::Help),
        ["xdp"] => Ok(Command::Xdp(None)),
        ["xdp", "--only", name] => Ok(Command::Xdp(Some(name.to_owned()))),
        ["tables"] => Ok(Command::Tables),
        ["payload"] => Ok(Command::Payload),
        ["telemetry"] => Ok(Command::Telemetry(ROUNDS)),
        ["telemetry", "--rounds", number] => match number.parse() {
            Ok(rounds @ 1..=10_000) => Ok(Command::Telemetry(rounds)),
            _ => Err(Error::new(format!(
                "`{number}` is no number of rounds: it is 1 to 10000"
            ))),
        },
        ["specialized"] => Ok(Command::Specialized),
        ["tables", "--only", "look-ups"] => Ok(Command::LookUps),
        ["tables", "--only", "key-hash"] => Ok(Command::KeyHash),
        ["pdm"] => Ok(Command::Pdm(None)),
        ["pdm", "--only", name] => Part::by_name(name)
            .map(|part| Command::Pdm(Some(part)))
            .ok_or_else(|| {
                let names = Part::ALL.map(Part::name).join(", ");
                Error::new(format!("there is no part `{name}`; the parts are {names}"))
            }),
        _ => Err(Error::new(
            "missing or unknown command: expected `xdp [--only PROGRAM]`, `pdm [--only PART]`, `tables [--only look-ups]`, `specialized`, `payload` or `telemetry [--rounds N]`; see `--help`",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, String> {
        parse(line.split_whitespace().map(str::to_owned)).map_err(|e| e.to_string())
    }

    #[test]
    fn a_part_is_known_by_its_name() {
        assert_eq!(parsed("pdm"), Ok(Command::Pdm(None)));
        assert_eq!(parsed("xdp"), Ok(Command::Xdp(None)));
        assert!(HELP.contains(&format!("  {}  ", crate::architectures::NAME)));
        let one = Command::Xdp(Some("vxlan".into()));
        assert_eq!(parsed("xdp --only vxlan"), Ok(one));
        assert_eq!(parsed("payload"), Ok(Command::Payload));
        assert_eq!(parsed("telemetry"), Ok(Command::Telemetry(ROUNDS)));
        assert_eq!(parsed("telemetry --rounds 3"), Ok(Command::Telemetry(3)));
        assert!(parsed("telemetry --rounds 0").is_err());
        assert!(HELP.contains(&format!("its turn ({ROUNDS})")));
        assert_eq!(parsed("tables"), Ok(Command::Tables));
        assert_eq!(parsed("tables --only look-ups"), Ok(Command::LookUps));
        assert_eq!(parsed("tables --only key-hash"), Ok(Command::KeyHash));
        assert_eq!(parsed("specialized"), Ok(Command::Specialized));
        for part in Part::ALL {
            let line = format!("pdm --only {}", part.name());
            assert_eq!(parsed(&line), Ok(Command::Pdm(Some(part))));
            assert!(HELP.contains(&format!("  {}  ", part.name())), "{line}");
        }
        assert_eq!(parsed("pdm --help"), Ok(Command::Help));
        let wrong = parsed("pdm --only all").expect_err("there is none");
        assert!(wrong.contains("single, statistics"), "{wrong}");
        assert!(parsed("").is_err() && parsed("pdm --only").is_err());
    }
}

//! Throughput of a UDP socket, by the parser's location and by its technique. The cases are measured in alternation,
//! and each is compared with the throughput without a parser.

use super::flow::{Bench, ParserLocation, Times};
use super::look::By;
use super::message::{Message, PAYLOAD, Technique};
use super::parser::Parser;
use super::{Effort, PASS, Spread};
use crate::error::Error;
use kernel::bench::median;
use kernel::sys::Prog;
use serde::Serialize;

/// Throughput of one case: a location or a technique, and a number of parsed bytes or of attributes.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Rate {
    /// Name of the location or technique.
    pub(super) of: &'static str,
    /// Number of parsed bytes, or of attributes.
    pub(super) at: usize,
    /// Gigabits per second, of Ethernet frames.
    pub(super) gbits: Spread,
    /// Ratio to the rate without a parser, measured immediately before and after.
    pub(super) part: Spread,
}

/// Results of all throughput measurements.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Rates {
    /// Gigabits per second without a parser.
    pub(super) nowhere: Spread,
    /// Ratio to that rate with a program on the path that only passes packets on.
    pub(super) passed: Spread,
    /// Rates by location and bytes.
    pub(super) places: Vec<Rate>,
    /// Rate on the path divided by the rate off the path in the same round, by bytes.
    pub(super) on_to_off: Vec<(usize, Spread)>,
    /// Rate on the path divided by the rate of a query off the path in the same round, by bytes.
    pub(super) on_to_query: Vec<(usize, Spread)>,
    /// Rates of Onpath's query evaluator as the parser, in the application and off the path, by bytes.
    pub(super) queries: Vec<Rate>,
    /// Rates on the path, by technique and bytes.
    pub(super) techniques: Vec<Rate>,
    /// Rates on the path, by technique and attributes.
    pub(super) attributes: Vec<Rate>,
}

/// Names of the locations.
pub(super) const PATH: &str = "on the path";
pub(super) const APPLICATION: &str = "in the application";
pub(super) const OFF_PATH: &str = "off the path";
/// Names of the locations whose parser is Onpath's query evaluator instead of a search.
pub(super) const APPLICATION_QUERY: &str = "query in the application";
pub(super) const OFF_PATH_QUERY: &str = "query off the path";

/// Table of the report that lists a rate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    Places,
    Queries,
    Techniques,
    Attributes,
}

struct Case {
    tables: &'static [Table],
    of: &'static str,
    at: usize,
    message: Message,
    parser: Option<Parser>,
    /// Packets per second in each round, with the ratio to the rate without a parser.
    samples: Vec<(f64, f64)>,
}

impl Case {
    fn new(of: &'static str, at: usize, message: Message, tables: &'static [Table]) -> Case {
        Case {
            tables,
            of,
            at,
            message,
            parser: None,
            samples: Vec::new(),
        }
    }

    fn parsed(mut self, technique: Technique) -> Result<Case, Error> {
        self.parser = Some(Parser::new(&self.message, technique, false)?);
        Ok(self)
    }

    fn place(&self) -> ParserLocation<'_> {
        match (&self.parser, self.of) {
            (Some(parser), _) => ParserLocation::Path(parser),
            (None, APPLICATION) => ParserLocation::Application(By::Search),
            (None, APPLICATION_QUERY) => ParserLocation::Application(By::Query),
            (None, OFF_PATH_QUERY) => ParserLocation::OffPath(By::Query),
            (None, _) => ParserLocation::OffPath(By::Search),
        }
    }

    fn rate(&self) -> Rate {
        let (rates, parts): (Vec<f64>, Vec<f64>) = self.samples.iter().copied().unzip();
        Rate {
            of: self.of,
            at: self.at,
            gbits: Spread::of(rates.iter().map(|rate| gbits(*rate)).collect()),
            part: Spread::of(parts),
        }
    }
}

/// Measures all cases in alternation.
pub(super) fn measure(bench: &Bench, effort: &Effort) -> Result<Rates, Error> {
    let mut cases = cases(effort)?;
    let plain = Message::of_bytes(PAYLOAD);
    let pass = Prog::constant_xdp(PASS).map_err(Error::system("a program"))?;
    let (mut nowhere, mut passed) = (Vec::new(), Vec::new());
    for round in 0..effort.rounds {
        eprintln!("  round {} of {} ...", round + 1, effort.rounds);
        // Other work on the machine changes within a second. So each case stands between two measurements without a
        // parser.
        let mut before = once(bench, &plain, ParserLocation::Nowhere, effort.times)?;
        nowhere.push(before);
        let rate = once(bench, &plain, ParserLocation::Passed(&pass), effort.times)?;
        let after = once(bench, &plain, ParserLocation::Nowhere, effort.times)?;
        nowhere.push(after);
        passed.push(rate / median(&[before, after]));
        before = after;
        for case in &mut cases {
            let rate = once(bench, &case.message, case.place(), effort.times)?;
            let after = once(bench, &plain, ParserLocation::Nowhere, effort.times)?;
            nowhere.push(after);
            case.samples.push((rate, rate / median(&[before, after])));
            before = after;
        }
    }
    let of = |table: Table| {
        let of_table = cases.iter().filter(|case| case.tables.contains(&table));
        of_table.map(Case::rate).collect()
    };
    Ok(Rates {
        nowhere: Spread::of(nowhere.into_iter().map(gbits).collect()),
        passed: Spread::of(passed),
        places: of(Table::Places),
        on_to_off: on_to_off(&cases, OFF_PATH),
        on_to_query: on_to_off(&cases, OFF_PATH_QUERY),
        queries: of(Table::Queries),
        techniques: rename(of(Table::Techniques)),
        attributes: of(Table::Attributes),
    })
}

fn on_to_off(cases: &[Case], of: &str) -> Vec<(usize, Spread)> {
    let on_path = cases.iter().filter(|case| case.of == PATH);
    let with_off = on_path.filter_map(|on| {
        let off = cases
            .iter()
            .find(|case| case.of == of && case.at == on.at)?;
        let rounds = on.samples.iter().zip(&off.samples);
        let ratios = rounds.map(|((_, on), (_, off))| on / off).collect();
        Some((on.at, Spread::of(ratios)))
    });
    with_off.collect()
}

/// Names rates after their technique, for the table of techniques. The byte-by-byte parser on the path is in two
/// tables, and has the name of its location until then.
fn rename(mut rates: Vec<Rate>) -> Vec<Rate> {
    for rate in &mut rates {
        if rate.of == PATH {
            rate.of = Technique::ByteByByte.name();
        }
    }
    rates
}

/// Measures once. Repeats a failed measurement up to twice, since other work on the machine may have spoiled it.
fn once(
    bench: &Bench,
    message: &Message,
    place: ParserLocation,
    times: Times,
) -> Result<f64, Error> {
    const TRIES: usize = 3;
    let mut tries = (0..TRIES).map(|_| bench.rate(message, place, times));
    let mut last = Err(Error::new("no measurement was made"));
    for tried in &mut tries {
        last = tried;
        if last.is_ok() {
            break;
        }
    }
    last
}

fn cases(effort: &Effort) -> Result<Vec<Case>, Error> {
    let mut cases = Vec::new();
    for &bytes in effort.bytes {
        let case = |of, tables| Case::new(of, bytes, Message::of_bytes(bytes), tables);
        let both = &[Table::Places, Table::Techniques];
        cases.push(case(PATH, both).parsed(Technique::ByteByByte)?);
        cases.push(case(APPLICATION, &[Table::Places]));
        cases.push(case(OFF_PATH, &[Table::Places]));
        cases.push(case(APPLICATION_QUERY, &[Table::Queries]));
        cases.push(case(OFF_PATH_QUERY, &[Table::Queries]));
        for technique in [Technique::DirectJump, Technique::SkipAhead] {
            cases.push(case(technique.name(), &[Table::Techniques]).parsed(technique)?);
        }
    }
    for &number in effort.attributes {
        for technique in Technique::ALL {
            let message = Message::of_attributes(number);
            let case = Case::new(technique.name(), number, message, &[Table::Attributes]);
            cases.push(case.parsed(technique)?);
        }
    }
    Ok(cases)
}

/// Converts packets per second to gigabits per second of Ethernet frames.
pub(super) fn gbits(packets: f64) -> f64 {
    packets * 8.0 * (PAYLOAD + super::message::HEADERS) as f64 / 1e9
}

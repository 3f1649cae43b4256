//! Names that the firewall reads, against independent libraries: HTTP against `httparse`, TLS against `tls-parser`, DNS
//! against `hickory-proto`. Messages are made by their structure, with faults in it, and some bytes of them are changed.
//! The interpreter and the kernel read them alike, and as the library does. Needs root.
//!
//! `ONPATH_FUZZ_SECONDS` sets the time for each protocol, and `ONPATH_FUZZ_SEED` the first message. A failure says
//! which seed it has.

mod dns;
mod http;
mod tls;

use crate::flow_state::machine::Compiled;
use crate::messages::change::Changes;
use crate::messages::program::{AREA, around};
use crate::messages::run;
use bpf::abi::Hook;
use interp::{Interpreter, Options};
use kernel::Instance;
use payload::{Reason, Status};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt::{Debug, Formatter};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Default time for a protocol, in milliseconds.
const MILLISECONDS: u64 = 1_500;
/// Most bytes of a name that are compared.
const FIRST: usize = 128;
/// Bytes of the report: two outcomes, and the name with its length.
const REPORT: usize = 7 + FIRST;

/// Result of a library's reading of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Expected {
    /// It is whole, and has this name first, if any.
    Whole(Option<Vec<u8>>),
    /// More bytes may make it whole.
    Cut,
    /// It is malformed.
    Refused,
    /// The library is no judge of it.
    Unknown,
}

/// Verdict of a library on a message.
struct Judged {
    whole: Expected,
    /// The name that must be found although the message is not whole.
    name: Option<Vec<u8>>,
}

impl From<Expected> for Judged {
    fn from(whole: Expected) -> Judged {
        Judged { whole, name: None }
    }
}

/// Result of a program's reading of a message.
#[derive(PartialEq, Eq)]
struct Report {
    /// Outcome of reading all of it.
    whole: Status,
    /// Outcome of reading as far as the firewall does.
    wanted: Status,
    /// Length and first bytes of the name.
    name: Option<(usize, Vec<u8>)>,
}

impl Report {
    fn of(bytes: &[u8]) -> Report {
        let status = |number: u8| Status::ALL[usize::from(number)];
        let length = u32::from_be_bytes(bytes[3..7].try_into().expect("four bytes")) as usize;
        let first = bytes[7..REPORT].to_vec();
        Report {
            whole: status(bytes[0]),
            wanted: status(bytes[1]),
            name: (bytes[2] != 0).then_some((length, first)),
        }
    }

    /// Returns true if this is the name that was read.
    fn has(&self, name: Option<&[u8]>) -> bool {
        let reported = name.map(|name| {
            let mut first = name.to_vec();
            first.resize(FIRST, 0);
            (name.len(), first)
        });
        self.name == reported
    }
}

impl Debug for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let name = self.name.as_ref().map(|(length, first)| {
            let shown = &first[..(*length).min(FIRST)];
            format!("{length} bytes {:?}", String::from_utf8_lossy(shown))
        });
        let (whole, wanted) = (self.whole.name(), self.wanted.name());
        write!(f, "{whole}, {wanted}, {name:?}")
    }
}

/// A protocol with its library.
struct Protocol {
    /// Name of its messages.
    name: &'static str,
    /// Attributes that the firewall reads, and the one that is the name.
    wanted: &'static str,
    attribute: &'static str,
    /// Most bytes of a message.
    limit: usize,
    /// Makes a message.
    make: fn(&mut ChaCha8Rng) -> Vec<u8>,
    /// Reads a message by the library.
    judge: fn(&[u8]) -> Judged,
    /// Tells if a message that the library takes is refused on purpose.
    refuses: fn(&[u8], Status) -> bool,
}

/// The program that reads a protocol's messages, in both places.
struct Reader {
    interpreter: Interpreter,
    instance: Instance,
}

impl Reader {
    fn new(protocol: &Protocol) -> Reader {
        let Protocol {
            name,
            wanted,
            attribute,
            ..
        } = protocol;
        let bits = 8 * FIRST;
        let fields = format!(
            "message_status whole; message_status wanted; bit<8> has; bit<32> length; bit<{bits}> name;"
        );
        let objects = format!("message({name:?}) all; message({name:?}) some;");
        let calls = format!(
            "hdr.report.whole = all.read(0);
            hdr.report.wanted = some.read_for(0, 65535, {wanted:?});
            hdr.report.has = (bit<8>)(bit<1>)some.get_bytes({attribute:?}, hdr.report.name, hdr.report.length);"
        );
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("reader.p4");
        std::fs::write(&file, around(&fields, REPORT, &objects, &calls)).expect("a file");
        let compiled = Compiled::of_file(&file, Hook::Xdp, false);
        let interpreter = Interpreter::new(Arc::clone(&compiled.program), Options::default());
        Reader {
            interpreter: interpreter.expect("the interpreter runs it"),
            instance: compiled.instance(),
        }
    }

    /// Reads a message in both places, which must agree.
    fn read(&mut self, message: &[u8]) -> Result<Report, String> {
        let packet = [&[0; AREA], message].concat();
        let outcome = self.interpreter.run(0, &packet);
        let sent = outcome.packets.first().expect("it sends it back");
        let interpreted = Report::of(&sent.bytes);
        let in_kernel = Report::of(&run(&self.instance, message, REPORT));
        match interpreted == in_kernel {
            true => Ok(interpreted),
            false => Err(format!(
                "interpreter: {interpreted:?}, kernel: {in_kernel:?}"
            )),
        }
    }
}

/// Compares what was read of a message with what the library reads.
fn compare(protocol: &Protocol, message: &[u8], report: &Report) -> Result<Expected, String> {
    let Judged { whole, name } = (protocol.judge)(message);
    let is_cut = matches!(
        report.whole,
        Status::Malformed(Reason::Truncated | Reason::LengthPastEnd) | Status::Other
    );
    let is_refused = || (protocol.refuses)(message, report.whole);
    let is_right = match &whole {
        Expected::Whole(name) => {
            let is_read = report.whole == Status::Read && report.wanted == Status::Read;
            is_read && report.has(name.as_deref()) || is_refused()
        }
        Expected::Cut => is_cut || is_refused(),
        Expected::Refused => report.whole != Status::Read,
        Expected::Unknown => true,
    };
    let is_found = name.is_none() || report.has(name.as_deref());
    match is_right && is_found {
        true => Ok(whole),
        false => Err(format!("the library: {whole:?}, {name:?}")),
    }
}

/// Makes the message of a seed.
fn message(protocol: &Protocol, seed: u64) -> Vec<u8> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut message = (protocol.make)(&mut random);
    let seeds = [(protocol.make)(&mut random)];
    let mut changes = Changes::seeded(random.random(), &seeds);
    // Most messages stay whole, so that what is deep inside of them is reached.
    for _ in 0..random.random_range(0..4u32).saturating_sub(1) {
        changes.change(&mut message);
    }
    message.truncate(protocol.limit);
    message
}

/// Tests messages of a protocol until its time is over.
fn tried(protocol: &Protocol) {
    let number = |variable: &str| std::env::var(variable).ok()?.parse().ok();
    let time = number("ONPATH_FUZZ_SECONDS").map(Duration::from_secs);
    let time = time.unwrap_or(Duration::from_millis(MILLISECONDS));
    let mut reader = Reader::new(protocol);
    let begun = Instant::now();
    let mut seed = number("ONPATH_FUZZ_SEED").unwrap_or(1);
    let (first, mut whole, mut named) = (seed, 0u64, 0u64);
    while begun.elapsed() < time {
        let message = message(protocol, seed);
        let told = |why: String| {
            let text = message.escape_ascii();
            format!("ONPATH_FUZZ_SEED={seed}: {why}\n{}: {text}", protocol.name)
        };
        let report = reader
            .read(&message)
            .unwrap_or_else(|why| panic!("{}", told(why)));
        match compare(protocol, &message, &report) {
            Ok(expected) => {
                whole += u64::from(matches!(expected, Expected::Whole(_)));
                named += u64::from(matches!(expected, Expected::Whole(Some(_))));
            }
            Err(why) => panic!("{}", told(format!("{why}, both: {report:?}"))),
        }
        seed += 1;
    }
    let cases = seed - first;
    println!(
        "{}: {cases} messages, {whole} whole, {named} with a name",
        protocol.name
    );
    assert!(
        cases > 100 && whole > cases / 10 && named > cases / 20,
        "{cases} messages, {whole} whole, {named} with a name"
    );
}

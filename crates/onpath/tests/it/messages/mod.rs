//! Comparison of the kernel's reading of messages with the reference reader of schemas, on random mutations of
//! messages of every kind. `ONPATH_FUZZ_SECONDS` sets the time for each kind. Needs root.

pub(crate) mod change;
mod chunks;
pub(crate) mod program;
mod search;
mod seeds;

use change::Changes;
use kernel::Instance;
use payload::{Found, Schema, Status, Value, read_up_to};
use program::{AREA, Attribute};
use std::time::{Duration, Instant};

/// Default time for a kind of message, in milliseconds.
const MILLISECONDS: u64 = 700;

/// A kind of message, with its schema and its programs.
struct MessageKind {
    schema: Schema,
    attributes: Vec<Attribute>,
    instance: Instance,
    /// Program that reads messages for some of the attributes only.
    reading_for: Instance,
}

impl MessageKind {
    fn new(name: &str) -> MessageKind {
        let builtin = payload::builtin::Builtin::named(name).expect("a built-in message");
        let schema = builtin.schema().expect("its schema");
        let attributes = program::attributes(&schema);
        MessageKind {
            instance: loaded(&program::text(&schema, &attributes)),
            reading_for: loaded(&program::text_for(&schema, &program::lists(&attributes))),
            schema,
            attributes,
        }
    }

    /// Returns the program's report on a message: its status, then its attributes.
    fn report(&self, message: &[u8]) -> Vec<u8> {
        run(&self.instance, message, program::length(&self.attributes))
    }

    /// Returns the expected report.
    fn expected(&self, message: &[u8]) -> Vec<u8> {
        let limit = self.schema.limits.bytes as usize;
        let (status, found) = read_up_to(&self.schema, message, limit);
        let mut report = vec![status.number() as u8];
        for attribute in &self.attributes {
            attribute.expected(value(&found, &attribute.name), &mut report);
        }
        report
    }

    /// Returns the expected report of the program that reads messages for some attributes only.
    fn expected_for(&self, message: &[u8]) -> Vec<u8> {
        let limit = self.schema.limits.bytes as usize;
        let (status, found) = read_up_to(&self.schema, message, limit);
        let mut report = Vec::new();
        for list in program::lists(&self.attributes) {
            let are_there = list.iter().map(|one| value(&found, &one.name).is_some());
            let are_there: Vec<bool> = are_there.collect();
            let status = match are_there.contains(&false) {
                true => status,
                false => Status::Read,
            };
            report.push(status.number() as u8);
            report.extend(are_there.into_iter().map(u8::from));
        }
        report
    }

    fn same(&self, message: &[u8]) {
        let expected = self.expected_for(message);
        let found = run(&self.reading_for, message, expected.len());
        assert_eq!(expected, found, "{} of {message:02x?}", self.schema.name);
        let (expected, found) = (self.expected(message), self.report(message));
        assert_eq!(
            program::show(&self.attributes, &expected),
            program::show(&self.attributes, &found),
            "{} of {:?}, {message:02x?}",
            self.schema.name,
            String::from_utf8_lossy(message)
        );
    }
}

/// Compiles and loads a program.
fn loaded(text: &str) -> Instance {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("program.p4");
    std::fs::write(&file, text).expect("a file");
    let (_, sources, built) = crate::pair::compile(&file, bpf::abi::Hook::Xdp, false);
    let loaded = kernel::load(&built.object, &built.abi, &built.schema, &sources);
    loaded.unwrap_or_else(|f| panic!("this test needs root: {}\n{}", f.diagnostic.message, f.log))
}

/// Runs a packet with room for a report before the payload. Returns the first bytes of the packet that the program
/// sends back.
pub(crate) fn run(program: &Instance, payload: &[u8], length: usize) -> Vec<u8> {
    let mut packet = vec![0; AREA];
    packet.extend(payload);
    let mut out = vec![0; packet.len() + 64];
    let prog = program.program.prog();
    prog.run_xdp(&packet, &mut out, 0, 1).expect("a test run");
    out.truncate(length);
    out
}

fn value<'f>(found: &'f [Found], name: &str) -> Option<&'f Value> {
    let first = found.iter().find(|found| found.name == name);
    first.map(|found| &found.value)
}

/// Tests a kind of message: its seeds, all their prefixes, and mutations.
fn tried(name: &str) {
    let kind = MessageKind::new(name);
    let seeds = seeds::of(name);
    for seed in &seeds {
        kind.same(seed);
        for end in 0..seed.len() {
            kind.same(&seed[..end]);
        }
    }
    let mut changes = Changes::new(name, &seeds);
    for_a_while(|| kind.same(&changes.next()));
}

/// Repeats a test until its time is over.
fn for_a_while(mut one: impl FnMut()) {
    let seconds = std::env::var("ONPATH_FUZZ_SECONDS")
        .ok()
        .and_then(|s| s.parse().ok());
    let time = seconds.map_or(Duration::from_millis(MILLISECONDS), Duration::from_secs);
    let begun = Instant::now();
    let mut tries = 0u64;
    while begun.elapsed() < time {
        one();
        tries += 1;
    }
    assert!(tries > 100, "{tries} tries");
}

macro_rules! kinds {
    ($($test:ident: $name:literal),* $(,)?) => {
        $(#[test]
        fn $test() {
            tried($name);
        })*
    };
}

kinds! {
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

//! tshark reads what the measurement's programs make of ten thousand packets: none is malformed, every checksum is
//! right, and the options say what a second account of RFC 8250 says.

mod account;
#[path = "../common/mod.rs"]
mod common;
mod packet;
mod tshark;

use account::{Account, Fields};
use bpf::abi::Hook;
use control::{Device, repeatable};
use kernel::test_run::{Fate, TestRun};
use onpath::bpf_target::{self, Request};
use onpath::driver::{self, Input};
use onpath::output::text_of;
use packet::Packet;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

const PACKETS: usize = 10_000;
/// What goes into this port goes to the wire.
const OUT: u32 = 0;
/// What goes into this port came from there.
const IN: u32 = 1;

#[test]
fn tshark_reads_what_the_programs_make() {
    let mut target = program();
    let mut random = ChaCha8Rng::seed_from_u64(8250);
    let mut account = Account::default();
    let mut made: Vec<(Packet, Vec<u8>)> = Vec::new();
    let mut expected: Vec<Option<Fields>> = Vec::new();
    let mut now = repeatable::START;
    while made.len() < PACKETS {
        if random.random_range(0..40) == 0 {
            let time = random.random_range(1_000_000..200_000_000);
            target.wait(time).unwrap_or_else(|e| panic!("{e}"));
            now += time;
        }
        now += repeatable::STEP;
        let packet = Packet::random(&mut random);
        let incoming = packet.incoming;
        let option = incoming.then(|| account.foreign(&packet, &mut random, now));
        let port = if incoming { IN } else { OUT };
        let outcome = target
            .run(port, &packet.bytes(option))
            .unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(outcome.fate, Fate::Pass, "{packet:?}");
        expected.push(match packet.option_at() {
            Some(at) if !incoming => Some(account.sent(&packet, &outcome.bytes, at, now)),
            _ => None,
        });
        made.push((packet, outcome.bytes));
    }
    let marked = expected.iter().flatten().count();
    assert!(marked > PACKETS / 3, "{marked} packets have the option");
    let lines = tshark::read(made.iter().map(|(_, bytes)| bytes.as_slice()));
    assert_eq!(lines.len(), PACKETS);
    for ((line, expected), (packet, bytes)) in lines.iter().zip(&expected).zip(&made) {
        if let Err(why) = tshark::compare(line, expected.as_ref(), packet.is_whole()) {
            panic!("{why}: tshark says {line:?} of {bytes:02x?}, which is of {packet:?}");
        }
    }
}

/// Both directions of a host in one program, loaded.
fn program() -> TestRun {
    let path = common::root().join("tests/stf/pdm/both.p4");
    let elaborated = driver::elaborate(&Input::file(&path))
        .unwrap_or_else(|refused| panic!("{}", text_of(&refused.diagnostics, &refused.map)));
    let (map, program) = (elaborated.map, Arc::new(elaborated.program));
    let request = Request {
        observe: true,
        ..Request::hook(Hook::TcEgress)
    };
    let compiled = bpf_target::compile(&program, &map, request)
        .unwrap_or_else(|diagnostics| panic!("{}", text_of(&diagnostics, &map)));
    let instance = kernel::load(&compiled.object, &compiled.abi, &program, &map)
        .unwrap_or_else(|failure| panic!("{}\n{}", failure.diagnostic.message, failure.log));
    TestRun::new(instance)
}

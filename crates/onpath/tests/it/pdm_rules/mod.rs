//! Tests of the measurement that STF scripts cannot express: the link's MTU, offloaded packets, and the values of
//! flows.

use bpf::abi::Hook;
use control::{Change, Device, Store};
use diag::render_plain;
use driver::bpf_target::{self, Request};
use driver::{Elaborated, Input};
use interp::{Interpreter, Options};
use ir::{ExternInst, Program};
use kernel::sys::TcContext;
use kernel::test_run::TestRun;
use std::sync::Arc;
use testkit::files;

const TCP: u8 = 6;
const UDP: u8 = 17;

fn elaborate(path: &str) -> Elaborated {
    driver::elaborate(&Input::file(files::root().join(path)))
        .unwrap_or_else(|refused| panic!("{}", render_plain(&refused.diagnostics, &refused.map)))
}

fn instance(program: &Program, name: &str) -> ExternInst {
    let found = program.externs.iter().find(|(_, data)| data.name == name);
    found.map_or_else(|| panic!("no {name}"), |(instance, _)| instance)
}

fn counted(store: &dyn Store, counter: ExternInst, index: u64) -> u64 {
    let count = store.counter(counter, index);
    count.unwrap_or_else(|e| panic!("{e}")).packets
}

/// Returns a packet with `length` bytes of IPv6, and these headers between the fixed header and the upper layer.
fn packet(next: u8, between: &[u8], protocol: u8, length: usize) -> Vec<u8> {
    let payload = length - 40;
    let mut bytes = vec![
        2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd, 0x60, 0, 0, 0,
    ];
    bytes.extend((payload as u16).to_be_bytes());
    bytes.extend([next, 64]);
    for host in [1, 2] {
        bytes.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]);
    }
    bytes.extend(between);
    let upper = bytes.len();
    bytes.resize(14 + length, 0);
    bytes[upper..upper + 4].copy_from_slice(&[0x9c, 0x40, 0, 53]);
    if protocol == TCP {
        bytes[upper + 12] = 5 << 4;
    }
    bytes
}

fn plain(protocol: u8, length: usize) -> Vec<u8> {
    packet(protocol, &[], protocol, length)
}

/// Returns a UDP packet with the option and this sequence number.
fn numbered(psn: u16) -> Vec<u8> {
    let [high, low] = psn.to_be_bytes();
    let header = [UDP, 1, 0x0f, 10, 0, 0, high, low, 0, 0, 0, 0, 0, 0, 1, 0];
    packet(60, &header, UDP, 40 + 16 + 8)
}

/// Returns the other host's answer to a packet that had the option with this sequence number.
fn answer_to(psn: u16) -> Vec<u8> {
    let [high, low] = psn.to_be_bytes();
    let header = [UDP, 1, 0x0f, 10, 0, 0, 0, 1, high, low, 0, 0, 0, 0, 1, 0];
    let mut bytes = packet(60, &header, UDP, 40 + 16 + 8);
    let (addresses, ports) = (14 + 8..14 + 40, 14 + 40 + 16..14 + 40 + 16 + 4);
    bytes[addresses].rotate_left(16);
    bytes[ports].rotate_left(2);
    bytes
}

/// Returns fields of the only flow's value.
fn flow<const N: usize>(program: &Program, it: &Interpreter, names: [&str; N]) -> [u64; N] {
    let state = instance(program, "flows");
    let flows = it.flows(state).expect("its flows");
    assert_eq!(flows.len(), 1);
    let known = &program.externs[state].type_arg_names[1];
    names.map(|name| {
        let at = known.iter().position(|known| known == name).expect(name);
        flows[0].value[at].to_u64().expect("a number")
    })
}

#[test]
fn what_would_be_longer_than_the_link_takes_goes_without() {
    let program = Arc::new(elaborate("programs/pdm/egress.p4").program);
    let options = Options {
        mtu: 1500,
        ..Options::default()
    };
    let mut it = Interpreter::new(Arc::clone(&program), options).expect("a program it runs");
    let grown = |it: &mut Interpreter, length| {
        it.run(0, &plain(UDP, length)).packets[0].bytes.len() - 14 - length
    };
    assert_eq!(grown(&mut it, 1484), 16);
    assert_eq!(grown(&mut it, 1485), 0);
    assert_eq!(grown(&mut it, 1500), 0);
    assert_eq!(
        counted(&it, instance(&program, "egress.egress_packets"), 10),
        2
    );
}

#[test]
fn offloaded_packets_go_without_unless_they_may_be_marked_once() {
    let Elaborated { program, map, .. } = elaborate("programs/pdm/egress.p4");
    let program = Arc::new(program);
    let request = Request {
        observe: true,
        ..Request::hook(Hook::TcEgress)
    };
    let compiled = bpf_target::compile(&program, &map, request)
        .unwrap_or_else(|diagnostics| panic!("{}", render_plain(&diagnostics, &map)));
    let loaded = kernel::load(&compiled.object, &compiled.abi, &compiled.schema, &map)
        .unwrap_or_else(|failure| panic!("{}\n{}", failure.diagnostic.message, failure.log));
    let mut target = TestRun::new(loaded);
    let context = TcContext {
        gso_segs: 4,
        gso_size: 400,
        ..TcContext::default()
    };
    // A packet of a test run is offloaded by its number of segments alone: the kernel knows no protocol to segment
    // and makes no room in it. So only the program's decision is tested here.
    let run = |target: &mut TestRun, protocol| {
        let ran = target.run_in(0, &plain(protocol, 1660), context);
        ran.unwrap_or_else(|e| panic!("{e}"));
    };
    let counter = instance(&program, "egress.egress_packets");
    run(&mut target, TCP);
    assert_eq!(counted(target.store(), counter, 9), 1);
    let (offload, table) = program
        .tables
        .iter()
        .find(|(_, table)| table.name == "egress.offload")
        .expect("its table");
    let mark_once = table
        .actions
        .iter()
        .position(|entry| program.actions[entry.action].name == "egress.mark_once")
        .expect("its action");
    let call = ir::ActionCall {
        action: mark_once as u32,
        args: Vec::new(),
    };
    target
        .store_mut()
        .change(Change::SetDefault(offload, call))
        .unwrap_or_else(|e| panic!("{e}"));
    run(&mut target, TCP);
    assert_eq!(counted(target.store(), counter, 0), 1);
    // The length of a datagram is set by the application, so it cannot be marked once.
    run(&mut target, UDP);
    assert_eq!(counted(target.store(), counter, 0), 1);
    assert_eq!(counted(target.store(), counter, 9), 2);
}

#[test]
fn losses_are_exact_under_reordering_and_duplication() {
    let program = Arc::new(elaborate("programs/pdm/ingress.p4").program);
    // Incoming sequence numbers, then the numbers of expected, received, reordered and duplicate packets.
    let cases: [(&[u16], [u64; 4]); 8] = [
        (&[5], [1, 1, 0, 0]),
        (&[100, 101, 104, 105], [6, 4, 0, 0]),
        (&[100, 101, 103, 102, 102, 106, 99], [8, 7, 2, 1]),
        (&[65534, 65535, 0, 2, 1], [5, 5, 1, 0]),
        (&[7, 7, 7], [1, 3, 0, 2]),
        // The received ones among the last 64 numbers are remembered.
        (&[0, 63, 0, 1, 1], [64, 5, 1, 2]),
        // A number 2^15 ahead counts as behind, and too far behind to precede the first.
        (&[0, 0x7fff, 0xffff], [0x8000, 3, 1, 0]),
        // Two consecutive numbers from far behind mean that the other host has restarted, and nothing was lost.
        (&[100, 101, 40000, 40001, 40002], [5, 5, 1, 0]),
    ];
    for (numbers, expected) in cases {
        let options = Options::default();
        let mut it = Interpreter::new(Arc::clone(&program), options).expect("a program it runs");
        for &number in numbers {
            it.run(0, &numbered(number));
        }
        let names = ["expected", "received", "reordered", "duplicates"];
        assert_eq!(flow(&program, &it, names), expected, "{numbers:?}");
    }
}

#[test]
fn an_answer_that_comes_again_is_no_round_trip() {
    let program = Arc::new(elaborate("tests/stf/pdm/both.p4").program);
    let options = Options::default();
    let mut it = Interpreter::new(Arc::clone(&program), options).expect("a program it runs");
    let reported = |it: &Interpreter| {
        let names = ["samples", "duplicates", "round_trip_last", "round_trip_max"];
        flow(&program, it, names)
    };
    let question = it.run(0, &plain(UDP, 48)).packets.remove(0).bytes;
    let number = [question[14 + 40 + 6], question[14 + 40 + 7]];
    let answer = answer_to(u16::from_be_bytes(number));
    it.run(1, &answer);
    let [samples, duplicates, last, most] = reported(&it);
    assert_eq!((samples, duplicates, last), (1, 0, most));
    assert!(last > 0);
    it.run(1, &answer);
    assert_eq!(reported(&it), [1, 1, last, most]);
}

//! Test harness: a program on the interpreter and in the kernel, and its packets.

use bpf::abi::Hook;
use control::{Device, Flow, Packet, Store};
use driver::bpf_target;
use interp::{Interpreter, Options};
use ir::{ExternInst, Program};
use kernel::{Instance, TestRun};
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

const HEADERS: &str = "
#include <core.p4>
#include <xdp_model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header call_t { bit<8> what; bit<32> key; bit<8> found; bit<64> value; }
struct headers_t { ethernet_t ethernet; call_t call; }
parser p(packet_in packet, out headers_t hdr) {
    state start { packet.extract(hdr.ethernet); packet.extract(hdr.call); transition accept; }
}
";
const REST: &str = "
control d(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.ethernet); packet.emit(hdr.call); }
}
xdp(p(), c(), d()) main;
";

/// Returns a packet that the parser accepts.
pub(crate) fn call(what: u8, key: u32, value: u64) -> Vec<u8> {
    let mut packet = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x12, 0x34, what];
    packet.extend(key.to_be_bytes());
    packet.push(0xff);
    packet.extend(value.to_be_bytes());
    packet
}

/// A compiled program.
pub(crate) struct Compiled {
    pub program: Arc<Program>,
    pub sources: diag::SourceMap,
    pub built: bpf_target::Compiled,
}

impl Compiled {
    /// Compiles a program with a control `c`, for test runs.
    pub(crate) fn new(control: &str, hook: Hook) -> Compiled {
        Compiled::of(control, hook, true)
    }

    /// Compiles a program with a control `c`. If `observed`, test runs supply its clock and random numbers.
    pub(crate) fn of(control: &str, hook: Hook, observed: bool) -> Compiled {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("program.p4");
        std::fs::write(&file, format!("{HEADERS}{control}{REST}")).expect("a file");
        Compiled::of_file(&file, hook, observed)
    }

    /// Compiles a file. If `observed`, test runs supply its clock and random numbers.
    pub(crate) fn of_file(file: &Path, hook: Hook, observed: bool) -> Compiled {
        let (program, sources, built) = crate::pair::compile(file, hook, observed);
        Compiled {
            program,
            sources,
            built,
        }
    }

    /// Loads it for test runs.
    pub(crate) fn load(&self) -> TestRun {
        TestRun::new(self.instance())
    }

    /// Loads it.
    pub(crate) fn instance(&self) -> Instance {
        let (object, abi) = (&self.built.object, &self.built.abi);
        kernel::load(object, abi, &self.built.schema, &self.sources)
            .unwrap_or_else(|f| panic!("this test needs root: {}\n{}", f.diagnostic.message, f.log))
    }

    /// Returns an extern object by name.
    pub(crate) fn state(&self, name: &str) -> ExternInst {
        let mut all = self.program.externs.iter();
        let found = all.find(|(_, data)| data.name == name);
        found.unwrap_or_else(|| panic!("no {name}")).0
    }
}

/// A program on the interpreter and in the kernel.
pub(crate) struct Both {
    reference: Interpreter,
    target: TestRun,
}

impl Both {
    pub(crate) fn new(compiled: &Compiled) -> Both {
        let reference = Interpreter::new(Arc::clone(&compiled.program), Options::default());
        Both {
            reference: reference.expect("the interpreter runs it"),
            target: compiled.load(),
        }
    }

    /// Advances the time of both.
    pub(crate) fn wait(&mut self, nanoseconds: u64) {
        Device::wait(&mut self.reference, nanoseconds).expect("a wait");
        Device::wait(&mut self.target, nanoseconds).expect("a wait");
    }

    /// Applies a function to both stores.
    pub(crate) fn each<T: Debug>(&mut self, f: impl Fn(&mut dyn Store) -> T) -> [T; 2] {
        [f(&mut self.reference), f(self.target.store_mut())]
    }

    /// Sends a packet to both, and compares the packets that come out.
    pub(crate) fn same_packet(&mut self, bytes: &[u8], when: &str) {
        self.sent(bytes, when);
    }

    /// Sends a packet to both, compares the packets that come out, and returns their number.
    pub(crate) fn sent(&mut self, bytes: &[u8], when: &str) -> usize {
        let packet = Packet {
            port: 0,
            bytes: bytes.to_vec(),
        };
        let [expected, found] = [
            &mut self.reference as &mut dyn Device,
            &mut self.target as &mut dyn Device,
        ]
        .map(|device| {
            device.send(&packet).expect("it takes the packet");
            device.receive().expect("it gives what came out")
        });
        assert_eq!(expected, found, "{when}, of {bytes:02x?}");
        found.len()
    }

    /// Checks that both store the same flows.
    pub(crate) fn same_flows(&mut self, state: ExternInst, when: &str) {
        let [expected, found] = self.each(|store| {
            let mut flows = store.flows(state).expect("flows");
            flows.sort_by_key(|f: &Flow| format!("{f:?}"));
            flows
        });
        assert_eq!(expected, found, "{when}");
    }
}

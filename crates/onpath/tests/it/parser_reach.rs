//! Tests of the reach of parsers: on the interpreter to the end of a packet, in the kernel up to a byte that the
//! verifier sets. Needs root.

use crate::payload_large::{INTERPRETER, agree, kernel};
use bpf::abi::Hook;
use driver::Input;
use driver::bpf_target::Reach;
use std::fmt::Write;

/// Last byte that a parser in the kernel can reach (`docs/targets.md`).
const LAST: usize = 32_767;

/// Program that passes a packet if the byte at the distance in its header is `Z`.
const PROGRAM: &str = r#"
#include <core.p4>
#include <ebpf_model.p4>

header front_t {
    bit<112> ethernet;
    bit<32>  distance;
}

header mark_t {
    bit<8> value;
}

struct headers_t {
    front_t front;
    mark_t  mark;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.front);
        packet.advance(hdr.front.distance << 3);
        packet.extract(hdr.mark);
        transition accept;
    }
}

control passes(inout headers_t hdr, out bool pass) {
    apply {
        pass = hdr.mark.isValid() && hdr.mark.value == 0x5a;
    }
}

ebpfFilter(prs(), passes()) main;
"#;

/// Returns an STF test of packets whose parser reaches these offsets. Packets up to `last` must pass.
fn packets(offsets: &[usize], last: usize) -> String {
    let mut text = String::new();
    for &offset in offsets {
        let mut hex = String::from("0200000000020200000000011234");
        let _ = write!(hex, "{:08x}{}5a", offset - 18, "00".repeat(offset - 18));
        let _ = writeln!(text, "packet 0 {hex}");
        if offset <= last {
            let _ = writeln!(text, "expect 0 {hex}");
        }
    }
    text
}

#[test]
fn parsers_in_the_kernel_reject_packets_in_which_they_would_go_too_far() {
    let program = Input {
        file: "reach".into(),
        text: Some(PROGRAM.into()),
        ..Input::default()
    };
    // The exact limit beyond it depends on the steps of constant length before.
    let offsets = [100, LAST - 1, LAST, LAST + 100, 40_000];
    agree(&program, &packets(&offsets, usize::MAX), &[INTERPRETER]);
    // At XDP, packets of this size have their first 3,500 bytes or so in the buffer that parsers read.
    let at_tc = kernel(Hook::TcIngress, Reach::Veth);
    agree(&program, &packets(&offsets, LAST), &[at_tc]);
}

//! Tests of the kernel's skipping of chunked bodies, against `payload::chunks`.

use super::program::AREA;
use super::{for_a_while, loaded, run};
use crate::payload_large::{INTERPRETER, LAST_BEGIN, LONGEST, agree, hex, kernel};
use bpf::abi::Hook;
use driver::Input;
use driver::bpf_target::Reach;
use payload::chunks::{BEGIN, LOST, pass, pass_unseen};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Size of the fields before a body, in bytes: its state, and the number of its bytes to skip.
const FRONT: usize = 10;

/// Returns a program that overwrites the first bytes of the packet with the state after a body's bytes.
fn text() -> String {
    let rest = 8 * (AREA - 8);
    format!(
        "#include <core.p4>
#include <xdp_model.p4>
#include <payload.p4>
header report_t {{ bit<64> state; }}
header rest_t {{ bit<{rest}> bits; }}
struct headers_t {{ report_t report; rest_t rest; }}
parser p(packet_in packet, out headers_t hdr) {{
    state start {{ packet.extract(hdr.report); packet.extract(hdr.rest); transition accept; }}
}}
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {{
    apply {{
        xout.output_action = xdp_action.XDP_TX;
        xout.output_port = 0;
        bit<64> state;
        bit<16> length;
        if (payload_read(0, state) && payload_read(8, length)) {{
            hdr.report.state = payload_chunks({FRONT}, (bit<32>)length, state);
        }}
    }}
}}
control d(in headers_t hdr, packet_out packet) {{
    apply {{ packet.emit(hdr.report); packet.emit(hdr.rest); }}
}}
xdp(p(), c(), d()) main;
"
    )
}

/// Returns a body with some bytes mutated, and bytes after it.
fn body(random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..random.random_range(0..5) {
        let size = *[1, 2, 15, 16, 17, 300].choose(random).unwrap_or(&1);
        let ends = ["", ";", ";a=\"b;\"", " ", " \t;x"];
        bytes.extend(format!("{size:x}{}\r\n", ends.choose(random).unwrap_or(&"")).bytes());
        bytes.extend((0..size).map(|_| random.random::<u8>()));
        bytes.extend(b"\r\n");
    }
    let ends = [
        "0\r\n\r\n",
        "00;x\r\na: b\r\nc:\n\r\n",
        "0\r\nLong-Name: 0123456789\r\n\n",
    ];
    bytes.extend(ends.choose(random).unwrap_or(&"").bytes());
    bytes.extend(b"GET / HTTP/1.1\r\n");
    for _ in 0..random.random_range(0..3) {
        let at = random.random_range(0..bytes.len());
        let other = *b"0aF;\r\n: \tx\0".choose(random).unwrap_or(&0);
        match random.random() {
            true => bytes[at] = other,
            false => bytes.insert(at, other),
        }
    }
    bytes
}

#[test]
fn chunks() {
    let program = loaded(&text());
    let time = std::time::UNIX_EPOCH.elapsed();
    let seed = time.map_or(0, |t| t.as_nanos() as u64);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut ended = [false; 2];
    for_a_while(|| {
        let body = body(&mut random);
        let (mut at, mut state) = (0, BEGIN);
        while at < body.len() && state >= BEGIN && state != LOST {
            let length = random.random_range(0..=body.len() - at);
            let front = [&state.to_be_bytes()[..], &(length as u16).to_be_bytes()].concat();
            let payload = [&front, &body[at..]].concat();
            let report = run(&program, &payload, 8);
            let found = report
                .iter()
                .fold(0, |sum, &byte| sum << 8 | u64::from(byte));
            let expected = pass(&body[at..at + length], state);
            assert_eq!(found, expected, "{length} from {at} on of {body:02x?}");
            (at, state) = (at + length, expected);
        }
        ended[usize::from(state == LOST)] |= state < BEGIN || state == LOST;
    });
    assert_eq!(ended, [true; 2], "both kinds of ends were met");
}

/// Returns an STF test of a packet with a state and a body of which `length` bytes are skipped, and the expected
/// answer.
fn exchange(state: u64, length: usize, body: &[u8]) -> String {
    let front = [&state.to_be_bytes()[..], &(length as u16).to_be_bytes()].concat();
    let packet = [&vec![0; AREA], &front[..], body].concat();
    let begin = AREA + FRONT;
    let body = &packet[begin..begin + length];
    let (seen, unseen) = body.split_at(length.min(LAST_BEGIN + 1 - begin));
    let behind = pass_unseen(unseen.len() as u64, pass(seen, state));
    let answer = [&behind.to_be_bytes()[..], &packet[8..]].concat();
    format!("packet 0 {}\nexpect 0 {}\n", hex(&packet), hex(&answer))
}

/// Reading may begin at most at byte [`LAST_BEGIN`] of a packet, which is not the last byte of the largest packet.
#[test]
fn chunks_end_where_no_byte_is_seen() {
    let room = LONGEST - AREA - FRONT;
    let last = LAST_BEGIN - AREA - FRONT;
    let line = "0000\r\n".len();
    let mut text = String::new();
    // Data whose last byte is at this distance from that byte, followed by ends of bodies of two lengths.
    for shift in -24..3 {
        for (end, length) in [
            ("\r\n0\r\n\r\n", room),
            ("\r\n0\r\nName: value\r\n\r\n", last + 2),
        ] {
            let size = (last + 1 - line).saturating_add_signed(shift);
            let mut body = format!("{size:04x}\r\n{}{end}", "x".repeat(size));
            body.truncate(room);
            let body = format!("{body:x<room$}");
            text += &exchange(BEGIN, length, body.as_bytes());
        }
    }
    // Invalid states.
    for phase in 13..16 {
        for length in [0, 1, 20] {
            let state = BEGIN | phase << 56 | 3;
            text += &exchange(state, length, &[b'0'; 20]);
        }
    }
    let program = Input {
        text: Some(self::text().into()),
        ..Input::file("chunks.p4")
    };
    let targets = [
        INTERPRETER,
        kernel(Hook::Xdp, Reach::TestRun),
        kernel(Hook::Xdp, Reach::Veth),
    ];
    agree(&program, &text, &targets);
}

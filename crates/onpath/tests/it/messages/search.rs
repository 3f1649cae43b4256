//! Tests of the kernel's search for bytes in a payload, against `memchr::memmem`.

use super::program::AREA;
use super::{for_a_while, loaded, run};
use memchr::memmem;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt::Write;

/// Texts to search for, one or more for each length that has its own code. Many contain a prefix of themselves.
const WANTED: [&[u8]; 10] = [
    b"a",
    b"ab",
    b"aab",
    b"\r\n\r\n",
    b"aaaaaaab",
    b"abababac",
    b"aaaaaaaaa",
    b"abcabcabcabcabd",
    b"0123456789abcdef0",
    b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
];

/// Returns a program that overwrites the first bytes of the packet with the positions of all texts. The search begins
/// at an offset that the payload's first byte gives.
fn text() -> String {
    let (mut fields, mut calls) = (String::new(), String::new());
    for (number, wanted) in WANTED.iter().enumerate() {
        let _ = writeln!(fields, "bit<32> at{number};");
        let digits: String = wanted.iter().map(|byte| format!("{byte:02x}")).collect();
        let _ = writeln!(
            calls,
            "hdr.report.at{number} = payload_find(from, {}w0x{digits});",
            8 * wanted.len()
        );
    }
    let rest = 8 * (AREA - 4 * WANTED.len());
    format!(
        "#include <core.p4>
#include <xdp_model.p4>
#include <payload.p4>
header report_t {{ {fields} }}
header rest_t {{ bit<{rest}> bits; }}
struct headers_t {{ report_t report; rest_t rest; }}
parser p(packet_in packet, out headers_t hdr) {{
    state start {{ packet.extract(hdr.report); packet.extract(hdr.rest); transition accept; }}
}}
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {{
    apply {{
        xout.output_action = xdp_action.XDP_TX;
        xout.output_port = 0;
        bit<32> from = 0;
        if (payload_length() > 0) {{
            bit<8> first;
            if (payload_read(0, first)) {{ from = (bit<32>)(first & 31); }}
        }}
        {calls}
    }}
}}
control d(in headers_t hdr, packet_out packet) {{
    apply {{ packet.emit(hdr.report); packet.emit(hdr.rest); }}
}}
xdp(p(), c(), d()) main;
"
    )
}

/// Returns a payload of few different bytes, with parts of the texts among them.
fn payload(random: &mut ChaCha8Rng) -> Vec<u8> {
    let letters: &[u8] =
        [&b"ab"[..], b"a", b"abc\r\n", b"0123456789abcdef"][random.random_range(0..4)];
    let mut bytes = Vec::new();
    for _ in 0..random.random_range(0..12) {
        let wanted = WANTED[random.random_range(0..WANTED.len())];
        let length = random.random_range(0..120);
        bytes.extend((0..length).map(|_| letters[random.random_range(0..letters.len())]));
        bytes.extend(&wanted[..random.random_range(0..=wanted.len())]);
        if random.random_range(0..8) == 0 {
            bytes.push(random.random());
        }
    }
    bytes
}

#[test]
fn search() {
    let program = loaded(&text());
    let time = std::time::UNIX_EPOCH.elapsed();
    let seed = time.map_or(0, |t| t.as_nanos() as u64);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for_a_while(|| {
        let payload = payload(&mut random);
        let from = payload.first().map_or(0, |&first| usize::from(first & 31));
        let report = run(&program, &payload, 4 * WANTED.len());
        let behind = payload.get(from..).unwrap_or_default();
        for (wanted, found) in WANTED.iter().zip(report.chunks(4)) {
            let expected = memmem::find(behind, wanted).map_or(u32::MAX, |at| (from + at) as u32);
            let found = found
                .iter()
                .fold(0, |sum, &byte| sum << 8 | u32::from(byte));
            assert_eq!(
                found, expected,
                "{wanted:02x?} from {from} on in {payload:02x?}"
            );
        }
    });
}

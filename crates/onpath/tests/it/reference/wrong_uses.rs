//! Wrong uses of externs, each with the code that the extern's documentation lists.

use super::targets::Use;
use explain::ExecutionTarget;
use explain::ExecutionTarget::{Interpreter, Tc, Xdp};

/// A use, the code, and the targets that refuse it. A use that the language or the architecture refuses is refused by
/// all.
pub(super) struct Wrong {
    pub used: Use,
    pub code: &'static str,
    pub on: &'static [ExecutionTarget],
}

const ALL: &[ExecutionTarget] = &[Interpreter, Xdp, Tc];
const KERNEL: &[ExecutionTarget] = &[Xdp, Tc];

const fn wrong(
    name: &'static str,
    (declared, does): (&'static str, &'static str),
    code: &'static str,
    on: &'static [ExecutionTarget],
) -> Wrong {
    let used = Use {
        name,
        declared,
        does,
    };
    Wrong { used, code, on }
}

/// All wrong uses.
pub(super) const USES: &[Wrong] = &[
    wrong(
        "verify",
        ("", "verify(n == 0, error.NoMatch);"),
        "E0413",
        ALL,
    ),
    wrong("static_assert", ("", "static_assert(1 > 2);"), "E0506", ALL),
    wrong(
        "static_assert",
        ("", "static_assert(n == 0);"),
        "E0505",
        ALL,
    ),
    wrong(
        "CounterArray",
        ("CounterArray(0, false) c;", "c.increment(0);"),
        "E0730",
        KERNEL,
    ),
    wrong(
        "flow_state",
        (
            "flow_state<bit<2048>, bit<32>>(64) f;",
            "f.update((bit<2048>)n, n);",
        ),
        "E0742",
        KERNEL,
    ),
    wrong(
        "flow_state",
        (
            "flow_state<bit<48>, bit<32>>(4294967295) f;",
            "f.update(hdr.eth.src, n);",
        ),
        "E0743",
        KERNEL,
    ),
    wrong(
        "flow_state",
        (
            "flow_state<bit<48>, bit<32>>(64) f;",
            "@atomic { f.update(hdr.eth.src, n); f.update(hdr.eth.dst, n); }",
        ),
        "E0740",
        KERNEL,
    ),
    wrong(
        "tally",
        ("tally<bit<2048>>(64) f;", "f.add((bit<2048>)n, 1);"),
        "E0742",
        KERNEL,
    ),
    wrong(
        "tally",
        ("tally<bit<48>>(4294967295) f;", "f.add(hdr.eth.src, 1);"),
        "E0743",
        KERNEL,
    ),
    wrong(
        "histogram",
        (
            "histogram<bit<48>>(4294967295) f;",
            "f.add(hdr.eth.src, 1);",
        ),
        "E0743",
        KERNEL,
    ),
    wrong(
        "distinct_count",
        (
            "distinct_count<bit<48>, bit<32>>(64, 13) f;",
            "f.add(hdr.eth.src, n);",
        ),
        "E0747",
        KERNEL,
    ),
    wrong(
        "top_keys",
        ("top_keys<bit<2048>>(64) f;", "f.add((bit<2048>)n, 1);"),
        "E0742",
        KERNEL,
    ),
    wrong(
        "payload_read",
        ("", "bit<12> odd = 0; if (payload_read(0, odd)) { n = 1; }"),
        "E0607",
        ALL,
    ),
    wrong(
        "payload_write",
        ("", "bit<12> odd = 0; if (payload_write(0, odd)) { n = 1; }"),
        "E0607",
        ALL,
    ),
    wrong(
        "payload_find",
        ("", "n = payload_find(0, n);"),
        "E0607",
        ALL,
    ),
    wrong(
        "payload_matches_ignore_case",
        ("", "if (payload_matches_ignore_case(0, n)) { n = 1; }"),
        "E0607",
        ALL,
    ),
    wrong(
        "payload_matches",
        ("", "if (payload_matches(0, 64, \"a(?=b)\")) { n = 1; }"),
        "E0609",
        ALL,
    ),
    wrong("message", ("message(\"htttp\") m;", ""), "E0604", ALL),
    wrong("message", ("message(\"http\", 0) m;", ""), "E0605", ALL),
    wrong(
        "message",
        (
            "message(\"http\") m;",
            "m.read(0); m.get_number(\"ttl\", n);",
        ),
        "E0606",
        ALL,
    ),
    wrong(
        "message",
        (
            "message(\"http\") m;",
            "m.read(0); m.get_number(\"host\", n);",
        ),
        "E0607",
        ALL,
    ),
    wrong(
        "message",
        (
            "message(\"http\") m;",
            "m.read(0); if (m.matches(\"host\", \"(\")) { n = 1; }",
        ),
        "E0609",
        ALL,
    ),
    wrong(
        "name_set",
        ("name_set(0) s;", "if (s.find(0, 9, n, n)) { n = 1; }"),
        "E0611",
        ALL,
    ),
    wrong(
        "message",
        (
            "message(\"dns\") m; pattern_set(9) s;",
            "m.read(0); if (m.find_url(s, n, n, n, n)) { n = 1; }",
        ),
        "E0606",
        ALL,
    ),
    wrong(
        "pattern_set",
        (
            "pattern_set(0) s; message(\"http\") h;",
            "h.read(0); if (h.find_pattern(\"host\", s, n, n)) { n = 1; }",
        ),
        "E0611",
        ALL,
    ),
    wrong(
        "stream_bytes",
        ("stream_bytes(0) s;", "if (s.equal(0, 0, 0, 9)) { n = 1; }"),
        "E0611",
        ALL,
    ),
    wrong(
        "stream_bytes",
        (
            "stream_bytes(9) s; message(\"tls\") t;",
            "t.keep(0, 0, 9); t.read_held(s, 0, 0, 0, 9, \"sni\");",
        ),
        "E0612",
        ALL,
    ),
    wrong(
        "quic_initials",
        (
            "quic_initials(0) q;",
            "bit<64> t; if (q.take(0, 0, 9, t) == quic_status.PART) { n = 1; }",
        ),
        "E0611",
        ALL,
    ),
    wrong(
        "quic_initials",
        (
            "quic_initials(9) q; message(\"quic\") h;",
            "h.keep(0, 0, 9); h.read_initials(q, 0, \"sni\");",
        ),
        "E0612",
        ALL,
    ),
    wrong(
        "counter",
        ("counter(0, CounterType.packets) c;", "c.count(0);"),
        "E0730",
        KERNEL,
    ),
    wrong(
        "meter",
        ("meter(0, MeterType.packets) m;", "m.execute_meter(0, n);"),
        "E0730",
        KERNEL,
    ),
    wrong(
        "register",
        ("register<bit<32>>(0) r;", "r.write(0, n);"),
        "E0730",
        KERNEL,
    ),
    wrong(
        "register",
        (
            "register<bit<32>>(8) r;",
            "@atomic { r.read(n, 0); r.write(n, 1); }",
        ),
        "E0740",
        KERNEL,
    ),
    wrong(
        "action_selector",
        (
            "TABLE implementation action_selector(HashAlgorithm.random, 8, 16)",
            "t.apply();",
        ),
        "E0749",
        KERNEL,
    ),
    wrong(
        "random",
        ("bit<128> w = 0;", "random(w, 1, 6); n = (bit<32>)w;"),
        "E0747",
        KERNEL,
    ),
    wrong(
        "hash",
        (
            "bit<128> w = 0;",
            "hash(w, HashAlgorithm.crc32, 128w0, { hdr.eth.src }, 128w16); n = (bit<32>)w;",
        ),
        "E0747",
        KERNEL,
    ),
    wrong(
        "verify_checksum",
        (
            "",
            "verify_checksum(true, { hdr.eth.src }, hdr.eth.type, HashAlgorithm.random); n = (bit<32>)sm.checksum_error;",
        ),
        "E0721",
        KERNEL,
    ),
    wrong(
        "update_checksum",
        (
            "",
            "update_checksum(true, { hdr.eth.src }, hdr.eth.type, HashAlgorithm.random);",
        ),
        "E0721",
        KERNEL,
    ),
    wrong(
        "update_checksum_with_payload",
        (
            "",
            "update_checksum_with_payload(true, { hdr.eth.src }, hdr.eth.type, HashAlgorithm.crc16);",
        ),
        "E0749",
        KERNEL,
    ),
    wrong(
        "verify_checksum_with_payload",
        (
            "",
            "verify_checksum_with_payload(true, { hdr.eth.src }, hdr.eth.type, HashAlgorithm.crc16); n = (bit<32>)sm.checksum_error;",
        ),
        "E0749",
        KERNEL,
    ),
    wrong(
        "clone3",
        ("", "clone3(CloneType.I2E, 32w5, { hdr.eth.src });"),
        "E0585",
        ALL,
    ),
    wrong("resubmit", ("", "resubmit({ hdr.eth.src });"), "E0585", ALL),
    wrong(
        "recirculate",
        ("", "recirculate({ hdr.eth.src });"),
        "E0585",
        ALL,
    ),
    wrong("mark_to_drop", ("", "mark_to_drop();"), "W0202", ALL),
    wrong("Checksum16", ("Checksum16() c;", ""), "W0202", ALL),
];

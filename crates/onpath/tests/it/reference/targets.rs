//! Tests of the headers' statements about targets. A use of each extern is refused by the targets for which its
//! documentation says "Refused", with that code, and by no others.

use super::headers;
use super::wrong_uses::{USES, Wrong};
use bpf::abi::Hook;
use diag::Diagnostics;
use driver::Input;
use driver::bpf_target::{Request, generate};
use explain::{DeclarationKind, ExecutionTarget, Header, Item};
use interp::{Interpreter, Options};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A use of an extern.
pub(super) struct Use {
    pub name: &'static str,
    /// Declarations in the control.
    pub declared: &'static str,
    /// Statements in the control.
    pub does: &'static str,
}

const fn call(name: &'static str, does: &'static str) -> Use {
    Use {
        name,
        declared: "",
        does,
    }
}

const fn object(name: &'static str, declared: &'static str, does: &'static str) -> Use {
    Use {
        name,
        declared,
        does,
    }
}

/// Uses of the externs that every architecture can have, and of those of the models for XDP.
const OF_SWITCH: &[Use] = &[
    // The program's own parser and deparser use them.
    call("packet_in", ""),
    call("packet_out", ""),
    call("verify", ""),
    call(
        "static_assert",
        "static_assert(true); static_assert(1 < 2, \"order\");",
    ),
    object(
        "CounterArray",
        "CounterArray(8, false) c;",
        "c.increment(1); c.add(2, 3);",
    ),
    object("array_table", "TABLE array_table(8)", "t.apply();"),
    object("hash_table", "TABLE hash_table(8)", "t.apply();"),
    object(
        "flow_state",
        "flow_state<bit<48>, bit<32>>(64) f;",
        "if (f.lookup(hdr.eth.src, n)) { n = n + 1; } f.update(hdr.eth.src, n); f.remove(hdr.eth.dst);",
    ),
    call(
        "ebpf_ipv4_checksum",
        "n = (bit<32>)ebpf_ipv4_checksum(4, 5, 0, 20, 1, 0, 0, 64, 6, 0x0a000001, n);",
    ),
    call(
        "csum_replace2",
        "hdr.eth.type = csum_replace2(hdr.eth.type, 1, 2);",
    ),
    call(
        "csum_replace4",
        "hdr.eth.type = csum_replace4(hdr.eth.type, 1, n);",
    ),
    call("BPF_KTIME_GET_NS", "n = BPF_KTIME_GET_NS();"),
    call("BPF_PERF_EVENT_OUTPUT", "n = BPF_PERF_EVENT_OUTPUT();"),
    call("monotonic_ns", "n = (bit<32>)monotonic_ns();"),
    object("tally", "tally<bit<48>>(64) f;", "f.add(hdr.eth.src, 1);"),
    object(
        "histogram",
        "histogram<bit<48>>(64) f;",
        "f.add(hdr.eth.src, 1);",
    ),
    object(
        "distinct_count",
        "distinct_count<bit<48>, bit<48>>(64) f;",
        "f.add(hdr.eth.src, hdr.eth.dst);",
    ),
    object(
        "top_keys",
        "top_keys<bit<48>>(64) f;",
        "f.add(hdr.eth.src, 1);",
    ),
    call("payload_length", "n = payload_length();"),
    call("payload_read", "if (payload_read(4, n)) { n = n + 1; }"),
    call("payload_write", "if (payload_write(4, n)) { n = n + 1; }"),
    call("payload_truncate", "payload_truncate(n);"),
    call("packet_unchanged", "packet_unchanged();"),
    call("payload_sum", "n = (bit<32>)payload_sum(n);"),
    call(
        "payload_matches_ignore_case",
        "if (payload_matches_ignore_case(0, 24w0x474554)) { n = 1; }",
    ),
    call("payload_find", "n = payload_find(0, 32w0x0d0a0d0a);"),
    call(
        "payload_matches",
        "if (payload_matches(0, 64, \"^GET \")) { n = 1; }",
    ),
    call(
        "payload_chunks",
        "if (payload_chunks(0, 64, CHUNKS_BEGIN) < CHUNKS_BEGIN) { n = 1; }",
    ),
    object(
        "message",
        "message(\"http\") m;",
        "if (m.read(0) == message_status.READ && m.get_number(\"status\", status)) { n = (bit<32>)status; }",
    ),
    object(
        "name_set",
        "name_set(9) s; message(\"tls\") t;",
        "t.read(0); if (s.find(0, 9, n, n) || t.find_name(\"sni\", s, n, n)) { n = 1; }",
    ),
    object(
        "pattern_set",
        "pattern_set(9) s; message(\"http\") h;",
        "h.read(0); if (h.find_url(s, n, n, n, n) || h.find_pattern(\"host\", s, n, n)) { n = 1; }",
    ),
    object(
        "stream_bytes",
        "stream_bytes(9) s; message(\"tls\") t;",
        "bit<64> held = s.hold(0, 0, 0, 9); if (s.equal(held, 0, 0, 9) && t.read_held(s, held, 0, 0, 9, \"sni\") == message_status.READ && s.release(held)) { n = 1; }",
    ),
    object(
        "quic_initials",
        "quic_initials(9) q; message(\"quic\") h;",
        "bit<64> t; if (q.take(0, 0, 9, t) == quic_status.WHOLE && h.read_initials(q, t, \"sni\") == message_status.READ) { n = 1; }",
    ),
];

/// Uses of the externs of the model for traffic control.
const OF_TC: &[Use] = &[
    call(
        "l4_csum_replace2",
        "hdr.eth.type = l4_csum_replace2(hdr.eth.type, 1, 2, false);",
    ),
    call(
        "l4_csum_replace4",
        "hdr.eth.type = l4_csum_replace4(hdr.eth.type, 1, n, true);",
    ),
    call("random32", "n = random32();"),
];

/// Uses of the externs of `v1model`, in ingress, but `recirculate` in egress.
const OF_V1MODEL: &[Use] = &[
    object("counter", "counter(8, CounterType.bytes) c;", "c.count(1);"),
    object(
        "direct_counter",
        "direct_counter(CounterType.packets) c; TABLE counters c",
        "t.apply();",
    ),
    object(
        "meter",
        "meter(8, MeterType.bytes) m;",
        "m.execute_meter(1, n);",
    ),
    object(
        "direct_meter",
        "direct_meter<bit<32>>(MeterType.bytes) m; TABLE meters m",
        "t.apply();",
    ),
    object(
        "register",
        "register<bit<32>>(8) r;",
        "r.read(n, 1); r.write(1, n + 1);",
    ),
    object(
        "action_profile",
        "TABLE implementation action_profile(8)",
        "t.apply();",
    ),
    object(
        "action_selector",
        "TABLE implementation action_selector(HashAlgorithm.crc16, 8, 16)",
        "t.apply();",
    ),
    call("random", "random(n, 1, 6);"),
    call("digest", "digest(1, hdr.eth.src);"),
    call("mark_to_drop", "mark_to_drop(sm); mark_to_drop();"),
    call(
        "hash",
        "hash(n, HashAlgorithm.crc32, 32w0, { hdr.eth.src }, 32w16);",
    ),
    object(
        "Checksum16",
        "Checksum16() c;",
        "hdr.eth.type = c.get({ hdr.eth.src });",
    ),
    call(
        "verify_checksum",
        "verify_checksum(true, { hdr.eth.src }, hdr.eth.type, HashAlgorithm.csum16); n = (bit<32>)sm.checksum_error;",
    ),
    call(
        "verify_checksum_with_payload",
        "verify_checksum_with_payload(true, { hdr.eth.src }, hdr.eth.type, HashAlgorithm.csum16); n = (bit<32>)sm.checksum_error;",
    ),
    call(
        "update_checksum",
        "update_checksum(true, { hdr.eth.src }, hdr.eth.type, HashAlgorithm.csum16);",
    ),
    call(
        "update_checksum_with_payload",
        "update_checksum_with_payload(true, { hdr.eth.src }, hdr.eth.type, HashAlgorithm.csum16);",
    ),
    call("clone", "clone(CloneType.I2E, 5);"),
    call(
        "clone_preserving_field_list",
        "clone_preserving_field_list(CloneType.I2E, 5, 1);",
    ),
    call("clone3", "clone3(CloneType.I2E, 32w5, { meta.kept });"),
    call(
        "resubmit_preserving_field_list",
        "resubmit_preserving_field_list(1);",
    ),
    call("resubmit", "resubmit({ meta.kept });"),
    call(
        "recirculate_preserving_field_list",
        "recirculate_preserving_field_list(1);",
    ),
    call("recirculate", "recirculate({ meta.kept });"),
    call("truncate", "truncate(64);"),
    call("assert", "assert(n == 0);"),
    call("assume", "assume(n == 0);"),
    call(
        "log_msg",
        "log_msg(\"seen\"); log_msg(\"from {}\", { hdr.eth.src });",
    ),
];

const HEADERS: &str =
    "header eth_h { bit<48> dst; bit<48> src; bit<16> type; }\nstruct headers_t { eth_h eth; }\n";
const EXTRACT: &str = "state start { packet.extract(hdr.eth); verify(hdr.eth.type != 0, error.NoMatch); transition accept; }";

/// Replaces `TABLE` and the property after it by a table with this property.
fn with_table(declared: &str) -> String {
    let Some((before, property)) = declared.split_once("TABLE ") else {
        return declared.to_string();
    };
    let property = match property.split_once(' ') {
        Some((name, value)) if !name.contains('(') => format!("{name} = {value};"),
        _ => format!("implementation = {property};"),
    };
    let selects = match property.contains("selector") {
        true => "hdr.eth.dst: selector;",
        false => "",
    };
    let reads = match property.starts_with("meters") {
        true => "m.read(n);",
        false => "",
    };
    format!(
        "{before} action act() {{ n = n + 1; {reads} }} table t {{ key = {{ hdr.eth.type: exact; {selects} }} \
         actions = {{ act; NoAction; }} default_action = NoAction; {property} }}"
    )
}

/// Returns a complete program with a use of an extern, for the architecture of the extern's header.
fn program(of: &str, used: &Use) -> String {
    let declared = with_table(used.declared);
    let does = used.does;
    let local = "bit<32> n = 0; bit<16> status = 0;";
    match of {
        "v1model.p4" => {
            let again = used.name.starts_with("recirculate");
            let [ingress, egress] = match again {
                true => ["", does],
                false => [does, ""],
            };
            format!(
                "#include <v1model.p4>\n{HEADERS}struct meta_t {{ @field_list(1) bit<32> kept; }}\n\
                 parser prs(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {{ {EXTRACT} }}\n\
                 control vrf(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}\n\
                 control ing(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {{ {local} {declared} \
                 apply {{ sm.egress_spec = 1; {ingress} hdr.eth.src = hdr.eth.src + (bit<48>)n; }} }}\n\
                 control egr(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {{ apply {{ {egress} }} }}\n\
                 control cmp(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}\n\
                 control dep(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr.eth); }} }}\n\
                 V1Switch(prs(), vrf(), ing(), egr(), cmp(), dep()) main;\n"
            )
        }
        "tc_model.p4" => format!(
            "#include <tc_model.p4>\n{HEADERS}\
             parser prs(packet_in packet, out headers_t hdr) {{ {EXTRACT} }}\n\
             control ctl(inout headers_t hdr, in tc_input input, inout tc_output output) {{ {local} {declared} \
             apply {{ {does} output.mark = n; }} }}\n\
             control dep(in headers_t hdr, packet_out packet) {{ apply {{ packet.emit(hdr.eth); }} }}\n\
             tc(prs(), ctl(), dep()) main;\n"
        ),
        _ => format!(
            "#include <xdp_model.p4>\n#include <telemetry.p4>\n#include <payload.p4>\n{HEADERS}\
             parser prs(packet_in packet, out headers_t hdr) {{ {EXTRACT} }}\n\
             control ctl(inout headers_t hdr, in xdp_input imd, out xdp_output omd) {{ {local} {declared} \
             apply {{ omd.output_action = xdp_action.XDP_PASS; omd.output_port = 0; {does} hdr.eth.src = hdr.eth.src + (bit<48>)n; }} }}\n\
             control dep(in headers_t hdr, packet_out packet) {{ apply {{ packet.emit(hdr.eth); }} }}\n\
             xdp(prs(), ctl(), dep()) main;\n"
        ),
    }
}

/// Returns the code with which a target refuses an extern, according to the documentation.
fn refused_by(note: &str) -> Option<&str> {
    note.strip_prefix("Refused (")?.split(')').next()
}

/// Returns the codes of a target's errors and warnings about a program.
fn reported(text: &str, target: ExecutionTarget) -> BTreeSet<String> {
    let input = Input {
        text: Some(text.to_string().into()),
        ..Input::file("used.p4")
    };
    let elaborated = match driver::elaborate(&input) {
        Ok(elaborated) => elaborated,
        Err(refused) => return codes(&refused.diagnostics),
    };
    let mut found = codes(&elaborated.diagnostics);
    let hook = match target {
        ExecutionTarget::Interpreter => {
            let made = Interpreter::new(Arc::new(elaborated.program), Options::default());
            found.extend(codes(&made.err().unwrap_or_default()));
            return found;
        }
        ExecutionTarget::Xdp => Hook::Xdp,
        ExecutionTarget::Tc => Hook::TcIngress,
    };
    let made = generate(&elaborated.program, &elaborated.map, Request::hook(hook));
    found.extend(codes(&made.err().unwrap_or_default()));
    found
}

/// Returns the codes of a target's errors about a program.
fn refusals(text: &str, target: ExecutionTarget) -> BTreeSet<String> {
    let mut found = reported(text, target);
    found.retain(|code| code.starts_with('E'));
    found
}

fn codes(diagnostics: &Diagnostics) -> BTreeSet<String> {
    diagnostics.iter().map(|d| d.code.0.to_string()).collect()
}

/// Returns the differences from an extern's documentation.
fn differences(header: &Header<'_>, item: &Item, used: &Use) -> Vec<String> {
    let text = program(header.name, used);
    let mut wrong = Vec::new();
    for (targets, note) in &item.doc.targets {
        let expected: BTreeSet<String> = refused_by(note).into_iter().map(String::from).collect();
        for &target in targets {
            let found = refusals(&text, target);
            if found != expected {
                let target = target.name();
                wrong.push(format!(
                    "{} on {target}: said {expected:?}, found {found:?}",
                    item.name
                ));
            }
        }
    }
    wrong
}

#[test]
fn what_is_documented_of_targets_is_so() {
    let uses = || [OF_SWITCH, OF_TC, OF_V1MODEL].into_iter().flatten();
    let mut wrong = Vec::new();
    for header in headers() {
        let is_extern = |item: &&Item| {
            matches!(
                item.kind,
                DeclarationKind::Object | DeclarationKind::Function
            )
        };
        for item in header.items.iter().filter(is_extern) {
            match uses().find(|used| used.name == item.name) {
                Some(used) => wrong.extend(differences(&header, item, used)),
                None => wrong.push(format!("{}: no use of it", item.name)),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns the targets that do not treat a wrong use as documented.
fn not_refused(header: &Header<'_>, item: &Item, wrong: &Wrong) -> Vec<String> {
    let text = program(header.name, &wrong.used);
    let mut found = Vec::new();
    for target in ExecutionTarget::ALL {
        let codes = reported(&text, target);
        if codes.contains(wrong.code) != wrong.on.contains(&target) {
            let (name, code, target) = (&item.name, wrong.code, target.name());
            found.push(format!("{name}: {code} on {target}, which says {codes:?}"));
        }
    }
    found
}

#[test]
fn errors_that_concern_an_extern_are_listed_and_given() {
    let headers = headers();
    let items = || {
        let of = |header| move |item| (header, item);
        headers
            .iter()
            .flat_map(move |header| header.items.iter().map(of(header)))
    };
    let mut found = Vec::new();
    for wrong in USES {
        let of_name = items().filter(|(_, item)| item.name == wrong.used.name);
        let lists = |item: &Item| {
            let docs = item.members.iter().map(|member| &member.doc);
            let mut docs = docs.chain([&item.doc]);
            docs.any(|doc| doc.errors.iter().any(|code| code == wrong.code))
        };
        match of_name.clone().find(|(_, item)| lists(item)) {
            Some((header, item)) => found.extend(not_refused(header, item, wrong)),
            None => found.push(format!("{}: no {}", wrong.used.name, wrong.code)),
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn what_is_documented_wrongly_is_found() {
    let source = |note: &str| {
        format!(
            "//! A.\n/// Cut.\n/// @on interpreter: Yes.\n/// @on xdp: {note}\n/// @on tc: Yes.\n/// @errors E0748 E0749\nextern void truncate(in bit<32> length);\n"
        )
    };
    let wrong = |note: &str| {
        let header = Header::read("v1model.p4", &source(note)).expect("a header");
        let used = OF_V1MODEL.iter().find(|used| used.name == "truncate");
        differences(&header, &header.items[0], used.expect("a use"))
    };
    assert!(wrong("Refused (E0748).").is_empty());
    assert_eq!(wrong("As described.").len(), 1);
    let other = wrong("Refused (E0749), which is E0748.");
    assert!(
        other[0].contains("said {\"E0749\"}, found {\"E0748\"}"),
        "{other:?}"
    );
}

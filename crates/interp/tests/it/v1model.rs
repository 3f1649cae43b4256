//! `v1model`: what happens around a program's blocks, and its externs.

use crate::common::{ERRORS, interpreter, program, sent};
use control::{Count, Device, Packet, Store, StoreError};
use interp::{Digest, Disposition, Fault, Interpreter, Options};
use ir::Bits;

/// A switch with a header `h` of four bytes and given bodies; ingress sends to port 2 first.
fn with(declarations: &str, ingress: &str, egress: &str) -> String {
    let vars = [
        ("ingress_port", "bit<9>"),
        ("egress_spec", "bit<9>"),
        ("egress_port", "bit<9>"),
        ("packet_length", "bit<32>"),
        ("ingress_global_timestamp", "bit<48>"),
        ("mcast_grp", "bit<16>"),
        ("checksum_error", "bit<1>"),
        ("parser_error", "error"),
    ];
    let mut text = format!(
        "program V1Switch reject continue\n{ERRORS}\
         enum HashAlgorithm {{ crc32, crc32_custom, crc16, crc16_custom, random, identity, csum16, xor16 }}\n\
         enum MeterType {{ packets, bytes }}\n\
         header_type bytes {{\n  a: bit<8>;\n  b: bit<8>;\n  c: bit<8>;\n  d: bit<8>;\n}}\n"
    );
    for (name, ty) in vars {
        text += &format!("var sm.{name}: {ty}\n");
    }
    text += &format!(
        "var x: bit<8>\nvar y: bit<8>\nvar n: bit<32>\nheader h: bytes\nheader g: bytes\n{declarations}\n\
         routine V block() {{\n  extern verify_checksum(in(h.a == 8w9), in(h.a), in(h.b), member HashAlgorithm::identity);\n}}\n\
         routine I block() {{\n  sm.egress_spec = 9w2;\n{ingress}\n}}\n\
         routine E block() {{\n{egress}\n}}\n\
         routine C block() {{\n  extern update_checksum(in(h.a == 8w8), in(h.a, h.b), inout(h.d), member HashAlgorithm::csum16);\n}}\n\
         routine D block() {{\n  emit h;\n  emit g;\n}}\n\
         parser P start start {{\n  state start {{\n    extract h;\n    goto more;\n  }}\n  \
         state more {{\n    select (h.a) {{\n      (8w7) -> second;\n      (8w6 &&& 8w0xfe) -> accept;\n      \
         (8w8 .. 8w9) -> accept;\n      (8w100) -> reject;\n    }}\n  }}\n  \
         state second {{\n    extract g;\n    goto accept;\n  }}\n}}\n\
         pipeline parser parser P\npipeline `verify checksum` control V\npipeline ingress control I\n\
         pipeline egress control E\npipeline `compute checksum` control C\npipeline deparser deparser D\n\
         slot headers {{\n  header \"h\" = h;\n  header \"g\" = g;\n}}\nslot meta {{\n}}\nintrinsic slot standard_metadata {{\n"
    );
    for (name, _) in vars {
        text += &format!("  var \"{name}\" = sm.{name};\n");
    }
    text + "}\n"
}

fn run(declarations: &str, ingress: &str, egress: &str, packet: &[u8]) -> interp::Outcome {
    interpreter(&with(declarations, ingress, egress)).run(5, packet)
}

#[test]
fn metadata_is_filled_and_the_packet_leaves_by_egress_spec() {
    let body = "  h.b = cast(sm.ingress_port, bit<8>);\n  h.c = cast(sm.packet_length, bit<8>);";
    let outcome = run(
        "",
        body,
        "  h.d = cast(sm.egress_port, bit<8>);",
        &[6, 0, 0, 0, 1],
    );
    assert_eq!(outcome.disposition, Disposition::Forward(2));
    assert_eq!(sent(&outcome), [6, 5, 5, 2, 1]);
}

#[test]
fn a_parser_error_is_noted_and_ingress_runs_all_the_same() {
    let body = "  h.b = cast(cast(sm.parser_error, bit<32>), bit<8>);";
    let outcome = run("", body, "", &[7, 0, 0, 0, 1, 2]);
    assert_eq!(outcome.parser_error.as_deref(), Some("PacketTooShort"));
    assert_eq!(
        sent(&outcome),
        [7, 1, 0, 0, 1, 2],
        "what was not parsed is payload"
    );
    let outcome = run("", body, "", &[50, 0, 0, 0]);
    assert_eq!(outcome.parser_error.as_deref(), Some("NoMatch"));
    assert_eq!(sent(&outcome), [50, 2, 0, 0]);
    let outcome = run("", body, "", &[100, 9, 0, 0]);
    assert!(outcome.rejected && outcome.parser_error.is_none());
    assert_eq!(sent(&outcome), [100, 0, 0, 0]);
}

#[test]
fn the_drop_port_drops_at_the_end_of_ingress_and_of_egress() {
    let drop = "  extern mark_to_drop(inout(sm.ingress_port, sm.egress_spec, sm.egress_port, sm.packet_length, \
                sm.ingress_global_timestamp, sm.mcast_grp, sm.checksum_error, sm.parser_error));";
    assert_eq!(run("", drop, "", &[6; 4]).disposition, Disposition::Drop);
    assert_eq!(run("", "", drop, &[6; 4]).disposition, Disposition::Drop);
    assert_eq!(
        run("", "  extern mark_to_drop();", "", &[6; 4]).disposition,
        Disposition::Drop
    );
    let undone = format!("{drop}\n  sm.egress_spec = 9w3;");
    assert_eq!(
        run("", &undone, "", &[6; 4]).disposition,
        Disposition::Forward(3)
    );
    // What egress finds in egress_spec is not what ingress left.
    let outcome = run("", "", "  h.b = cast(sm.egress_spec, bit<8>);", &[6; 4]);
    assert_eq!(sent(&outcome), [6, 0, 6, 6]);
}

#[test]
fn exit_ends_ingress_but_not_the_pipeline() {
    let outcome = run("", "  exit;\n  h.b = 8w1;", "  h.c = 8w1;", &[6, 0, 0, 0]);
    assert_eq!(sent(&outcome), [6, 0, 1, 0]);
}

#[test]
fn checksums_are_verified_before_ingress_and_updated_behind_egress() {
    let copy = "  h.c = cast(sm.checksum_error, bit<8>);";
    assert_eq!(sent(&run("", copy, "", &[9, 9, 7, 0]))[2], 0);
    assert_eq!(sent(&run("", copy, "", &[9, 1, 7, 0]))[2], 1);
    let outcome = run("", "", "  h.b = 8w1;", &[8, 0, 0, 0]);
    assert_eq!(sent(&outcome), [8, 1, 0, 0xfe]);
}

#[test]
fn registers_meters_and_counters_live_from_packet_to_packet() {
    let declarations = "extern I.reg: register {\n  type (bit<8>);\n  arg size = 4;\n}\n\
                        extern I.count: counter {\n  arg size = 4;\n}\n\
                        extern I.meter: meter {\n  arg size = 4;\n  arg type = MeterType::packets;\n}";
    let body = "  extern I.reg::read(out(x), in(32w3));\n  x = x + h.b;\n  extern I.reg::write(in(32w3), in(x));\n\
                h.b = x;\n  extern I.count::count(in(32w1));\n  extern I.meter::execute_meter(in(32w2), out(h.c));";
    let mut it = interpreter(&with(declarations, body, ""));
    let objects: Vec<_> = it.program().externs.keys().collect();
    it.set_register(objects[0], 3, &[Bits::new(8, 40u32)])
        .unwrap();
    it.set_meter(objects[2], 2, [(0, 1), (0, 2)]).unwrap();
    let colours: Vec<(u8, u8)> = (0..3)
        .map(|_| {
            let outcome = it.run(0, &[6, 1, 0, 0]);
            (sent(&outcome)[1], sent(&outcome)[2])
        })
        .collect();
    assert_eq!(colours, [(41, 0), (42, 1), (43, 2)]);
    assert_eq!(it.register(objects[0], 3), Ok(vec![Bits::new(8, 43u32)]));
    assert_eq!(
        it.counter(objects[1], 1),
        Ok(Count {
            packets: 3,
            bytes: 12
        })
    );
    assert_eq!(
        it.counter(objects[1], 4),
        Err(StoreError::OutOfRange { size: 4 })
    );
    assert!(matches!(
        it.counter(objects[0], 0),
        Err(StoreError::Unsupported { .. })
    ));
}

#[test]
fn hashes_random_numbers_logs_and_digests() {
    let body = "  extern hash(out(h.b), member HashAlgorithm::identity, in(8w10), in(h.a), in(8w4));\n\
                extern random(out(x), in(8w3), in(8w5));\n  h.c = x;\n\
                extern log_msg(\"a {}\", in(h.a));\n  extern digest(in(32w1), in(h.a, h.b));";
    let outcome = run("", body, "", &[6, 0, 0, 0]);
    let bytes = sent(&outcome);
    assert_eq!(bytes[1], 12);
    assert!((3..=5).contains(&bytes[2]));
    assert_eq!(outcome.log, ["a 6"]);
    let data = vec![Bits::new(8, 6u32), Bits::new(8, 12u32)];
    assert_eq!(outcome.digests, [Digest { receiver: 1, data }]);
    let again = run("", body, "", &[6, 0, 0, 0]);
    assert_eq!(outcome, again, "the seed is the same");
}

#[test]
fn truncate_cuts_what_leaves() {
    let outcome = run(
        "",
        "  extern truncate(in(32w5));",
        "",
        &[6, 0, 0, 0, 1, 2, 3],
    );
    assert_eq!(sent(&outcome), [6, 0, 0, 0, 1]);
}

#[test]
fn a_failed_assertion_ends_the_packet_and_a_loop_without_end_is_reported() {
    let mut it = interpreter(&with("", "  extern assert(in(h.b == 8w1));", ""));
    assert_eq!(
        it.run(0, &[6, 1, 0, 0]).disposition,
        Disposition::Forward(2)
    );
    let outcome = it.run(0, &[6, 0, 0, 0]);
    assert_eq!(
        outcome.disposition,
        Disposition::Fault(Fault::AssertionFailed)
    );
    let packet = Packet {
        port: 0,
        bytes: vec![6, 0, 0, 0],
    };
    assert_eq!(it.send(&packet), Ok(()));
    assert_eq!(it.receive(), Ok(vec![]));
    let endless = with("", "  loop label0 {\n  }", "").replacen("enum", "labels 1\nenum", 1);
    let refused = interpreter(&endless).send(&packet).unwrap_err();
    assert!(matches!(refused, StoreError::Endless { .. }), "{refused:?}");
    assert_eq!(
        refused.to_string(),
        "the packet was aborted: the program did not finish within 1000000 steps; \
         is there an infinite loop?"
    );
}

#[test]
fn multicast_is_refused_where_it_is_seen_and_a_fault_where_it_is_not() {
    let text = with("", "  sm.mcast_grp = 16w3;", "");
    let error = Interpreter::new(program(&text), Options::default()).unwrap_err();
    let messages: Vec<_> = error.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(
        messages,
        ["no target sends the packets of `v1model` programs to multicast groups yet"]
    );
    let declarations = "var group: bit<16>\nroutine f control(inout group) {\n  group = 16w3;\n}";
    let outcome = run(declarations, "  call f(inout sm.mcast_grp);", "", &[6; 4]);
    assert_eq!(
        outcome.disposition,
        Disposition::Fault(Fault::Multicast { group: 3 })
    );
    assert_eq!(
        run("", "  sm.mcast_grp = 16w0;", "", &[6; 4]).disposition,
        Disposition::Forward(2)
    );
}

#[test]
fn packets_wait_until_they_are_fetched() {
    let mut it = interpreter(&with("", "", ""));
    for first in [6, 7] {
        let packet = Packet {
            port: 0,
            bytes: vec![first, 0, 0, 0, 0, 0, 0, 0],
        };
        it.send(&packet).unwrap();
    }
    let out: Vec<u8> = it.receive().unwrap().iter().map(|p| p.bytes[0]).collect();
    assert_eq!(out, [6, 7]);
    assert_eq!(it.receive(), Ok(vec![]));
}

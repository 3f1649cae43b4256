//! Tests of `v1model`: the steps around a program's blocks, and its externs.

use crate::common::{ERRORS, interpreter, sent};
use control::Digest;
use control::{
    Change, CloneSession, Count, Device, DropReason, MeterRef, Packet, Replica, Store, StoreError,
};
use interp::{Disposition, Fault, Interpreter};
use ir::Bits;

/// Returns a switch with a header `h` of four bytes and the given bodies. Ingress first selects port 2.
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
        ("instance_type", "bit<32>"),
        ("egress_rid", "bit<16>"),
    ];
    let mut text = format!(
        "program V1Switch reject continue\n{ERRORS}\
         enum HashAlgorithm {{ crc32, crc32_custom, crc16, crc16_custom, random, identity, csum16, xor16 }}\n\
         enum MeterType {{ packets, bytes }}\n\
         enum CounterType {{ packets, bytes, packets_and_bytes }}\n\
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
                sm.ingress_global_timestamp, sm.mcast_grp, sm.checksum_error, sm.parser_error, sm.instance_type, sm.egress_rid));";
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
    // Egress does not see the `egress_spec` that ingress wrote.
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
                        extern I.count: counter {\n  arg size = 4;\n  arg type = CounterType::packets_and_bytes;\n}\n\
                        extern I.meter: meter {\n  arg size = 4;\n  arg type = MeterType::packets;\n}";
    let body = "  extern I.reg::read(out(x), in(32w3));\n  x = x + h.b;\n  extern I.reg::write(in(32w3), in(x));\n\
                h.b = x;\n  extern I.count::count(in(32w1));\n  extern I.meter::execute_meter(in(32w2), out(h.c));";
    let mut it = interpreter(&with(declarations, body, ""));
    let objects: Vec<_> = it.program().externs.keys().collect();
    it.set_register(objects[0], 3, &[Bits::new(8, 40u32)])
        .unwrap();
    let rates = control::Rates {
        committed: 0,
        committed_burst: 1,
        peak: 0,
        peak_burst: 2,
    };
    it.change(Change::Meter(MeterRef::Indexed(objects[2], 2), Some(rates)))
        .unwrap();
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
                extern log_msg(\"a {}\", in(h.a));\n  extern digest(in(32w1), in(h.a, h.b), in(32w0));";
    let outcome = run("", body, "", &[6, 0, 0, 0]);
    let bytes = sent(&outcome);
    assert_eq!(bytes[1], 12);
    assert!((3..=5).contains(&bytes[2]));
    assert_eq!(outcome.log, ["a 6"]);
    let digest = Digest {
        number: 0,
        receiver: 1,
        values: vec![Bits::new(8, 6u32), Bits::new(8, 12u32)],
    };
    assert_eq!(outcome.digests, [digest]);
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

/// Returns the same with copies, and two metadata fields, of which `kept` is in field list 1.
fn with_copies(ingress: &str, egress: &str) -> Interpreter {
    let text = with(
        "var meta.kept: bit<8>\nvar meta.lost: bit<8>",
        ingress,
        egress,
    )
    .replacen("reject continue", "reject continue copies", 1)
    .replacen(
        "slot meta {",
        "slot meta {\n  var \"kept\" = meta.kept;\n  var \"lost\" = meta.lost;",
        1,
    );
    interpreter(&(text + "field_list 1 { meta.kept }\n"))
}

/// Returns the packets that came out: port and bytes.
fn left(outcome: &interp::Outcome) -> Vec<(u32, &[u8])> {
    let packets = outcome.packets.iter();
    packets.map(|p| (p.port, p.bytes.as_slice())).collect()
}

fn session(it: &mut Interpreter, number: u32, replicas: &[Replica]) {
    let to = CloneSession {
        replicas: replicas.to_vec(),
        ..CloneSession::default()
    };
    it.change(Change::Session(number, Some(to))).unwrap();
}

const CLONE: &str = "  extern clone_preserving_field_list(in(32w0), in(32w5), in(8w1));\n";
const RESUBMIT: &str = "  extern resubmit_preserving_field_list(in(8w1));\n";
const RECIRCULATE: &str = "  extern recirculate_preserving_field_list(in(8w1));\n";

/// Statements that write the instance type and the preserved metadata to the header.
const SHOW: &str =
    "  h.b = cast(sm.instance_type, bit<8>);\n  h.c = meta.kept;\n  h.d = meta.lost;\n";

#[test]
fn a_clone_of_ingress_is_the_packet_as_it_was_parsed() {
    let body = format!("  h.a = 8w1;\n{CLONE}  meta.kept = 8w3;\n  meta.lost = 8w4;");
    let mut it = with_copies(&body, SHOW);
    let replica = |port| Replica { port, rid: 0 };
    session(&mut it, 5, &[replica(7), replica(8)]);
    let outcome = it.run(5, &[6, 0, 0, 0]);
    assert_eq!(outcome.disposition, Disposition::Forward(2));
    let clone: &[u8] = &[6, 1, 3, 0];
    assert_eq!(left(&outcome), [(7, clone), (8, clone), (2, &[1, 0, 3, 4])]);
}

#[test]
fn a_clone_of_egress_has_the_headers_as_egress_left_them() {
    let first = "  if (sm.instance_type == 32w0) {\n    meta.kept = 8w3;\n    meta.lost = 8w4;\n    h.a = 8w9;\n";
    let egress = format!("{first}{CLONE}  }}\n{SHOW}");
    let mut it = with_copies("", &egress);
    session(&mut it, 5, &[Replica { port: 7, rid: 0 }]);
    let outcome = it.run(5, &[6, 0, 0, 0, 1]);
    assert_eq!(
        left(&outcome),
        [(2, &[9, 0, 3, 4, 1][..]), (7, &[9, 2, 3, 0, 1])]
    );
}

#[test]
fn what_becomes_of_a_packet_is_decided_in_order() {
    let all = format!("  meta.kept = meta.kept + 8w1;\n  sm.mcast_grp = 16w4;\n{CLONE}");
    let once = format!("  if (sm.instance_type == 32w0) {{\n{RESUBMIT}  }}\n");
    let group = [Replica { port: 3, rid: 9 }];
    // Clone, then resubmit; the resubmitted packet is cloned and sent to the group.
    let show_rid = format!("{SHOW}  h.d = cast(sm.egress_rid, bit<8>);\n");
    let mut it = with_copies(&format!("{all}{once}"), &show_rid);
    session(&mut it, 5, &[Replica { port: 7, rid: 1 }]);
    it.change(Change::Group(4, group.to_vec())).unwrap();
    let outcome = it.run(5, &[6, 0, 0, 0]);
    assert_eq!(outcome.disposition, Disposition::Multicast(4));
    let expected: [(u32, &[u8]); 3] = [(7, &[6, 1, 1, 1]), (7, &[6, 1, 2, 1]), (3, &[6, 5, 2, 9])];
    assert_eq!(left(&outcome), expected);
    // A multicast group takes precedence over the drop port.
    let mut it = with_copies("  sm.egress_spec = 9w511;\n  sm.mcast_grp = 16w4;", SHOW);
    it.change(Change::Group(4, group.to_vec())).unwrap();
    assert_eq!(left(&it.run(5, &[6, 0, 0, 0])), [(3, &[6, 5, 0, 0][..])]);
    // A dropped packet is not recirculated, but it is cloned.
    let drop = format!("{RECIRCULATE}{CLONE}  sm.egress_spec = 9w511;");
    let egress = format!("  if (sm.instance_type == 32w0) {{\n{drop}  }}\n{SHOW}");
    let mut it = with_copies("", &egress);
    session(&mut it, 5, &[Replica { port: 7, rid: 0 }]);
    let outcome = it.run(5, &[6, 0, 0, 0]);
    assert_eq!(outcome.disposition, Disposition::Drop);
    assert_eq!(left(&outcome), [(7, &[6, 2, 0, 0][..])]);
}

#[test]
fn a_recirculated_packet_is_parsed_as_it_was_deparsed() {
    let ingress =
        "  h.b = cast(sm.instance_type, bit<8>);\n  h.c = cast(sm.packet_length, bit<8>);";
    let egress = format!(
        "  if (meta.kept < 8w2) {{\n    meta.kept = meta.kept + 8w1;\n    h.a = h.a + 8w1;\n    \
         set_valid g;\n{RECIRCULATE}  }}"
    );
    let outcome = with_copies(ingress, &egress).run(5, &[4, 0, 0, 0]);
    // Recirculated twice, with four more bytes each time: the second time they are payload.
    assert_eq!(
        left(&outcome),
        [(2, &[6, 4, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0][..])]
    );
    // A recirculation requested by ingress takes place after egress, unless the packet goes to a group.
    let once = format!("{SHOW}  if (sm.instance_type == 32w0) {{\n{RECIRCULATE}  }}");
    let outcome = with_copies(&once, "").run(5, &[6, 0, 0, 0]);
    assert_eq!(left(&outcome), [(2, &[6, 4, 0, 0][..])]);
    let mut it = with_copies(&format!("{once}\n  sm.mcast_grp = 16w4;"), SHOW);
    it.change(Change::Group(4, vec![Replica { port: 3, rid: 0 }]))
        .unwrap();
    assert_eq!(left(&it.run(5, &[6, 0, 0, 0])), [(3, &[6, 5, 0, 0][..])]);
}

#[test]
fn what_nobody_has_made_is_a_counted_drop() {
    let mut it = with_copies(&format!("{CLONE}  sm.mcast_grp = 16w4;"), "");
    for _ in 0..2 {
        let outcome = it.run(5, &[6, 0, 0, 0]);
        let reasons = [DropReason::CloneSession, DropReason::MulticastGroup];
        assert_eq!((left(&outcome), &outcome.drops[..]), (vec![], &reasons[..]));
    }
    let drops = [
        (DropReason::CloneSession, 2),
        (DropReason::MulticastGroup, 2),
    ];
    let counted = |it: &Interpreter| {
        let all = it.drops().unwrap().into_iter();
        all.filter(|(_, count)| *count > 0).collect::<Vec<_>>()
    };
    assert_eq!(counted(&it), drops);
    let to_group = CloneSession {
        group: Some(4),
        ..CloneSession::default()
    };
    it.change(Change::Session(5, Some(to_group))).unwrap();
    it.run(5, &[6, 0, 0, 0]);
    assert_eq!(
        it.drops().unwrap()[1].1,
        4,
        "of the session and of the packet"
    );
}

#[test]
fn what_the_program_drops_is_counted_and_no_loss() {
    let drops = "  sm.egress_spec = 9w511;";
    for (ingress, egress, dropped) in [(drops, "", 1), ("", drops, 1), ("", "", 0)] {
        let mut it = with_copies(ingress, egress);
        assert_eq!(it.run(5, &[6, 0, 0, 0]).drops, []);
        let counts = it.drops().unwrap();
        assert_eq!(counts.len(), DropReason::ALL.len(), "zero ones too");
        for (reason, count) in counts {
            let expected = u64::from(reason == DropReason::DropPort) * dropped;
            assert_eq!(count, expected, "{reason}");
        }
    }
}

#[test]
fn a_packet_that_goes_round_for_ever_is_cut_off() {
    let clones = format!("{CLONE}  sm.egress_spec = 9w511;");
    for (ingress, egress) in [(RESUBMIT, ""), ("", RECIRCULATE), (CLONE, clones.as_str())] {
        let mut it = with_copies(ingress, egress);
        session(&mut it, 5, &[Replica { port: 7, rid: 0 }]);
        let outcome = it.run(5, &[6, 0, 0, 0]);
        assert_eq!(outcome.disposition, Disposition::Drop);
        assert_eq!(outcome.drops.last(), Some(&DropReason::Rounds));
        assert!(left(&outcome).is_empty());
    }
    // Copies that double in each round end earlier.
    let mut it = with_copies(CLONE, &clones);
    session(
        &mut it,
        5,
        &[Replica { port: 7, rid: 0 }, Replica { port: 8, rid: 0 }],
    );
    let outcome = it.run(5, &[6, 0, 0, 0]);
    assert!(
        outcome.drops.contains(&DropReason::Rounds),
        "{:?}",
        outcome.disposition
    );
}

#[test]
fn a_session_cuts_its_copies_and_a_failed_assertion_ends_one() {
    let mut it = with_copies(CLONE, "  extern assert(in(sm.instance_type == 32w1));");
    let to = CloneSession {
        replicas: Replica::to_ports([7]),
        group: None,
        truncate: Some(5),
    };
    it.change(Change::Session(5, Some(to.clone()))).unwrap();
    let outcome = it.run(5, &[6, 0, 0, 0, 1, 2]);
    assert_eq!(left(&outcome), [(7, &[6, 0, 0, 0, 1][..])]);
    assert_eq!(
        outcome.disposition,
        Disposition::Fault(Fault::AssertionFailed)
    );
    it.change(Change::Session(5, None)).unwrap();
    assert_eq!(it.clone_sessions(), Ok(vec![]));
    for wrong in [
        CloneSession {
            truncate: Some(0),
            ..to.clone()
        },
        CloneSession {
            group: Some(0),
            ..to.clone()
        },
        CloneSession {
            replicas: Replica::to_ports(0..65),
            ..to
        },
    ] {
        assert!(
            it.change(Change::Session(5, Some(wrong.clone()))).is_err(),
            "{wrong:?}"
        );
    }
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

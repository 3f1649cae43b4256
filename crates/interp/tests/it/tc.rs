//! Tests of `tc_model`: the steps around a program's blocks.

use crate::common::{ERRORS, interpreter, program, sent};
use arch::tc::Direction;
use control::repeatable::{RandomLists, START, STEP};
use control::{Change, Device, Packet, Replica, Store, StoreError};
use diag::SourceMap;
use interp::{Disposition, Interpreter, Marks, Options, Outcome, trace};
use std::cell::RefCell;
use std::rc::Rc;

const PACKET: [u8; 5] = [1, 2, 3, 4, 9];

/// Returns a program with a header `h` of four bytes, rejected if the first is 7, and this body of the control.
fn with(body: &str) -> String {
    let input = [
        ("input_port", "bit<32>"),
        ("direction", "tc_direction"),
        ("length", "bit<32>"),
        ("mark", "bit<32>"),
        ("priority", "bit<32>"),
        ("vlan_present", "bit<1>"),
        ("vlan_tci", "bit<16>"),
        ("timestamp", "bit<64>"),
        ("gso_segments", "bit<32>"),
        ("gso_size", "bit<32>"),
        ("mtu", "bit<32>"),
    ];
    let output = [
        ("verdict", "tc_verdict"),
        ("output_port", "bit<32>"),
        ("mark", "bit<32>"),
        ("priority", "bit<32>"),
        ("queue", "bit<16>"),
        ("clone", "bool"),
        ("clone_port", "bit<32>"),
        ("multicast_group", "bit<16>"),
    ];
    let mut text = format!(
        "program tc reject stop\n{ERRORS}\
         enum tc_direction {{ TC_INGRESS, TC_EGRESS }}\n\
         enum tc_verdict {{ TC_PASS, TC_DROP, TC_REDIRECT_EGRESS, TC_REDIRECT_INGRESS }}\n\
         header_type bytes {{\n  a: bit<8>;\n  b: bit<8>;\n  c: bit<8>;\n  d: bit<8>;\n}}\n"
    );
    let declare = |prefix: &str, fields: &[(&str, &str)]| {
        fields.iter().fold(String::new(), |text, (name, ty)| {
            text + &format!("var {prefix}.{name}: {ty}\n")
        })
    };
    let bind = |prefix: &str, fields: &[(&str, &str)]| {
        fields.iter().fold(String::new(), |text, (name, _)| {
            text + &format!("  var \"{name}\" = {prefix}.{name};\n")
        })
    };
    text += &declare("i", &input);
    text += &declare("o", &output);
    text += &format!(
        "var n: bit<32>\nheader h: bytes\n\
         routine C block() {{\n{body}\n}}\nroutine D block() {{\n  emit h;\n}}\n\
         parser P start start {{\n  state start {{\n    extract h;\n    select (h.a) {{\n      \
         (8w7) -> reject;\n      (_) -> accept;\n    }}\n  }}\n}}\n\
         pipeline parser parser P\npipeline control control C\npipeline deparser deparser D\n\
         slot headers {{\n  header \"h\" = h;\n}}\n\
         intrinsic slot tc_input {{\n{}}}\nintrinsic slot tc_output {{\n{}}}\n",
        bind("i", &input),
        bind("o", &output)
    );
    text
}

fn run(body: &str) -> Outcome {
    interpreter(&with(body)).run(5, &PACKET)
}

fn ports(packets: &[Packet]) -> Vec<u32> {
    packets.iter().map(|p| p.port).collect()
}

#[test]
fn the_verdict_is_pass_by_default() {
    let outcome = run("  h.b = 8w0x20;");
    assert_eq!(outcome.disposition, Disposition::Pass);
    assert_eq!(outcome.marks, Some(Marks::default()));
    assert_eq!(ports(&outcome.packets), [5]);
    assert_eq!(sent(&outcome), [1, 0x20, 3, 4, 9]);
    let outcome = run("  o.verdict = tc_verdict::TC_DROP;");
    assert_eq!(
        (outcome.disposition, outcome.packets.len()),
        (Disposition::Drop, 0)
    );
    assert_eq!(outcome.marks, None);
    let to = |verdict: &str| {
        run(&format!(
            "  o.verdict = tc_verdict::{verdict};\n  o.output_port = 32w3;"
        ))
    };
    let outcome = to("TC_REDIRECT_EGRESS");
    assert_eq!(outcome.disposition, Disposition::Redirect(3));
    assert_eq!(ports(&outcome.packets), [3]);
    let outcome = to("TC_REDIRECT_INGRESS");
    assert_eq!(outcome.disposition, Disposition::RedirectIngress(3));
    assert_eq!(ports(&outcome.packets), [3]);
}

#[test]
fn a_rejected_packet_is_dropped_without_the_control() {
    let mut interpreter = interpreter(&with("  o.clone = true;"));
    let outcome = interpreter.run(5, &[7, 0, 0, 0]);
    assert_eq!(outcome.disposition, Disposition::Drop);
    assert!(outcome.rejected && outcome.packets.is_empty() && outcome.copies.is_empty());
    assert_eq!(interpreter.run(5, &[1, 2]).disposition, Disposition::Drop);
}

#[test]
fn inputs_describe_the_packet_and_its_direction() {
    let body = "  h.a = cast(i.input_port, bit<8>);\n  h.b = cast(i.direction, bit<8>);\n  \
                h.c = cast(i.length, bit<8>);\n  o.mark = i.mtu;\n  o.priority = cast(i.timestamp, bit<32>);";
    let body = body.replace(
        "  h.b = cast(i.direction, bit<8>);\n",
        "  if i.direction == tc_direction::TC_EGRESS {\n    h.b = 8w1;\n  } else {\n    h.b = 8w0;\n  }\n",
    );
    for (direction, number) in [(Direction::Ingress, 0), (Direction::Egress, 1)] {
        let options = Options {
            direction,
            mtu: 1400,
            ..Options::default()
        };
        let mut interpreter = Interpreter::new(program(&with(&body)), options).unwrap();
        let outcome = interpreter.run(6, &PACKET);
        assert_eq!(sent(&outcome), [6, number, 5, 4, 9]);
        let marks = Marks {
            mark: 1400,
            priority: (START + STEP) as u32,
            queue: 0,
        };
        assert_eq!(outcome.marks, Some(marks));
        Device::wait(&mut interpreter, 5_000_000).unwrap();
        let marks = interpreter.run(6, &PACKET).marks.unwrap();
        assert_eq!(u64::from(marks.priority), START + 2 * STEP + 5_000_000);
    }
}

#[test]
fn marks_stay_unless_the_control_changes_them() {
    let before = Marks {
        mark: 7,
        priority: 9,
        queue: 0,
    };
    let after = |body: &str| {
        let mut interpreter = interpreter(&with(body));
        interpreter.run_marked(0, &PACKET, before).marks
    };
    assert_eq!(after(""), Some(before));
    let changed = Marks {
        mark: 9,
        priority: 1,
        queue: 2,
    };
    let body = "  o.mark = i.priority;\n  o.priority = 32w1;\n  o.queue = 16w2;";
    assert_eq!(after(body), Some(changed));
}

#[test]
fn the_trace_shows_marks_and_copies() {
    let body =
        "  o.mark = 32w0x1234;\n  o.queue = 16w2;\n  o.clone = true;\n  o.clone_port = 32w8;";
    for (body, end) in [
        (
            body,
            "  mark 4660 (0x1234), priority 0, queue 2\ndeparser D\n    emit h (bytes 0-3)\n\
             verdict: passed\n  port 8, 5 bytes: 0102030409\n  port 5, 5 bytes: 0102030409\n",
        ),
        (
            "",
            "deparser D\n    emit h (bytes 0-3)\nverdict: passed\n  port 5, 5 bytes: 0102030409\n",
        ),
    ] {
        let mut interpreter = interpreter(&with(body));
        let trace = Rc::new(RefCell::new(String::new()));
        let sink = Rc::clone(&trace);
        let sources = SourceMap::new();
        interpreter.trace_to(Some(Box::new(move |event| {
            sink.borrow_mut().push_str(&trace::text(&event, &sources));
        })));
        interpreter.run(5, &PACKET);
        let trace = trace.borrow();
        assert!(trace.ends_with(end), "{trace}");
        let before = trace.strip_suffix(end).unwrap_or_default();
        assert!(!before.contains("mark "), "{trace}");
    }
}

#[test]
fn copies_leave_as_the_deparser_left_the_packet_and_before_it() {
    let body =
        "  h.b = 8w9;\n  o.clone = true;\n  o.clone_port = 32w8;\n  o.multicast_group = 16w2;";
    let drop = format!("{body}\n  o.verdict = tc_verdict::TC_DROP;");
    for (body, verdict, own) in [
        (body, Disposition::Pass, &[5][..]),
        (&drop, Disposition::Drop, &[]),
    ] {
        let mut interpreter = interpreter(&with(body));
        let to = |ports: &[u32]| Replica::to_ports(ports.iter().copied());
        interpreter.change(Change::Group(2, to(&[1, 5]))).unwrap();
        interpreter.change(Change::Group(3, to(&[7]))).unwrap();
        let outcome = interpreter.run(5, &PACKET);
        assert_eq!(outcome.disposition, verdict);
        assert_eq!(ports(&outcome.copies), [8, 1, 5]);
        assert_eq!(ports(&outcome.packets), own);
        assert!(outcome.copies.iter().all(|p| p.bytes == [1, 9, 3, 4, 9]));
        let packet = Packet {
            port: 5,
            bytes: PACKET.to_vec(),
        };
        interpreter.send(&packet).unwrap();
        let out = interpreter.receive().unwrap();
        assert_eq!(ports(&out), [&[8, 1, 5], own].concat());
        interpreter.change(Change::Group(2, Vec::new())).unwrap();
        assert_eq!(ports(&interpreter.run(5, &PACKET).copies), [8]);
    }
}

#[test]
fn there_are_groups_that_no_target_has() {
    let mut interpreter = interpreter(&with(""));
    for (group, ports) in [(0, vec![1]), (1, vec![1; 65])] {
        let replicas = Replica::to_ports(ports);
        let error = interpreter
            .change(Change::Group(group, replicas.to_vec()))
            .unwrap_err();
        assert!(matches!(error, StoreError::Invalid { .. }), "{error}");
    }
    interpreter
        .change(Change::Group(1, Replica::to_ports([1; 32])))
        .unwrap();
}

#[test]
fn each_packet_finds_the_numbers_of_the_shared_list() {
    let body = "  extern random32() -> o.mark;\n  extern random32() -> o.priority;";
    let mut interpreter = interpreter(&with(body));
    let mut lists = RandomLists::new(Options::default().seed);
    for _ in 0..3 {
        let list = lists.next_list();
        let marks = interpreter.run(0, &PACKET).marks.unwrap();
        assert_eq!([marks.mark, marks.priority], list[..2]);
    }
}

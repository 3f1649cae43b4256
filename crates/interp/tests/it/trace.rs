//! Execution traces, as text and as JSON, and decoding of a packet.

use crate::common::{add, interpreter, program, switch};
use interp::trace::{TraceEvent, json, text};
use interp::{Interpreter, decode};
use ir::{Bits, KeyMatch};
use std::cell::RefCell;
use std::rc::Rc;

fn traced(it: &mut Interpreter, packet: &[u8]) -> Vec<TraceEvent> {
    let events = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&events);
    it.trace_to(Some(Box::new(move |event| sink.borrow_mut().push(event))));
    it.run(1, packet);
    it.trace_to(None);
    events.take()
}

fn router() -> Interpreter {
    let declarations = "extern S.c: CounterArray {\n  arg max_index = 8;\n}\n\
                        var v: bit<8>\naction S.set(v) {\n  h.d = v;\n  h.c = 8w3;\n}\naction S.none() {}\n\
                        table S.t {\n  key \"hdr.a\" exact h.a;\n  action S.set;\n  action S.none;\n  \
                        default S.none();\n}";
    let body = "  apply S.t hit flag;\n  if !flag {\n    set_invalid h;\n    extern S.c::increment(in(32w1));\n  }";
    let mut it = interpreter(&switch(declarations, body));
    add(
        &mut it,
        "S.t",
        vec![KeyMatch::Exact(Bits::new(8, 1u32))],
        0,
        99,
    )
    .unwrap();
    it
}

#[test]
fn the_trace_of_a_hit_and_of_a_miss() {
    let sources = diag::SourceMap::new();
    let mut it = router();
    let text = |events: Vec<TraceEvent>| -> String {
        events.iter().map(|event| text(event, &sources)).collect()
    };
    assert_eq!(
        text(traced(&mut it, &[1, 2, 3, 4, 5])),
        "\
packet on port 1, 5 bytes: 0102030405
parser P
  state start
    extract h (bytes 0-3)
      a = 1
      b = 2
      c = 3
      d = 4
switch S
    xout.output_action: XDP_ABORTED -> XDP_PASS
  table S.t (hdr.a=1)
    hit (hdr.a=1): S.set(v=99)
    h.d: 4 -> 99
deparser D
    emit h (bytes 0-3)
verdict: passed
  port 1, 5 bytes: 0102036305
"
    );
    assert_eq!(
        text(traced(&mut it, &[2, 2, 3, 4])),
        "\
packet on port 1, 4 bytes: 02020304
parser P
  state start
    extract h (bytes 0-3)
      a = 2
      b = 2
      c = 3
      d = 4
switch S
    xout.output_action: XDP_ABORTED -> XDP_PASS
  table S.t (hdr.a=2)
    miss: S.none()
    h becomes invalid
    S.c.increment(1)
deparser D
verdict: passed
  port 1, 0 bytes: 
"
    );
    assert_eq!(
        text(traced(&mut it, &[2])),
        "\
packet on port 1, 1 byte: 02
parser P
  state start
  reject: PacketTooShort
verdict: aborted
"
    );
}

#[test]
fn events_name_their_line() {
    let mut sources = diag::SourceMap::new();
    let file = sources.add("dir/prog.p4", "one\ntwo\n").unwrap();
    let mut event = traced(&mut router(), &[1, 2, 3, 4])
        .into_iter()
        .find(|e| matches!(e.kind, interp::trace::TraceKind::Assign { .. }))
        .unwrap();
    event.span = sources.span(file, 4..7);
    assert_eq!(
        text(&event, &sources),
        "    xout.output_action: XDP_ABORTED -> XDP_PASS                         prog.p4:2\n"
    );
    assert_eq!(
        json(&event, &sources),
        r#"{"event":"assign","place":"xout.output_action","old":"XDP_ABORTED","new":"XDP_PASS","changed":true,"file":"dir/prog.p4","line":2}"#
    );
}

#[test]
fn a_packet_is_decoded_by_the_programs_own_parser() {
    let program = program(&switch("", ""));
    let decoded = decode(&program, &[1, 2, 3, 4, 5]).unwrap();
    assert_eq!(decoded.headers.len(), 1);
    let header = &decoded.headers[0];
    assert_eq!((header.name.as_str(), header.bytes.clone()), ("h", 0..4));
    let field = &header.fields[2];
    assert_eq!(
        (
            field.name.as_str(),
            field.value.as_str(),
            field.bits.clone()
        ),
        ("c", "3", 16..24)
    );
    assert_eq!((decoded.payload, decoded.rejected), (4..5, None));
    let short = decode(&program, &[1]).unwrap();
    assert_eq!(short.rejected.as_deref(), Some("PacketTooShort"));
    assert_eq!((short.headers.len(), short.payload), (0, 0..1));
}

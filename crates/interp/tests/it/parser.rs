//! Edge cases of parsers, on a filter that accepts what was parsed.

use crate::common::{ERRORS, interpreter};
use control::{Change, Store, StoreError};
use interp::{Disposition, Interpreter};
use ir::{Bits, KeyMatch};

/// Returns a filter around the states of its parser. It accepts the packet unless the body of the control sets `accept`
/// otherwise.
fn filter(states: &str, control: &str) -> String {
    format!(
        "program ebpfFilter reject stop\n{ERRORS}\
         header_type bytes {{\n  a: bit<8>;\n  b: bit<8>;\n}}\n\
         header_type odd {{\n  top: bit<3>;\n  middle: int<12>;\n  low: bool;\n}}\n\
         header_type opts {{\n  len: bit<8>;\n  data: varbit<32>;\n}}\n\
         var accept: bool\nvar n: bit<32>\nvar x: bit<8>\nvar s.next: bit<32>\n\
         header h: bytes\nheader odd: odd\nheader opts: opts\nheader s[0]: bytes\nheader s[1]: bytes\n\
         stack s next s.next {{ s[0], s[1] }}\n\
         value_set P.set size 2 {{\n  a: bit<8> ternary;\n  b: bit<8> exact;\n}}\n\
         extern F.c: CounterArray {{\n  arg max_index = 8;\n}}\n\
         routine F block() {{\n  accept = true;\n{control}\n}}\n\
         parser P start start {{\n{states}}}\n\
         pipeline parser parser P\npipeline filter control F\n\
         slot headers {{\n  header \"h\" = h;\n  header \"s[0]\" = s[0];\n  header \"s[1]\" = s[1];\n}}\n\
         intrinsic slot accept {{\n  var \"\" = accept;\n}}\n"
    )
}

/// Returns the parser's error for a packet, or `accept`.
fn error(states: &str, packet: &[u8]) -> String {
    let outcome = interpreter(&filter(states, "")).run(0, packet);
    match (outcome.rejected, outcome.parser_error) {
        (false, _) => {
            assert_eq!(outcome.disposition, Disposition::Pass);
            "accept".to_string()
        }
        (true, error) => {
            assert_eq!(outcome.disposition, Disposition::Drop);
            error.map_or("reject".to_string(), |e| e.to_string())
        }
    }
}

fn one_state(body: &str) -> String {
    format!("  state start {{\n{body}    goto accept;\n  }}\n")
}

#[test]
fn an_accepted_packet_goes_on_unchanged() {
    let mut it = interpreter(&filter(&one_state("    extract h;\n"), "  h.a = 8w9;"));
    let outcome = it.run(3, &[1, 2, 3]);
    assert_eq!(outcome.packets[0].bytes, [1, 2, 3]);
    assert_eq!(outcome.packets[0].port, 3);
    let mut it = interpreter(&filter(&one_state(""), "  accept = false;"));
    assert_eq!(it.run(3, &[]).disposition, Disposition::Drop);
}

#[test]
fn reading_past_the_end() {
    let extract = one_state("    extract h;\n");
    assert_eq!(error(&extract, &[1]), "PacketTooShort");
    assert_eq!(error(&extract, &[1, 2]), "accept");
    let lookahead = one_state("    lookahead n;\n");
    assert_eq!(error(&lookahead, &[1, 2, 3]), "PacketTooShort");
    assert_eq!(error(&lookahead, &[1, 2, 3, 4]), "accept");
    let advance = one_state("    advance 32w16;\n");
    assert_eq!(error(&advance, &[1]), "PacketTooShort");
    assert_eq!(error(&advance, &[1, 2]), "accept");
    assert_eq!(
        error(&one_state("    advance 32w0xfffffff8;\n"), &[1]),
        "PacketTooShort"
    );
    assert_eq!(
        error(&one_state("    advance 32w4;\n"), &[1]),
        "ParserInvalidArgument"
    );
}

#[test]
fn varbits_are_checked_for_size_before_anything_is_read() {
    let states = one_state("    packet_length n;\n    extract opts, (n << 32w3) - 32w8;\n");
    assert_eq!(error(&states, &[9, 1, 2, 3, 4]), "accept");
    assert_eq!(error(&states, &[9, 1, 2, 3, 4, 5]), "HeaderTooShort");
    let states = one_state("    extract opts, 32w12;\n");
    assert_eq!(error(&states, &[9, 1, 2]), "ParserInvalidArgument");
    let states = one_state("    extract opts, 32w16;\n");
    assert_eq!(error(&states, &[9, 1]), "PacketTooShort");
}

#[test]
fn verify_rejects_with_its_error() {
    let states = one_state("    extract h;\n    verify h.a == 8w1, error::HeaderTooShort;\n");
    assert_eq!(error(&states, &[1, 0]), "accept");
    assert_eq!(error(&states, &[2, 0]), "HeaderTooShort");
}

#[test]
fn a_stack_has_an_end() {
    let states = "  state start {\n    extract s[s.next];\n    s.next = s.next + 32w1;\n    \
                  select (s[s.next - 32w1].b) {\n      (8w0) -> accept;\n      (_) -> start;\n    }\n  }\n";
    assert_eq!(error(states, &[1, 1, 2, 0]), "accept");
    assert_eq!(error(states, &[1, 1, 2, 1, 3, 0]), "StackOutOfBounds");
}

#[test]
fn unaligned_fields_are_read_by_bits() {
    let control = "  accept = ((odd.top == 3w5) & (odd.middle == 12s0xffe)) & odd.low;";
    let mut it = interpreter(&filter(&one_state("    extract odd;\n"), control));
    assert_eq!(
        it.run(0, &[0b1011_1111, 0b1111_1101]).disposition,
        Disposition::Pass
    );
    assert_eq!(
        it.run(0, &[0b1011_1111, 0b1111_1100]).disposition,
        Disposition::Drop
    );
}

fn with_value_set() -> Interpreter {
    let states = "  state start {\n    extract h;\n    select (h.a, h.b) {\n      (P.set) -> accept;\n      \
                  (8w3 .. 8w4, _) -> accept;\n    }\n  }\n";
    interpreter(&filter(states, ""))
}

#[test]
fn value_sets_hold_what_the_control_plane_puts_in() {
    let mut it = with_value_set();
    let set = it.program().value_sets.keys().next().unwrap();
    let run = |it: &mut Interpreter, a, b| it.run(0, &[a, b]).disposition == Disposition::Pass;
    assert!(!run(&mut it, 0x11, 1) && run(&mut it, 3, 1));
    let member = |value: u32| {
        vec![
            KeyMatch::Ternary(Bits::new(8, 0x10u32), Bits::new(8, 0xf0u32)),
            KeyMatch::Exact(Bits::new(8, value)),
        ]
    };
    it.change(Change::InsertMember(set, member(1))).unwrap();
    assert!(run(&mut it, 0x11, 1) && !run(&mut it, 0x21, 1) && !run(&mut it, 0x11, 2));
    assert_eq!(
        it.change(Change::InsertMember(set, member(1))),
        Err(StoreError::Duplicate)
    );
    it.change(Change::InsertMember(set, member(2))).unwrap();
    let full = it.change(Change::InsertMember(set, member(3)));
    assert_eq!(full, Err(StoreError::Full { capacity: 2 }));
    it.change(Change::RemoveMember(set, member(1))).unwrap();
    assert_eq!(
        it.change(Change::RemoveMember(set, member(1))),
        Err(StoreError::Missing)
    );
    assert!(!run(&mut it, 0x11, 1));
}

#[test]
fn counters_are_read_by_the_control_plane() {
    let mut it = interpreter(&filter(
        &one_state(""),
        "  extern F.c::increment(in(32w2));\n  extern F.c::add(in(32w2), in(32w5));",
    ));
    it.run(0, &[]);
    let counter = it.program().externs.keys().next().unwrap();
    assert_eq!(it.counter(counter, 2).unwrap().packets, 6);
    assert_eq!(it.reset_counter(counter, Some(2)), Ok(()));
    assert_eq!(it.counter(counter, 2).unwrap().packets, 0);
}

#[test]
fn a_parser_without_end_rejects_the_packet() {
    let states = "  state start {\n    goto start;\n  }\n";
    let outcome = interpreter(&filter(states, "")).run(0, &[]);
    assert_eq!(outcome.parser_error.as_deref(), Some("ParserTimeout"));
    assert!(outcome.rejected, "{outcome:?}");
    assert_eq!(outcome.disposition, Disposition::Drop);
}

proptest::proptest! {
    #[test]
    fn random_bytes_never_panic(packet in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..40), pick in 0usize..4) {
        let states = [
            "  state start {\n    extract s[s.next];\n    s.next = s.next + 32w1;\n    \
             select (s[s.next - 32w1].b) {\n      (8w0 &&& 8w1) -> accept;\n      (_) -> start;\n    }\n  }\n"
                .to_string(),
            one_state("    extract h;\n    extract opts, cast(h.a, bit<32>) << 32w3;\n    extract odd;\n"),
            one_state("    lookahead x;\n    advance cast(x, bit<32>);\n    extract odd;\n"),
            "  state start {\n    extract odd;\n    select (odd.middle, odd.low) {\n      \
             (12s0xf00 .. 12s5, _) -> accept;\n      (_, 1w1) -> start;\n    }\n  }\n"
                .to_string(),
        ];
        let control = "  n = cast(odd.middle, bit<32>) |-| n;\n  accept = (n << h.a) < (n >> opts.len);\n  \
                       extern F.c::add(in(n), in(n));";
        let program = crate::common::program(&filter(&states[pick], control));
        let mut it = Interpreter::new(program.clone(), interp::Options::default()).unwrap();
        it.run(0, &packet);
        interp::decode(&program, &packet).unwrap();
    }
}

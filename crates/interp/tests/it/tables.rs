//! Tables: which entry is found, and what the control plane may do.

use crate::common::{add, entry, interpreter, sent, switch, table};
use control::{Count, Store, StoreError};
use interp::Interpreter;
use ir::{ActionCall, Bits, KeyMatch};

/// A table over `keys`; its action sets `h.d`.
fn with_table(keys: &str, rest: &str) -> Interpreter {
    let declarations = format!(
        "var v: bit<8>\naction S.set(v) {{\n  h.d = v;\n}}\naction S.none() {{}}\n\
         table S.t {{\n{keys}  action S.set;\n  action S.none;\n  default S.none();\n{rest}}}"
    );
    interpreter(&switch(
        &declarations,
        "  apply S.t hit flag action n;\n  if flag {\n    h.c = 8w1;\n  }\n  else {\n    h.c = cast(n, bit<8>);\n  }",
    ))
}

fn bits(value: u32) -> Bits {
    Bits::new(8, value)
}

fn exact(value: u32) -> KeyMatch {
    KeyMatch::Exact(bits(value))
}

/// What the action wrote for a packet that begins with `a` and `b`; `None` for a miss.
fn found(it: &mut Interpreter, a: u8, b: u8) -> Option<u8> {
    let outcome = it.run(0, &[a, b, 0, 0]);
    let bytes = sent(&outcome);
    // 1 is both the mark of a hit and the index of the default action.
    (bytes[3] != 0).then_some(bytes[3])
}

#[test]
fn exact_keys_are_found_together() {
    let mut it = with_table("  key \"a\" exact h.a;\n  key \"b\" exact h.b;\n", "");
    add(&mut it, "S.t", vec![exact(1), exact(2)], 0, 10).unwrap();
    add(&mut it, "S.t", vec![exact(2), exact(1)], 0, 20).unwrap();
    assert_eq!(found(&mut it, 1, 2), Some(10));
    assert_eq!(found(&mut it, 2, 1), Some(20));
    assert_eq!(found(&mut it, 1, 1), None);
}

#[test]
fn the_longest_prefix_wins() {
    let mut it = with_table("  key \"a\" lpm h.a;\n  key \"b\" exact h.b;\n", "");
    let prefix = |value, length| vec![KeyMatch::Lpm(bits(value), length), exact(0)];
    add(&mut it, "S.t", prefix(0, 0), 0, 1).unwrap();
    add(&mut it, "S.t", prefix(0xa0, 4), 0, 2).unwrap();
    add(&mut it, "S.t", prefix(0xab, 8), 0, 3).unwrap();
    assert_eq!(found(&mut it, 0xab, 0), Some(3));
    assert_eq!(found(&mut it, 0xac, 0), Some(2));
    assert_eq!(found(&mut it, 0x10, 0), Some(1));
    assert_eq!(found(&mut it, 0xab, 1), None);
    let t = table(&it, "S.t");
    it.remove(t, &prefix(0xab, 8), 0).unwrap();
    it.remove(t, &prefix(0, 0), 0).unwrap();
    assert_eq!(found(&mut it, 0xab, 0), Some(2));
    assert_eq!(found(&mut it, 0x10, 0), None);
}

#[test]
fn the_larger_priority_wins_over_masks_ranges_and_optionals() {
    let mut it = with_table("  key \"a\" ternary h.a;\n  key \"b\" range h.b;\n", "");
    let any = || vec![KeyMatch::Any, KeyMatch::Any];
    let odd = || {
        vec![
            KeyMatch::Ternary(bits(1), bits(1)),
            KeyMatch::Range(bits(10), bits(20)),
        ]
    };
    add(&mut it, "S.t", any(), 1, 1).unwrap();
    add(&mut it, "S.t", odd(), 5, 2).unwrap();
    assert_eq!(found(&mut it, 3, 20), Some(2));
    assert_eq!(found(&mut it, 2, 15), Some(1));
    assert_eq!(found(&mut it, 3, 21), Some(1));
    add(&mut it, "S.t", any(), 9, 3).unwrap();
    assert_eq!(found(&mut it, 3, 20), Some(3));

    let mut it = with_table("  key \"a\" optional h.a;\n", "");
    add(&mut it, "S.t", vec![exact(4)], 2, 1).unwrap();
    add(&mut it, "S.t", vec![KeyMatch::Any], 1, 2).unwrap();
    assert_eq!(found(&mut it, 4, 0), Some(1));
    assert_eq!(found(&mut it, 5, 0), Some(2));
}

#[test]
fn duplicates_are_matches_that_mean_the_same() {
    let mut it = with_table("  key \"a\" ternary h.a;\n", "");
    let masked = |value| vec![KeyMatch::Ternary(bits(value), bits(0xf0))];
    add(&mut it, "S.t", masked(0x11), 3, 1).unwrap();
    assert_eq!(
        add(&mut it, "S.t", masked(0x12), 3, 1),
        Err(StoreError::Duplicate)
    );
    add(&mut it, "S.t", masked(0x12), 4, 1).unwrap();
    let mut it = with_table("  key \"a\" exact h.a;\n", "");
    add(&mut it, "S.t", vec![exact(1)], 3, 1).unwrap();
    let again = add(&mut it, "S.t", vec![exact(1)], 4, 1);
    assert_eq!(
        again,
        Err(StoreError::Duplicate),
        "priorities mean nothing here"
    );
}

#[test]
fn a_table_is_full_at_its_size() {
    let mut it = with_table("  key \"a\" exact h.a;\n", "  size 2;\n");
    for value in 0..2 {
        add(&mut it, "S.t", vec![exact(value)], 0, 1).unwrap();
    }
    let full = add(&mut it, "S.t", vec![exact(2)], 0, 1);
    assert_eq!(full, Err(StoreError::Full { capacity: 2 }));
    let t = table(&it, "S.t");
    it.remove(t, &[exact(0)], 0).unwrap();
    add(&mut it, "S.t", vec![exact(2)], 0, 1).unwrap();
}

#[test]
fn entries_change_and_go_or_are_missing() {
    let mut it = with_table("  key \"a\" exact h.a;\n", "");
    let t = table(&it, "S.t");
    let missing = it.modify(t, &entry(vec![exact(1)], 0, 9));
    assert_eq!(missing, Err(StoreError::Missing));
    assert_eq!(it.remove(t, &[exact(1)], 0), Err(StoreError::Missing));
    it.insert(t, &entry(vec![exact(1)], 0, 8)).unwrap();
    it.modify(t, &entry(vec![exact(1)], 0, 9)).unwrap();
    assert_eq!(found(&mut it, 1, 0), Some(9));
    assert_eq!(it.entries(t), Ok(vec![entry(vec![exact(1)], 0, 9)]));
    it.remove(t, &[exact(1)], 0).unwrap();
    assert_eq!(found(&mut it, 1, 0), None);
    assert_eq!(it.entries(t), Ok(vec![]));
}

#[test]
fn the_programs_own_entries_come_first_and_stay() {
    let own = "  entry const 1 (8w5) -> S.set(8w50);\n  entry 2 (8w6) -> S.set(8w60);\n";
    let mut it = with_table("  key \"a\" exact h.a;\n", own);
    let t = table(&it, "S.t");
    assert_eq!(found(&mut it, 5, 0), Some(50));
    assert_eq!(it.remove(t, &[exact(5)], 1), Err(StoreError::Const));
    it.modify(t, &entry(vec![exact(6)], 2, 61)).unwrap();
    assert_eq!(found(&mut it, 6, 0), Some(61));
    let mut it = with_table(
        "  key \"a\" exact h.a;\n",
        &format!("{own}  const_entries;\n"),
    );
    let refused = add(&mut it, "S.t", vec![exact(7)], 0, 1);
    assert_eq!(refused, Err(StoreError::Const));
    let t = table(&it, "S.t");
    assert_eq!(it.remove(t, &[exact(6)], 2), Err(StoreError::Const));
}

#[test]
fn the_default_action_changes_unless_it_is_const() {
    let mut it = with_table("  key \"a\" exact h.a;\n", "");
    let t = table(&it, "S.t");
    let action = ActionCall {
        action: 0,
        args: vec![bits(33)],
    };
    it.set_default(t, &action).unwrap();
    assert_eq!(it.default_action(t), Ok(action.clone()));
    let outcome = it.run(0, &[1, 0, 7, 0]);
    assert_eq!(sent(&outcome), [1, 0, 0, 33], "a miss runs action 0");
    let text = "action S.none() {}\ntable S.t {\n  key \"a\" exact h.a;\n  action S.none;\n  default const S.none();\n}";
    let mut it = interpreter(&switch(text, "  apply S.t;"));
    assert_eq!(it.set_default(t, &action), Err(StoreError::Const));
}

#[test]
fn every_hit_is_counted_for_its_entry() {
    let mut it = with_table("  key \"a\" exact h.a;\n", "");
    let t = table(&it, "S.t");
    add(&mut it, "S.t", vec![exact(1)], 0, 9).unwrap();
    for first in [1, 1, 2] {
        it.run(0, &[first, 0, 0, 0, 0, 0]);
    }
    let count = it.direct_counter(t, &entry(vec![exact(1)], 0, 9));
    assert_eq!(
        count,
        Ok(Count {
            packets: 2,
            bytes: 12
        })
    );
}

#[test]
fn an_array_takes_keys_below_its_size() {
    let declarations = "extern S.impl: array_table {\n  arg size = 4;\n}\n\
                        var v: bit<8>\naction S.set(v) {\n  h.d = v;\n}\n\
                        table S.t {\n  key \"a\" exact h.a;\n  action S.set;\n  default S.set(8w0);\n  \
                        property implementation = extern S.impl;\n}";
    let mut it = interpreter(&switch(declarations, "  apply S.t;"));
    add(&mut it, "S.t", vec![exact(3)], 0, 9).unwrap();
    let outside = add(&mut it, "S.t", vec![exact(4)], 0, 9);
    assert_eq!(outside, Err(StoreError::OutOfRange { size: 4 }));
}

#[test]
fn a_selector_may_come_before_what_entries_match() {
    let declarations = "enum HashAlgorithm { crc32, crc16 }\n\
                        extern S.sel: action_selector {\n  arg algorithm = HashAlgorithm::crc16;\n  \
                        arg size = 16;\n  arg outputWidth = 14;\n}\n\
                        var v: bit<8>\naction S.set(v) {\n  h.d = v;\n}\n";
    for kind in ["exact", "lpm", "ternary"] {
        let table = format!(
            "table S.t {{\n  key \"b\" selector h.b;\n  key \"a\" {kind} h.a;\n  action S.set;\n  \
             default S.set(8w0);\n  property implementation = extern S.sel;\n}}"
        );
        let mut it = interpreter(&switch(&format!("{declarations}{table}"), "  apply S.t;"));
        let found_key = match kind {
            "exact" => exact(1),
            "lpm" => KeyMatch::Lpm(bits(1), 8),
            _ => KeyMatch::Ternary(bits(1), bits(0xff)),
        };
        add(&mut it, "S.t", vec![found_key.clone()], 7, 10).unwrap();
        assert_eq!(found(&mut it, 1, 9), Some(10), "{kind}");
        assert_eq!(found(&mut it, 9, 1), None, "{kind}");
        let again = add(&mut it, "S.t", vec![found_key], 7, 10);
        assert_eq!(again, Err(StoreError::Duplicate), "{kind}");
    }
}

#[test]
fn a_selector_spreads_flows_over_the_actions_of_an_entry() {
    let declarations = "enum HashAlgorithm { crc32, crc16 }\n\
                        extern S.sel: action_selector {\n  arg algorithm = HashAlgorithm::crc16;\n  \
                        arg size = 16;\n  arg outputWidth = 14;\n}\n\
                        var v: bit<8>\naction S.set(v) {\n  h.d = v;\n}\n\
                        table S.t {\n  key \"a\" exact h.a;\n  key \"b\" selector h.b;\n  action S.set;\n  \
                        default S.set(8w0);\n  property implementation = extern S.sel;\n}";
    let mut it = interpreter(&switch(declarations, "  apply S.t;"));
    let one = entry(vec![exact(1)], 0, 10);
    let t = table(&it, "S.t");
    it.insert(t, &one).unwrap();
    assert_eq!(found(&mut it, 1, 9), Some(10));
    let other = ActionCall {
        action: 0,
        args: vec![bits(20)],
    };
    it.set_group(t, &one, &[other]).unwrap();
    let chosen: Vec<_> = (0..32).map(|flow| found(&mut it, 1, flow)).collect();
    assert!(chosen.contains(&Some(10)) && chosen.contains(&Some(20)));
    let again: Vec<_> = (0..32).map(|flow| found(&mut it, 1, flow)).collect();
    assert_eq!(chosen, again);
}

//! Tables: the entry that is found, and operations of the control plane.

use crate::common::{add, entry, interpreter, sent, switch, table};
use control::{Change, Count, EntryKey, Store, StoreError};
use interp::Interpreter;
use ir::{ActionCall, Bits, KeyMatch};

/// Returns the key of an entry.
fn at(keys: Vec<KeyMatch>, priority: u32) -> EntryKey {
    EntryKey { keys, priority }
}

/// Returns an interpreter with a table over `keys`, whose action sets `h.d`.
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

/// Returns the value that the action wrote for a packet that begins with `a` and `b`. `None` for a miss.
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
    it.change(Change::Remove(t, at(prefix(0xab, 8), 0)))
        .unwrap();
    it.change(Change::Remove(t, at(prefix(0, 0), 0))).unwrap();
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
    it.change(Change::Remove(t, at(vec![exact(0)], 0))).unwrap();
    add(&mut it, "S.t", vec![exact(2)], 0, 1).unwrap();
}

#[test]
fn entries_change_and_go_or_are_missing() {
    let mut it = with_table("  key \"a\" exact h.a;\n", "");
    let t = table(&it, "S.t");
    let missing = it.change(Change::Modify(t, entry(vec![exact(1)], 0, 9)));
    assert_eq!(missing, Err(StoreError::Missing));
    assert_eq!(
        it.change(Change::Remove(t, at(vec![exact(1)], 0))),
        Err(StoreError::Missing)
    );
    it.change(Change::Insert(t, entry(vec![exact(1)], 0, 8)))
        .unwrap();
    it.change(Change::Modify(t, entry(vec![exact(1)], 0, 9)))
        .unwrap();
    assert_eq!(found(&mut it, 1, 0), Some(9));
    assert_eq!(it.entries(t), Ok(vec![entry(vec![exact(1)], 0, 9)]));
    it.change(Change::Remove(t, at(vec![exact(1)], 0))).unwrap();
    assert_eq!(found(&mut it, 1, 0), None);
    assert_eq!(it.entries(t), Ok(vec![]));
}

#[test]
fn the_programs_own_entries_come_first_and_stay() {
    let own = "  entry const 1 (8w5) -> S.set(8w50);\n  entry 2 (8w6) -> S.set(8w60);\n";
    let mut it = with_table("  key \"a\" exact h.a;\n", own);
    let t = table(&it, "S.t");
    assert_eq!(found(&mut it, 5, 0), Some(50));
    assert_eq!(
        it.change(Change::Remove(t, at(vec![exact(5)], 1))),
        Err(StoreError::Const)
    );
    it.change(Change::Modify(t, entry(vec![exact(6)], 2, 61)))
        .unwrap();
    assert_eq!(found(&mut it, 6, 0), Some(61));
    let mut it = with_table(
        "  key \"a\" exact h.a;\n",
        &format!("{own}  const_entries;\n"),
    );
    let refused = add(&mut it, "S.t", vec![exact(7)], 0, 1);
    assert_eq!(refused, Err(StoreError::Const));
    let t = table(&it, "S.t");
    assert_eq!(
        it.change(Change::Remove(t, at(vec![exact(6)], 2))),
        Err(StoreError::Const)
    );
}

#[test]
fn the_default_action_changes_unless_it_is_const() {
    let mut it = with_table("  key \"a\" exact h.a;\n", "");
    let t = table(&it, "S.t");
    let action = ActionCall {
        action: 0,
        args: vec![bits(33)],
    };
    it.change(Change::SetDefault(t, action.clone())).unwrap();
    assert_eq!(it.default_action(t), Ok(action.clone()));
    let outcome = it.run(0, &[1, 0, 7, 0]);
    assert_eq!(sent(&outcome), [1, 0, 0, 33], "a miss runs action 0");
    let text = "action S.none() {}\ntable S.t {\n  key \"a\" exact h.a;\n  action S.none;\n  default const S.none();\n}";
    let mut it = interpreter(&switch(text, "  apply S.t;"));
    assert_eq!(
        it.change(Change::SetDefault(t, action)),
        Err(StoreError::Const)
    );
}

#[test]
fn every_hit_is_counted_for_its_entry() {
    let counts = [
        ("packets", (2, 0)),
        ("bytes", (0, 12)),
        ("packets_and_bytes", (2, 12)),
    ];
    for (unit, (packets, bytes)) in counts {
        let declarations = format!(
            "enum CounterType {{ packets, bytes, packets_and_bytes }}\n\
             extern S.count: direct_counter {{\n  arg type = CounterType::{unit};\n}}\n\
             var v: bit<8>\naction S.set(v) {{\n  h.d = v;\n}}\n\
             table S.t {{\n  key \"a\" exact h.a;\n  action S.set;\n  default S.set(8w0);\n  \
             property counters = extern S.count;\n}}"
        );
        let mut it = interpreter(&switch(&declarations, "  apply S.t;"));
        let t = table(&it, "S.t");
        add(&mut it, "S.t", vec![exact(1)], 0, 9).unwrap();
        for first in [1, 1, 2] {
            it.run(0, &[first, 0, 0, 0, 0, 0]);
        }
        let found = entry(vec![exact(1)], 0, 9);
        assert_eq!(it.direct_counter(t, &found), Ok(Count { packets, bytes }));
        let object = it.program().externs.keys().next().expect("the counter");
        assert_eq!(it.reset_counter(object, None), Ok(()));
        assert_eq!(it.direct_counter(t, &found), Ok(Count::default()));
    }
    let mut it = with_table("  key \"a\" exact h.a;\n", "");
    let t = table(&it, "S.t");
    add(&mut it, "S.t", vec![exact(1)], 0, 9).unwrap();
    let count = it.direct_counter(t, &entry(vec![exact(1)], 0, 9));
    assert!(
        matches!(count, Err(StoreError::Unsupported { .. })),
        "{count:?}"
    );
}

#[test]
fn an_array_takes_keys_below_its_size_whatever_the_table_declares() {
    let declarations = "extern S.impl: array_table {\n  arg size = 4;\n}\n\
                        var v: bit<8>\naction S.set(v) {\n  h.d = v;\n}\n\
                        table S.t {\n  key \"a\" exact h.a;\n  action S.set;\n  default S.set(8w0);\n  \
                        size 8;\n  property implementation = extern S.impl;\n}";
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
    let t = table(&it, "S.t");
    let selector = it.schema().profile_of(t).expect("it has one");
    for (member, value) in [(7, 10), (3, 20), (5, 30)] {
        let call = ActionCall {
            action: 0,
            args: vec![bits(value)],
        };
        it.change(Change::Member(selector, member, Some(call.clone())))
            .unwrap();
    }
    it.change(Change::MemberGroup(selector, 1, vec![7, 3, 7]))
        .unwrap();
    let to = |number: u32, id: u32| ActionCall {
        action: number,
        args: vec![Bits::new(32, id)],
    };
    let mut one = entry(vec![exact(1)], 0, 10);
    one.action = to(1, 5);
    it.change(Change::Insert(t, one.clone())).unwrap();
    assert_eq!(found(&mut it, 1, 9), Some(30));
    one.action = to(2, 1);
    it.change(Change::Modify(t, one)).unwrap();
    // Members are in the order of their numbers, and the hash is CRC-16 of one byte.
    let values = [20, 10, 10];
    for flow in 0..=255 {
        let hashed = externs::hash::Algorithm::Crc16.compute_bytes(&[flow]);
        assert_eq!(
            found(&mut it, 1, flow),
            Some(values[hashed as usize % 3]),
            "{flow}"
        );
    }
}

#[test]
fn what_is_referred_to_is_there() {
    let declarations = "extern S.sel: action_selector {\n  arg size = 2;\n}\n\
                        var v: bit<8>\naction S.set(v) {\n  h.d = v;\n}\n\
                        table S.t {\n  key \"a\" exact h.a;\n  key \"b\" selector h.b;\n  action S.set;\n  \
                        default S.set(8w0);\n  property implementation = extern S.sel;\n}";
    let mut it = interpreter(&switch(declarations, "  apply S.t;"));
    let t = table(&it, "S.t");
    let selector = it.schema().profile_of(t).expect("it has one");
    let call = ActionCall {
        action: 0,
        args: vec![bits(9)],
    };
    let refused = |what: &str| {
        Err(StoreError::Reference {
            what: what.to_string(),
        })
    };
    let mut one = entry(vec![exact(1)], 0, 10);
    one.action = ActionCall {
        action: 2,
        args: vec![Bits::new(32, 4u32)],
    };
    assert_eq!(
        it.change(Change::Insert(t, one.clone())),
        refused("there is no group 4")
    );
    assert_eq!(
        it.change(Change::MemberGroup(selector, 4, vec![1])),
        refused("there is no member 1")
    );
    assert_eq!(
        it.change(Change::Member(selector, 1, None)),
        refused("there is no member 1")
    );
    assert_eq!(
        it.change(Change::MemberGroup(selector, 4, Vec::new())),
        refused("there is no group 4")
    );
    for member in [1, 2] {
        it.change(Change::Member(selector, member, Some(call.clone())))
            .unwrap();
        it.change(Change::MemberGroup(selector, member + 3, vec![1]))
            .unwrap();
    }
    let full = Err(StoreError::Full { capacity: 2 });
    assert_eq!(it.change(Change::Member(selector, 3, Some(call))), full);
    assert_eq!(it.change(Change::MemberGroup(selector, 3, vec![1])), full);
    it.change(Change::Insert(t, one.clone())).unwrap();
    assert_eq!(
        it.change(Change::Member(selector, 1, None)),
        refused("member 1 is in group 4")
    );
    let used = refused("an entry of `S.t` refers to group 4");
    assert_eq!(
        it.change(Change::MemberGroup(selector, 4, Vec::new())),
        used
    );
    it.change(Change::MemberGroup(selector, 5, Vec::new()))
        .unwrap();
    one.action = ActionCall {
        action: 1,
        args: vec![Bits::new(32, 2u32)],
    };
    it.change(Change::Modify(t, one.clone())).unwrap();
    it.change(Change::MemberGroup(selector, 4, Vec::new()))
        .unwrap();
    it.change(Change::Member(selector, 1, None)).unwrap();
    let used = refused("an entry of `S.t` refers to member 2");
    assert_eq!(it.change(Change::Member(selector, 2, None)), used);
    one.action.args = vec![Bits::new(32, 1u32)];
    assert_eq!(
        it.change(Change::Modify(t, one)),
        refused("there is no member 1")
    );
}

//! Tables, defaults and counters of a loaded program: packets see the changes of the control plane.

use crate::hand_written::*;
use control::{Change, Device, EntryKey, StoreError};
use ir::{Bits, ExternInst, KeyMatch};
use kernel::TestRun;
use kernel::sys::Update;
use kernel::test_run::{Outcome, verdict};

/// Makes the key that finds an entry.
fn at(keys: Vec<KeyMatch>, priority: u32) -> EntryKey {
    EntryKey { keys, priority }
}

fn device() -> TestRun {
    TestRun::new(instance(true))
}

fn run(device: &mut TestRun, dst: u64, src: u64, kind: u16) -> Outcome {
    device.run(2, &packet(dst, src, kind)).expect("runs")
}

fn port(device: &mut TestRun, dst: u64, src: u64, kind: u16) -> Option<u32> {
    run(device, dst, src, kind).port
}

const MACS: u32 = 0;
const ROUTES: u32 = 1;
const SLOTS: u32 = 2;
const RULES: u32 = 3;

#[test]
fn exact_entries_come_and_go() {
    let mut d = device();
    let key = || vec![exact(48, 0x0200_0000_0001)];
    assert_eq!(run(&mut d, 0x0200_0000_0001, 99, 0).verdict, verdict::DROP);
    d.store_mut()
        .change(Change::Insert(table(MACS), entry(key(), 0, out(7))))
        .expect("room");
    assert_eq!(port(&mut d, 0x0200_0000_0001, 99, 0), Some(7));
    assert_eq!(
        d.store_mut()
            .change(Change::Insert(table(MACS), entry(key(), 0, out(8)))),
        Err(StoreError::Duplicate)
    );
    d.store_mut()
        .change(Change::Modify(table(MACS), entry(key(), 0, out(9))))
        .expect("there");
    assert_eq!(port(&mut d, 0x0200_0000_0001, 99, 0), Some(9));
    assert_eq!(
        d.store().entries(table(MACS)).expect("reads"),
        [entry(key(), 0, out(9))]
    );
    d.store_mut()
        .change(Change::Remove(table(MACS), at(key(), 0)))
        .expect("there");
    assert_eq!(
        d.store_mut()
            .change(Change::Remove(table(MACS), at(key(), 0))),
        Err(StoreError::Missing)
    );
    assert_eq!(
        d.store_mut()
            .change(Change::Modify(table(MACS), entry(key(), 0, out(9)))),
        Err(StoreError::Missing)
    );
    assert_eq!(run(&mut d, 0x0200_0000_0001, 99, 0).verdict, verdict::DROP);
}

#[test]
fn a_full_table_says_how_much_it_holds() {
    let mut d = device();
    for n in 0..2 {
        d.store_mut()
            .change(Change::Insert(
                table(MACS),
                entry(vec![exact(48, n)], 0, PASS),
            ))
            .expect("room");
    }
    assert_eq!(
        d.store_mut().change(Change::Insert(
            table(MACS),
            entry(vec![exact(48, 9)], 0, PASS)
        )),
        Err(StoreError::Full { capacity: 2 })
    );
}

#[test]
fn the_longest_prefix_wins_and_the_programs_own_entry_stays() {
    let mut d = device();
    let of = |d: &mut TestRun, dst| port(d, dst, 99, 0);
    assert_eq!(of(&mut d, 0x0a01_0000_0000), Some(3));
    let longer = entry(vec![prefix(0x0a01_0000_0000, 16)], 0, out(4));
    d.store_mut()
        .change(Change::Insert(table(ROUTES), longer.clone()))
        .expect("room");
    assert_eq!(of(&mut d, 0x0a01_0000_0000), Some(4));
    assert_eq!(of(&mut d, 0x0a02_0000_0000), Some(3));
    assert_eq!(
        d.store_mut()
            .change(Change::Insert(table(ROUTES), longer.clone())),
        Err(StoreError::Duplicate)
    );
    let all = entry(vec![KeyMatch::Any], 0, out(5));
    d.store_mut()
        .change(Change::Insert(table(ROUTES), all))
        .expect("room");
    assert_eq!(of(&mut d, 0x0b00_0000_0000), Some(5));
    let entries = d.store().entries(table(ROUTES)).expect("reads");
    assert_eq!(entries.len(), 3);
    assert!(entries[0].is_const, "the program's own come first");
    assert_eq!(
        d.store_mut().change(Change::Remove(
            table(ROUTES),
            at(vec![prefix(0x0a00_0000_0000, 8)], 0)
        )),
        Err(StoreError::Const)
    );
    d.store_mut()
        .change(Change::Remove(table(ROUTES), EntryKey::of(&longer)))
        .expect("there");
    assert_eq!(of(&mut d, 0x0a01_0000_0000), Some(3));
    let more = |n: u64| entry(vec![prefix(n << 40, 8)], 0, PASS);
    d.store_mut()
        .change(Change::Insert(table(ROUTES), more(1)))
        .expect("room");
    d.store_mut()
        .change(Change::Insert(table(ROUTES), more(2)))
        .expect("room");
    assert_eq!(
        d.store_mut().change(Change::Insert(table(ROUTES), more(4))),
        Err(StoreError::Full { capacity: 4 })
    );
}

#[test]
fn array_elements_are_entries_only_with_an_action() {
    let mut d = device();
    let key = || vec![exact(8, 2)];
    assert_eq!(run(&mut d, 1, 2, 0).verdict, verdict::DROP);
    d.store_mut()
        .change(Change::Insert(table(SLOTS), entry(key(), 0, out(6))))
        .expect("room");
    assert_eq!(port(&mut d, 1, 2, 0), Some(6));
    assert_eq!(
        d.store_mut()
            .change(Change::Insert(table(SLOTS), entry(key(), 0, out(6)))),
        Err(StoreError::Duplicate)
    );
    assert_eq!(
        d.store_mut().change(Change::Insert(
            table(SLOTS),
            entry(vec![exact(8, 4)], 0, out(6))
        )),
        Err(StoreError::OutOfRange { size: 4 })
    );
    assert_eq!(
        d.store().entries(table(SLOTS)).expect("reads"),
        [entry(key(), 0, out(6))]
    );
    d.store_mut()
        .change(Change::Remove(table(SLOTS), at(key(), 0)))
        .expect("there");
    assert_eq!(d.store().entries(table(SLOTS)).expect("reads"), []);
}

fn range(low: u64, high: u64) -> KeyMatch {
    KeyMatch::Range(Bits::new(16, low), Bits::new(16, high))
}

fn ternary16(value: u64, mask: u64) -> KeyMatch {
    KeyMatch::Ternary(Bits::new(16, value), Bits::new(16, mask))
}

fn ternary(value: u64, mask: u64) -> KeyMatch {
    KeyMatch::Ternary(Bits::new(48, value), Bits::new(48, mask))
}

#[test]
fn ranges_and_masks_by_priority() {
    let mut d = device();
    let low = entry(vec![range(16, 1023), KeyMatch::Any], 1, out(1));
    let high = entry(vec![range(128, 191), ternary(0x10, 0xf0)], 5, out(2));
    let middle = entry(vec![KeyMatch::Any, ternary(0x10, 0xf0)], 3, DROP);
    for e in [&low, &high, &middle] {
        d.store_mut()
            .change(Change::Insert(table(RULES), e.clone()))
            .expect("room");
    }
    for kind in [0u16, 15, 16, 127, 128, 150, 191, 192, 1023, 1024, 65535] {
        for src in [0x10u64, 0x2f, 0x1f] {
            let in_mask = src & 0xf0 == 0x10;
            let expected = match kind {
                128..=191 if in_mask => Some(2),
                _ if in_mask => None,
                16..=1023 => Some(1),
                _ => None,
            };
            assert_eq!(port(&mut d, 1, src, kind), expected, "{kind} {src:#x}");
        }
    }
    assert_eq!(
        d.store().entries(table(RULES)).expect("reads"),
        [low, high.clone(), middle.clone()]
    );
    assert_eq!(
        d.store_mut()
            .change(Change::Insert(table(RULES), high.clone())),
        Err(StoreError::Duplicate)
    );
    d.store_mut()
        .change(Change::Modify(
            table(RULES),
            entry(high.keys.clone(), 5, out(8)),
        ))
        .expect("there");
    assert_eq!(port(&mut d, 1, 0x10, 150), Some(8));
    d.store_mut()
        .change(Change::Remove(table(RULES), EntryKey::of(&high)))
        .expect("there");
    assert_eq!(run(&mut d, 1, 0x10, 150).verdict, verdict::DROP);
    d.store_mut()
        .change(Change::Remove(table(RULES), EntryKey::of(&middle)))
        .expect("there");
    assert_eq!(port(&mut d, 1, 0x10, 150), Some(1));
    assert_eq!(
        d.store_mut()
            .change(Change::Remove(table(RULES), EntryKey::of(&middle))),
        Err(StoreError::Missing)
    );
}

#[test]
fn an_entry_that_does_not_fit_changes_nothing() {
    let mut d = device();
    let first = entry(vec![range(5, 5), KeyMatch::Any], 1, out(1));
    d.store_mut()
        .change(Change::Insert(table(RULES), first.clone()))
        .expect("room");
    // 1..=65534 takes 30 prefixes: more than 8 masks, and 32 entries are nearly full of them.
    let wide = entry(vec![range(1, 65534), KeyMatch::Any], 9, out(2));
    assert!(matches!(
        d.store_mut().change(Change::Insert(table(RULES), wide)),
        Err(StoreError::Unsupported { .. })
    ));
    assert_eq!(d.store().entries(table(RULES)).expect("reads"), [first]);
    assert_eq!(port(&mut d, 1, 0, 5), Some(1));
    assert_eq!(port(&mut d, 1, 0, 6), None);
}

#[test]
fn a_shadowed_entry_appears_when_the_other_goes() {
    let mut d = device();
    let keys = || vec![range(7, 7), ternary(1, 1)];
    d.store_mut()
        .change(Change::Insert(table(RULES), entry(keys(), 1, out(1))))
        .expect("room");
    d.store_mut()
        .change(Change::Insert(table(RULES), entry(keys(), 2, out(2))))
        .expect("room");
    assert_eq!(port(&mut d, 1, 1, 7), Some(2));
    d.store_mut()
        .change(Change::Remove(table(RULES), at(keys(), 2)))
        .expect("there");
    assert_eq!(port(&mut d, 1, 1, 7), Some(1));
}

#[test]
fn an_entry_that_is_hidden_is_there() {
    let mut d = device();
    let keys = || vec![range(7, 7), ternary(1, 1)];
    let hidden = entry(keys(), 1, out(1));
    d.store_mut()
        .change(Change::Insert(table(RULES), hidden.clone()))
        .expect("room");
    d.store_mut()
        .change(Change::Insert(table(RULES), entry(keys(), 2, out(2))))
        .expect("room");
    // Another notation of the same match.
    let again = entry(vec![ternary16(7, 0xffff), ternary(3, 1)], 1, out(3));
    for entry in [&hidden, &again] {
        assert_eq!(
            d.store_mut()
                .change(Change::Insert(table(RULES), entry.clone())),
            Err(StoreError::Duplicate),
            "{entry:?}"
        );
    }
}

#[test]
fn one_more_entry_reads_no_other() {
    let mut d = device();
    let rule = |n: u64| entry(vec![range(n, n), KeyMatch::Any], 1, out(n as u32));
    for n in 0..6 {
        d.store_mut()
            .change(Change::Insert(table(RULES), rule(n)))
            .expect("room");
    }
    d.store_mut()
        .change(Change::Remove(table(RULES), at(rule(4).keys, 1)))
        .expect("there");
    let shadow = |d: &TestRun| -> Vec<(u32, Vec<u8>)> {
        let map = d.instance.store.memory.maps.get("rule_shadow");
        let map = map.expect("opens").expect("there");
        let mut all = Vec::new();
        map.each(|key, value| {
            let number = u32::from_ne_bytes(key.try_into().expect("a number"));
            all.push((number, value.to_vec()));
        })
        .expect("reads");
        all.sort();
        all
    };
    // Whoever reads the shadow entries now finds none.
    let before = shadow(&d);
    let map = d.instance.store.memory.maps.get("rule_shadow");
    let map = map.expect("opens").expect("there");
    for (number, _) in &before {
        assert!(map.delete(&number.to_ne_bytes()).expect("deletes"));
    }
    d.store_mut()
        .change(Change::Insert(table(RULES), rule(6)))
        .expect("room");
    let numbers: Vec<u32> = shadow(&d).iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [6]);
    // Back to what there is; how many there are is known all the time.
    let map = d.instance.store.memory.maps.get("rule_shadow");
    let map = map.expect("opens").expect("there");
    for (number, value) in &before {
        map.set(&number.to_ne_bytes(), value, Update::New)
            .expect("sets");
    }
    for n in [7, 8] {
        d.store_mut()
            .change(Change::Insert(table(RULES), rule(n)))
            .expect("room");
    }
    assert_eq!(
        d.store_mut().change(Change::Insert(table(RULES), rule(9))),
        Err(StoreError::Full { capacity: 8 })
    );
    let expected = [0, 1, 2, 3, 5, 6, 7, 8].map(rule);
    assert_eq!(d.store().entries(table(RULES)).expect("reads"), expected);
}

#[test]
fn how_many_entries_there_are_is_known_after_a_change_that_failed_halfway() {
    let mut d = device();
    let rule = |low, high, src| entry(vec![range(low, high), exact(48, src)], 1, out(1));
    // Eight elements each of the map that packets search, which has 32.
    for src in 0..3 {
        d.store_mut()
            .change(Change::Insert(table(RULES), rule(1, 30, src)))
            .expect("room");
    }
    // Ten.
    assert_eq!(
        d.store_mut()
            .change(Change::Insert(table(RULES), rule(1, 62, 3))),
        Err(StoreError::Full { capacity: 8 })
    );
    for src in 4..9 {
        d.store_mut()
            .change(Change::Insert(table(RULES), rule(1, 1, src)))
            .expect("room");
    }
    assert_eq!(
        d.store_mut()
            .change(Change::Insert(table(RULES), rule(1, 1, 9))),
        Err(StoreError::Full { capacity: 8 })
    );
    assert_eq!(d.store().entries(table(RULES)).expect("reads").len(), 8);
}

#[test]
fn the_default_action_changes_whole() {
    let mut d = device();
    assert_eq!(d.store().default_action(table(MACS)), Ok(DROP));
    for n in 1..5 {
        d.store_mut()
            .change(Change::SetDefault(table(MACS), out(n)))
            .expect("changeable");
        assert_eq!(d.store().default_action(table(MACS)), Ok(out(n)));
        assert_eq!(port(&mut d, 1, 99, 0), Some(n));
    }
    assert_eq!(
        d.store_mut()
            .change(Change::SetDefault(table(ROUTES), PASS)),
        Err(StoreError::Const)
    );
    assert_eq!(d.store().default_action(table(ROUTES)), Ok(DROP));
}

#[test]
fn counters_are_summed_and_bounded() {
    let mut d = device();
    for port in [2, 1, 1, 2, 2] {
        d.run(port, &packet(1, 1, 1)).expect("runs");
    }
    let read = |index| {
        d.store()
            .counter(ExternInst::from_u32(0), index)
            .map(|c| c.packets)
    };
    assert_eq!(read(1), Ok(2));
    assert_eq!(read(2), Ok(3));
    assert_eq!(read(4), Err(StoreError::OutOfRange { size: 4 }));
}

#[test]
fn tables_that_are_compiled_in_refuse_clearly() {
    let mut d = device();
    assert_eq!(
        d.store_mut()
            .change(Change::Insert(table(4), entry(vec![], 0, PASS))),
        Err(StoreError::Const)
    );
    assert_eq!(d.store().entries(table(4)), Ok(vec![]));
}

#[test]
fn short_packets_are_refused_with_the_reason() {
    let error = device().run(0, &[0; 13]).expect_err("refused");
    assert!(error.to_string().contains("under 14 bytes"), "{error}");
}

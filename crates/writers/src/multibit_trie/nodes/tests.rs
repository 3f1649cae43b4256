//! Tests of tries in maps of their own, searched as packets search them.

use super::*;
use crate::in_memory::InMemory;
use crate::memory_for_tests::{Tree, words};
use crate::multibit_trie::MultibitTrie;
use crate::records::Differences;
use crate::state::Grace;
use layout::{ActionAbi, ByteOrder, FieldAbi, KeyAbi, MapKind, MultibitTrieAbi, ValueAbi};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// Maps of a trie.
struct Maps {
    abi: MultibitTrieAbi,
    index: Tree,
    arrays: [Words; 5],
    counts: [u32; 3],
}

fn maps(bytes: u32, counts: [u32; 3], entries: u32) -> Maps {
    let field = FieldAbi {
        name: String::new(),
        offset: 0,
        size: bytes,
        width: 8 * bytes,
        order: ByteOrder::Network,
    };
    let abi = MultibitTrieAbi {
        wide: String::new(),
        narrow: String::new(),
        routes: String::new(),
        index: String::new(),
        pool: String::new(),
        key: KeyAbi {
            size: bytes,
            fields: vec![field],
        },
        lpm_key: 0,
        prefix_base: 0,
        value: ValueAbi {
            size: 8,
            priority_offset: None,
            action_offset: 0,
            number_offset: None,
            actions: vec![ActionAbi {
                name: String::new(),
                params: Vec::new(),
            }],
        },
        prefix_offset: 8,
        mask_offset: 8 + bytes,
        root_offset: 0,
    };
    let array = |value: u32, count: u32| words(u64::from(value) * u64::from(count));
    let route = (8 + 2 * bytes).next_multiple_of(8);
    let states = 16 + counts.iter().sum::<u32>();
    Maps {
        abi,
        index: Tree::new(MapKind::Hash, 4 + bytes as usize, 4, entries),
        arrays: [
            array(2048, counts[0]),
            array(128, counts[1]),
            array(route, counts[2]),
            array(8, states.div_ceil(8)),
            array(8, 1),
        ],
        counts,
    }
}

impl Maps {
    fn trie(&self) -> MultibitTrie<'_> {
        let [wide, narrow, routes, pool, globals] = &self.arrays;
        MultibitTrie {
            abi: &self.abi,
            index: &self.index,
            routes,
            pool: Pool::new(pool, self.counts, Grace(None)),
            globals,
            wide,
            narrow,
            capacity: self.index.info().max_entries.into(),
        }
    }

    /// Looks a key up as a packet does.
    fn find(&self, key: &[u8]) -> Option<u32> {
        let trie = self.trie();
        let nodes = trie.nodes();
        let mut best = 0;
        let mut node = nodes.root().expect("reads");
        loop {
            let slot = nodes.read(node, node.slot(key)).expect("reads");
            if slot.cover() != 0 {
                best = slot.cover();
            }
            match slot.child() {
                Child::Nothing => break,
                Child::Node(number) => {
                    let depth = node.end();
                    node = Node { depth, number };
                }
                Child::Route(route) => {
                    let length = nodes.routes.length(route).expect("reads");
                    if masked(key, length) == nodes.routes.key(route).expect("reads") {
                        best = route;
                    }
                    break;
                }
            }
        }
        let value = || nodes.routes.value(best).expect("reads");
        (best != 0).then(|| encoding::get_u32(&value(), 4))
    }

    /// Describes the nodes as text, with routes by their values.
    fn shape(&self) -> String {
        let trie = self.trie();
        let nodes = trie.nodes();
        let mut text = String::new();
        let mut open = vec![(nodes.root().expect("reads"), String::new())];
        let name = |route: u32| match route {
            0 => 0,
            _ => encoding::get_u32(&nodes.routes.value(route).expect("reads"), 4),
        };
        while let Some((node, path)) = open.pop() {
            for (at, slot) in nodes.slots(node).expect("reads").into_iter().enumerate() {
                let path = format!("{path}.{at:x}");
                let child = match slot.child() {
                    Child::Nothing => String::new(),
                    Child::Route(route) => format!(" route {}", name(route)),
                    Child::Node(number) => {
                        let depth = node.end();
                        open.push((Node { depth, number }, path.clone()));
                        " node".into()
                    }
                };
                if slot.0 != 0 {
                    text += &format!("{path}: {}{child}\n", name(slot.cover()));
                }
            }
        }
        text
    }
}

fn masked(key: &[u8], length: u32) -> Vec<u8> {
    let byte = |(at, byte): (usize, &u8)| {
        let ones = (length as usize).saturating_sub(8 * at).min(8);
        byte & !(0xffu16 >> ones) as u8
    };
    key.iter().enumerate().map(byte).collect()
}

fn index_key(key: &[u8], length: u32) -> Vec<u8> {
    [&length.to_ne_bytes()[..], &masked(key, length)].concat()
}

fn value(number: u32) -> Vec<u8> {
    [1u32.to_ne_bytes(), number.to_ne_bytes()].concat()
}

/// Computes the changes from one set of entries to another.
fn changes(old: &BTreeMap<Vec<u8>, u32>, new: &BTreeMap<Vec<u8>, u32>) -> Differences {
    let mut all = Differences::default();
    for (key, number) in old {
        match new.get(key) {
            None => {
                all.gone.extend(key);
                all.gone_values.extend(value(*number));
            }
            Some(other) if other != number => {
                all.changed.extend(key);
                all.changed_old.extend(value(*number));
                all.changed_new.extend(value(*other));
            }
            Some(_) => {}
        }
    }
    for (key, number) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
        all.added.extend(key);
        all.added_values.extend(value(*number));
    }
    all
}

/// Returns a key of few different bytes, so that many prefixes have long common parts.
fn random_key(random: &mut ChaCha8Rng, bytes: u32) -> Vec<u8> {
    let few = [0x00, 0x01, 0x0a, 0x10, 0x80, 0xff];
    (0..bytes)
        .map(|_| few[random.random_range(0..few.len())])
        .collect()
}

fn check(maps: &Maps, wanted: &BTreeMap<Vec<u8>, u32>, random: &mut ChaCha8Rng, bytes: u32) {
    for _ in 0..40 {
        let key = random_key(random, bytes);
        let lengths = (0..=8 * bytes).rev();
        let mut found = lengths.filter_map(|length| wanted.get(&index_key(&key, length)));
        assert_eq!(maps.find(&key), found.next().copied(), "{key:x?}");
    }
    // The nodes depend on the prefixes alone.
    let anew = self::maps(bytes, maps.counts, 600);
    let all = anew.trie().change(&changes(&BTreeMap::new(), wanted));
    assert!(all.is_ok());
    assert_eq!(maps.shape(), anew.shape());
    let mut seen = BTreeMap::new();
    let each = maps.trie().each(&mut |key, value| {
        seen.insert(key.to_vec(), encoding::get_u32(value, 4));
    });
    each.expect("reads");
    assert_eq!(seen, *wanted);
}

#[test]
fn packets_find_the_longest_prefix_after_any_changes() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    for bytes in [4, 8, 16] {
        let maps = maps(bytes, [514, 4_000, 700], 600);
        let mut now = BTreeMap::new();
        for round in 0..120 {
            let mut next = now.clone();
            for _ in 0..random.random_range(1..12) {
                let key = random_key(&mut random, bytes);
                let length = random.random_range(0..=8 * bytes);
                next.insert(index_key(&key, length), random.random_range(1..1_000));
            }
            if round % 3 == 2 {
                next.retain(|_, _| random.random_range(0..10) < 7);
            }
            let made = maps.trie().change(&changes(&now, &next));
            assert!(made.is_ok_and(|()| true), "round {round}");
            now = next;
            if round % 10 == 9 {
                check(&maps, &now, &mut random, bytes);
            }
        }
        // Nothing leaks: after all entries are removed, everything is free again.
        let gone = maps.trie().change(&changes(&now, &BTreeMap::new()));
        assert!(gone.is_ok());
        assert_eq!(maps.shape(), "");
        let used = maps.trie().nodes().used().expect("reads");
        assert_eq!(used.len(), 1, "only a root: {used:?}");
    }
}

#[test]
fn what_was_replaced_is_used_again_when_nothing_else_is_free() {
    let maps = maps(4, [6, 8, 5], 4);
    let entry = |number: u32| BTreeMap::from([(index_key(&[10, 0, 0, 0], 7), number)]);
    let mut now = BTreeMap::new();
    for number in 1..200 {
        let next = entry(number);
        assert!(maps.trie().change(&changes(&now, &next)).is_ok());
        assert_eq!(maps.find(&[11, 2, 3, 4]), Some(number));
        now = next;
    }
}

#[test]
fn nodes_that_are_all_in_use_are_an_error_of_the_entry() {
    let maps = maps(16, [10, 8, 20], 10);
    let mut entries = BTreeMap::new();
    let key = |last: u8| {
        let mut key = [0x20; 16];
        key[15] = last;
        index_key(&key, 128)
    };
    entries.insert(key(1), 1);
    entries.insert(key(2), 2);
    let refused = maps.trie().change(&changes(&BTreeMap::new(), &entries));
    let refused = refused.expect_err("28 nodes lead there");
    assert_eq!(refused.entry, Some(1));
    let text = refused.error.to_string();
    assert!(text.contains("declare a larger `size`"), "{text}");
    // The partial change is undone, and all that was allocated is free.
    let undone = maps.trie().restore(&[], &[], &[key(1), key(2)].concat());
    undone.expect("undoes");
    assert_eq!(
        (maps.shape(), maps.find(&[0x20; 16])),
        (String::new(), None)
    );
    let used = maps.trie().nodes().used().expect("reads");
    assert_eq!(used.len(), 1);
}

/// Partial changes of a killed process: entries that only the index has or only the nodes have, and wrong states in the
/// pool.
#[test]
fn any_half_of_a_change_is_undone() {
    let maps = maps(4, [514, 200, 100], 80);
    let mut before = BTreeMap::new();
    for (number, length) in [(1, 8), (2, 9), (3, 24), (4, 25), (5, 32), (6, 0)] {
        before.insert(index_key(&[10, 1, 128, 7], length), number);
    }
    assert!(
        maps.trie()
            .change(&changes(&BTreeMap::new(), &before))
            .is_ok()
    );
    let shape = maps.shape();
    let mut after = before.clone();
    after.remove(&index_key(&[10, 1, 128, 7], 25));
    after.insert(index_key(&[10, 1, 128, 7], 24), 33);
    after.insert(index_key(&[10, 1, 128, 7], 31), 7);
    let found = changes(&before, &after);
    let undo = || {
        let restored = [&found.gone[..], &found.changed].concat();
        let values = [&found.gone_values[..], &found.changed_old].concat();
        let undone = maps.trie().restore(&restored, &values, &found.added);
        undone.expect("undoes");
        assert_eq!(maps.shape(), shape);
    };
    // Nothing was done.
    undo();
    // Everything was done.
    assert!(maps.trie().change(&found).is_ok());
    undo();
    // The index alone was changed.
    maps.index.delete_many(&found.gone).expect("removes");
    let number = 90u32.to_ne_bytes();
    maps.index.set(&found.added, &number).expect("adds");
    undo();
    // Only the nodes were changed, and nothing is marked as in use.
    {
        let trie = maps.trie();
        let prefix = Prefix::of(&found.added);
        trie.nodes()
            .routes
            .write(91, &value(9), &prefix)
            .expect("writes");
        assert!(trie.nodes().insert_all(&[(prefix, 91)]).is_ok());
        trie.pool.have_in_use(&[]).expect("writes");
    }
    assert_ne!(maps.shape(), shape);
    undo();
}

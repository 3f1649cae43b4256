//! Tests of name sets: random rules and names in the kernel and in the interpreter. Needs root.

use crate::flow_state::machine::{Both, Compiled, call};
use bpf::abi::Hook;
use control::{Change, Device, Packet, StoreError};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use schema::{NameRule, RuleValue, Scope, ScopedName};

/// Program that looks up the payload, or the name in a DNS query in it.
const LOOK_UP: &str = "
#include <payload.p4>
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    name_set(SIZE) names;
    message(\"dns\") dns;
    apply {
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
        bit<32> number;
        bit<32> lists;
        if (hdr.call.key == QUERY) {
            hdr.call.found = (bit<8>) dns.read(0);
            dns.find_name(\"qname\", names, number, lists);
        } else {
            hdr.call.found = names.find(0, hdr.call.key, number, lists) ? 8w1 : 0;
        }
        hdr.call.value = number ++ lists;
    }
}";

fn program(size: u32) -> Compiled {
    let text = LOOK_UP.replace("SIZE", &size.to_string());
    let text = text.replace("QUERY", &QUERY.to_string());
    // A test run at XDP would take milliseconds.
    Compiled::new(&text, Hook::TcIngress)
}

/// Returns a packet with a name.
fn packet(name: &[u8]) -> Vec<u8> {
    let mut packet = call(0, name.len() as u32, 0);
    packet.extend(name);
    packet
}

/// Length that means a DNS query.
const QUERY: u32 = 0xffff_ffff;

/// Returns a packet with a DNS query for a name. Its labels may have any bytes, and the name may end in another one, to which
/// a pointer leads.
fn query(random: &mut ChaCha8Rng, name: &[u8]) -> Vec<u8> {
    let mut packet = call(0, QUERY, 0);
    // The identifier is the name `a` for pointers.
    packet.extend([1, b'a', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in name.split(|byte| *byte == b'.').filter(|l| !l.is_empty()) {
        let mut label = label[..label.len().min(63)].to_vec();
        if random.random_range(0..40) == 0 {
            let at = random.random_range(0..label.len());
            label[at] = *b".\\: 1".choose(random).expect("some");
        }
        packet.push(label.len() as u8);
        packet.extend(label);
    }
    match random.random_range(0..10) {
        0 => packet.extend([0xc0, 0]),
        _ => packet.push(0),
    }
    packet.extend([0, 1, 0, 1]);
    packet
}

/// Returns a name of few different labels, so that names cover each other.
fn name(random: &mut ChaCha8Rng) -> String {
    let labels = [
        "a",
        "b",
        "ab",
        "example",
        "a-label-of-more-than-22-bytes",
        "of-seven",
        "of-eight-",
        "of-sixteen-bytes",
        "53",
        "x",
    ];
    let count = random.random_range(1..5);
    let all: Vec<&str> = (0..count)
        .map(|_| *labels.choose(random).expect("there are some"))
        .collect();
    all.join(".")
}

fn scoped(random: &mut ChaCha8Rng) -> ScopedName {
    let scopes = [Scope::Domain, Scope::Name, Scope::Subdomains];
    ScopedName {
        name: name(random).into(),
        scope: *scopes.choose(random).expect("there are some"),
    }
}

/// Returns a name as a packet may have it: with other letters, a port, a final dot, or a byte that is wrong.
fn mutated(random: &mut ChaCha8Rng, name: &str) -> Vec<u8> {
    let mut bytes = name.as_bytes().to_vec();
    if random.random() {
        bytes.make_ascii_uppercase();
    }
    match random.random_range(0..10) {
        0 => bytes.push(b'.'),
        1 => bytes.extend(b":8080"),
        2 => bytes.extend(b".:1"),
        3 => {
            let at = random.random_range(0..bytes.len());
            bytes[at] = random.random();
        }
        4 => bytes.truncate(random.random_range(0..bytes.len())),
        5 => bytes.insert(0, random.random()),
        6 => {
            let before = vec![b'y'; random.random_range(1..260)];
            bytes.splice(..0, before.into_iter().chain([b'.']));
        }
        _ => {}
    }
    bytes
}

#[test]
fn random_rules_decide_as_in_the_interpreter() {
    const SIZE: u32 = 60;
    let compiled = program(SIZE);
    let set = compiled.state("c.names");
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut both = Both::new(&compiled);
    let mut found = 0;
    for round in 0..300 {
        let mut changes: Vec<Change> = (0..random.random_range(0..8))
            .map(|_| match random.random_range(0..20) {
                0..14 => Change::InsertName(
                    set,
                    NameRule {
                        name: scoped(&mut random),
                        value: RuleValue {
                            number: random.random(),
                            lists: random.random(),
                        },
                    },
                ),
                _ => Change::RemoveName(set, scoped(&mut random)),
            })
            .collect();
        if random.random_range(0..30) == 0 {
            changes.insert(0, Change::ClearNames(set));
        }
        let done = both.each(|store| store.apply(&changes).map_err(|rejected| rejected.error));
        assert_eq!(done[0], done[1], "round {round}: {changes:?}");
        // A batch that is refused would keep the set small.
        for change in changes {
            let one = both.each(|store| store.change(change.clone()));
            assert_eq!(one[0], one[1], "round {round}: {change:?}");
        }
        let rules = both.each(|store| store.names(set));
        assert_eq!(rules[0], rules[1], "round {round}");
        let rules = rules[0].as_ref().expect("rules").clone();
        for _ in 0..20 {
            let of_rule = rules.choose(&mut random);
            let of_rule = of_rule.map(|rule| format!("a.{}", rule.name.name));
            let wanted = of_rule.filter(|_| random.random());
            let wanted = wanted.unwrap_or_else(|| name(&mut random));
            found += usize::from(!rules.is_empty());
            let name = mutated(&mut random, &wanted);
            both.same_packet(&packet(&name), &format!("round {round}"));
            let query = query(&mut random, &name);
            both.same_packet(&query, &format!("round {round}: {query:x?}"));
        }
    }
    assert!(found > 3000, "{found}");
}

#[test]
fn a_full_set_and_names_that_fill_it_are_refused() {
    let rule = |name: String| NameRule {
        name: ScopedName::parse(&name).expect("a name"),
        value: RuleValue::default(),
    };
    let small = program(2);
    let set = small.state("c.names");
    let mut both = Both::new(&small);
    let changes =
        ["a.com", "b.com", "c.com"].map(|name| Change::InsertName(set, rule(name.into())));
    let full = StoreError::Full { capacity: 2 };
    let done = both.each(|store| store.apply(&changes).map_err(|rejected| rejected.error));
    assert_eq!(done, [Err(full.clone()), Err(full)]);
    assert_eq!(
        both.each(|store| store.names(set)),
        [Ok(vec![]), Ok(vec![])]
    );

    // Of long names there is less room than rules.
    const MANY: u32 = 30_000;
    let large = program(MANY);
    let set = large.state("c.names");
    let mut store = large.load();
    let label = "l".repeat(60);
    let long = |number: u32| rule(format!("n{number}.{label}.{label}.{label}.example"));
    let mut changes: Vec<Change> = (0..MANY)
        .map(|n| Change::InsertName(set, long(n)))
        .collect();
    let refused = store.store_mut().apply(&changes).unwrap_err();
    assert!(refused.at > 4_000, "{refused}");
    let told = refused.error.to_string();
    assert!(told.contains("the names are so long"), "{told}");
    assert_eq!(store.store_mut().names(set), Ok(vec![]));
    changes.truncate(refused.at);
    assert_eq!(store.store_mut().apply(&changes), Ok(()));
    let rules = store.store_mut().names(set).expect("rules");
    assert_eq!(rules.len(), changes.len());
}

#[test]
fn rules_that_a_batch_removes_again_take_no_room() {
    let small = program(2);
    let set = small.state("c.names");
    let mut both = Both::new(&small);
    let rule = |number: u32| NameRule {
        name: ScopedName::parse("a.example").expect("a name"),
        value: RuleValue { number, lists: 1 },
    };
    let changes: Vec<Change> = (0..200)
        .flat_map(|n| {
            let name = rule(n).name;
            [
                Change::InsertName(set, rule(n)),
                Change::RemoveName(set, name),
            ]
        })
        .chain([Change::InsertName(set, rule(200))])
        .collect();
    let done = both.each(|store| store.apply(&changes));
    assert_eq!(done, [Ok(()), Ok(())]);
    assert_eq!(
        both.each(|store| store.names(set)),
        [Ok(vec![rule(200)]), Ok(vec![rule(200)])]
    );
    both.same_packet(&packet(b"www.a.example"), "at the end");
}

/// Looks up names of a full set, names below them and near misses.
#[test]
fn each_of_a_million_names_is_found_and_no_other() {
    const COUNT: u32 = 1_000_000;
    let compiled = program(COUNT);
    let set = compiled.state("c.names");
    let mut test = compiled.load();
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let name = |number: u32| format!("n{number:x}-{}.example", "x".repeat(number as usize % 16));
    let changes: Vec<Change> = (0..COUNT)
        .map(|number| {
            let name = ScopedName::parse(&name(number)).expect("a name");
            let value = RuleValue { number, lists: 1 };
            Change::InsertName(set, NameRule { name, value })
        })
        .collect();
    test.store_mut().apply(&changes).expect("there is room");
    drop(changes);
    let mut decided = |name: &str| {
        let packet = Packet {
            port: 0,
            bytes: packet(name.as_bytes()),
        };
        test.send(&packet).expect("it takes the packet");
        let out = test.receive().expect("it gives what came out");
        let bytes = &out.first().expect("a packet").bytes;
        let number = u32::from_be_bytes(bytes[20..24].try_into().expect("four bytes"));
        (bytes[19] == 1).then_some(number)
    };
    for _ in 0..3_000 {
        let number = random.random_range(0..COUNT);
        let name = name(number);
        assert_eq!(decided(&name), Some(number), "{name}");
        assert_eq!(
            decided(&format!("www.{}.:443", name.to_uppercase())),
            Some(number)
        );
        assert_eq!(decided(&format!("not{name}")), None);
        assert_eq!(decided(&format!("{name}.org")), None);
        assert_eq!(decided(&name[1..]), None);
    }
}

//! Tests of pattern sets: random rules and requests in the kernel, in the interpreter, and by the crate `regex`. Needs root.

use crate::flow_state::machine::{Both, Compiled, call};
use bpf::abi::Hook;
use control::{Change, Device, Packet, Store, StoreError};
use interp::{Interpreter, Options};
use patterns::{Pattern, UrlText};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use regex::bytes::RegexBuilder;
use schema::{NameRule, RuleValue, Scope, ScopedName};

/// Program that searches the URL of a request in the payload, or the name in a DNS query.
const SEARCH: &str = "
#include <payload.p4>
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    pattern_set(SIZE) patterns;
    message(\"http\") http;
    message(\"dns\") dns;
    apply {
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
        bit<32> prefix = 0;
        bit<32> prefix_lists = 0;
        bit<32> number;
        bit<32> lists;
        bool found;
        if (hdr.call.key == QUERY) {
            dns.read(0);
            found = dns.find_pattern(\"qname\", patterns, number, lists);
        } else {
            http.read(0);
            found = http.find_url(patterns, prefix, prefix_lists, number, lists);
        }
        hdr.call.found = found ? 8w1 : 0;
        hdr.call.value = hdr.call.key == PREFIX ? prefix ++ prefix_lists : number ++ lists;
    }
}";

/// Keys that mean a DNS query, and the values of prefixes.
const QUERY: u32 = 1;
const PREFIX: u32 = 2;

fn program(size: u32) -> Compiled {
    let text = SEARCH.replace("SIZE", &size.to_string());
    let text = text.replace("QUERY", &QUERY.to_string());
    let text = text.replace("PREFIX", &PREFIX.to_string());
    // A test run at XDP would take milliseconds.
    Compiled::new(&text, Hook::TcIngress)
}

fn rule(pattern: &str, number: u32, lists: u32) -> NameRule {
    let pattern = Pattern::parse(pattern).expect(pattern).to_string();
    NameRule {
        name: ScopedName {
            name: pattern.into(),
            scope: Scope::Domain,
        },
        value: RuleValue { number, lists },
    }
}

/// Returns one of few different patterns, so that several are found in one text.
fn pattern(random: &mut ChaCha8Rng) -> String {
    let hosts = ["a.com", "b.a.com", "=a.com", "=b.a.com", "com", "x.org"];
    let paths = [
        "/",
        "/ads",
        "/ads/",
        "/ads/b",
        "/x?q=",
        "/%20",
        "/a.com/ads",
    ];
    let words = [
        "*ad*", "*ads/b*", "*a.com/*", "*?q=*", "*%20*", "*.*", "*s/b/*",
    ];
    let expressions = [
        "/^[^/]*ads/",
        "/ads$/",
        "/[0-9]{2}/",
        "/^a\\.com\\/$/",
        "/(ads|b)+\\/?$/",
        "/a.*s/",
        "/\\bads\\b/",
        "/^$/",
    ];
    let mut one = |all: &[&str]| (*all.choose(random).expect("some")).to_owned();
    match one(&["prefix", "prefix", "word", "expression"]).as_str() {
        "prefix" => one(&hosts) + &one(&paths),
        "word" => one(&words),
        _ => one(&expressions),
    }
}

/// Returns the host of a request, and its target with the length of the path.
fn url(random: &mut ChaCha8Rng) -> (String, String, usize) {
    let hosts = [
        "a.com",
        "B.A.com",
        "c.b.a.com:80",
        "xa.com.",
        "x.org",
        "ads",
        "12.com",
    ];
    let parts = [
        "/ads",
        "/ADS",
        "/b",
        "/",
        "/x",
        "/..",
        "/.",
        "/%2e%2E",
        "%61ds",
        "%2f",
        "%20",
        "%",
        "%4",
        "a.com",
        ".",
        "..",
        "/%41ds/12",
        "%3f",
    ];
    let queries = [
        "?q=1",
        "?",
        "?/../ads",
        "?q=%2e/ads",
        "#/../ads",
        "?x#y",
        "?100%",
    ];
    let host = (*hosts.choose(random).expect("some")).to_owned();
    let mut target = String::from("/");
    for _ in 0..random.random_range(0..6) {
        target += parts.choose(random).expect("some");
    }
    if random.random_range(0..3) == 0 {
        target += queries.choose(random).expect("some");
    }
    let path = target.find('?').unwrap_or(target.len());
    (host, target, path)
}

/// Returns the values that the rules give a text, by the crate `regex`.
fn expected(rules: &[NameRule], text: &[u8]) -> [RuleValue; 2] {
    let mut found = [RuleValue::default(); 2];
    let mut prefixes = Vec::new();
    for rule in rules.iter().filter(|rule| rule.value.lists != 0) {
        let name = rule.name.name.as_str();
        let pattern = Pattern::parse(name).expect("a pattern");
        let quoted = |bytes: &[u8]| -> String {
            let all = bytes.iter().map(|byte| format!("\\x{byte:02x}"));
            all.collect()
        };
        let expression = match &pattern {
            Pattern::Prefix(prefix) => {
                let above = match prefix.host.scope {
                    Scope::Name => "",
                    _ => "([^/]*\\.)?",
                };
                let host = quoted(prefix.host.name.as_bytes());
                format!("^{above}{host}{}", quoted(&prefix.behind()))
            }
            Pattern::Word(word) => quoted(word),
            Pattern::Expression(_) => name[1..name.len() - 1].to_owned(),
        };
        let made = RegexBuilder::new(&expression)
            .unicode(false)
            .case_insensitive(true)
            .build();
        if !made.expect("an expression").is_match(text) {
            continue;
        }
        match pattern {
            Pattern::Prefix(prefix) => {
                let order = (
                    prefix.behind().len(),
                    prefix.host.name.len(),
                    prefix.host.scope,
                );
                prefixes.push((order, rule.value));
            }
            _ => {
                found[1].number = found[1].number.max(rule.value.number);
                found[1].lists |= rule.value.lists;
            }
        }
    }
    prefixes.sort_by_key(|(order, _)| *order);
    for (_, value) in prefixes {
        found[0].number = value.number;
        for field in (0..16).map(|field| 3 << (2 * field)) {
            if value.lists & field != 0 {
                found[0].lists = found[0].lists & !field | value.lists & field;
            }
        }
    }
    found
}

#[test]
fn random_patterns_are_found_as_in_the_interpreter_and_by_regex() {
    let compiled = program(3000);
    let set = compiled.state("c.patterns");
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut both = Both::new(&compiled);
    let alone = Interpreter::new(compiled.program.clone(), Options::default());
    let mut alone = alone.expect("the program runs");
    let mut found = [0; 2];
    for round in 0..100 {
        let mut changes = vec![Change::ClearNames(set)];
        for number in 1..random.random_range(2..20) {
            // Two bits that are both set are no field of a prefix that differs from others.
            let lists = random.random_range(0..256);
            changes.push(Change::InsertName(
                set,
                rule(&pattern(&mut random), number, lists),
            ));
        }
        let mut known = Vec::new();
        changes.retain(|change| match change {
            Change::InsertName(_, rule) if known.contains(&rule.name) => false,
            Change::InsertName(_, rule) => {
                known.push(rule.name.clone());
                true
            }
            _ => true,
        });
        let done = both.each(|store| store.apply(&changes).map_err(|rejected| rejected.error));
        assert_eq!(done, [Ok(()), Ok(())], "round {round}");
        alone.apply(&changes).expect("the same");
        let rules = both.each(|store| store.names(set));
        assert_eq!(rules[0], rules[1], "round {round}");
        let rules = rules[0].clone().expect("rules");
        for _ in 0..100 {
            let (host, target, path) = url(&mut random);
            let text = UrlText::of_request(host.as_bytes(), target.as_bytes(), path);
            let expected = expected(&rules, &text.bytes());
            let when = format!("round {round}: {host} {target} by {rules:?}");
            let request = format!("GET {target} HTTP/1.1\r\nX: y\r\nHost: {host}\r\n\r\n");
            for (at, key) in [PREFIX, 0].into_iter().enumerate() {
                let mut packet = call(0, key, 0);
                packet.extend(request.as_bytes());
                both.same_packet(&packet, &when);
                let RuleValue { number, lists } = expected[at];
                found[at] += usize::from(lists != 0);
                assert_eq!(sent(&mut alone, &packet), (number, lists), "{when}");
            }
            let mut query = call(0, QUERY, 0);
            query.extend([0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
            for label in host.split(['.', ':']).filter(|label| !label.is_empty()) {
                query.push(label.len() as u8);
                query.extend(label.as_bytes());
            }
            query.extend([0, 0, 1, 0, 1]);
            both.same_packet(&query, &when);
        }
    }
    assert!(found[0] > 1000 && found[1] > 1000, "{found:?}");
}

/// Returns the values that a packet gets in the interpreter.
fn sent(device: &mut Interpreter, packet: &[u8]) -> (u32, u32) {
    let packet = Packet {
        port: 0,
        bytes: packet.to_vec(),
    };
    device.send(&packet).expect("it takes the packet");
    let out = device.receive().expect("what came out");
    let bytes = &out.first().expect("a packet").bytes;
    let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    (word(20), word(24))
}

#[test]
fn patterns_that_have_no_room_are_refused_and_change_nothing() {
    let compiled = program(64);
    let set = compiled.state("c.patterns");
    let mut test = compiled.load();
    let store = test.store_mut();
    let small = rule("a.com/x", 1, 1);
    let insert = |rule: &NameRule| Change::InsertName(set, rule.clone());
    assert_eq!(store.apply(&[insert(&small)]), Ok(()));
    let large = rule(&format!("a.com/{}", "x".repeat(1000)), 2, 1);
    let refused = store.apply(&[insert(&large)]).unwrap_err();
    let told = refused.error.to_string();
    assert!(told.contains("the set has room for 64"), "{told}");
    let known = store.apply(&[insert(&small)]).unwrap_err().error;
    assert!(matches!(known, StoreError::Name { .. }), "{known}");
    assert_eq!(store.names(set), Ok(vec![small]));
}

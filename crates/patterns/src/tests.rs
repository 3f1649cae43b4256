//! Random rules and texts: the automata against the reference.

use crate::{Automata, Image, PatternRules, UrlText};
use domains::{NameRule, RuleValue, Scope, ScopedName};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn rule(text: &str, number: u32, lists: u32) -> NameRule {
    let name = ScopedName {
        name: text.into(),
        scope: Scope::Domain,
    };
    NameRule {
        name,
        value: RuleValue { number, lists },
    }
}

fn rules(all: &[(&str, u32)]) -> PatternRules {
    let mut rules = PatternRules::default();
    for ((text, lists), number) in all.iter().zip(1..) {
        assert_eq!(
            rules.insert(&rule(text, number, *lists)),
            Ok(true),
            "{text}"
        );
    }
    rules
}

#[test]
fn the_longest_prefix_decides_and_of_words_all() {
    let rules = rules(&[
        ("a.com/x", 1),
        ("a.com/x/y", 2),
        ("b.a.com/x", 4),
        ("=a.com/x", 8),
        ("*word*", 1),
        ("/wo.d$/", 2),
    ]);
    let found = |host: &str, path: &str| {
        let text = UrlText::of_request(host.as_bytes(), path.as_bytes(), path.len());
        let found = rules.find(&text);
        let values = [found.prefix, found.other].map(|value| (value.number, value.lists));
        assert_eq!(
            Automata::of(&rules).expect("small").find(&text.bytes()),
            found
        );
        values
    };
    assert_eq!(found("a.com", "/x"), [(4, 9), (0, 0)]);
    assert_eq!(found("c.a.com", "/xa"), [(1, 1), (0, 0)]);
    assert_eq!(found("c.b.a.com", "/x/"), [(3, 5), (0, 0)]);
    assert_eq!(found("b.a.com", "/x/y"), [(2, 6), (0, 0)]);
    assert_eq!(found("ba.com", "/x"), [(0, 0), (0, 0)]);
    assert_eq!(found("evil.com", "/.a.com/x"), [(0, 0), (0, 0)]);
    assert_eq!(found("word.com", "/a.com/world"), [(0, 0), (5, 1)]);
    assert_eq!(found("a.com", "/word"), [(0, 0), (6, 3)]);
    assert_eq!(found("a.com", "/words"), [(0, 0), (5, 1)]);
}

#[test]
fn the_rule_that_decides_is_the_one_that_has_what_is_found() {
    let rules = rules(&[("*word*", 3), ("/w/", 1), ("a.com/w", 1), ("a.com/", 2)]);
    let found = |path: &str| {
        let text = UrlText::of_request(b"a.com", path.as_bytes(), path.len());
        let shown = |rule: NameRule| (rule.name.to_string(), rule.value.lists);
        rules.find_rules(&text).map(|rule| rule.map(shown))
    };
    let rule = |text: &str, lists| Some((text.to_owned(), lists));
    assert_eq!(found("/word"), [rule("a.com/w", 1), rule("*word*", 3)]);
    assert_eq!(found("/W"), [rule("a.com/w", 1), rule("/w/", 1)]);
    assert_eq!(found("/x"), [rule("a.com/", 2), None]);
}

fn pattern(random: &mut ChaCha8Rng) -> String {
    let mut part = |all: &[&str]| (*all.choose(random).expect("some")).to_owned();
    let names = ["a", "b.a", "a.b", "a.b.a", "ab"];
    let paths = ["/", "/a", "/a.b/a", "/b?a", "/a/b", "/ab", "/a/"];
    match part(&["prefix", "prefix", "exact", "word", "expression"]).as_str() {
        "prefix" => part(&names) + &part(&paths),
        "exact" => format!("={}{}", part(&names), part(&paths)),
        "word" => format!("*{}*", part(&["a", "ab", "b.a/", "a/b", "bab", "/a.b"])),
        _ => format!(
            "/{}/",
            part(&["a.b", "^a", "b$", "a+b/", "(ab|ba)/a", "[ab]{3}", "^$"])
        ),
    }
}

#[test]
fn automata_find_what_the_reference_finds() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut count = 0;
    for round in 0..300 {
        let mut rules = PatternRules::default();
        for number in 1..random.random_range(1..12) {
            let lists = random.random_range(0..64);
            let added = rules.insert(&rule(&pattern(&mut random), number, lists));
            assert!(added.is_ok(), "{added:?}");
        }
        let automata = Automata::of(&rules).expect("small");
        let bytes = Image::of(&rules, &automata).bytes(1000).expect("room");
        let (at, length) = Image::place_of_text(&bytes).expect("a head");
        let text = &bytes[at as usize..][..length as usize];
        assert_eq!(Image::rules(text), rules, "round {round}");
        for _ in 0..60 {
            let mut some = |most| -> String {
                let count = random.random_range(0..most);
                let all = (0..count).map(|_| *b"ab./?".choose(&mut random).expect("some"));
                all.map(char::from).collect()
            };
            let mut text = UrlText {
                host: some(6).into(),
                path: some(9).into(),
            };
            if random.random() {
                text.host = b"b.a.b.a"[random.random_range(0..7)..].to_vec();
                text.path.insert(0, b'/');
            }
            let found = rules.find(&text);
            count += usize::from(found.prefix.lists != 0);
            let of_automata = automata.find(&text.bytes());
            assert_eq!(of_automata, found, "round {round}: {text:?} by {rules:?}");
        }
    }
    assert!(count > 1000, "{count}");
}

//! Automata against plain searches, which share nothing with them.

use super::*;
use std::collections::HashSet;

/// Pseudo-random numbers, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }

    /// Returns bytes of a small alphabet, so that names overlap.
    fn text(&mut self, longest: usize, alphabet: &[u8]) -> Vec<u8> {
        let length = 1 + self.below(longest);
        (0..length)
            .map(|_| alphabet[self.below(alphabet.len())])
            .collect()
    }

    fn names(&mut self) -> Vec<String> {
        let count = 1 + self.below(6);
        let name = |random: &mut Random| {
            let labels = 1 + random.below(2);
            let label = |random: &mut Random| {
                String::from_utf8(random.text(5, b"abc")).expect("letters are UTF-8")
            };
            (0..labels)
                .map(|_| label(random))
                .collect::<Vec<_>>()
                .join(".")
        };
        (0..count).map(|_| name(self)).collect()
    }

    /// Returns a payload that has parts of names, and often a name.
    fn payload(&mut self, form: Form, names: &[String]) -> Vec<u8> {
        let alphabet: &[u8] = match form {
            Form::Text => b"abc.x",
            Form::Labels => b"abc\x01\x02\x03x",
        };
        let mut payload = self.text(12, alphabet);
        if self.below(2) == 0 {
            payload.extend(form.pattern(&names[self.below(names.len())]));
        }
        payload.extend(self.text(4, alphabet));
        payload
    }
}

fn build(names: &[String], slice: SliceBytes, reset: Reset) -> Automaton {
    Automaton::new(names.iter().map(String::as_str), &Form::ALL, slice, reset)
}

fn has_any(payload: &[u8], patterns: &[Vec<u8>]) -> bool {
    let is_in = |pattern: &Vec<u8>| {
        payload
            .windows(pattern.len())
            .any(|part| part == &pattern[..])
    };
    patterns.iter().any(is_in)
}

/// Searches as published: a byte that does not continue a match is lost, and the search begins anew after it.
fn has_any_as_published(payload: &[u8], patterns: &[Vec<u8>]) -> bool {
    let begins: HashSet<&[u8]> = patterns
        .iter()
        .flat_map(|p| (1..p.len()).map(|end| &p[..end]))
        .collect();
    let whole: HashSet<&[u8]> = patterns.iter().map(|p| &p[..]).collect();
    let mut from = 0;
    for end in 1..=payload.len() {
        let matched = &payload[from..end];
        if whole.contains(matched) {
            return true;
        }
        if !begins.contains(matched) {
            from = end;
        }
    }
    false
}

/// Calls `check` with random names, and a random payload of each form.
fn with_random_payloads(
    lists: usize,
    mut check: impl FnMut(&[String], &[(Form, Vec<Vec<u8>>, Vec<u8>)]),
) {
    let mut random = Random(7);
    for _ in 0..lists {
        let names = random.names();
        let mut payloads = Vec::new();
        for form in Form::ALL {
            let patterns: Vec<Vec<u8>> = names.iter().map(|name| form.pattern(name)).collect();
            for _ in 0..5 {
                payloads.push((form, patterns.clone(), random.payload(form, &names)));
            }
        }
        check(&names, &payloads);
    }
}

#[test]
fn the_published_example_has_eleven_states_and_eleven_entries() {
    let names = ["evil.com", "bad.com"];
    let automaton = Automaton::new(
        names.into_iter(),
        &[Form::Text],
        SliceBytes::One,
        Reset::Start,
    );
    assert_eq!((automaton.state_count(), automaton.entries.len()), (11, 11));
    assert_eq!(automaton.links, []);
    let deciding: Vec<&Entry> = automaton.entries.iter().filter(|e| e.decides).collect();
    assert_eq!(deciding.len(), 1);
    assert_eq!(deciding[0].bytes(), b"m");
}

#[test]
fn names_after_a_match_need_no_entries() {
    let one = build(&["bad.com".to_string()], SliceBytes::One, Reset::Start);
    let covered = ["bad.com".to_string(), "bad.com.example".to_string()];
    assert_eq!(
        build(&covered, SliceBytes::One, Reset::Start).entries,
        one.entries
    );
    // With links, the same holds for a name that has another one in its middle. In labels, no name is within another's.
    let of = |other: &str| {
        let names = ["bad.com", other].into_iter();
        Automaton::new(names, &[Form::Text], SliceBytes::One, Reset::Links).entries
    };
    assert_eq!(of("verybad.com.example"), of("verybad.com"));
}

#[test]
fn a_false_start_hides_a_name_unless_there_are_links() {
    let names = ["evil.com".to_string(), "bad.com".to_string()];
    let found = |reset, payload: &[u8]| {
        let automaton = build(&names, SliceBytes::One, reset);
        Walker::new(&automaton).walk(Form::Text, payload).found
    };
    assert!(found(Reset::Start, b"evil.com") && found(Reset::Start, b"devil.com"));
    assert!(!found(Reset::Start, b"eevil.com") && !found(Reset::Start, b"babad.com"));
    assert!(found(Reset::Links, b"eevil.com") && found(Reset::Links, b"babad.com"));
}

#[test]
fn with_links_the_walk_equals_a_search_for_each_name() {
    for slice in SliceBytes::ALL {
        let mut outcomes = [0, 0];
        with_random_payloads(3400, |names, payloads| {
            let automaton = build(names, slice, Reset::Links);
            let walker = Walker::new(&automaton);
            for (form, patterns, payload) in payloads {
                let expected = has_any(payload, patterns);
                let walk = walker.walk(*form, payload);
                assert_eq!(walk.found, expected, "{slice:?} {names:?} {payload:?}");
                // A slice is consumed, or a match becomes shorter.
                assert!(walk.look_ups <= 2 * payload.len());
                outcomes[usize::from(expected)] += 1;
            }
        });
        assert!(outcomes.iter().all(|count| *count > 8000), "{outcomes:?}");
    }
}

#[test]
fn as_published_the_walk_equals_a_search_that_begins_anew() {
    let mut differs = 0;
    with_random_payloads(10_000, |names, payloads| {
        let automaton = build(names, SliceBytes::One, Reset::Start);
        let walker = Walker::new(&automaton);
        for (form, patterns, payload) in payloads {
            let found = walker.walk(*form, payload).found;
            assert_eq!(
                found,
                has_any_as_published(payload, patterns),
                "{names:?} {payload:?}"
            );
            differs += usize::from(found != has_any(payload, patterns));
        }
    });
    assert!(differs > 1000, "{differs}");
}

#[test]
fn larger_slices_as_published_find_only_names_and_find_those_that_no_start_precedes() {
    for slice in [SliceBytes::Two, SliceBytes::Four] {
        with_random_payloads(2000, |names, payloads| {
            let automaton = build(names, slice, Reset::Start);
            let walker = Walker::new(&automaton);
            for (form, patterns, payload) in payloads {
                if walker.walk(*form, payload).found {
                    assert!(
                        has_any(payload, patterns),
                        "{slice:?} {names:?} {payload:?}"
                    );
                }
            }
            for name in names {
                for distance in 0..9 {
                    let mut payload = vec![b'x'; distance];
                    payload.extend(Form::Text.pattern(name));
                    let shortest = names
                        .iter()
                        .filter(|other| name.contains(other.as_str()) && *other != name);
                    if shortest.count() == 0 {
                        let found = walker.walk(Form::Text, &payload).found;
                        assert!(found, "{slice:?} {names:?} {payload:?}");
                    }
                }
            }
        });
    }
}

//! Programs with a few words changed: whatever the checker accepts becomes valid IR or is refused.
//! `MUTATIONS=100000 cargo test -p elab --test it mutate` runs more of them.

use crate::support::{Numbers, Outcome, compile, programs, root};

/// Splits a text into words, numbers and single signs, with the blanks between them.
fn pieces(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut word = false;
    for c in text.chars() {
        let is_word = c.is_alphanumeric() || c == '_' || c == '#';
        match all.last_mut() {
            Some(last) if word && is_word => last.push(c),
            _ => all.push(c.to_string()),
        }
        word = is_word;
    }
    all
}

fn mutate(text: &str, numbers: &mut Numbers) -> String {
    let mut all = pieces(text);
    for _ in 0..1 + numbers.below(3) {
        let at = numbers.below(all.len());
        let other = all[numbers.below(all.len())].clone();
        match numbers.below(4) {
            0 => {
                all.remove(at);
            }
            1 => all.insert(at, other),
            2 => all[at] = other,
            _ => {
                // A word for a word keeps more programs whole.
                let words: Vec<usize> = (0..all.len())
                    .filter(|&i| all[i].starts_with(|c: char| c.is_alphanumeric()))
                    .collect();
                let (a, b) = (
                    words[numbers.below(words.len())],
                    words[numbers.below(words.len())],
                );
                all[a] = all[b].clone();
            }
        }
    }
    all.concat()
}

#[test]
fn changed_programs_become_valid_ir_or_are_refused() {
    let count: usize = std::env::var("MUTATIONS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(600);
    let mut texts = Vec::new();
    for folder in ["programs", "tests/stf", "tests/language/accept"] {
        for path in programs(&root().join(folder)) {
            texts.push(std::fs::read_to_string(path).unwrap());
        }
    }
    for entry in std::fs::read_dir(root().join("crates/elab/tests/golden")).unwrap() {
        let file = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let (text, _) = file.split_once("\n--------\n").unwrap();
        texts.push(crate::support::complete(text));
    }
    let seed = std::env::var("SEED").ok().and_then(|s| s.parse().ok());
    let mut numbers = Numbers::new(seed.unwrap_or(0x9e37_79b9_7f4a_7c15));
    let mut built = 0;
    for _ in 0..count {
        let text = mutate(&texts[numbers.below(texts.len())], &mut numbers);
        // Shown if the next line panics.
        println!("{text}");
        match compile("test.p4", &text) {
            Outcome::Broken(why) => panic!("{why}\n{text}"),
            Outcome::Program(..) => built += 1,
            Outcome::Refused(diagnostics, why) => {
                assert!(
                    diagnostics.iter().all(|d| d.code.0 != "E0599"),
                    "{why}\n{text}"
                );
            }
            Outcome::Unchecked(_) => {}
        }
    }
    assert!(built > count / 50, "{built} of {count} were accepted");
}

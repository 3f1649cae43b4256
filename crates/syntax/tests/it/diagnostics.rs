//! The text of every diagnostic of this crate, beside the program that causes it.
//!
//! A file in `tests/diagnostics/` has the sources, each after a line `=== NAME`, and after `=== output` the diagnostics
//! as the user sees them. `ONPATH_BLESS=1 cargo test -p syntax` rewrites the output.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use syntax::{LoadError, Loaded, MemoryLoader, SourceLoader};

const OUTPUT: &str = "=== output\n";

fn here(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns every case by file name.
fn cases() -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(here("tests/diagnostics")).unwrap();
    let texts = entries.map(|entry| {
        let path = entry.unwrap().path();
        (
            path.file_name().unwrap().to_string_lossy().into_owned(),
            std::fs::read_to_string(path).unwrap(),
        )
    });
    texts.collect()
}

/// Loader of texts in memory, some of which cannot be read or are not UTF-8.
#[derive(Default)]
struct Texts {
    readable: MemoryLoader,
    /// Files in Latin-1.
    latin1: BTreeMap<String, Vec<u8>>,
    unreadable: BTreeSet<String>,
}

impl SourceLoader for Texts {
    fn load(&self, path: &str, from: Option<&str>, system: bool) -> Result<Loaded, LoadError> {
        if self.unreadable.contains(path) {
            return Err(LoadError::Unreadable {
                name: path.into(),
                reason: "it is a directory".into(),
            });
        }
        if let Some(bytes) = self.latin1.get(path) {
            return Ok(Loaded::from_bytes(path, bytes.clone()));
        }
        let found = self.readable.load(path, from, system);
        found.map_err(|error| match error {
            LoadError::NotFound { tried, .. } if system => LoadError::NotFound {
                tried,
                built_in: vec!["core.p4".into(), "v1model.p4".into()],
            },
            error => error,
        })
    }
}

/// Returns the diagnostics of a case as the user sees them.
fn shown(sources: &str) -> String {
    let mut loader = Texts::default();
    let mut defines = Vec::new();
    for part in sources.split("=== ").skip(1) {
        let (name, text) = part.split_once('\n').unwrap();
        if let Some(define) = name.strip_prefix("-D ") {
            let (name, value) = define
                .split_once('=')
                .map_or((define, None), |(n, v)| (n, Some(v)));
            defines.push((name.to_string(), value.map(String::from)));
        } else if let Some(name) = name.strip_prefix("unreadable ") {
            loader.unreadable.insert(name.to_string());
        } else if let Some(name) = name.strip_prefix("latin1 ") {
            let bytes = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap());
            loader.latin1.insert(name.to_string(), bytes.collect());
        } else {
            loader.readable = loader.readable.with(name, text);
        }
    }
    let mut map = diag::SourceMap::new();
    let parsed = syntax::parse(&mut map, &loader, "main.p4", &defines);
    for d in parsed.diagnostics.iter() {
        assert!(d.help.is_some(), "{} has no help", d.code.0);
    }
    diag::render_text(&parsed.diagnostics, &map, false)
}

#[test]
fn every_text_is_as_expected() {
    let update = std::env::var_os("ONPATH_BLESS").is_some();
    let mut wrong = Vec::new();
    for (name, text) in cases() {
        let (sources, expected) = text.split_once(OUTPUT).unwrap_or((&text, ""));
        let found = shown(sources);
        if found == expected {
            continue;
        }
        if update {
            std::fs::write(
                here("tests/diagnostics").join(&name),
                format!("{sources}{OUTPUT}{found}"),
            )
            .unwrap();
        } else {
            wrong.push(format!(
                "--- {name}: expected\n{expected}--- {name}: found\n{found}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the codes in double quotes in a text.
fn codes_in(text: &str) -> BTreeSet<String> {
    text.split('"')
        .filter(|part| part.len() == 5 && part.starts_with(['E', 'W']))
        .filter(|part| part[1..].bytes().all(|b| b.is_ascii_digit()))
        .map(String::from)
        .collect()
}

#[test]
fn every_code_has_a_case() {
    let mut codes = BTreeSet::new();
    for file in ["preprocess", "lexical", "grammar", "common"] {
        codes.extend(codes_in(
            &std::fs::read_to_string(here(&format!("src/errors/{file}.rs"))).unwrap(),
        ));
    }
    let all: String = cases().into_values().collect();
    let missing: Vec<_> = codes
        .iter()
        .filter(|code| !all.contains(&format!("[{code}]")))
        .collect();
    assert!(missing.is_empty(), "no case shows {missing:?}");
}

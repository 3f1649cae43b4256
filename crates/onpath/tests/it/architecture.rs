//! Statements of `docs/dev/` about the crates, checked against their manifests and sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Returns all files below a folder of the repository, as paths from its root, without build output.
pub(crate) fn files(folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_string()];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(root().join(&folder)).expect("a folder");
        for entry in entries.map(|entry| entry.expect("an entry")) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = match folder.as_str() {
                "." => name.clone(),
                folder => format!("{folder}/{name}"),
            };
            // A link may lead out of the repository.
            let kind = entry.file_type().expect("its type");
            if kind.is_dir() && ![".git", "target"].contains(&name.as_str()) {
                open.push(path);
            } else if kind.is_file() {
                found.push(path);
            }
        }
    }
    found
}

/// Returns the names of all crates.
pub(crate) fn crates() -> BTreeSet<String> {
    let names = files("crates").into_iter().filter_map(|path| {
        path.strip_suffix("/Cargo.toml")?
            .strip_prefix("crates/")
            .map(String::from)
    });
    names.collect()
}

/// Returns the dependencies that each crate declares outside of its tests.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let of = |name: &String| {
        let manifest = read(&root().join(format!("crates/{name}/Cargo.toml")));
        let mut section = "";
        let mut declared = BTreeSet::new();
        for line in manifest.lines() {
            if line.starts_with('[') {
                section = line;
            } else if ["[dependencies]", "[build-dependencies]"].contains(&section) {
                let end = line.find(['.', ' ', '=']).unwrap_or(0);
                declared.extend(Some(line[..end].to_string()).filter(|name| !name.is_empty()));
            }
        }
        declared
    };
    crates()
        .iter()
        .map(|name| (name.clone(), of(name)))
        .collect()
}

/// Returns the code in a file's text without its tests, or `None` if the file is no source or all tests.
pub(crate) fn own_code<'t>(file: &str, text: &'t str) -> Option<&'t str> {
    let is_test = file.ends_with("tests.rs") || file.contains("/tests/");
    if is_test || !file.ends_with(".rs") {
        return None;
    }
    // Tests in a file of their own may be declared anywhere.
    let mut begins = text.match_indices("#[cfg(test)]\nmod ");
    let inline = begins.find(|(at, mark)| {
        let line = text[at + mark.len()..].lines().next();
        line.is_some_and(|line| line.ends_with('{'))
    });
    Some(inline.map_or(text, |(at, _)| &text[..at]))
}

/// Returns the crates with a line of code, outside of tests, that contains one of these texts.
fn crates_that_say(pieces: &[&str]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for name in crates() {
        for file in files(&format!("crates/{name}/src")) {
            let text = read(&root().join(&file));
            let Some(code) = own_code(&file, &text) else {
                continue;
            };
            let mut lines = code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            if lines.any(|line| pieces.iter().any(|piece| line.contains(piece))) {
                found.insert(name.clone());
            }
        }
    }
    found
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_string()).collect()
}

#[test]
fn only_what_touches_the_machine_uses_system_interfaces() {
    let mut users: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (name, uses) in dependencies() {
        for interface in ["libbpf-rs", "libbpf-sys", "libc", "nix", "rustix"] {
            if uses.contains(interface) {
                users.entry(interface).or_default().insert(name.clone());
            }
        }
    }
    for (interface, users) in users {
        assert!(
            users.is_subset(&set(&[
                "host", "clang", "net", "kernel", "lab", "bench", "matrix"
            ])),
            "{interface}: {users:?}"
        );
        assert!(
            !interface.starts_with("libbpf") || users == set(&["kernel"]),
            "{users:?}"
        );
    }
}

#[test]
fn other_programs_are_run_by_few_crates() {
    assert_eq!(
        crates_that_say(&["Command::new(", "process::Command"]),
        set(&[
            "bench", "clang", "host", "kernel", "lab", "matrix", "native"
        ])
    );
}

#[test]
fn only_the_commands_print_or_exit_or_read_flags() {
    let printing = ["print!(", "println!(", "stdout()", "stderr()"];
    assert_eq!(
        crates_that_say(&printing),
        set(&["bench", "matrix", "onpath"])
    );
    assert_eq!(
        crates_that_say(&["process::exit", "ExitCode"]),
        set(&["bench", "matrix", "onpath"])
    );
    let mut parsing = dependencies();
    parsing.retain(|_, uses| uses.contains("clap"));
    assert_eq!(
        parsing.into_keys().collect::<BTreeSet<_>>(),
        set(&["bench", "matrix", "onpath"])
    );
}

#[test]
fn only_tests_use_testkit_and_the_native_target() {
    let mut users = dependencies();
    users.retain(|_, uses| uses.contains("testkit") || uses.contains("native"));
    assert_eq!(users.into_keys().collect::<Vec<_>>(), [""; 0]);
}

/// Crates that a layer must not depend on, even indirectly. A crate that depends on `kernel`, `clang` or `net`
/// depends on `host` too.
const UNKNOWN: &[(&str, &[&str])] = &[
    ("diag", &["syntax", "hir", "ir", "host"]),
    ("settings", &["syntax", "ir", "payload", "host"]),
    ("syntax", &["hir", "sema", "ir", "arch", "host"]),
    ("sema", &["arch", "elab", "ir", "host"]),
    ("elab", &["cgen", "bpf", "host", "interp"]),
    (
        "ir",
        &["syntax", "hir", "sema", "cgen", "bpf", "host", "interp"],
    ),
    ("hir", &["sema", "elab", "ir", "host"]),
    ("p4runtime", &["diag", "ir", "host"]),
    ("schema", &["control", "cgen", "bpf", "interp", "host"]),
    ("externs", &["interp", "cgen", "bpf", "host"]),
    ("interp", &["cgen", "bpf", "host"]),
    ("cgen", &["emit", "arch", "bpf", "host"]),
    ("layout", &["ir", "cgen", "emit", "bpf", "host"]),
    (
        "writers",
        &["cgen", "emit", "bpf", "interp", "kernel", "driver"],
    ),
    (
        "shm",
        &["cgen", "emit", "bpf", "interp", "kernel", "driver"],
    ),
    ("emit", &["arch", "bpf", "interp", "host"]),
    ("native", &["bpf", "interp", "net", "kernel", "driver"]),
    ("control", &["cgen", "bpf", "interp", "host", "driver"]),
    ("asic", &["diag", "ir", "host"]),
    ("domains", &["ir", "diag", "schema"]),
    ("firewall", &["ir", "host", "onpath", "clap"]),
    ("payload", &["ir", "syntax", "bpf", "host"]),
    ("messages", &["bpf", "interp", "host"]),
    ("state", &["arch", "bpf", "interp", "host"]),
    ("tables", &["arch", "bpf", "interp", "host"]),
    ("pdm", &["onpath", "clap"]),
    ("bpf", &["host", "syntax", "sema", "elab", "interp"]),
    ("host", &["ir", "bpf", "clang", "kernel"]),
    ("clang", &["ir", "bpf", "kernel", "driver"]),
    ("net", &["ir", "bpf", "clang", "kernel"]),
    ("lab", &["ir", "bpf", "kernel", "driver"]),
    ("kernel", &["syntax", "sema", "elab", "interp", "driver"]),
    ("driver", &["pdm", "telemetry", "onpath", "clap"]),
    ("explain", &["syntax", "ir", "host", "driver"]),
    ("sketch", &["diag", "ir", "host"]),
    ("telemetry", &["host", "driver", "onpath", "clap"]),
];

#[test]
fn layers_know_nothing_of_those_above_them() {
    let dependencies = dependencies();
    for &(layer, unknown) in UNKNOWN {
        let mut known = BTreeSet::new();
        let mut open = vec![layer.to_string()];
        while let Some(name) = open.pop() {
            for used in dependencies.get(&name).into_iter().flatten() {
                if known.insert(used.clone()) {
                    open.push(used.clone());
                }
            }
        }
        let wrong: Vec<&&str> = unknown
            .iter()
            .filter(|name| known.contains(**name))
            .collect();
        assert!(wrong.is_empty(), "{layer} knows {wrong:?}");
    }
}

#[test]
fn every_crate_has_a_line_in_the_map_and_every_line_a_crate() {
    let text = read(&root().join("docs/dev/architecture.md"));
    let (_, table) = text.split_once("| crate |").expect("the table of crates");
    let lines = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let named: BTreeSet<String> = lines
        .filter_map(|line| line.split('`').nth(1).map(String::from))
        .collect();
    assert_eq!(named, crates());
}

/// Expands the braces of a name: `a/{b,c}.rs` is two files.
fn braces(name: &str) -> Vec<String> {
    match name
        .split_once('{')
        .and_then(|(a, rest)| Some((a, rest.split_once('}')?)))
    {
        None => vec![name.to_string()],
        Some((before, (inside, after))) => {
            let all = inside
                .split(',')
                .map(|part| format!("{before}{part}{after}"));
            all.collect()
        }
    }
}

/// Returns the documents for engineers and users, each with its pieces of code.
fn code_in_documents() -> Vec<(String, Vec<String>)> {
    let mut documents = vec!["CONTRIBUTING.md".to_owned(), "SECURITY.md".to_owned()];
    let pages = files("docs").into_iter();
    documents.extend(pages.filter(|name| name.ends_with(".md")));
    let pieces = |document: String| {
        let text = read(&root().join(&document));
        let code = text.split('`').skip(1).step_by(2).map(String::from);
        (document, code.collect())
    };
    documents.into_iter().map(pieces).collect()
}

#[test]
fn every_file_that_documents_name_is_there() {
    let known = files(".");
    let mut missing = Vec::new();
    for (document, code) in code_in_documents() {
        let endings = [".rs", ".txt", ".toml", ".p4", ".h", ".stf"];
        let named = code.iter().filter(|name| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "_-./{},".contains(c);
            name.chars().all(plain)
                && name.contains('/')
                && endings.iter().any(|e| name.ends_with(e))
        });
        for file in named.flat_map(|name| braces(name)) {
            let ends = |path: &&String| **path == file || path.ends_with(&format!("/{file}"));
            if known.iter().find(ends).is_none() {
                missing.push(format!("{document}: {file}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Returns true if a source file defines an item, a variant or a field of this name, or exports one.
fn defines(text: &str, item: &str) -> bool {
    let keywords = [
        "fn", "struct", "enum", "trait", "type", "const", "static", "mod", "union",
    ];
    text.lines().any(|line| {
        let words: Vec<&str> = line
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter(|word| !["", "pub", "crate", "super"].contains(word))
            .collect();
        let keyword = words
            .windows(2)
            .any(|w| keywords.contains(&w[0]) && w[1] == item);
        let exported = line.trim_start().starts_with("pub use ") && words.contains(&item);
        keyword || exported || words.first() == Some(&item)
    })
}

#[test]
fn every_item_of_a_crate_that_documents_name_is_there() {
    let crates = crates();
    let mut missing = Vec::new();
    for (document, code) in code_in_documents() {
        let paths = code.iter().filter_map(|name| name.split_once("::"));
        for (crate_name, path) in paths.filter(|(name, _)| crates.contains(*name)) {
            let item = path.rsplit("::").next().unwrap_or(path);
            let has_it = |file: &String| defines(&read(&root().join(file)), item);
            if !files(&format!("crates/{crate_name}/src"))
                .iter()
                .any(has_it)
            {
                missing.push(format!("{document}: {crate_name}::{path}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn only_host_reads_what_others_name() {
    let reading = ["fs::read(", "fs::read_to_string(", "File::open(", "stdin()"];
    assert_eq!(
        crates_that_say(&reading),
        set(&["bench", "host", "kernel", "lab", "matrix", "net", "testkit"])
    );
}

//! The IR and its passes name no target, hook or architecture.

use std::path::{Path, PathBuf};

/// What only targets and architecture models know, in small letters.
const FOREIGN: [&str; 10] = [
    "bpf", "ebpf", "xdp", "tc", "skb", "v1model", "v1switch", "psa", "clang", "linux",
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// The foreign words of a line; `tc_output` and `xdpModel` count as `tc` and `xdp`.
fn foreign(line: &str) -> Vec<&'static str> {
    let mut words = String::new();
    for c in line.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() {
            words.push(' ');
        }
        words.extend(c.is_alphanumeric().then(|| c.to_ascii_lowercase()));
    }
    let whole = line.to_ascii_lowercase();
    let whole: Vec<&str> = whole.split(|c: char| !c.is_alphanumeric()).collect();
    FOREIGN
        .into_iter()
        .filter(|name| words.split(' ').any(|word| word == *name) || whole.contains(name))
        .collect()
}

#[test]
fn foreign_words_are_found_inside_names() {
    assert_eq!(foreign("a packet of tc_output, atc"), ["tc"]);
    assert_eq!(foreign("xdpModel"), ["xdp"]);
    assert_eq!(foreign("V1Switch or BPF"), ["bpf", "v1switch"]);
    assert_eq!(foreign("etcetera"), [""; 0]);
}

#[test]
fn the_ir_names_no_target_and_no_architecture() {
    let files = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(files.len() > 30);
    let mut found = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for (i, line) in text.lines().enumerate() {
            for name in foreign(line) {
                found.push(format!("{}:{}: {name}", file.display(), i + 1));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

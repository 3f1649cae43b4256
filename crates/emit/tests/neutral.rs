//! Checks that neutral crates name no target, no hook and no architecture. These are the IR, the emitter, the C
//! tree, the code of tables, state and messages, the writing side, and shared memory. Anything specific to one
//! target is behind [`emit::Target`], or is data.

use testkit::files;

/// Source folders that must not know where programs run, and the extension of their files.
const NEUTRAL: &[(&str, &str)] = &[
    ("crates/ir/src", "rs"),
    ("crates/cgen/src", "rs"),
    ("crates/layout/src", "rs"),
    ("crates/writers/src", "rs"),
    ("crates/shm/src", "rs"),
    ("crates/shm/include", "h"),
    ("crates/emit/src", "rs"),
    ("crates/emit/include", "h"),
    ("crates/messages/src", "rs"),
    ("crates/messages/include", "h"),
    ("crates/state/src", "rs"),
    ("crates/state/include", "h"),
    ("crates/tables/src", "rs"),
    ("crates/tables/include", "h"),
];

/// Those of them that must not name features of only some targets either.
const STRICT: [&str; 6] = [
    "crates/emit/",
    "crates/layout/",
    "crates/tables/",
    "crates/state/",
    "crates/shm/",
    "crates/writers/",
];

/// Words, in lower case, of targets, hooks and architectures. A name contains one of them if it is a word of its
/// own, between underscores or at a change to upper case.
const WORDS: [&str; 16] = [
    "bpf",
    "ebpf",
    "btf",
    "xdp",
    "tc",
    "tcx",
    "clsact",
    "skb",
    "dpdk",
    "v1model",
    "psa",
    "pna",
    "ebpffilter",
    "v1switch",
    "hook",
    "hooks",
];

/// Words of targets whose code runs in a kernel, after a verifier has seen it.
const STRICT_WORDS: [&str; 9] = [
    "user space",
    "kernel",
    "kernels",
    "verifier",
    "verifiers",
    "helper",
    "helpers",
    "devmap",
    "percpu",
];

/// Names that may stay although they contain one of the words: a function of the neutral headers, whose name is
/// P4's, and an extern of an architecture that a message names.
const ALLOWED: [&str; 2] = ["ebpf_ipv4_checksum", "`counter` of v1model"];

#[test]
fn neutral_crates_name_no_target() {
    let mut found = Vec::new();
    for &(folder, extension) in NEUTRAL {
        let files = files::below(folder, extension);
        assert!(!files.is_empty(), "{folder} has no .{extension}");
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a source file");
            let is_strict = STRICT.iter().any(|strict| folder.starts_with(strict));
            let more: &'static [&'static str] = if is_strict { &STRICT_WORDS } else { &[] };
            for (i, line) in text.lines().enumerate() {
                if let Some(word) = named(line, more) {
                    let location = format!("{}:{}", files::short(&file), i + 1);
                    found.push(format!("{location}: {word}: {}", line.trim()));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Returns the word of the list, or of `more`, that a line names.
fn named(line: &str, more: &'static [&'static str]) -> Option<&'static str> {
    let line = ALLOWED
        .iter()
        .fold(line.to_owned(), |line, allowed| line.replace(allowed, ""));
    let words = format!(" {} ", words(&line).join(" "));
    let mut all = WORDS.iter().chain(more).copied();
    all.find(|word| words.contains(&format!(" {word} ")))
}

/// Returns the words of a line in lower case, with names split.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut last_is_lower = false;
    for c in line.chars() {
        if !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && last_is_lower) {
            words.push(String::new());
        }
        if c.is_ascii_alphanumeric() {
            let word = words.last_mut().expect("one at least");
            word.push(c.to_ascii_lowercase());
        }
        last_is_lower = c.is_ascii_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn a_name_is_found_wherever_it_is_in_a_word() {
    for line in [
        "Hook::Xdp",
        "bpf_map",
        "let tc = 1;",
        "// of XDP",
        "is_tc_input",
        "SkbMode",
    ] {
        assert!(named(line, &[]).is_some(), "{line}");
    }
    for line in ["etc", "match_case", "ebpf_ipv4_checksum", "switch"] {
        assert!(named(line, &[]).is_none(), "{line}");
    }
    assert!(named("// User space, which maps it", &STRICT_WORDS).is_some());
    assert!(named("the space that a user has", &STRICT_WORDS).is_none());
}

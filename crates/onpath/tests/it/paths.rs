//! Calls by which code that runs as root accesses paths, each with the rule that it obeys.
//!
//! `host::safe_dir` creates, renames and removes the files that Onpath names. It opens every folder through its
//! parent and checks it. All other calls are listed here. A new one needs a line here, and so a reason.

use crate::architecture::{files, own_code, read, root};
use std::collections::BTreeSet;

/// A reason to use the standard library's functions on paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    /// A module that makes checks for all others.
    Checked,
    /// Reads a path that the user gives. It may contain links, and nothing is written.
    UserReads,
    /// Writes a path that the user gives. It may contain links.
    UserWrites,
    /// Reads the kernel's own file systems, `/proc` and `/sys`, or `/run/netns`, in which only root can write.
    /// Nothing is written.
    System,
    /// Writes in a folder that this process has just created, with permissions for its user alone.
    OwnFolder,
    /// Mounts a BPF file system: by a checked descriptor, or at the path of the mount point that the user gives.
    Mounts,
}

use Rule::{Checked, Mounts, OwnFolder, System, UserReads, UserWrites};

/// Files with their calls and the rules of these.
const CALLS: &[(&str, &[&str], &[Rule])] = &[
    (
        "clang/src/compile.rs",
        &["fs::create_dir_all", "fs::write"],
        &[OwnFolder],
    ),
    // The folder is the user's, and everything in it is checked. The compiler and the sources are only read.
    (
        "clang/src/object_cache.rs",
        &["DirBuilder::", "fs::canonicalize", "fs::metadata"],
        &[UserWrites, UserReads],
    ),
    ("driver/src/built/find.rs", &["fs::read_dir"], &[UserReads]),
    ("host/src/caps.rs", &["fs::read_to_string"], &[System]),
    // The descriptor is checked before anything is read, and reopened through itself.
    (
        "host/src/files.rs",
        &["OpenOptions::", "fs::metadata"],
        &[Checked],
    ),
    (
        "host/src/graphviz.rs",
        &["fs::read_to_string", "fs::write"],
        &[OwnFolder],
    ),
    ("host/src/safe_dir/mod.rs", &["fs::fchmod"], &[Checked]),
    // A file of a random name is created only if the name is free, and a rename follows no link. A pipe or a device
    // that the user names is written to.
    (
        "host/src/safe_dir/replace.rs",
        &[
            "OpenOptions::",
            "fs::metadata",
            "fs::read_link",
            "fs::remove_file",
            "fs::rename",
        ],
        &[Checked, UserWrites],
    ),
    (
        "host/src/scratch.rs",
        &["File::create", "fs::rename", "tempfile::"],
        &[OwnFolder],
    ),
    ("kernel/src/memory.rs", &["fs::read_to_string"], &[System]),
    (
        "kernel/src/pins/alone.rs",
        &["fs::metadata", "fs::read_dir", "fs::read_to_string"],
        &[System],
    ),
    ("kernel/src/pins/files.rs", &["fs::metadata"], &[System]),
    (
        "kernel/src/pins/owner.rs",
        &["fs::metadata", "fs::read_to_string"],
        &[System],
    ),
    ("kernel/src/pins/prepare.rs", &["mount"], &[Mounts]),
    ("kernel/src/sys/map.rs", &["fs::read_to_string"], &[System]),
    (
        "native/src/device.rs",
        &["fs::set_permissions", "fs::write"],
        &[OwnFolder],
    ),
    (
        "net/src/interface.rs",
        &["fs::read_link", "fs::read_to_string"],
        &[System],
    ),
    ("net/src/link.rs", &["fs::read_to_string"], &[System]),
    // A named namespace: the kernel refuses any other descriptor, and nothing is read from it.
    (
        "net/src/netns.rs",
        &[
            "File::open",
            "OpenOptions::",
            "fs::metadata",
            "fs::read_dir",
        ],
        &[System, Checked],
    ),
    (
        "onpath/src/commands/build/bundle.rs",
        &["fs::canonicalize"],
        &[UserReads],
    ),
    (
        "onpath/src/written.rs",
        &["fs::create_dir_all"],
        &[UserWrites],
    ),
    (
        "onpath/src/commands/firewall/lists.rs",
        &["fs::metadata"],
        &[UserReads],
    ),
    (
        "onpath/src/commands/firewall/log.rs",
        &["fs::metadata"],
        &[UserReads],
    ),
    (
        "onpath/src/commands/firewall/watched.rs",
        &["fs::metadata"],
        &[UserReads],
    ),
    (
        "onpath/src/commands/graph.rs",
        &["fs::write"],
        &[UserWrites],
    ),
    (
        "onpath/src/commands/man.rs",
        &["fs::create_dir_all"],
        &[UserWrites],
    ),
    (
        "onpath/src/commands/test/folder.rs",
        &["fs::read_dir"],
        &[UserReads],
    ),
    (
        "onpath/src/commands/test/mod.rs",
        &["fs::write"],
        &[UserWrites],
    ),
];

/// Crates that users do not run.
const DEVELOPERS: [&str; 4] = ["bench/", "lab/", "matrix/", "testkit/"];

/// Returns the calls in a line that access a path.
fn calls(line: &str) -> impl Iterator<Item = String> {
    const BEGINNINGS: [&str; 3] = ["fs::", "File::open", "File::create"];
    const WHOLE: [&str; 5] = [
        "OpenOptions::",
        "DirBuilder::",
        "tempfile::",
        "TempDir::",
        "libc::open",
    ];
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts_word = move |at: usize| !line[..at].ends_with(is_word);
    let function = move |piece: &'static str| {
        line.match_indices(piece)
            .filter(move |(at, _)| starts_word(*at))
            .filter_map(move |(at, _)| {
                let rest = &line[at + piece.len()..];
                let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                let is_call = rest[end..].starts_with('(');
                is_call.then(|| format!("{piece}{}", &rest[..end]))
            })
    };
    let whole = WHOLE.into_iter().filter(|piece| line.contains(piece));
    let mounts = function("mount").filter(|call| call == "mount");
    BEGINNINGS
        .into_iter()
        .flat_map(function)
        .chain(mounts.filter(move |_| !line.contains(".mount(") && !line.contains("fn mount(")))
        .chain(whole.map(String::from))
}

#[test]
fn every_call_that_reaches_a_path_obeys_a_rule() {
    let mut found = BTreeSet::new();
    for path in files("crates") {
        let Some(file) = path.strip_prefix("crates/") else {
            continue;
        };
        let is_ours = file.contains("/src/") && !DEVELOPERS.iter().any(|c| file.starts_with(c));
        let text = read(&root().join(&path));
        let Some(code) = own_code(file, &text).filter(|_| is_ours) else {
            continue;
        };
        for line in code.lines().map(str::trim) {
            if !line.starts_with("//") && !line.starts_with("use ") {
                found.extend(calls(line).map(|call| format!("{file}: {call}")));
            }
        }
    }
    let listed = CALLS
        .iter()
        .flat_map(|(file, calls, _)| calls.iter().map(move |call| format!("{file}: {call}")));
    let listed: BTreeSet<String> = listed.collect();
    let added: Vec<_> = found.difference(&listed).collect();
    assert!(
        added.is_empty(),
        "use `host::safe_dir`, or list the call with its rule: {added:#?}"
    );
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(gone.is_empty(), "not called any more: {gone:#?}");
}

#[test]
fn what_changes_files_is_no_reader_and_the_reverse() {
    const READ: [&str; 6] = [
        "File::open",
        "fs::canonicalize",
        "fs::metadata",
        "fs::read",
        "fs::read_dir",
        "fs::read_link",
    ];
    for (file, calls, rules) in CALLS {
        let reads = |call: &str| READ.contains(&call) || call == "fs::read_to_string";
        let writes = !calls.iter().all(|call| reads(call));
        let may_write = rules.iter().any(|rule| !matches!(rule, UserReads | System));
        assert_eq!(writes, may_write, "{file}");
    }
}

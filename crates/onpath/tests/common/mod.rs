//! What the integration tests share. Each test binary uses a part of it.
#![allow(dead_code)]

use std::path::{Path, PathBuf};

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the repository")
}

/// All files below a directory of the repository with this extension, sorted.
pub(crate) fn files(dir: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join(dir)];
    while let Some(dir) = open.pop() {
        let entries = std::fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
        for entry in entries {
            let path = entry.expect("a directory entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A path relative to the repository's root, as text.
pub(crate) fn short(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}

/// Programs of the repository that are larger than the kernel's limits as Onpath compiles them, with how they are refused
/// at every hook. Each has to be, so that this list stays exact.
pub(crate) const TOO_LARGE: [(&str, &str); 0] = [];

/// The code of the refusal, of a program that is known to be too large.
pub(crate) fn too_large(program: &Path) -> Option<&'static str> {
    let name = short(program);
    let (_, code) = TOO_LARGE.iter().find(|(known, _)| *known == name)?;
    Some(code)
}

/// Programs for `v1model` that no hook runs yet, each with what the refusal names.
pub(crate) const REFUSED: [(&str, &str); 0] = [];

/// Those that only traffic control runs, likewise.
pub(crate) const REFUSED_AT_XDP: [(&str, &str); 16] = [
    (
        "programs/payload/recirculation/recirculation.p4",
        "clone a packet",
    ),
    (
        "programs/v1model/learning_switch/learning_switch.p4",
        "multicast groups",
    ),
    ("tests/scale/campus.p4", "recirculate a packet"),
    ("tests/stf/figures/switch.p4", "multicast groups"),
    ("tests/stf/v1model/clone_egress.p4", "clone a packet"),
    ("tests/stf/v1model/clone_ingress.p4", "clone a packet"),
    ("tests/stf/v1model/copies_of_options.p4", "clone a packet"),
    (
        "tests/stf/v1model/cut_and_recirculated.p4",
        "resubmit a packet",
    ),
    ("tests/stf/v1model/fields_by_value.p4", "clone a packet"),
    ("tests/stf/v1model/flood.p4", "multicast groups"),
    ("tests/stf/v1model/kept_arrays.p4", "resubmit a packet"),
    ("tests/stf/v1model/kept_by_copies.p4", "clone a packet"),
    ("tests/stf/v1model/multicast.p4", "multicast groups"),
    ("tests/stf/v1model/recirculate.p4", "recirculate a packet"),
    ("tests/stf/v1model/resubmit.p4", "resubmit a packet"),
    ("tests/stf/v1model/tagged_copies.p4", "clone a packet"),
];

/// What the refusal of a program names, of one that a hook does not run yet, or XDP cannot.
pub(crate) fn refused(program: &Path, is_xdp: bool) -> Option<&'static str> {
    let name = short(program);
    let at_xdp: &[_] = if is_xdp { &REFUSED_AT_XDP } else { &[] };
    let mut list = REFUSED.iter().chain(at_xdp);
    let (_, what) = list.find(|(known, _)| *known == name)?;
    Some(what)
}

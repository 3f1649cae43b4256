//! Files of the repository, by name.

use std::path::{Path, PathBuf};

/// Returns the repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the repository")
}

/// Returns all files with this extension below a directory of the repository, sorted.
pub fn below(dir: &str, extension: &str) -> Vec<PathBuf> {
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

/// The documents for users and engineers: README.md and the pages below `docs/`.
pub fn documents() -> Vec<PathBuf> {
    let mut documents = vec![root().join("README.md")];
    documents.extend(below("docs", "md"));
    documents
}

/// Returns a path relative to the repository's root, as text.
pub fn short(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}

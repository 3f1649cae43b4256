//! The repository's programs and include files check without an error, and their HIR satisfies its invariants.

use crate::common::{Files, check, root};
use std::path::{Path, PathBuf};

fn p4_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|e| e == "p4") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn programs_and_include_files_check_and_leave_no_type_open() {
    let folders = ["p4include", "programs", "tests/language/accept"];
    let files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|f| p4_files(&root().join(f)))
        .collect();
    assert!(files.len() > 40, "only {} files found", files.len());
    for path in files {
        let name = path.to_string_lossy();
        let (_, module, diagnostics) = check(&Files::new(), &name);
        let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
        let module = module.unwrap_or_else(|| panic!("{name} is refused: {messages:?}"));
        let text = format!("{module:?}");
        assert!(!text.contains("Poison"), "{name}: an error's type is left");
        assert!(
            !text.contains("Infer("),
            "{name}: an inference variable is left"
        );
    }
}

#[test]
fn programs_have_no_warnings() {
    for path in p4_files(&root().join("programs")) {
        let name = path.to_string_lossy();
        let (_, _, diagnostics) = check(&Files::new(), &name);
        let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert!(messages.is_empty(), "{name}: {messages:?}");
    }
}

//! README.md and the pages below `docs/`: short, readable, and true of the commands, files and programs that they name.

mod claims;
mod examples;
mod links;
mod reference;
mod style;
mod text;

use std::path::Path;
use testkit::files::{documents, short};

/// Every document, by its name in the repository.
fn texts() -> Vec<(String, String)> {
    documents()
        .iter()
        .map(|path| (short(path), read(path)))
        .collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn no_page_is_long() {
    let (mut wrong, bytes) = (Vec::new(), 9 * 1024);
    for (name, text) in texts() {
        let most = match name.as_str() {
            "README.md" => 150,
            "docs/dev/architecture.md" => 300,
            // It is made of the definitions of all commands.
            "docs/commands.md" => 500,
            _ => 400,
        };
        let lines = text.lines().count();
        if lines > most {
            wrong.push(format!("{name}: {lines} lines, {most} at most"));
        }
        if name == "README.md" && text.len() > bytes {
            wrong.push(format!("{name}: {} bytes, {bytes} at most", text.len()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

//! Golden tests of elaboration and of targets. A file has P4 text, a line of dashes, and the expected result, which
//! `ONPATH_BLESS=1` writes. The text is completed to a program for `xdp_model`: it gets a parser `p`, a control `c` and
//! a deparser `d` if it has none of its own.

use crate::files::root;
use crate::relay;
use std::path::PathBuf;
use syntax::MemoryLoader;

const RULE: &str = "\n--------\n";

/// Returns all built-in include files, and those of architectures that exist only in tests.
pub fn includes() -> MemoryLoader {
    let mut loader = MemoryLoader::new();
    let built_in = std::fs::read_dir(root().join("p4include")).unwrap();
    let built_in = built_in.map(|entry| entry.unwrap().path());
    let include = relay::folder().join(relay::ARCHITECTURE.include);
    for path in built_in.chain([include]) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        loader = loader.with(name, std::fs::read_to_string(&path).unwrap());
    }
    loader
}

/// Parts of a program that a text may leave out.
pub struct Parts {
    /// The parser `p`.
    pub parser: &'static str,
    /// The control `c`.
    pub control: &'static str,
    /// The deparser `d`.
    pub deparser: &'static str,
}

/// Returns a program: `before`, then a text, then the parts that the text leaves out. Line numbers are those of the
/// text.
pub fn complete(before: &str, text: &str, parts: &Parts) -> String {
    let mut program = format!("{before}\n#line 1\n{text}\n#line 1000");
    for (has, part) in [
        ("parser p(", parts.parser),
        ("control c(", parts.control),
        ("control d(", parts.deparser),
        (" main;", "\nxdp(p(), c(), d()) main;\n"),
    ] {
        if !text.contains(has) {
            program += part;
        }
    }
    program
}

/// Compares the result for each text in a folder of the repository with the file's expectation. An `Err` is a failure,
/// whatever the file expects.
pub fn check(folder: &str, result_of: impl Fn(&str) -> Result<String, String>) {
    let bless = std::env::var_os("ONPATH_BLESS").is_some();
    let entries = std::fs::read_dir(root().join(folder)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    files.sort();
    let mut wrong = Vec::new();
    for path in files {
        let file = std::fs::read_to_string(&path).unwrap();
        let (text, expected) = file.split_once(RULE).unwrap_or((file.trim_end(), ""));
        match result_of(text) {
            Ok(result) if result.trim() == expected.trim() => {}
            Ok(result) if bless => {
                std::fs::write(&path, format!("{text}{RULE}{result}\n")).unwrap();
            }
            Ok(result) => wrong.push(format!(
                "{}: expected\n{expected}\ngot\n{result}",
                path.display()
            )),
            Err(why) => wrong.push(format!("{}: {why}", path.display())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

//! From P4 text to IR, for tests.

mod numbers;

use diag::{Diagnostics, SourceMap};
pub(crate) use numbers::Numbers;
use std::path::{Path, PathBuf};
use syntax::{LoadError, Loaded, MemoryLoader, SourceLoader};
pub(crate) use testkit::files::root;
use testkit::golden::{self, includes};

/// Texts in memory, then files of the repository.
struct Texts(MemoryLoader);

impl SourceLoader for Texts {
    fn load(&self, path: &str, from: Option<&str>, system: bool) -> Result<Loaded, LoadError> {
        let missing = match self.0.load(path, from, system) {
            Ok(loaded) => return Ok(loaded),
            Err(missing) => missing,
        };
        let folder = from.and_then(|from| Path::new(from).parent());
        let name = folder.unwrap_or(Path::new("")).join(path);
        let text = std::fs::read_to_string(root().join(&name)).map_err(|_| missing)?;
        Ok(Loaded::new(name.display().to_string(), text))
    }
}

/// Result of a program's compilation.
pub(crate) enum Outcome {
    /// IR that the verifier accepts.
    Program(Box<ir::Program>, Diagnostics),
    /// Not accepted by the parser or checker.
    Unchecked(String),
    /// Refused by elaboration.
    Refused(Diagnostics, String),
    /// IR that breaks a rule.
    Broken(String),
}

/// Compiles a program through all phases.
pub(crate) fn compile(name: &str, text: &str) -> Outcome {
    let loader = Texts(includes().with(name, text));
    let mut map = SourceMap::new();
    let parsed = syntax::parse(&mut map, &loader, name, &[]);
    if parsed.diagnostics.has_errors() {
        return Outcome::Unchecked(show(&parsed.diagnostics, &map));
    }
    let checked = sema::check(&parsed.program, &map);
    let Some(module) = checked.module else {
        return Outcome::Unchecked(show(&checked.diagnostics, &map));
    };
    match elab::elaborate(&module) {
        Err(diagnostics) => {
            let text = show(&diagnostics, &map);
            Outcome::Refused(diagnostics, text)
        }
        Ok((program, warnings)) => match ir::verify(&program) {
            Ok(()) => Outcome::Program(Box::new(program), warnings),
            Err(errors) => {
                let list: Vec<String> = errors.iter().map(|e| e.to_string()).collect();
                Outcome::Broken(format!("{}\n{program}", list.join("\n")))
            }
        },
    }
}

/// Diagnostics as `line: code message`.
pub(crate) fn show(diagnostics: &Diagnostics, map: &SourceMap) -> String {
    diagnostics
        .iter()
        .map(|d| {
            let location = match map.line_col(d.primary.span) {
                Some((file, at)) => format!("{}:{}", map.file(file).name, at.line),
                None => "?".to_owned(),
            };
            format!("{location}: {} {}", d.code.0, d.message)
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// Every P4 program below a folder, in order.
pub(crate) fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|e| e == "p4") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

const PRELUDE: &str = "\
#include <core.p4>
#include <xdp_model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header g_t { bit<16> x; }
header_union u_t { h_t h; g_t g; }
struct m_t { bit<8> x; bool y; }
struct headers_t { h_t h; h_t i; h_t[3] s; u_t u; u_t[2] us; }";

const PARTS: golden::Parts = golden::Parts {
    parser: "
parser p(packet_in packet, out headers_t hdr) { state start { transition accept; } }",
    control: "
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) { apply { } }",
    deparser: "
control d(in headers_t hdr, packet_out packet) { apply { } }",
};

/// A golden test's text completed to a program.
pub(crate) fn complete(text: &str) -> String {
    golden::complete(PRELUDE, text, &PARTS)
}

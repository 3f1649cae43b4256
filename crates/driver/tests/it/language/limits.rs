//! Targets' refusals of valid programs: `tests/language/limits/*.p4`, which note the expected diagnostics.

use super::tests;
use bpf::abi::Hook;
use diag::{Diagnostic, Diagnostics, Severity, SourceMap, render_plain};
use driver::Input;
use driver::bpf_target::{Request, generate};
use kernel::features::Kernel;
use std::collections::BTreeMap;
use testkit::notes::{Note, notes};

/// Targets that refuse a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Where {
    /// By every target, and by the interpreter.
    Everywhere,
    /// By these hooks of the kernel.
    Hooks(Vec<&'static str>),
}

/// Returns the codes that refuse a program of `limits`, with the targets. Fails if they are not the ones that the
/// program notes.
pub(crate) fn of(name: &str) -> Result<BTreeMap<String, Where>, String> {
    let path = tests().join(format!("language/limits/{name}.p4"));
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{name}: {e}"))?;
    let notes = notes(&text);
    let mut found: BTreeMap<String, Where> = BTreeMap::new();
    let elaborated = match driver::elaborate(&Input::file(path)) {
        Ok(elaborated) => elaborated,
        Err(refused) => {
            let codes = matched(name, &notes, &refused.diagnostics, &refused.map)?;
            for code in codes {
                found.insert(code, Where::Everywhere);
            }
            return all_found(name, &notes, found);
        }
    };
    for hook in Hook::ALL {
        let request = Request {
            kernel: NEWEST,
            ..Request::hook(hook)
        };
        let Err(why) = generate(&elaborated.program, &elaborated.map, request) else {
            continue;
        };
        for code in matched(name, &notes, &why, &elaborated.map)? {
            let place = found.entry(code).or_insert(Where::Hooks(Vec::new()));
            match place {
                Where::Hooks(hooks) if !hooks.contains(&hook.name()) => hooks.push(hook.name()),
                _ => {}
            }
        }
    }
    all_found(name, &notes, found)
}

/// Kernel with all features, as a feature that an older kernel lacks is no limit of the language.
const NEWEST: Kernel = Kernel::Version((99, 0));

/// Code of the refusal by a hook that does not run the program's architecture.
const OTHER_ARCHITECTURE: &str = "E0720";

/// Returns the codes of errors. Fails if one of them has no note.
fn matched(
    name: &str,
    notes: &[Note],
    all: &Diagnostics,
    map: &SourceMap,
) -> Result<Vec<String>, String> {
    let errors = all.iter().filter(|d| d.severity == Severity::Error);
    let mut codes = Vec::new();
    for error in errors {
        if notes.iter().any(|note| is_of(note, error, map)) {
            codes.push(error.code.0.to_owned());
        } else if error.code.0 != OTHER_ARCHITECTURE {
            return Err(format!("{name} does not say: {}", render_plain(all, map)));
        }
    }
    Ok(codes)
}

/// Returns true if a note is about a diagnostic: its line and text must match. A refusal of the whole architecture
/// has no line.
fn is_of(note: &Note, diagnostic: &Diagnostic, map: &SourceMap) -> bool {
    let place = map.line_col(diagnostic.primary.span);
    note.code == diagnostic.code.0
        && diagnostic.message.contains(&note.fragment)
        && place.map_or(note.code == OTHER_ARCHITECTURE, |(_, at)| {
            at.line == note.line
        })
}

fn all_found(
    name: &str,
    notes: &[Note],
    found: BTreeMap<String, Where>,
) -> Result<BTreeMap<String, Where>, String> {
    match notes.iter().find(|note| !found.contains_key(&note.code)) {
        None if notes.is_empty() => Err(format!("{name} says nothing")),
        None => Ok(found),
        Some(note) => Err(format!("{name}:{}: no {}", note.line, note.code)),
    }
}

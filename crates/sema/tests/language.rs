//! Tests of the language's constructs, one in each file. `tests/language/accept/*.p4` must be accepted with exactly the
//! warnings that they name, `tests/language/refuse/*.p4` refused with exactly the diagnostics that they name.
//!
//! `//~ E0301 fragment` names a diagnostic of its own line, `//~^ E0301 fragment` one of the line above, and so on with
//! each further caret. The message contains the fragment. The diagnostics as the user sees them are in a `.txt` beside
//! the program; `ONPATH_BLESS=1` rewrites it.

#[path = "it/common/mod.rs"]
mod common;

use common::{Files, check, root};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::path::Path;
use testkit::notes::notes;

fn main() {
    let mut arguments = Arguments::from_args();
    // On shared machines, the runner's default of one thread a core is too much.
    arguments.test_threads = arguments.test_threads.or(Some(2));
    let mut trials = Vec::new();
    let mut covered = BTreeSet::new();
    for folder in ["accept", "refuse"] {
        let folder_path = root().join("tests/language").join(folder);
        let mut files: Vec<_> = std::fs::read_dir(&folder_path)
            .unwrap_or_else(|e| panic!("{}: {e}", folder_path.display()))
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|e| e == "p4"))
            .collect();
        files.sort();
        for path in files {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            covered.extend(notes(&text).into_iter().map(|e| e.code));
            let name = format!(
                "{folder}/{}",
                path.file_stem().unwrap_or_default().to_string_lossy()
            );
            let accept = folder == "accept";
            trials.push(Trial::test(name, move || run(&path, &text, accept)));
        }
    }
    // No parser produces so deep a tree; the unit tests build one.
    covered.insert("E0507".to_owned());
    trials.push(Trial::test("every_code_is_shown", move || {
        let missing: Vec<&str> = sema::CODES
            .iter()
            .copied()
            .filter(|c| !covered.contains(*c))
            .collect();
        if missing.is_empty() {
            Ok(())
        } else {
            Err(format!("no test shows {missing:?}").into())
        }
    }));
    libtest_mimic::run(&arguments, trials).exit();
}

fn run(path: &Path, text: &str, accept: bool) -> Result<(), Failed> {
    // Messages show the path in the repository, not on the machine.
    let main = path
        .strip_prefix(root())
        .unwrap_or(path)
        .to_string_lossy()
        .into_owned();
    let (map, module, diagnostics) = check(&Files::with(&main, text), &main);
    let mut complaints = Vec::new();
    if module.is_some() != accept {
        complaints.push(if accept {
            "refused".to_owned()
        } else {
            "accepted".to_owned()
        });
    }
    let mut left: Vec<(u32, &diag::Diagnostic)> = diagnostics
        .iter()
        .map(|d| {
            (
                map.line_col(d.primary.span)
                    .filter(|(f, _)| f.0 == 0)
                    .map_or(0, |(_, at)| at.line),
                d,
            )
        })
        // Almost no case is a whole program.
        .filter(|(_, d)| d.code.0 != "W0203" || text.contains("W0203"))
        .collect();
    for want in notes(text) {
        let found = left.iter().position(|(line, d)| {
            *line == want.line && d.code.0 == want.code && d.message.contains(&want.fragment)
        });
        match found {
            Some(i) => drop(left.remove(i)),
            None => complaints.push(format!(
                "line {}: no {} \"{}\"",
                want.line, want.code, want.fragment
            )),
        }
    }
    for (line, d) in &left {
        complaints.push(format!(
            "line {line}: unexpected {} {}",
            d.code.0, d.message
        ));
    }
    for d in diagnostics.iter() {
        if d.help.as_ref().is_none_or(String::is_empty) || d.primary.text.is_empty() {
            complaints.push(format!("{} has no help or no label", d.code.0));
        }
    }
    let own = diag::render_text(&without_no_main(&diagnostics, text), &map, false);
    complaints.extend(compare(&path.with_extension("txt"), &own));
    if complaints.is_empty() {
        Ok(())
    } else {
        Err(complaints.join("\n").into())
    }
}

/// Removes the diagnostic that almost every case would have.
fn without_no_main(all: &diag::Diagnostics, text: &str) -> diag::Diagnostics {
    let mut kept = diag::Diagnostics::new();
    all.iter()
        .filter(|d| d.code.0 != "W0203" || text.contains("W0203"))
        .for_each(|d| kept.push(d.clone()));
    kept
}

/// Returns a complaint if a file does not hold `text`; none if both are empty or missing.
fn compare(path: &Path, text: &str) -> Option<String> {
    if std::env::var_os("ONPATH_BLESS").is_some() {
        let done = if text.is_empty() {
            Ok(())
        } else {
            std::fs::write(path, text)
        };
        return done.err().map(|e| format!("{}: {e}", path.display()));
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    (kept != text).then(|| format!("{} differs from:\n{text}", path.display()))
}

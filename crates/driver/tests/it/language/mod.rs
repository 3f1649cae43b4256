//! Constructs of the language, by chapter of the specification. `tests/language.toml` lists them with the tests that
//! show them. Each test must exist and contain its construct, and those that run must pass on the interpreter. The
//! refusals by targets are found by trying every target. `ONPATH_BLESS=1` writes the table, `tests/LANGUAGE.md`.

mod data;
mod document;
mod limits;

use arch::tc::Direction;
use control::repeatable::SEED;
use data::{Chapter, Construct};
use diag::render_plain;
use driver::stf::{Case, Prepared, StfTarget, TestResult};
use driver::{Input, declared};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use testkit::notes::notes;

/// Returns the repository's folder of tests.
fn tests() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crates");
    crates.with_file_name("tests")
}

fn chapters() -> Vec<Chapter> {
    let path = tests().join("language.toml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("language.toml: {e}"));
    data::read(&text).unwrap_or_else(|wrong| panic!("language.toml: {wrong}"))
}

fn constructs(chapters: &[Chapter]) -> impl Iterator<Item = &Construct> {
    let sections = chapters.iter().flat_map(|chapter| &chapter.sections);
    sections.flat_map(|section| &section.constructs)
}

/// Returns the names of the programs in a folder of `tests/language`.
fn programs(folder: &str) -> BTreeSet<String> {
    let folder = tests().join("language").join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{folder:?}: {e}"));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let programs = paths.filter(|path| path.extension().is_some_and(|e| e == "p4"));
    let names = programs.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    names.collect()
}

/// Returns a text with one space between words.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn fail_with(complaints: &[String]) {
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn each_test_has_what_its_construct_is_about() {
    let mut complaints = Vec::new();
    for construct in constructs(&chapters()) {
        let accepted = construct.accepted.iter();
        let accepted = accepted.map(|name| format!("language/accept/{name}.p4"));
        let runs = construct.runs.iter().map(|name| format!("{name}.p4"));
        for file in accepted.chain(runs) {
            match std::fs::read_to_string(tests().join(&file)) {
                Ok(text) => {
                    let text = words(&text);
                    if !construct
                        .text
                        .iter()
                        .any(|part| text.contains(&words(part)))
                    {
                        complaints.push(format!("{}: {file} has none of it", construct.what));
                    }
                }
                Err(e) => complaints.push(format!("{}: {file}: {e}", construct.what)),
            }
        }
        for (code, name) in &construct.refused {
            let file = format!("language/refuse/{name}.p4");
            let text = std::fs::read_to_string(tests().join(&file)).unwrap_or_default();
            if !notes(&text).iter().any(|note| note.code == *code) {
                complaints.push(format!("{}: {file} does not show {code}", construct.what));
            }
        }
    }
    fail_with(&complaints);
}

#[test]
fn every_program_shows_a_construct() {
    let chapters = chapters();
    let accepted = constructs(&chapters).flat_map(|c| &c.accepted);
    let accepted: BTreeSet<&String> = accepted.collect();
    let limits: BTreeSet<&String> = constructs(&chapters).flat_map(|c| &c.limits).collect();
    // Programs that show warnings have no construct.
    let programs_accepted = programs("accept");
    let others = programs_accepted
        .iter()
        .filter(|name| !name.starts_with("warn_") && !accepted.contains(name));
    let others: Vec<&String> = others.collect();
    assert!(others.is_empty(), "no construct names {others:?}");
    let known = programs("limits");
    assert_eq!(known.iter().collect::<BTreeSet<_>>(), limits);
}

#[test]
fn what_runs_passes_on_the_interpreter() {
    let chapters = chapters();
    let runs: BTreeSet<&String> = constructs(&chapters).flat_map(|c| &c.runs).collect();
    let mut complaints = Vec::new();
    for name in runs {
        if let Err(why) = passes(name) {
            complaints.push(format!("{name}: {why}"));
        }
    }
    fail_with(&complaints);
}

/// Runs all scripts of a program in `tests`.
fn passes(name: &str) -> Result<(), String> {
    let program = tests().join(format!("{name}.p4"));
    let folder = program.parent().ok_or("no folder")?;
    let stem = format!("{}.", program.file_stem().unwrap_or_default().display());
    let entries = std::fs::read_dir(folder).map_err(|e| e.to_string())?;
    let scripts = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let scripts = scripts.filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&stem) && name.ends_with(".stf")
    });
    let mut ran = false;
    for script in scripts {
        let text = std::fs::read_to_string(&script).map_err(|e| e.to_string())?;
        let declared = declared::declared(&text).map_err(|e| format!("{}: {}", e.word, e.value))?;
        for &direction in declared.directions {
            ran = true;
            run(&program, &text, direction)
                .map_err(|why| format!("{}: {why}", script.display()))?;
        }
    }
    if ran {
        Ok(())
    } else {
        Err("no script runs it".to_owned())
    }
}

fn run(program: &Path, script: &str, direction: Direction) -> Result<(), String> {
    let elaborated = driver::elaborate(&Input::file(program))
        .map_err(|refused| render_plain(&refused.diagnostics, &refused.map))?;
    let target = StfTarget::Interp {
        seed: SEED,
        direction,
    };
    let prepared = Prepared::new(elaborated, target, &[]);
    let mut prepared = prepared.map_err(|unfit| render_plain(&unfit.diagnostics, &unfit.map))?;
    let case = Case {
        name: "script".to_owned(),
        text: script.to_owned(),
    };
    match prepared.run(&case, None) {
        TestResult::Passed { .. } => Ok(()),
        TestResult::Failed { failures, .. } => Err(failures.join("\n")),
        ref verdict @ (TestResult::Refused(ref why) | TestResult::NotLoaded(ref why)) => {
            Err(render_plain(why, prepared.map(verdict)))
        }
    }
}

#[test]
fn targets_refuse_what_programs_say() {
    let mut complaints = Vec::new();
    for name in programs("limits") {
        if let Err(why) = limits::of(&name) {
            complaints.push(why);
        }
    }
    fail_with(&complaints);
}

#[test]
fn the_table_is_that_of_the_tests() {
    let text = document::of(&chapters());
    let path = tests().join("LANGUAGE.md");
    if std::env::var_os("ONPATH_BLESS").is_some() {
        std::fs::write(&path, &text).expect("the table is written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == text,
        "tests/LANGUAGE.md is not what the tests show: `ONPATH_BLESS=1 cargo test -p driver --test it language`"
    );
}

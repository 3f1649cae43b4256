//! Runs every STF test of the repository on the interpreter, from P4 source. Each runs on the program as elaborated and
//! on the program after all passes, which must behave alike.

use arch::tc::Direction;
use control::{Store, stf};
use diag::{Diagnostics, SourceMap};
use interp::{Interpreter, Options};
use ir::Program;
use ir::passes::Level;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use syntax::{LoadError, Loaded, SourceLoader};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Loads files beside the including one, then include files.
struct Files;

impl SourceLoader for Files {
    fn load(&self, path: &str, from: Option<&str>, _: bool) -> Result<Loaded, LoadError> {
        let beside = from.map(|from| Path::new(from).with_file_name(path));
        let places = [
            beside.unwrap_or_else(|| PathBuf::from(path)),
            Path::new(ROOT).join("p4include").join(path),
        ];
        let found = places.iter().find_map(|place| {
            let text = std::fs::read_to_string(place).ok()?;
            Some(Loaded::new(place.display().to_string(), text))
        });
        found.ok_or(LoadError::NotFound {
            tried: Vec::new(),
            built_in: Vec::new(),
        })
    }
}

fn rendered(map: &SourceMap, diagnostics: &Diagnostics) -> String {
    let lines = diagnostics.iter().map(|d| {
        let line = map.line_col(d.primary.span).map_or(0, |(_, at)| at.line);
        format!("  line {line}: {} {}", d.code.0, d.message)
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn compile(path: &Path) -> Result<Program, String> {
    let mut map = SourceMap::new();
    let parsed = syntax::parse(&mut map, &Files, &path.display().to_string(), &[]);
    if parsed.diagnostics.has_errors() {
        return Err(rendered(&map, &parsed.diagnostics));
    }
    let checked = sema::check(&parsed.program, &map);
    let Some(module) = checked.module else {
        return Err(rendered(&map, &checked.diagnostics));
    };
    match elab::elaborate(&module) {
        Ok((program, _)) => {
            ir::verify::verify(&program).map_err(|errors| format!("{errors:?}"))?;
            Ok(program)
        }
        Err(diagnostics) => Err(rendered(&map, &diagnostics)),
    }
}

/// Runs a script, and returns its errors.
fn run(program: &Arc<Program>, script: &Path) -> Vec<String> {
    let mut map = SourceMap::new();
    let Ok(text) = std::fs::read_to_string(script) else {
        return vec!["unreadable".to_string()];
    };
    let options = Options {
        direction: match text.lines().next() {
            Some("# direction: egress") => Direction::Egress,
            _ => Direction::Ingress,
        },
        ..Options::default()
    };
    let Some(file) = map.add(script.display().to_string(), text) else {
        return vec!["too large".to_string()];
    };
    let (parsed, diagnostics) = stf::parse(&map, file);
    if diagnostics.has_errors() {
        return vec![rendered(&map, &diagnostics)];
    }
    let mut device = match Interpreter::new(Arc::clone(program), options) {
        Ok(device) => device,
        Err(diagnostics) => return vec![rendered(&map, &diagnostics)],
    };
    let bound = match stf::bind(&parsed, device.schema()) {
        Ok(bound) => bound,
        Err(diagnostics) => return vec![rendered(&map, &diagnostics)],
    };
    match stf::run(&bound, &mut device, &|_| Vec::new()) {
        Ok(outcome) => {
            let line = |span| map.line_col(span).map_or(0, |(_, at)| at.line);
            let failures = outcome.failures.iter();
            failures
                .map(|f| format!("  line {}: {}", line(f.span), f.text))
                .collect()
        }
        Err(refusal) => vec![refusal.message],
    }
}

/// Collects all files below a folder whose names have an ending, in order.
fn files(folder: &Path, ending: &str, into: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, ending, into);
        } else if path.extension().is_some_and(|e| e == ending) {
            into.push(path);
        }
    }
}

/// Returns the scripts of a program: `NAME.stf` and `NAME.*.stf` beside it, or all scripts of its folder if it is the
/// folder's only program.
fn scripts(program: &Path) -> Vec<PathBuf> {
    let folder = program.parent().unwrap_or(program);
    let mut beside = Vec::new();
    let mut programs = Vec::new();
    files(folder, "stf", &mut beside);
    files(folder, "p4", &mut programs);
    if programs.len() > 1 {
        let name = program.file_stem().unwrap_or_default().to_string_lossy();
        beside.retain(|script| {
            let script = script.file_name().unwrap_or_default().to_string_lossy();
            script
                .strip_prefix(name.as_ref())
                .is_some_and(|rest| rest.starts_with('.'))
        });
    }
    beside
}

fn all(level: Option<Level>) {
    let mut programs = Vec::new();
    for folder in ["programs", "tests/stf", "tests/scale"] {
        files(&Path::new(ROOT).join(folder), "p4", &mut programs);
    }
    let mut failed = Vec::new();
    let mut count = 0;
    for path in &programs {
        let scripts = scripts(path);
        if scripts.is_empty() {
            continue;
        }
        let mut program = match compile(path) {
            Ok(program) => program,
            Err(why) => {
                failed.push(format!("{}:\n{why}", path.display()));
                continue;
            }
        };
        if let Some(level) = level {
            let options = ir::passes::Options {
                level,
                function_params: 5,
                follows_iterations: false,
                rejects: ir::passes::Rejects::Stay,
            };
            ir::passes::pipeline(&mut program, &options);
        }
        let program = Arc::new(program);
        for script in scripts {
            count += 1;
            let failures = run(&program, &script);
            if !failures.is_empty() {
                failed.push(format!("{}:\n{}", script.display(), failures.join("\n")));
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {count}:\n{}",
        failed.len(),
        failed.join("\n")
    );
    assert!(count >= 60, "only {count} scripts were found");
}

#[test]
fn programs_as_elaborated_pass_their_tests() {
    all(None);
}

#[test]
fn programs_without_calls_pass_their_tests() {
    all(Some(Level::Lower));
}

#[test]
fn programs_after_all_passes_pass_their_tests() {
    all(Some(Level::Optimize));
}

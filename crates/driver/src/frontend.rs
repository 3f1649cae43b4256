//! From a file to IR: the phases in order, as every command uses them.

use crate::loader::FileLoader;
use diag::{Diagnostic, Diagnostics, Severity, SourceMap, Span};
use ir::Program;
use ir::passes::Rejects;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A program's main file and how its text is read.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The main file, or a name for messages if the program is in no file.
    pub file: PathBuf,
    /// The program, if it is in no file.
    pub text: Option<Arc<str>>,
    /// Directories for `#include`, before the built-in files.
    pub include: Vec<PathBuf>,
    /// Macros and their values.
    pub defines: Vec<(String, Option<String>)>,
}

/// Splits a macro as flags and bundles give it: `NAME` or `NAME=VALUE`.
pub fn macro_of(text: &str) -> (String, Option<String>) {
    match text.split_once('=') {
        Some((name, value)) => (name.to_string(), Some(value.to_string())),
        None => (text.to_string(), None),
    }
}

impl Input {
    /// Returns the input for a file without include directories and macros.
    pub fn file(file: impl Into<PathBuf>) -> Input {
        Input {
            file: file.into(),
            ..Input::default()
        }
    }
}

/// A program in IR, as elaborated.
pub struct Elaborated {
    /// All texts.
    pub map: SourceMap,
    /// The program before any pass, as the interpreter runs it.
    pub program: Program,
    /// Warnings.
    pub diagnostics: Diagnostics,
    /// Time from reading the file to the IR.
    pub took: Duration,
}

/// Refusal of a program: it could not be elaborated.
pub struct Refused {
    /// All texts.
    pub map: SourceMap,
    /// Errors, and the warnings before them.
    pub diagnostics: Diagnostics,
    /// Warnings of the language check, if the program is valid P4 that has no `main` or is for an unknown
    /// architecture. `None` if the program is wrong.
    pub right_elsewhere: Option<Diagnostics>,
}

/// Reads, checks and elaborates a program.
pub fn elaborate(input: &Input) -> Result<Elaborated, Box<Refused>> {
    let begun = Instant::now();
    let Checked {
        map,
        module,
        mut diagnostics,
    } = check_language(input);
    let refused = |map, diagnostics, right_elsewhere| {
        Err(Box::new(Refused {
            map,
            diagnostics,
            right_elsewhere,
        }))
    };
    let Some(module) = module else {
        return refused(map, diagnostics, None);
    };
    match elab::elaborate(&module) {
        Ok((program, warnings)) => {
            diagnostics.append(warnings);
            Ok(Elaborated {
                map,
                program,
                diagnostics,
                took: begun.elapsed(),
            })
        }
        Err(errors) => {
            // A package of the program's own may have the name of a known one.
            let mut wrong = errors.iter().filter(|d| d.severity == Severity::Error);
            let elsewhere = !has_known_architecture(&module) || wrong.all(|d| d.code.0 == "E0603");
            let language = elsewhere.then(|| diagnostics.clone());
            if errors.iter().any(|d| d.code.0 == "E0601") {
                // The warning that there is no `main` has become this error.
                diagnostics = without(&diagnostics, "W0203");
            }
            diagnostics.append(errors);
            refused(map, diagnostics, language)
        }
    }
}

/// A program checked against the language alone, not against an architecture.
struct Checked {
    map: SourceMap,
    /// `None` if it has errors.
    module: Option<hir::Module>,
    diagnostics: Diagnostics,
}

/// Reads and checks a program, whatever its architecture.
fn check_language(input: &Input) -> Checked {
    let mut map = SourceMap::new();
    let name = input.file.display().to_string();
    let text = input.text.as_ref();
    let loader = FileLoader {
        include: input.include.clone(),
        given: text.map(|text| (name.clone(), Arc::clone(text))),
    };
    let parsed = syntax::parse(&mut map, &loader, &name, &input.defines);
    let mut diagnostics = Diagnostics::new();
    for folder in input.include.iter().filter(|folder| !folder.is_dir()) {
        diagnostics.push(no_include_folder(folder));
    }
    diagnostics.append(parsed.diagnostics);
    if diagnostics.has_errors() {
        // Declarations that could not be parsed are missing, so that checking the rest would blame
        // the user for it.
        return Checked {
            map,
            module: None,
            diagnostics,
        };
    }
    let checked = sema::check(&parsed.program, &map);
    diagnostics.append(checked.diagnostics);
    let mut module = checked.module;
    if let Some(unknown) = module.as_ref().and_then(unknown_edition) {
        diagnostics.push(unknown);
        module = None;
    }
    Checked {
        map,
        module,
        diagnostics,
    }
}

/// Returns an error if a program declares an unknown edition of an interface.
fn unknown_edition(module: &hir::Module) -> Option<Diagnostic> {
    module.numbers.iter().find_map(|(name, number, span)| {
        let known = arch::editions(name)?;
        let exists = known.iter().any(|edition| *number == (*edition).into());
        (!exists).then(|| arch::errors::unknown_edition(*span, name, &number.to_string(), known))
    })
}

fn has_known_architecture(module: &hir::Module) -> bool {
    module
        .main
        .is_some_and(|main| match module.instances[main].ty {
            hir::Ty::Package(package, _) => {
                arch::by_package(&module.packages[package].name).is_some()
            }
            _ => false,
        })
}

/// Warns of a missing include folder. It is no error, as the file may be found elsewhere.
fn no_include_folder(folder: &Path) -> Diagnostic {
    Diagnostic::warning(
        "W0004",
        Span::NONE,
        format!("include directory `{}` does not exist", folder.display()),
    )
    .help("correct the argument of `-I` (or `include` in a bundle), or omit it")
}

fn without(diagnostics: &Diagnostics, code: &str) -> Diagnostics {
    let mut kept = Diagnostics::new();
    for diagnostic in diagnostics.iter().filter(|d| d.code.0 != code) {
        kept.push(diagnostic.clone());
    }
    kept
}

/// Runs all passes on a program, for targets whose verifier does not process every iteration of a loop.
pub fn optimise(program: &Program) -> Program {
    with_entries(optimise_for_outlining(program, false))
}

/// Runs all passes but jump threading, so that functions can be outlined. `follows_iterations` is true if the target's
/// verifier processes every iteration of a loop.
pub(crate) fn optimise_for_outlining(program: &Program, follows_iterations: bool) -> Program {
    let (mut program, rejects) = arch::for_targets(program);
    let options = options(rejects, follows_iterations);
    ir::passes::without_entries(&mut program, &options);
    program
}

/// Runs jump threading on a result of [`optimise_for_outlining`], which completes its passes.
pub(crate) fn with_entries(mut program: Program) -> Program {
    ir::passes::entries(&mut program, &options(Rejects::default(), false));
    program
}

fn options(rejects: Rejects, follows_iterations: bool) -> ir::passes::Options {
    ir::passes::Options {
        level: ir::passes::Level::Optimize,
        function_params: bpf::FUNCTION_PARAMS,
        rejects,
        follows_iterations,
    }
}

/// Returns the optimised fast path of an elaborated program, if the program marks parser states as rare.
pub(crate) fn optimise_fast_path(program: &Program, follows_iterations: bool) -> Option<Program> {
    let fast = ir::passes::fast_path::of(program)?;
    Some(with_entries(optimise_for_outlining(
        &fast,
        follows_iterations,
    )))
}

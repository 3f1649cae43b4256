//! Errors for programs that the interpreter does not support. Codes E0710 to E0718.

use diag::{Diagnostic, Span};

/// Reports an extern that the program calls or instantiates, and that only its own source declares.
pub fn unknown_extern(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0710",
        at,
        format!("the interpreter does not implement the extern `{name}`"),
    )
    .label("its body is not part of the program")
    .help(
        "supply a function in C with `--extern FILE.c`, or write the extern's work as a P4 function",
    )
}

/// Reports a package that the interpreter does not run, or that lacks one of its blocks.
pub fn unknown_architecture(package: &str) -> Diagnostic {
    let known: Vec<String> = arch::OWN
        .into_iter()
        .map(|a| format!("`{}` of {}", a.package, a.include))
        .collect();
    Diagnostic::error(
        "E0713",
        Span::NONE,
        format!("the interpreter cannot run a program for the package `{package}`"),
    )
    .help(format!(
        "write the program for one of: {}",
        known.join(", ")
    ))
}

/// Reports expressions or statements nested so deep that running them could exhaust the stack.
pub fn too_deep(what: &str, limit: usize, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0714",
        at,
        format!("{what} are nested more than {limit} deep here"),
    )
    .help("split the code with variables, or with functions or actions")
}

//! P4-16 text to syntax tree: preprocessor, lexer, parser.
//!
//! [`parse`] takes the name of a program and returns a tree with the errors and warnings about the text. It never
//! fails, never panics and always ends, whatever the text. Text that could not be parsed is left out of the tree. The
//! crate does no input or output: the caller supplies a [`SourceLoader`].
//!
//! ```
//! use syntax::{MemoryLoader, ast::DeclKind, parse};
//!
//! let loader = MemoryLoader::new()
//!     .with("main.p4", "#include \"types.p4\"\nstruct meta_t { port_t port; }")
//!     .with("types.p4", "typedef bit<WIDTH> port_t;");
//! let mut map = diag::SourceMap::new();
//! let parsed = parse(&mut map, &loader, "main.p4", &[("WIDTH".into(), Some("9".into()))]);
//!
//! assert!(parsed.diagnostics.is_empty());
//! assert!(matches!(parsed.program.decls[1].kind, DeclKind::Composite { .. }));
//! ```
//!
//! Limits, each with a diagnostic of its own: 64 nested open files, 10,000 includes, a million tokens from macros, four
//! million tokens, trees 200 levels deep, literals of 65,536 bits.

pub mod ast;
mod errors;
mod lexer;
mod literal;
mod loader;
mod parser;
mod preprocess;
mod token;

use diag::{Diagnostics, SourceMap};

pub use loader::{LoadError, Loaded, MemoryLoader, SourceLoader};
pub use preprocess::COMMAND_LINE;

/// Returns the text that a string literal, in its quotes, stands for.
pub fn string_value(literal: &str) -> String {
    literal::string(literal).0
}

/// The result of parsing a program.
#[derive(Debug)]
pub struct Parsed {
    /// The tree; complete if `diagnostics` has no errors.
    pub program: ast::Program,
    /// Errors and warnings about the text.
    pub diagnostics: Diagnostics,
}

/// Parses the program `main` and everything that it includes. All texts are added to `map`. `defines` are the macros of
/// the command line. One without a value is 1, and a name may have parameters, as in `F(x)`.
pub fn parse(
    map: &mut SourceMap,
    loader: &dyn SourceLoader,
    main: &str,
    defines: &[(String, Option<String>)],
) -> Parsed {
    let mut diagnostics = Diagnostics::new();
    let tokens = preprocess::preprocess(map, loader, main, defines, &mut diagnostics);
    let program = parser::parse(tokens, map, &mut diagnostics);
    Parsed {
        program,
        diagnostics,
    }
}

//! P4-16 text to syntax tree: preprocessor, lexer, parser.

pub mod ast;

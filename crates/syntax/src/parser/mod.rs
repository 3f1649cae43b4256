//! The parser: one function for each production of the grammar, grouped in files by subject.
//!
//! A function that fails has reported the error; [`Failed`] only sends the caller to its next point of recovery. Those
//! are: the next declaration, the next member between braces, the next statement. The tree is never deeper than
//! [`MAX_DEPTH`], so that code that walks or drops it may recurse.

mod annotations;
mod controls;
mod cursor;
mod declarations;
mod expressions;
mod extern_like;
mod keysets;
mod lookahead;
mod parsers;
mod recovery;
mod scopes;
mod statements;
mod tables;
mod types;

use diag::{Diagnostic, Diagnostics, SourceMap, Span};

use crate::ast::{Decl, Program};
use crate::errors::{common, grammar};
use crate::token::{Bad, Token, TokenKind};
use scopes::Scopes;

/// Greatest depth of a tree.
pub(crate) const MAX_DEPTH: u32 = 200;
/// Most grammar errors that are reported.
const MAX_ERRORS: usize = 200;

/// Unwinds to a recovery point, after an error that is already reported.
#[derive(Debug)]
pub(crate) struct Failed;

/// Result of a production.
pub(crate) type Parse<T> = Result<T, Failed>;

/// Parses a list of tokens that ends with [`TokenKind::Eof`].
pub(crate) fn parse(tokens: Vec<Token>, map: &SourceMap, diagnostics: &mut Diagnostics) -> Program {
    let mut parser = Parser {
        tokens,
        at: 0,
        map,
        diagnostics,
        scopes: Scopes::new(),
        before: Vec::new(),
        depth: 0,
        height: 0,
        in_set: false,
        in_angles: false,
        in_state: false,
        errors: 0,
        last_error: None,
        stopped: false,
    };
    parser.program()
}

/// State of a parse.
pub(crate) struct Parser<'a> {
    tokens: Vec<Token>,
    at: usize,
    map: &'a SourceMap,
    diagnostics: &'a mut Diagnostics,
    scopes: Scopes,
    /// Declarations inside the current one, which precede it in the tree.
    before: Vec<Decl>,
    /// Number of open nested productions.
    depth: u32,
    /// Height of the tree of the last parsed expression: `a.b.c` grows to the left, which `depth` does not count.
    height: u32,
    errors: usize,
    /// Index of the token that the last error was about: a second error there is a consequence.
    last_error: Option<usize>,
    /// True if `&&&` and `..` are allowed after the current expression.
    in_set: bool,
    /// True if the current type is an argument between angle brackets, so that a `>>` may close both.
    in_angles: bool,
    /// True if the current statement is in a parser's state.
    in_state: bool,
    /// True if a limit was reached: the remaining tokens are skipped and nothing more is reported.
    stopped: bool,
}

impl Parser<'_> {
    fn program(&mut self) -> Program {
        let mut decls = Vec::new();
        while self.kind() != TokenKind::Eof {
            let before = self.at;
            if self.eat(TokenKind::Semi) {
                continue;
            }
            if self.at_kind(TokenKind::RBrace) {
                let span = self.span();
                self.report(common::stray_close(span, "}"));
                self.bump();
                continue;
            }
            match self.declaration() {
                Ok(decl) => {
                    decls.append(&mut self.before);
                    decls.push(decl);
                }
                Err(Failed) => {
                    decls.append(&mut self.before);
                    self.recover_declaration(before);
                }
            }
        }
        Program { decls }
    }

    /// Reports an error, unless it is a consequence of the last one.
    fn report(&mut self, diagnostic: Diagnostic) -> Failed {
        if self.stopped || self.last_error == Some(self.at) || self.is_reported() {
            return Failed;
        }
        self.last_error = Some(self.at);
        self.errors += 1;
        if self.errors > MAX_ERRORS {
            self.diagnostics
                .push(grammar::too_many(diagnostic.primary.span, MAX_ERRORS));
            self.stop();
        } else {
            self.diagnostics.push(diagnostic);
        }
        Failed
    }

    /// Returns true if the current token stands for an error that the preprocessor reported.
    fn is_reported(&self) -> bool {
        let reported =
            |at: usize| matches!(self.tokens[at].kind, TokenKind::Bad(Bad::AlreadyReported));
        reported(self.at) || (self.kind() == TokenKind::Eof && self.at > 0 && reported(self.at - 1))
    }

    /// Skips all remaining tokens.
    fn stop(&mut self) {
        self.stopped = true;
        self.at = self.tokens.len() - 1;
    }

    /// Reports "expected `wanted`, found ..." at the current token.
    fn unexpected(&mut self, wanted: &str) -> Failed {
        let token = self.token();
        let (span, found) = (token.span, token.describe());
        self.report(grammar::expected(span, wanted, &found))
    }

    /// Runs a production one nesting level deeper.
    fn nested<T>(&mut self, production: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.too_deep(self.span()));
        }
        self.depth += 1;
        let result = production(self);
        self.depth -= 1;
        result
    }

    fn too_deep(&mut self, span: Span) -> Failed {
        let failed = self.report(grammar::too_deep(span, MAX_DEPTH));
        self.stop();
        failed
    }

    /// Runs a production inside a scope of names of its own.
    fn scoped<T>(&mut self, production: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push();
        let result = production(self);
        self.scopes.pop();
        result
    }
}

#[cfg(test)]
mod tests;

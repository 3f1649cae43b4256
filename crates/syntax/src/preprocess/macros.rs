//! Macros and the directives that define and undefine them.

use std::rc::Rc;

use diag::{FileId, Span};
use smol_str::SmolStr;

use super::Preprocessor;
use crate::errors::preprocess as errors;
use crate::lexer::Lexer;
use crate::token::{Token, TokenKind};

/// A macro.
pub(super) struct Macro {
    pub name: SmolStr,
    /// Parameters of a function-like macro.
    pub params: Option<Params>,
    /// Body, in raw tokens.
    pub body: Vec<Token>,
    /// Location of its name in its `#define`.
    pub span: Span,
}

/// The parameters of a function-like macro.
#[derive(PartialEq, Eq)]
pub(super) struct Params {
    pub names: Vec<SmolStr>,
    /// Name of all further arguments: `__VA_ARGS__` if the list ends with `...`, `x` if it ends with `x...`.
    pub rest: Option<SmolStr>,
}

impl Macro {
    /// Returns the index of the parameter that a token of the body names.
    pub(super) fn param(&self, token: &Token) -> Option<usize> {
        let params = self.params.as_ref()?;
        if token.kind != TokenKind::Ident {
            return None;
        }
        match params.names.iter().position(|p| *p == token.text) {
            Some(index) => Some(index),
            None => (params.rest.as_ref() == Some(&token.text)).then_some(params.names.len()),
        }
    }

    fn same_as(&self, other: &Macro) -> bool {
        let body = |m: &Macro| m.body.iter().map(|t| t.text.clone()).collect::<Vec<_>>();
        self.params == other.params && body(self) == body(other)
    }
}

/// Names that cannot be redefined.
const RESERVED: [&str; 5] = [
    "defined",
    "__COUNTER__",
    "__FILE__",
    "__LINE__",
    "__VA_ARGS__",
];

impl Preprocessor<'_> {
    /// Executes `#define`, after that word.
    pub(super) fn define(&mut self, file: FileId, lexer: &mut Lexer, directive: Span) {
        let Some(name) = self.macro_name(file, lexer, directive, "define") else {
            return;
        };
        let after = lexer.peek();
        let params = if after.kind == TokenKind::LParen && !after.space && !after.first {
            lexer.next();
            match self.params(file, lexer, &name) {
                Some(params) => Some(params),
                None => {
                    self.line(file, lexer);
                    return;
                }
            }
        } else {
            None
        };
        let mut body = self.line(file, lexer);
        if let Some(first) = body.first_mut() {
            first.space = false;
        }
        let found = Macro {
            name: name.text.clone(),
            params,
            body,
            span: name.span,
        };
        if !self.check_operators(&found) {
            return;
        }
        if let Some(before) = self.macros.get(&found.name).filter(|b| !b.same_as(&found)) {
            self.report(errors::macro_redefined(name.span, &name.text, before.span));
        }
        self.macros.insert(found.name.clone(), Rc::new(found));
    }

    /// Executes `#undef`, after that word.
    pub(super) fn undef(&mut self, file: FileId, lexer: &mut Lexer, directive: Span) {
        if let Some(name) = self.macro_name(file, lexer, directive, "undef") {
            self.macros.remove(&name.text);
        }
    }

    /// Takes the name that a directive defines or tests. After an error it takes the whole line.
    pub(super) fn macro_name(
        &mut self,
        file: FileId,
        lexer: &mut Lexer,
        directive: Span,
        word: &str,
    ) -> Option<Token> {
        let raw = lexer.peek();
        if raw.first || raw.kind != TokenKind::Ident {
            let span = if raw.first {
                directive
            } else {
                self.map.span(file, raw.lo..raw.hi)
            };
            self.report(errors::macro_name_missing(span, word));
            self.line(file, lexer);
            return None;
        }
        let raw = lexer.next();
        let name = self.token(file, raw);
        if RESERVED.contains(&name.text.as_str()) && matches!(word, "define" | "undef") {
            self.report(errors::macro_reserved(name.span, &name.text));
            self.line(file, lexer);
            return None;
        }
        Some(name)
    }

    /// Parses parameters, after their opening parenthesis. `None` after an error.
    fn params(&mut self, file: FileId, lexer: &mut Lexer, of: &Token) -> Option<Params> {
        let mut params = Params {
            names: Vec::new(),
            rest: None,
        };
        if lexer.peek().kind == TokenKind::RParen && !lexer.peek().first {
            lexer.next();
            return Some(params);
        }
        loop {
            let raw = lexer.peek();
            let token = self.token(file, raw);
            let new =
                !params.names.contains(&token.text) && !RESERVED.contains(&token.text.as_str());
            match raw.kind {
                TokenKind::Ident if !raw.first && new => params.names.push(token.text),
                TokenKind::Dots if !raw.first => params.rest = Some("__VA_ARGS__".into()),
                _ => return self.params_error(token.span, raw.first, of),
            }
            lexer.next();
            if raw.kind == TokenKind::Ident
                && lexer.peek().kind == TokenKind::Dots
                && !lexer.peek().first
            {
                lexer.next();
                params.rest = params.names.pop();
            }
            let raw = lexer.peek();
            match raw.kind {
                TokenKind::RParen if !raw.first => {
                    lexer.next();
                    return Some(params);
                }
                TokenKind::Comma if !raw.first && params.rest.is_none() => {
                    lexer.next();
                }
                _ => {
                    let span = self.map.span(file, raw.lo..raw.hi);
                    return self.params_error(span, raw.first, of);
                }
            }
        }
    }

    fn params_error(&mut self, span: Span, line_ended: bool, of: &Token) -> Option<Params> {
        let span = if line_ended { of.span } else { span };
        self.report(errors::macro_params(span, &of.text));
        None
    }

    /// Checks the positions of `#` and `##`.
    fn check_operators(&mut self, found: &Macro) -> bool {
        let body = &found.body;
        let edge = [body.first(), body.last()]
            .into_iter()
            .flatten()
            .find(|t| t.kind == TokenKind::HashHash);
        if let Some(token) = edge {
            self.report(errors::macro_operator(
                token.span,
                "`##` at the edge of a macro",
            ));
            return false;
        }
        if found.params.is_none() {
            return true;
        }
        for (i, token) in body.iter().enumerate() {
            let param = body.get(i + 1).is_some_and(|t| found.param(t).is_some());
            if token.kind == TokenKind::Hash && !param {
                self.report(errors::macro_operator(
                    token.span,
                    "`#` without a parameter after it",
                ));
                return false;
            }
        }
        true
    }
}

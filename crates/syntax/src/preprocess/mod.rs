//! The preprocessor: source texts to one list of tokens.
//!
//! It follows the C preprocessor as far as P4 programs use it. All work is bounded: includes by depth and number,
//! macros by the tokens that they produce, conditions by their nesting.

mod condition;
mod directives;
mod expand;
mod include;
mod macros;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use diag::{Diagnostic, Diagnostics, FileId, SourceMap, Span};
use smol_str::SmolStr;

use crate::errors::{grammar, lexical, preprocess as errors};
use crate::lexer::{self, Lexer, Raw};
use crate::loader::{LoadError, Loaded, SourceLoader};
use crate::token::{Bad, Token, TokenKind};
use expand::Input;
use macros::Macro;

/// Most tokens that macros may produce in one run.
const MAX_EXPANDED: usize = 1_000_000;
/// Most errors and warnings that are reported.
const MAX_TOLD: usize = 200;
/// Most tokens that a program may have.
const MAX_TOKENS: usize = 4_000_000;

/// Returns the tokens of a program; the last is [`TokenKind::Eof`].
pub(crate) fn preprocess(
    map: &mut SourceMap,
    loader: &dyn SourceLoader,
    main: &str,
    defines: &[(String, Option<String>)],
    diagnostics: &mut Diagnostics,
) -> Vec<Token> {
    let mut pp = Preprocessor {
        map,
        loader,
        diagnostics,
        macros: HashMap::new(),
        out: Vec::new(),
        chain: Vec::new(),
        files: HashMap::new(),
        renumbered: HashMap::new(),
        once: HashSet::new(),
        replaced: false,
        expanded: 0,
        includes: 0,
        argument_depth: 0,
        counter: 0,
        in_pragma: false,
        annotation_depth: 0,
        stopped: false,
    };
    pp.command_line(defines);
    pp.main_file(main);
    pp.out
}

struct Preprocessor<'a> {
    map: &'a mut SourceMap,
    loader: &'a dyn SourceLoader,
    diagnostics: &'a mut Diagnostics,
    macros: HashMap<SmolStr, Rc<Macro>>,
    out: Vec<Token>,
    /// Open files, each with the `#include` that opened it.
    chain: Vec<(Span, String)>,
    /// Files read so far, by name.
    files: HashMap<String, FileId>,
    /// Last `#line` in each open file.
    renumbered: HashMap<FileId, Renumbered>,
    /// Files with `#pragma once`.
    once: HashSet<FileId>,
    /// True if some file has bytes that are not UTF-8, see [`Loaded::replaced`].
    replaced: bool,
    expanded: usize,
    includes: usize,
    argument_depth: usize,
    /// Next value of `__COUNTER__`.
    counter: u64,
    /// True inside a `@pragma`, which ends with its line.
    in_pragma: bool,
    /// Number of open parentheses of an annotation, in which every character is allowed.
    annotation_depth: usize,
    /// True if a limit was reached: nothing more is read.
    stopped: bool,
}

/// Name of the text with the macros of the command line. It comes before the program's.
pub const COMMAND_LINE: &str = "<command line>";

/// Effect of a `#line` on `__LINE__` and `__FILE__` after it. Messages keep the real lines, which the user can open.
struct Renumbered {
    /// Line of the directive itself.
    at: u32,
    /// Number of the line after it.
    next: u32,
    /// Name of the file, if it was given.
    name: Option<String>,
}

impl Preprocessor<'_> {
    /// Defines the macros of the command line from a text of their own, so that errors in them have a location.
    fn command_line(&mut self, defines: &[(String, Option<String>)]) {
        if defines.is_empty() {
            return;
        }
        let mut text = String::new();
        for (name, value) in defines {
            let value = value.as_deref().unwrap_or("1");
            text += &format!("#define {name} {value}").replace(['\n', '\r'], " ");
            text.push('\n');
        }
        match self.map.add(COMMAND_LINE, text) {
            Some(file) => self.file(file),
            None => self.too_large(Span::NONE, "more than 4 GiB"),
        }
    }

    fn main_file(&mut self, main: &str) {
        let loaded = match self.loader.load(main, None, false) {
            Ok(loaded) => loaded,
            Err(error) => {
                let (name, reason) = match error {
                    LoadError::NotFound { .. } => {
                        (main.to_string(), "there is no such file".to_string())
                    }
                    LoadError::Unreadable { name, reason } => (name, reason),
                };
                self.report(errors::main_unreadable(&name, &reason));
                self.out.push(eof(Span::NONE));
                return;
            }
        };
        let name = loaded.name.clone();
        let Some(file) = self.add(loaded, Span::NONE) else {
            self.out.push(eof(Span::NONE));
            return;
        };
        self.chain.push((Span::NONE, name));
        self.file(file);
        let end = self.map.file(file).text.len();
        let end = self.map.span(file, end..end);
        if self.stopped {
            self.out.push(Token {
                kind: TokenKind::Bad(Bad::AlreadyReported),
                ..eof(end)
            });
        }
        self.out.push(eof(end));
    }

    /// Adds a file that is read for the first time. If there is no room for it, reports that at the `#include` and
    /// returns `None`.
    fn add(&mut self, loaded: Loaded, include: Span) -> Option<FileId> {
        let Loaded {
            name,
            text,
            replaced,
        } = loaded;
        let Some(file) = self.map.add(name.clone(), Arc::clone(&text)) else {
            self.too_large(include, "more than 4 GiB");
            return None;
        };
        self.files.insert(name, file);
        self.replaced |= replaced;
        if let Some(at) = replaced.then(|| lexer::replaced_in_comment(text)).flatten() {
            let span = self.map.span(file, at..at + lexer::REPLACEMENT.len_utf8());
            self.report(lexical::not_utf8_comment(span));
        }
        Some(file)
    }

    /// Reads all tokens of one file.
    fn file(&mut self, file: FileId) {
        // A file may include itself, so the state is saved.
        let outer = self.renumbered.remove(&file);
        let lexer = Lexer::new(Arc::clone(&self.map.file(file).text));
        let mut input = Input::of_file(file, lexer);
        while !self.stopped {
            if input.drop_finished() {
                let Some(source) = &mut input.source else {
                    break;
                };
                let raw = source.lexer.peek();
                if raw.first && self.in_pragma {
                    self.end_pragma(file, raw.lo);
                }
                if !self.directives(source, false) {
                    break;
                }
            }
            if let Some(token) = self.expand_next(&mut input) {
                self.emit(token);
            }
        }
        self.renumbered.remove(&file);
        self.renumbered.extend(outer.map(|known| (file, known)));
        if !self.stopped {
            let open = input.source.map(|source| source.conditions);
            for condition in open.unwrap_or_default() {
                self.report(errors::if_unclosed(condition.span));
            }
        }
    }

    fn end_pragma(&mut self, file: FileId, at: usize) {
        self.in_pragma = false;
        let span = self.map.span(file, at..at);
        self.out.push(Token {
            kind: TokenKind::PragmaEnd,
            ..eof(span)
        });
    }

    /// Adds one token to the output, or reports it.
    fn emit(&mut self, mut token: Token) {
        self.follow_annotation(token.kind);
        let free = self.annotation_depth > 0 && !self.is_replaced(&token);
        match token.kind {
            TokenKind::Bad(Bad::Char) | TokenKind::Hash | TokenKind::HashHash if free => {}
            TokenKind::Bad(bad) => {
                self.report_bad(bad, &token);
                token.kind = TokenKind::Bad(Bad::AlreadyReported);
                if bad == Bad::String {
                    // It is a string, but errors follow from its missing quote, so the marker suppresses those.
                    self.out.push(Token {
                        kind: TokenKind::Str,
                        ..token.clone()
                    });
                }
            }
            TokenKind::Hash | TokenKind::HashHash => {
                self.report_bad(Bad::Char, &token);
                token.kind = TokenKind::Bad(Bad::AlreadyReported);
            }
            TokenKind::Ident => {
                if token.text == "pragma"
                    && self.out.last().is_some_and(|t| t.kind == TokenKind::At)
                {
                    self.in_pragma = true;
                }
                token.kind = TokenKind::keyword(&token.text).unwrap_or(TokenKind::Ident);
            }
            TokenKind::Str if self.is_replaced(&token) => {
                self.report(lexical::not_utf8(token.span))
            }
            _ => {}
        }
        if self.out.len() >= MAX_TOKENS {
            return self.too_large(token.span, &format!("more than {MAX_TOKENS} tokens"));
        }
        self.out.push(token);
    }

    /// Counts the parentheses of an annotation that are open before a token of this kind.
    fn follow_annotation(&mut self, next: TokenKind) {
        let inside = self.annotation_depth > 0;
        let begins = || {
            let mut last = self.out.iter().rev().map(|t| t.kind);
            let name = last.next().is_some_and(|k| k.is_name() || k.is_keyword());
            name && last.next() == Some(TokenKind::At)
        };
        match next {
            TokenKind::LParen if inside || begins() => self.annotation_depth += 1,
            TokenKind::RParen if inside => self.annotation_depth -= 1,
            _ => {}
        }
    }

    fn report_bad(&mut self, bad: Bad, token: &Token) {
        self.report(match bad {
            Bad::Char if self.is_replaced(token) => lexical::not_utf8(token.span),
            Bad::Char => lexical::unknown_character(token.span, &token.text),
            Bad::String => lexical::unclosed_string(token.span),
            Bad::Comment => lexical::unclosed_comment(token.span),
            Bad::AlreadyReported => return,
        });
    }

    /// Returns true if a token has bytes that are not UTF-8.
    fn is_replaced(&self, token: &Token) -> bool {
        self.replaced && token.text.contains(lexer::REPLACEMENT)
    }

    /// Reports an error or a warning.
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.stopped {
            return;
        }
        if self.diagnostics.len() >= MAX_TOLD {
            let span = diagnostic.primary.span;
            self.diagnostics.push(grammar::too_many(span, MAX_TOLD));
            self.stopped = true;
            return;
        }
        self.diagnostics.push(diagnostic);
    }

    fn too_large(&mut self, span: Span, what: &str) {
        self.report(errors::source_too_large(span, what));
        self.stopped = true;
    }

    /// Makes a token from a raw one, with its text.
    fn token(&self, file: FileId, raw: Raw) -> Token {
        let text = match raw.kind.fixed_text() {
            Some(fixed) => SmolStr::new_static(fixed),
            None => self
                .map
                .file(file)
                .text
                .get(raw.lo..raw.hi)
                .unwrap_or_default()
                .into(),
        };
        Token {
            kind: raw.kind,
            text,
            span: self.map.span(file, raw.lo..raw.hi),
            first: raw.first,
            space: raw.space,
            painted: false,
        }
    }

    /// Takes the rest of a directive's line as tokens.
    fn line(&self, file: FileId, lexer: &mut Lexer) -> Vec<Token> {
        let mut line = Vec::new();
        while !lexer.peek().first {
            let raw = lexer.next();
            line.push(self.token(file, raw));
        }
        line
    }
}

fn eof(span: Span) -> Token {
    Token {
        kind: TokenKind::Eof,
        text: SmolStr::default(),
        span,
        first: true,
        space: true,
        painted: false,
    }
}

#[cfg(test)]
mod tests;

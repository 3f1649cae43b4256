//! Directives: lines that begin with `#`.

use diag::{FileId, Span};

use super::expand::Source;
use super::{Preprocessor, Renumbered};
use crate::errors::preprocess as errors;
use crate::lexer::Lexer;
use crate::literal;
use crate::token::{Token, TokenKind};

/// An open `#if`.
pub(super) struct Condition {
    /// Location of its directive.
    pub span: Span,
    /// True if the current branch is included.
    pub active: bool,
    /// True if the text around the `#if` is included.
    outer: bool,
    /// True if one of its branches was included already.
    taken: bool,
    /// Location of the `#else`, if there was one.
    otherwise: Option<Span>,
}

const DIRECTIVES: [&str; 17] = [
    "include",
    "include_next",
    "define",
    "undef",
    "if",
    "ifdef",
    "ifndef",
    "elif",
    "elifdef",
    "elifndef",
    "else",
    "endif",
    "error",
    "warning",
    "line",
    "pragma",
    "ident",
];

impl Preprocessor<'_> {
    /// Executes the directives that come next, and skips text that conditionals exclude. Returns true if text follows;
    /// false at the end of the file and, inside a macro's arguments, before an `#include`.
    pub(super) fn directives(&mut self, source: &mut Source, inside_arguments: bool) -> bool {
        while !self.stopped {
            let raw = source.lexer.peek();
            let active = source.conditions.last().is_none_or(|c| c.active);
            if raw.kind == TokenKind::Eof {
                return false;
            }
            if raw.first && raw.kind == TokenKind::Hash {
                if inside_arguments && active && self.at_include(source) {
                    return false;
                }
                self.directive(source);
            } else if active {
                return true;
            } else {
                source.lexer.next();
            }
        }
        false
    }

    /// Returns true if the next directive is an `#include`.
    fn at_include(&self, source: &Source) -> bool {
        let mut lexer = source.lexer.clone();
        lexer.next();
        let word = lexer.next();
        let word = self.token(source.file, word);
        !word.first && word.text.starts_with("include")
    }

    /// Executes one directive, from its `#` to the end of its line.
    fn directive(&mut self, source: &mut Source) {
        let Source {
            file,
            lexer,
            conditions,
        } = source;
        let file = *file;
        let hash = lexer.next();
        let raw = lexer.peek();
        if raw.first {
            // A `#` alone is allowed and has no effect.
            return;
        }
        lexer.next();
        let word = self.token(file, raw);
        let span = self.map.span(file, hash.lo..raw.hi);
        let active = conditions.last().is_none_or(|c| c.active);
        match word.text.as_str() {
            "if" | "ifdef" | "ifndef" => {
                let taken = active && self.test(file, lexer, span, &word);
                conditions.push(Condition {
                    span,
                    active: taken,
                    outer: active,
                    taken,
                    otherwise: None,
                });
            }
            "elif" | "elifdef" | "elifndef" | "else" => {
                self.branch(file, lexer, span, &word, conditions)
            }
            "endif" => {
                if conditions.pop().is_none() {
                    self.report(errors::if_missing(span, "endif"));
                }
                self.nothing_follows(file, lexer, "endif");
            }
            _ if !active => {}
            "include" => self.include(file, lexer, span, false),
            "include_next" => self.include(file, lexer, span, true),
            // Version of a file, which compilers of C copy to their output.
            "ident" => {
                lexer.rest_of_line();
            }
            "define" => self.define(file, lexer, span),
            "undef" => {
                self.undef(file, lexer, span);
                self.nothing_follows(file, lexer, "undef");
            }
            "error" | "warning" => {
                let (lo, hi) = lexer.rest_of_line();
                let whole = self.map.span(file, hash.lo..hi.max(raw.hi));
                let text = self
                    .map
                    .text(self.map.span(file, lo..hi))
                    .trim()
                    .to_string();
                let make = if word.text == "error" {
                    errors::user_error
                } else {
                    errors::user_warning
                };
                self.report(make(whole, &text));
            }
            "pragma" => self.pragma(file, lexer),
            "line" => {
                let line = self.line(file, lexer);
                let line = self.expand_list(line);
                if !self.renumber(&line) {
                    self.report(errors::line_malformed(span));
                }
            }
            // A line marker, as other preprocessors write it.
            _ if raw.kind == TokenKind::Int => {
                let mut line = self.line(file, lexer);
                line.insert(0, word);
                self.renumber(&line);
            }
            other => {
                let close = DIRECTIVES.into_iter().find(|d| is_close(d, other));
                self.report(errors::unknown_directive(span, other, close));
                lexer.rest_of_line();
            }
        }
    }

    /// Executes `#elif`, `#elifdef`, `#elifndef` or `#else`.
    fn branch(
        &mut self,
        file: FileId,
        lexer: &mut Lexer,
        span: Span,
        word: &Token,
        conditions: &mut [Condition],
    ) {
        let Some(condition) = conditions.last_mut() else {
            self.report(errors::if_missing(span, &word.text));
            lexer.rest_of_line();
            return;
        };
        if let Some(before) = condition.otherwise {
            self.report(errors::after_else(span, &word.text, before));
            condition.active = false;
            lexer.rest_of_line();
            return;
        }
        let open = condition.outer && !condition.taken;
        let holds = if word.text == "else" {
            condition.otherwise = Some(span);
            self.nothing_follows(file, lexer, "else");
            open
        } else if open {
            self.test(file, lexer, span, word)
        } else {
            lexer.rest_of_line();
            false
        };
        condition.active = holds;
        condition.taken |= holds;
    }

    /// Returns true if the condition of `#if`, `#ifdef`, `#elif` and so on holds. An invalid one does not.
    fn test(&mut self, file: FileId, lexer: &mut Lexer, span: Span, word: &Token) -> bool {
        if matches!(word.text.as_str(), "if" | "elif") {
            let line = self.line(file, lexer);
            return self.condition(line, span);
        }
        let Some(name) = self.macro_name(file, lexer, span, &word.text) else {
            return false;
        };
        self.nothing_follows(file, lexer, &word.text);
        self.is_defined(&name.text) != word.text.ends_with("ndef")
    }

    /// Returns true if a macro of this name exists.
    pub(super) fn is_defined(&self, name: &str) -> bool {
        let built_in = matches!(name, "__COUNTER__" | "__FILE__" | "__LINE__");
        built_in || self.macros.contains_key(name)
    }

    /// Records `#line 12 "file.p4"`, from its number on. Returns false if there is no number.
    fn renumber(&mut self, line: &[Token]) -> bool {
        let Some(number) = line.first().filter(|t| t.kind == TokenKind::Int) else {
            return false;
        };
        let (Ok(next), Some((file, at))) = (number.text.parse(), self.map.line(number.span)) else {
            return false;
        };
        let name = line.get(1).filter(|t| t.kind == TokenKind::Str);
        let name = match name {
            Some(name) => Some(literal::string(&name.text).0),
            // The name given by an earlier `#line` stays valid.
            None => self.renumbered.remove(&file).and_then(|known| known.name),
        };
        self.renumbered.insert(file, Renumbered { at, next, name });
        true
    }

    fn pragma(&mut self, file: FileId, lexer: &mut Lexer) {
        let (lo, hi) = lexer.rest_of_line();
        if self.map.text(self.map.span(file, lo..hi)).trim() == "once" {
            self.once.insert(file);
        }
    }

    /// Takes the rest of the line and warns if there is anything in it.
    pub(super) fn nothing_follows(&mut self, file: FileId, lexer: &mut Lexer, directive: &str) {
        let line = self.line(file, lexer);
        if let (Some(first), Some(last)) = (line.first(), line.last()) {
            self.report(errors::extra_tokens(first.span.to(last.span), directive));
        }
    }
}

/// Returns true if a misspelt word is close to a directive: one letter inserted, deleted or replaced, two exchanged, or
/// a different case.
fn is_close(directive: &str, word: &str) -> bool {
    if directive.eq_ignore_ascii_case(word) {
        return true;
    }
    let (a, b): (Vec<char>, Vec<char>) = (directive.chars().collect(), word.chars().collect());
    let start = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[start..], &b[start..]);
    let end = a
        .iter()
        .rev()
        .zip(b.iter().rev())
        .take_while(|(x, y)| x == y)
        .count();
    match (&a[..a.len() - end], &b[..b.len() - end]) {
        ([w, x], [y, z]) => w == z && x == y,
        (a, b) => directive.len() > 2 && a.len() <= 1 && b.len() <= 1,
    }
}

//! The directive `#include`.

use diag::{FileId, Span};

use super::Preprocessor;
use crate::errors::preprocess as errors;
use crate::lexer::Lexer;
use crate::loader::LoadError;
use crate::token::{Token, TokenKind};

/// Most nested open files.
const MAX_DEPTH: usize = 64;
/// Most includes of one run.
const MAX_INCLUDES: usize = 10_000;

impl Preprocessor<'_> {
    /// Executes `#include` or `#include_next`, after that word.
    pub(super) fn include(&mut self, file: FileId, lexer: &mut Lexer, directive: Span, next: bool) {
        let Some((path, system, span)) = self.include_path(file, lexer, directive) else {
            return;
        };
        self.includes += 1;
        if self.chain.len() >= MAX_DEPTH {
            let last = self.chain.last().map(|(_, name)| name.as_str());
            let open = |name: &str| self.chain.iter().filter(|(_, n)| n == name).count() > 1;
            let cycle = last.filter(|name| open(name));
            let chain: Vec<_> = self
                .chain
                .iter()
                .filter(|(at, _)| !at.is_none())
                .cloned()
                .collect();
            self.report(errors::include_depth(span, &chain, cycle));
            self.stopped = true;
            return;
        }
        if self.includes > MAX_INCLUDES {
            self.too_large(span, &format!("more than {MAX_INCLUDES} includes"));
            return;
        }
        let from = self.chain.last().map(|(_, name)| name.clone());
        // The main file is in no folder of the search path, so there is no next folder.
        let found = match &from {
            Some(from) if next && self.chain.len() > 1 => self.loader.load_next(&path, from),
            _ => self.loader.load(&path, from.as_deref(), system),
        };
        let loaded = match found {
            Ok(loaded) => loaded,
            Err(LoadError::NotFound { tried, built_in }) => {
                self.report(errors::include_not_found(span, &path, &tried, &built_in));
                return;
            }
            Err(LoadError::Unreadable { name, reason }) => {
                self.report(errors::include_unreadable(span, &name, &reason));
                return;
            }
        };
        let name = loaded.name.clone();
        let id = match self.files.get(&name) {
            Some(id) => *id,
            None => {
                let Some(id) = self.add(loaded, span) else {
                    return;
                };
                id
            }
        };
        if self.once.contains(&id) {
            return;
        }
        self.chain.push((span, name));
        self.file(id);
        self.chain.pop();
    }

    /// Takes the line. Returns the path, true if it is in angle brackets, and its location.
    fn include_path(
        &mut self,
        file: FileId,
        lexer: &mut Lexer,
        directive: Span,
    ) -> Option<(String, bool, Span)> {
        let mut plain = lexer.clone();
        let (lo, hi) = plain.rest_of_line();
        let text = self.map.text(self.map.span(file, lo..hi)).to_string();
        let trimmed = text.trim_start();
        let from = lo + text.len() - trimmed.len();
        for (open, close) in [('"', '"'), ('<', '>')] {
            let Some(path) = trimmed.strip_prefix(open) else {
                continue;
            };
            let path = path
                .split_once(close)
                .map(|(path, _)| path.trim())
                .filter(|p| !p.is_empty());
            let Some(path) = path else {
                let span = self.map.span(file, from..from + trimmed.trim_end().len());
                self.report(errors::include_malformed(span));
                *lexer = plain;
                return None;
            };
            let end = from + trimmed[1..].find(close).unwrap_or(0) + 2;
            // The rest may be a comment, which the lexer skips.
            let mut rest = Lexer::at(lexer, end);
            self.nothing_follows(file, &mut rest, "include");
            *lexer = rest;
            return Some((
                path.to_string(),
                open == '<',
                self.map.span(file, from..end),
            ));
        }
        let line = self.line(file, lexer);
        let span = match (line.first(), line.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => directive,
        };
        let line = self.expand_list(line);
        let found = path_of_tokens(&line);
        if found.is_none() {
            self.report(errors::include_malformed(span));
        }
        found.map(|(path, system)| (path, system, span))
    }
}

/// Returns the path that a macro expands to, and true if it is in angle brackets.
fn path_of_tokens(line: &[Token]) -> Option<(String, bool)> {
    match line {
        [only] if only.kind == TokenKind::Str => {
            let path = only.text.trim_matches('"');
            (!path.is_empty()).then(|| (path.to_string(), false))
        }
        [open, inner @ .., close]
            if open.kind == TokenKind::Lt && close.kind == TokenKind::Gt && !inner.is_empty() =>
        {
            Some((inner.iter().map(|t| t.text.as_str()).collect(), true))
        }
        _ => None,
    }
}

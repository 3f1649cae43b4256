//! Cursor over the tokens: looking at tokens and taking them.

use diag::Span;

use super::{Failed, Parse, Parser};
use crate::ast::Ident;
use crate::errors::grammar;
use crate::token::{Token, TokenKind};

impl Parser<'_> {
    /// Returns the current token.
    pub(super) fn token(&self) -> &Token {
        &self.tokens[self.at]
    }

    /// Returns the kind of the current token.
    pub(super) fn kind(&self) -> TokenKind {
        self.tokens[self.at].kind
    }

    /// Returns the kind of the token `n` after the current one.
    pub(super) fn kind_at(&self, n: usize) -> TokenKind {
        self.tokens
            .get(self.at + n)
            .map_or(TokenKind::Eof, |t| t.kind)
    }

    /// Returns the location of the current token.
    pub(super) fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// Returns the location of the previous token.
    pub(super) fn last_span(&self) -> Span {
        self.at
            .checked_sub(1)
            .map_or(Span::NONE, |i| self.tokens[i].span)
    }

    /// Returns the empty span after the previous token.
    pub(super) fn after_previous(&self) -> Span {
        let last = self.last_span();
        if last.is_none() {
            self.span()
        } else {
            Span {
                lo: last.hi,
                hi: last.hi,
            }
        }
    }

    /// Returns the span from `start` to the last token taken.
    pub(super) fn since(&self, start: Span) -> Span {
        let last = self.last_span();
        if last.hi < start.lo || !self.same_file(start, last) {
            start
        } else {
            start.to(last)
        }
    }

    /// Returns true if two spans are in one file. A macro in an included file may end what another file begins.
    fn same_file(&self, a: Span, b: Span) -> bool {
        let file = |span| self.map.locate(span).map(|(file, _)| file);
        file(a) == file(b)
    }

    /// Takes the current token, except the end of the program.
    pub(super) fn bump(&mut self) -> Span {
        let span = self.span();
        if self.kind() != TokenKind::Eof {
            self.at += 1;
        }
        span
    }

    /// Returns true if the current token is of this kind.
    pub(super) fn at_kind(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    /// Returns true if the current token is a name with this text.
    pub(super) fn at_word(&self, word: &str) -> bool {
        self.kind() == TokenKind::Ident && self.token().text == word
    }

    /// Takes the current token if it is of this kind.
    pub(super) fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.at_kind(kind);
        if found {
            self.bump();
        }
        found
    }

    /// Takes a token of this kind, or fails.
    pub(super) fn expect(&mut self, kind: TokenKind) -> Parse<Span> {
        if self.at_kind(kind) {
            return Ok(self.bump());
        }
        Err(self.unexpected(&kind.describe()))
    }

    /// Takes a `>`, which may be the first character of a longer operator.
    pub(super) fn expect_gt(&mut self) -> Parse<()> {
        let rest = match self.kind() {
            TokenKind::Gt => {
                self.bump();
                return Ok(());
            }
            TokenKind::Shr => TokenKind::Gt,
            TokenKind::Ge => TokenKind::Assign,
            TokenKind::ShrAssign => TokenKind::Ge,
            _ => return Err(self.unexpected("`>`")),
        };
        let token = &mut self.tokens[self.at];
        // A token from a macro keeps the span of the macro's use.
        if (token.span.hi - token.span.lo) as usize == token.text.len() {
            token.span.lo += 1;
        }
        token.kind = rest;
        token.text = rest.fixed_text().unwrap_or_default().into();
        token.first = false;
        Ok(())
    }

    /// Takes the name of `what`.
    pub(super) fn name(&mut self, what: &str) -> Parse<Ident> {
        if self.kind().is_name() {
            let ident = Ident {
                name: self.token().text.clone(),
                span: self.span(),
            };
            self.bump();
            return Ok(ident);
        }
        if self.kind().is_keyword() && self.kind() != TokenKind::Underscore {
            let (span, word) = (self.span(), self.token().text.clone());
            return Err(self.report(grammar::reserved_name(span, &word, what)));
        }
        Err(self.unexpected(&format!("the name of {what}")))
    }

    /// Takes a `;`. Where it is evidently missing, reports that and continues as if it were there.
    pub(super) fn semicolon(&mut self, after: &str) -> Parse<()> {
        if self.eat(TokenKind::Semi) {
            return Ok(());
        }
        let forgotten =
            self.token().first || matches!(self.kind(), TokenKind::RBrace | TokenKind::Eof);
        let failed = self.report(grammar::missing_semicolon(self.after_previous(), after));
        if forgotten && !self.stopped {
            Ok(())
        } else {
            Err(failed)
        }
    }

    /// Takes the bracket that closes `opener`, or fails pointing at both locations.
    pub(super) fn close(&mut self, close: TokenKind, opener: Span) -> Parse<Span> {
        if self.at_kind(close) {
            return Ok(self.bump());
        }
        let open = match close {
            TokenKind::RParen => "(",
            TokenKind::RBracket => "[",
            _ => "{",
        };
        let token = self.token();
        let (span, found) = (token.span, token.describe());
        let at = if self.at_kind(TokenKind::Eof) {
            self.after_previous()
        } else {
            span
        };
        let close = close.fixed_text().unwrap_or_default();
        Err(self.report(grammar::unclosed(at, opener, open, close, &found)))
    }

    /// Parses items separated by commas up to `end`, which is not taken. With `trailing`, the last may have a comma
    /// after it.
    pub(super) fn comma_list<T>(
        &mut self,
        end: TokenKind,
        trailing: bool,
        mut item: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        let mut items = Vec::new();
        if self.at_kind(end) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if !self.eat(TokenKind::Comma) || (trailing && self.at_kind(end)) {
                return Ok(items);
            }
        }
    }

    /// Parses items up to the `}` that closes `opener`, which is taken. An item that fails is left out.
    pub(super) fn members<T>(
        &mut self,
        opener: Span,
        mut item: impl FnMut(&mut Self) -> Parse<Option<T>>,
    ) -> Parse<Vec<T>> {
        let mut items = Vec::new();
        loop {
            if self.at_kind(TokenKind::RBrace) {
                self.bump();
                return Ok(items);
            }
            if self.at_kind(TokenKind::Eof) || self.at_outer_declaration() {
                self.close(TokenKind::RBrace, opener)?;
            }
            let before = self.at;
            match item(self) {
                Ok(found) => items.extend(found),
                Err(Failed) => self.recover_member(before),
            }
        }
    }
}

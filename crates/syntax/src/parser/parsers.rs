//! Parsers, their states and transitions.

use diag::Span;

use super::{Parse, Parser};
use crate::ast::{Annotation, Decl, DeclKind, ParserBody, ParserState, SelectCase, Transition};
use crate::errors::{common, grammar};
use crate::token::TokenKind;

impl Parser<'_> {
    /// `parser p(params);` and `parser p(params)(ctor) { locals states }`.
    pub(super) fn parser_declaration(&mut self) -> Parse<DeclKind> {
        self.bump();
        let name = self.name("a parser")?;
        self.scopes.declare_type(&name);
        self.scoped(|p| {
            let head = p.head(name)?;
            if p.eat(TokenKind::Semi) {
                return Ok(DeclKind::Parser { head, body: None });
            }
            let body = p.nested(Self::parser_body)?;
            Ok(DeclKind::Parser {
                head,
                body: Some(body),
            })
        })
    }

    fn parser_body(&mut self) -> Parse<ParserBody> {
        let opener = self.expect(TokenKind::LBrace)?;
        let mut states: Vec<ParserState> = Vec::new();
        let locals = self.members(opener, |p| {
            let start = p.span();
            let annotations = p.annotations()?;
            if p.at_kind(TokenKind::State) && p.kind_at(1).is_name() {
                states.push(p.nested(|p| p.state(annotations, start))?);
                return Ok(None);
            }
            if p.at_kind(TokenKind::RBrace) {
                p.refuse_annotations(&annotations);
                return Ok(None);
            }
            if let Some(state) = states.first() {
                p.report(grammar::after_state(start, state.name.span));
            }
            p.parser_local(annotations, start).map(Some)
        })?;
        Ok(ParserBody { locals, states })
    }

    /// `parserLocalElement`.
    fn parser_local(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<Decl> {
        match self.kind() {
            TokenKind::Const => self.constant(annotations, start),
            TokenKind::ValueSet => Ok(Decl {
                annotations,
                kind: self.value_set()?,
                span: self.since(start),
            }),
            TokenKind::Table | TokenKind::Action | TokenKind::Transition => {
                Err(self.misplaced_declaration("in a parser"))
            }
            TokenKind::Apply => Err(self.misplaced_declaration("in a parser")),
            TokenKind::If
            | TokenKind::For
            | TokenKind::Switch
            | TokenKind::Return
            | TokenKind::Exit
            | TokenKind::LBrace => Err(self.report(common::statement_outside_state(start))),
            _ => self.local(annotations, start, common::statement_outside_state),
        }
    }

    /// `value_set<T>(size) s;`, from its first word.
    pub(super) fn value_set(&mut self) -> Parse<DeclKind> {
        self.bump();
        self.expect(TokenKind::Lt)?;
        let ty = self.type_in_angles()?;
        self.expect_gt()?;
        let opener = self.expect(TokenKind::LParen)?;
        let size = self.value()?;
        self.close(TokenKind::RParen, opener)?;
        let name = self.name("a value set")?;
        self.scopes.declare_value(&name);
        self.semicolon("the value set")?;
        Ok(DeclKind::ValueSet { ty, size, name })
    }

    /// `state s { statements transition }`, from its first word.
    fn state(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<ParserState> {
        self.bump();
        let name = self.name("a state")?;
        let opener = self.expect(TokenKind::LBrace)?;
        let mut transition: Option<(Transition, Span)> = None;
        self.in_state = true;
        let body = self.scoped(|p| {
            p.members(opener, |p| {
                let at = p.span();
                if let Some((_, last)) = &transition {
                    p.report(if p.at_kind(TokenKind::Transition) {
                        grammar::second_transition(at, *last)
                    } else {
                        grammar::after_last(at, "a statement", "transition", *last)
                    });
                }
                if p.at_kind(TokenKind::Transition) {
                    let found = p.transition()?;
                    transition = Some((found, p.since(at)));
                    return Ok(None);
                }
                p.statement().map(Some)
            })
        });
        self.in_state = false;
        let body = body?;
        Ok(ParserState {
            annotations,
            name,
            body,
            transition: transition.map(|(t, _)| t),
            span: self.since(start),
        })
    }

    /// `transition s;` and `transition select(keys) { cases }`.
    fn transition(&mut self) -> Parse<Transition> {
        self.bump();
        if !self.at_kind(TokenKind::Select) {
            let name = self.name("a state")?;
            self.semicolon("the transition")?;
            return Ok(Transition::To(name));
        }
        let start = self.bump();
        let opener = self.expect(TokenKind::LParen)?;
        let keys = self.comma_list(TokenKind::RParen, false, Self::expr)?;
        self.close(TokenKind::RParen, opener)?;
        let opener = self.expect(TokenKind::LBrace)?;
        let cases = self.members(opener, |p| p.select_case().map(Some))?;
        // The grammar has no `;` here, but many programs do.
        self.eat(TokenKind::Semi);
        Ok(Transition::Select {
            keys,
            cases,
            span: self.since(start),
        })
    }

    /// `keyset: state;`
    fn select_case(&mut self) -> Parse<SelectCase> {
        let start = self.span();
        if self.at_word("case") {
            self.report(common::case_word(start, "select", "value: state;"));
            self.bump();
        }
        let keyset = self.keyset()?;
        self.check_comma(
            "write a case for each value; of several keys, put the values in parentheses: `(a, b): state;`",
        )?;
        self.expect(TokenKind::Colon)?;
        let target = self.name("a state")?;
        self.semicolon("the state")?;
        Ok(SelectCase {
            keyset,
            target,
            span: self.since(start),
        })
    }
}

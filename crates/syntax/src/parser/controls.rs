//! Controls.

use diag::{Diagnostic, Span};

use super::{Parse, Parser};
use crate::ast::{Annotation, Block, ControlBody, Decl, DeclKind, Head, Ident};
use crate::errors::{common, grammar};
use crate::token::TokenKind;

impl Parser<'_> {
    /// `control c(params);` and `control c(params)(ctor) { locals apply }`.
    pub(super) fn control_declaration(&mut self) -> Parse<DeclKind> {
        self.bump();
        let name = self.name("a control")?;
        self.scopes.declare_type(&name);
        self.scoped(|p| {
            let head = p.head(name)?;
            if p.eat(TokenKind::Semi) {
                return Ok(DeclKind::Control { head, body: None });
            }
            let body = p.nested(|p| p.control_body(&head))?;
            Ok(DeclKind::Control {
                head,
                body: Some(body),
            })
        })
    }

    /// Parses the rest of a head after the name of a parser or control. Its names stay in scope.
    pub(super) fn head(&mut self, name: Ident) -> Parse<Head> {
        let type_params = self.type_params()?;
        self.scopes.declare_types(&type_params);
        let params = self.params()?;
        let ctor_params = if self.at_kind(TokenKind::LParen) {
            self.params()?
        } else {
            Vec::new()
        };
        self.scopes.declare_params(&params);
        self.scopes.declare_params(&ctor_params);
        if !matches!(self.kind(), TokenKind::Semi | TokenKind::LBrace) {
            return Err(self.unexpected("`{`, or `;` for a type"));
        }
        Ok(Head {
            name,
            type_params,
            params,
            ctor_params,
        })
    }

    fn control_body(&mut self, head: &Head) -> Parse<ControlBody> {
        let opener = self.expect(TokenKind::LBrace)?;
        let mut apply: Option<Block> = None;
        let locals = self.members(opener, |p| {
            if p.at_kind(TokenKind::Apply)
                && matches!(p.kind_at(1), TokenKind::LBrace | TokenKind::At)
            {
                let word = p.bump();
                if let Some(first) = &apply {
                    p.report(grammar::second_apply(word, first.span));
                }
                apply = Some(p.block()?);
                return Ok(None);
            }
            let start = p.span();
            let annotations = p.annotations()?;
            if p.at_kind(TokenKind::RBrace) {
                p.refuse_annotations(&annotations);
                return Ok(None);
            }
            if let Some(block) = &apply {
                p.report(grammar::after_last(
                    start,
                    "a declaration",
                    "apply",
                    block.span,
                ));
            }
            p.control_local(annotations, start).map(Some)
        })?;
        let apply = match apply {
            Some(block) => block,
            None => {
                let end = self.last_span();
                // An error inside the control may have hidden its `apply`.
                if self
                    .last_error
                    .is_none_or(|at| self.tokens[at].span.lo < opener.lo)
                {
                    self.report(common::missing_apply(end, &head.name.name, head.name.span));
                }
                Block {
                    annotations: Vec::new(),
                    stmts: Vec::new(),
                    span: end,
                }
            }
        };
        Ok(ControlBody { locals, apply })
    }

    /// `controlLocalDeclaration`.
    fn control_local(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<Decl> {
        let kind = match self.kind() {
            TokenKind::Const => return self.constant(annotations, start),
            TokenKind::Action => self.action()?,
            TokenKind::Table => self.table()?,
            TokenKind::State | TokenKind::ValueSet | TokenKind::Transition
                if self.kind_at(1) != TokenKind::LParen =>
            {
                return Err(self.misplaced_declaration("in a control"));
            }
            TokenKind::If
            | TokenKind::For
            | TokenKind::Switch
            | TokenKind::Return
            | TokenKind::Exit
            | TokenKind::LBrace => {
                return Err(self.report(common::statement_outside_apply(start)));
            }
            _ => return self.local(annotations, start, common::statement_outside_apply),
        };
        Ok(Decl {
            annotations,
            kind,
            span: self.since(start),
        })
    }

    /// Parses a variable or an instance among the locals of a parser or control. `if_statement` makes the error for a
    /// statement, which is not allowed here.
    pub(super) fn local(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
        if_statement: fn(Span) -> Diagnostic,
    ) -> Parse<Decl> {
        if self.at_typed_name() {
            return self.variable(annotations, start);
        }
        let mut look = self.look(0);
        if self.skip_type(&mut look) && self.seen(&look) == TokenKind::LParen {
            let mut end = look;
            if self.skip_brackets(&mut end) && !self.seen(&end).is_name() {
                return Err(self.report(if_statement(start)));
            }
            let ty = self.ty()?;
            let kind = self.instance(ty)?;
            return Ok(Decl {
                annotations,
                kind,
                span: self.since(start),
            });
        }
        if self.kind().is_name()
            && matches!(
                self.kind_at(1),
                TokenKind::Dot | TokenKind::Assign | TokenKind::LBracket | TokenKind::LParen
            )
        {
            return Err(self.report(if_statement(start)));
        }
        // Report an error in the type, or in the name after it.
        self.ty()?;
        Err(self.unexpected("the name of a declaration"))
    }
}

//! Keysets: sets of values in select cases and table entries.

use super::{Parse, Parser};
use crate::ast::{Expr, ExprKind};
use crate::errors::common;
use crate::token::TokenKind;

impl Parser<'_> {
    /// Parses `keysetExpression`: one element for each key. A tuple is split.
    pub(super) fn keyset(&mut self) -> Parse<Vec<Expr>> {
        let set = self.set()?;
        match set.kind {
            ExprKind::Tuple(elements) => Ok(elements),
            _ => Ok(vec![set]),
        }
    }

    /// Reports a comma after the keyset of a case, in place of a colon.
    pub(super) fn check_comma(&mut self, help: &str) -> Parse<()> {
        if !self.at_kind(TokenKind::Comma) {
            return Ok(());
        }
        Err(self.report(common::several_sets(self.span(), help)))
    }

    /// Parses one set: `default`, `_`, a value, `a &&& b`, `a .. b`, or several in parentheses.
    fn set(&mut self) -> Parse<Expr> {
        let outer = std::mem::replace(&mut self.in_set, true);
        let result = self.nested(Self::set_here);
        self.in_set = outer;
        result
    }

    /// Parses `a` or `a .. b`, as in `for (T x in a .. b)`.
    pub(super) fn collection(&mut self) -> Parse<Expr> {
        let outer = std::mem::replace(&mut self.in_set, true);
        let result = self.expr().and_then(|first| self.set_after(first));
        self.in_set = outer;
        result
    }

    fn set_here(&mut self) -> Parse<Expr> {
        let start = self.span();
        match self.kind() {
            TokenKind::Default => {
                self.bump();
                return Ok(Expr {
                    kind: ExprKind::Default,
                    span: start,
                });
            }
            TokenKind::Underscore => {
                self.bump();
                return Ok(Expr {
                    kind: ExprKind::DontCare,
                    span: start,
                });
            }
            TokenKind::LParen if !self.at_cast() => {}
            _ => {
                let first = self.expr()?;
                return self.set_after(first);
            }
        }
        let opener = self.bump();
        let mut height = 0;
        let mut elements = self.comma_list(TokenKind::RParen, false, |p| {
            let element = p.set()?;
            height = height.max(p.height);
            Ok(element)
        })?;
        self.close(TokenKind::RParen, opener)?;
        let span = self.since(start);
        self.height = height;
        let alone = match (elements.pop(), elements.is_empty()) {
            (Some(only), true) => only,
            (last, _) => {
                elements.extend(last);
                return Ok(Expr {
                    kind: ExprKind::Tuple(elements),
                    span,
                });
            }
        };
        match alone.kind {
            // The parentheses of `(a &&& b)` belong to a keyset; those of `(a)` may begin an expression.
            ExprKind::Default
            | ExprKind::DontCare
            | ExprKind::Mask(..)
            | ExprKind::Range(..)
            | ExprKind::Tuple(_) => Ok(Expr { span, ..alone }),
            _ => {
                let first = self.postfix(Expr { span, ..alone })?;
                let first = self.expr_after(first)?;
                self.set_after(first)
            }
        }
    }

    /// Parses `&&& b` or `.. b` after a value.
    fn set_after(&mut self, first: Expr) -> Parse<Expr> {
        let make: fn(Box<Expr>, Box<Expr>) -> ExprKind = match self.kind() {
            TokenKind::Mask => ExprKind::Mask,
            TokenKind::Range => ExprKind::Range,
            _ => return Ok(first),
        };
        let height = self.height;
        self.bump();
        let second = self.value()?;
        self.height = self.height.max(height);
        let span = first.span.to(second.span);
        Ok(Expr {
            kind: make(Box::new(first), Box::new(second)),
            span,
        })
    }
}

//! Expressions, by precedence climbing. Unlike in C, `&`, `^` and `|` bind tighter than comparisons.

use diag::Span;

use super::{Failed, MAX_DEPTH, Parse, Parser};
use crate::ast::{Arg, BinaryOp, Expr, ExprKind, Ident, Link, Type, TypeKind, UnaryOp};
use crate::errors::{common, grammar, lexical};
use crate::literal::{self, BadInt, MAX_BITS};
use crate::token::TokenKind;

/// Returns the operator and its precedence.
fn binary(kind: TokenKind) -> Option<(BinaryOp, u8)> {
    Some(match kind {
        TokenKind::OrOr => (BinaryOp::Or, 1),
        TokenKind::AndAnd => (BinaryOp::And, 2),
        TokenKind::EqEq => (BinaryOp::Eq, 3),
        TokenKind::Ne => (BinaryOp::Ne, 3),
        TokenKind::Lt => (BinaryOp::Lt, 4),
        TokenKind::Gt => (BinaryOp::Gt, 4),
        TokenKind::Le => (BinaryOp::Le, 4),
        TokenKind::Ge => (BinaryOp::Ge, 4),
        TokenKind::Pipe => (BinaryOp::BitOr, 5),
        TokenKind::Caret => (BinaryOp::BitXor, 6),
        TokenKind::Amp => (BinaryOp::BitAnd, 7),
        TokenKind::Shl => (BinaryOp::Shl, 8),
        TokenKind::Shr => (BinaryOp::Shr, 8),
        TokenKind::Concat => (BinaryOp::Concat, 9),
        TokenKind::Plus => (BinaryOp::Add, 9),
        TokenKind::Minus => (BinaryOp::Sub, 9),
        TokenKind::SatAdd => (BinaryOp::SatAdd, 9),
        TokenKind::SatSub => (BinaryOp::SatSub, 9),
        TokenKind::Star => (BinaryOp::Mul, 10),
        TokenKind::Slash => (BinaryOp::Div, 10),
        TokenKind::Percent => (BinaryOp::Mod, 10),
        _ => return None,
    })
}

impl Parser<'_> {
    /// `expression`.
    pub(super) fn expr(&mut self) -> Parse<Expr> {
        self.nested(|p| {
            let left = p.unary()?;
            p.expr_after(left)
        })
    }

    /// Parses the rest of an expression after its first operand.
    pub(super) fn expr_after(&mut self, first: Expr) -> Parse<Expr> {
        let condition = self.binary_after(first, 1)?;
        self.choice_after(condition, Self::expr)
    }

    /// Parses `? a : b` after a condition, if it follows.
    fn choice_after(
        &mut self,
        condition: Expr,
        branch: fn(&mut Self) -> Parse<Expr>,
    ) -> Parse<Expr> {
        if !self.eat(TokenKind::Question) {
            return Ok(condition);
        }
        let mut height = self.height;
        let then = branch(self)?;
        height = height.max(self.height);
        self.expect(TokenKind::Colon)?;
        let otherwise = branch(self)?;
        height = height.max(self.height);
        let span = condition.span.to(otherwise.span);
        let kind = ExprKind::Ternary(Box::new(condition), Box::new(then), Box::new(otherwise));
        self.grown(kind, span, height)
    }

    /// Parses a width, up to the `>` that closes it: `>` and `>=` in it need parentheses.
    pub(super) fn width_value(&mut self) -> Parse<Expr> {
        self.nested(|p| {
            let first = p.unary()?;
            let condition = p.operators_after(first, 1, true)?;
            p.choice_after(condition, Self::width_value)
        })
    }

    fn binary_after(&mut self, first: Expr, least: u8) -> Parse<Expr> {
        let whole = self.operators_after(first, least, false)?;
        if matches!(self.kind(), TokenKind::Mask | TokenKind::Range) && !self.in_set {
            let (span, op) = (self.span(), self.token().text.clone());
            return Err(self.report(common::set_operator(span, &op)));
        }
        Ok(whole)
    }

    /// Parses operators of at least precedence `least`, with their right operands. With `in_width` a `>>` may close the
    /// width that they are in, and the brackets around it.
    fn operators_after(&mut self, first: Expr, least: u8, in_width: bool) -> Parse<Expr> {
        // The precedence never rises in this loop: each operator takes all before it as its left operand.
        let (mut whole, mut height) = (first.span, self.height);
        let mut links = Vec::new();
        while let Some((op, power)) = binary(self.kind()).filter(|(_, power)| *power >= least) {
            // The `+:` of a part select.
            if self.kind() == TokenKind::Plus && self.kind_at(1) == TokenKind::Colon {
                break;
            }
            let closes = match op {
                BinaryOp::Shr => self.closes_width(self.at, self.in_angles),
                BinaryOp::Gt | BinaryOp::Ge => true,
                _ => false,
            };
            if in_width && closes {
                break;
            }
            self.bump();
            self.check_increment(whole)?;
            let right = self.nested(|p| {
                let operand = p.unary()?;
                p.operators_after(operand, power + 1, in_width)
            })?;
            height = height.max(self.height);
            whole = self.joined(whole, right.span);
            links.push(Link {
                op,
                right,
                span: whole,
            });
        }
        if links.is_empty() {
            return Ok(first);
        }
        self.grown(ExprKind::Chain(Box::new(first), links), whole, height)
    }

    /// Makes a node one higher than its highest child.
    fn grown(&mut self, kind: ExprKind, span: Span, height: u32) -> Parse<Expr> {
        self.height = height + 1;
        if self.depth + self.height > MAX_DEPTH {
            return Err(self.too_deep(span));
        }
        Ok(Expr { kind, span })
    }

    /// Makes a node without children.
    fn leaf(&mut self, kind: ExprKind, span: Span) -> Expr {
        self.height = 0;
        Expr { kind, span }
    }

    fn joined(&self, a: Span, b: Span) -> Span {
        if a.hi <= b.lo { a.to(b) } else { a }
    }

    fn unary(&mut self) -> Parse<Expr> {
        let op = match self.kind() {
            TokenKind::Minus => UnaryOp::Neg,
            TokenKind::Plus => UnaryOp::Plus,
            TokenKind::Tilde => UnaryOp::BitNot,
            TokenKind::Bang => UnaryOp::Not,
            TokenKind::LParen if self.at_cast() => return self.nested(Self::cast),
            _ => {
                let primary = self.primary()?;
                return self.postfix(primary);
            }
        };
        let start = self.bump();
        let operand = self.nested(Self::unary)?;
        let (height, span) = (self.height, self.since(start));
        self.grown(ExprKind::Unary(op, Box::new(operand)), span, height)
    }

    /// `(T) a`
    fn cast(&mut self) -> Parse<Expr> {
        let start = self.bump();
        let ty = self.ty()?;
        self.close(TokenKind::RParen, start)?;
        let height = self.height;
        let operand = self.unary()?;
        let (height, span) = (self.height.max(height), self.since(start));
        self.grown(
            ExprKind::Cast(Box::new(ty), Box::new(operand)),
            span,
            height,
        )
    }

    /// Parses members, indices, slices and calls after an expression.
    pub(super) fn postfix(&mut self, first: Expr) -> Parse<Expr> {
        let start = first.span;
        let mut expr = first;
        loop {
            let height = self.height;
            match self.kind() {
                TokenKind::Dot => {
                    self.check_dotted(&expr)?;
                    self.bump();
                    let member = self.name("a member")?;
                    let span = self.since(start);
                    expr = self.grown(ExprKind::Member(Box::new(expr), member), span, height)?;
                }
                TokenKind::LBracket => expr = self.index(expr, start)?,
                TokenKind::LParen => {
                    let args = self.args()?;
                    let (height, span) = (height.max(self.height), self.since(start));
                    let kind = ExprKind::Call {
                        callee: Box::new(expr),
                        type_args: Vec::new(),
                        args,
                    };
                    expr = self.grown(kind, span, height)?;
                }
                TokenKind::Lt
                    if matches!(expr.kind, ExprKind::Name { .. } | ExprKind::Member(..))
                        && self.at_type_args() =>
                {
                    expr = self.type_args_after(expr, start)?;
                }
                TokenKind::Minus
                    if self.kind_at(1) == TokenKind::Gt && !self.tokens[self.at + 1].space =>
                {
                    let span = self.span().to(self.tokens[self.at + 1].span);
                    return Err(self.report(common::arrow(span)));
                }
                _ => return Ok(expr),
            }
        }
    }

    /// Reports and takes a number in dotted form, from its first dot.
    fn check_dotted(&mut self, first: &Expr) -> Parse<()> {
        if !matches!(first.kind, ExprKind::Int { .. }) || self.kind_at(1) != TokenKind::Int {
            return Ok(());
        }
        let number = self.at - 1;
        let last = self.at + 1;
        let dots = (
            self.kind_at(2),
            self.kind_at(3),
            self.kind_at(4),
            self.kind_at(5),
        );
        let end = match dots {
            (TokenKind::Dot, TokenKind::Int, TokenKind::Dot, TokenKind::Int) => last + 4,
            _ => last,
        };
        let byte = |at: usize| self.tokens[at].text.parse::<u8>().ok();
        let bytes: Option<Vec<u8>> = (number..=end).step_by(2).map(byte).collect();
        let value = bytes.and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
        let span = first.span.to(self.tokens[end].span);
        let failed = self.report(common::dotted_number(span, value.map(u32::from_be_bytes)));
        self.at = end + 1;
        Err(failed)
    }

    /// `a[i]`, `a[hi:lo]` and `a[lo +: width]`
    fn index(&mut self, base: Expr, start: Span) -> Parse<Expr> {
        let mut height = self.height;
        let opener = self.bump();
        let first = self.value()?;
        height = height.max(self.height);
        let base = Box::new(base);
        let kind = if self.eat(TokenKind::Colon) {
            let lo = self.value()?;
            height = height.max(self.height);
            ExprKind::Slice {
                base,
                hi: Box::new(first),
                lo: Box::new(lo),
            }
        } else if self.eat(TokenKind::Plus) {
            self.expect(TokenKind::Colon)?;
            let width = self.value()?;
            height = height.max(self.height);
            ExprKind::PartSelect {
                base,
                lo: Box::new(first),
                width: Box::new(width),
            }
        } else {
            ExprKind::Index(base, Box::new(first))
        };
        self.close(TokenKind::RBracket, opener)?;
        let span = self.since(start);
        self.grown(kind, span, height)
    }

    /// `f<T>(args)` and `E<T>.A`, from the `<`.
    fn type_args_after(&mut self, callee: Expr, start: Span) -> Parse<Expr> {
        let mut height = self.height;
        let type_args = self.type_args()?;
        height = height.max(self.height);
        if self.at_kind(TokenKind::LParen) {
            let args = self.args()?;
            let (height, span) = (height.max(self.height), self.since(start));
            return self.grown(
                ExprKind::Call {
                    callee: Box::new(callee),
                    type_args,
                    args,
                },
                span,
                height,
            );
        }
        let ExprKind::Name { global, name } = callee.kind else {
            return Err(self.unexpected("`(`"));
        };
        let base = Type {
            kind: TypeKind::Name { global, name },
            span: callee.span,
        };
        let span = self.since(start);
        let ty = Type {
            kind: TypeKind::Specialized {
                base: Box::new(base),
                args: type_args,
            },
            span,
        };
        self.grown(ExprKind::Type(Box::new(ty)), span, height)
    }

    /// Parses `(args)`, from its `(`. Sets `height` to that of the highest argument.
    pub(super) fn args(&mut self) -> Parse<Vec<Arg>> {
        let opener = self.expect(TokenKind::LParen)?;
        let mut height = 0;
        let args = self.comma_list(TokenKind::RParen, false, |p| {
            let arg = p.arg()?;
            height = height.max(p.height);
            Ok(arg)
        })?;
        self.close(TokenKind::RParen, opener)?;
        self.height = height;
        Ok(args)
    }

    fn arg(&mut self) -> Parse<Arg> {
        let name = if self.kind().is_name() && self.kind_at(1) == TokenKind::Assign {
            let name = self.name("an argument")?;
            self.bump();
            Some(name)
        } else {
            None
        };
        let value = if self.at_kind(TokenKind::Underscore) {
            let span = self.bump();
            self.leaf(ExprKind::DontCare, span)
        } else {
            self.value()?
        };
        Ok(Arg { name, value })
    }

    /// Parses an expression with a closing token: no set is allowed in it, even inside a keyset.
    pub(super) fn value(&mut self) -> Parse<Expr> {
        self.enclosed(Self::expr)
    }

    /// Runs a production inside brackets, where the context outside does not apply.
    fn enclosed<T>(&mut self, production: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        let in_set = std::mem::replace(&mut self.in_set, false);
        let in_angles = std::mem::replace(&mut self.in_angles, false);
        let result = production(self);
        (self.in_set, self.in_angles) = (in_set, in_angles);
        result
    }

    pub(super) fn primary(&mut self) -> Parse<Expr> {
        let span = self.span();
        match self.kind() {
            TokenKind::Int => self.integer(),
            TokenKind::Str => self.string(),
            TokenKind::True => Ok(self.word(ExprKind::Bool(true))),
            TokenKind::False => Ok(self.word(ExprKind::Bool(false))),
            TokenKind::This => Ok(self.word(ExprKind::This)),
            TokenKind::Invalid => Ok(self.word(ExprKind::Invalid)),
            TokenKind::Dots => Ok(self.word(ExprKind::Default)),
            TokenKind::LParen => {
                let opener = self.bump();
                let inner = self.value()?;
                self.check_assignment()?;
                self.close(TokenKind::RParen, opener)?;
                // An error about the whole should underline the parentheses too.
                Ok(Expr {
                    span: self.since(span),
                    ..inner
                })
            }
            TokenKind::LBrace => self.nested(Self::braces),
            TokenKind::Dot => {
                self.bump();
                let name = self.name("a value")?;
                let span = self.since(span);
                Ok(self.leaf(ExprKind::Name { global: true, name }, span))
            }
            TokenKind::Error => {
                self.bump();
                let ty = Type {
                    kind: TypeKind::Error,
                    span,
                };
                if !self.at_kind(TokenKind::Dot) {
                    return Err(self.unexpected("`.` and the name of an error"));
                }
                Ok(self.leaf(ExprKind::Type(Box::new(ty)), span))
            }
            TokenKind::Bit
            | TokenKind::IntType
            | TokenKind::Varbit
            | TokenKind::Bool
            | TokenKind::StringType
            | TokenKind::Tuple => self.type_as_value(span),
            kind if kind.is_name() => {
                let name = self.name("an expression")?;
                Ok(self.leaf(
                    ExprKind::Name {
                        global: false,
                        name,
                    },
                    span,
                ))
            }
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn word(&mut self, kind: ExprKind) -> Expr {
        let span = self.bump();
        self.leaf(kind, span)
    }

    /// Reports a type where a value is required.
    fn type_as_value(&mut self, start: Span) -> Parse<Expr> {
        let ty = self.ty()?;
        let text = self.map.text(ty.span).to_string();
        if self.at_kind(TokenKind::LParen) {
            let span = self.since(start);
            return Err(self.report(common::call_cast(span, &text)));
        }
        Err(self.report(grammar::expected(
            ty.span,
            "an expression",
            &format!("the type `{text}`"),
        )))
    }

    fn integer(&mut self) -> Parse<Expr> {
        let (span, text) = (self.span(), self.token().text.clone());
        let (value, width) = match literal::integer(&text) {
            Ok(found) => found,
            Err(wrong) => {
                self.report(match wrong {
                    BadInt::Malformed(why) => lexical::malformed_number(span, &text, &why),
                    BadInt::Width => lexical::number_width(span, MAX_BITS),
                    BadInt::Long => lexical::number_long(span, MAX_BITS),
                });
                (num_bigint::BigInt::ZERO, None)
            }
        };
        Ok(self.word(ExprKind::Int { value, width }))
    }

    fn string(&mut self) -> Parse<Expr> {
        let text = self.string_text();
        Ok(Expr {
            kind: ExprKind::String(text),
            span: self.last_span(),
        })
    }

    /// Takes a string literal.
    fn string_text(&mut self) -> String {
        self.check_escapes();
        let (text, _) = literal::string(&self.token().text);
        self.bump();
        self.height = 0;
        text
    }

    /// Reports an unknown escape in a string literal, the current token.
    pub(super) fn check_escapes(&mut self) {
        let (span, literal) = (self.span(), self.token().text.clone());
        let (_, bad) = literal::string(&literal);
        // Report one error for each literal: a literal with many is hardly text at all.
        if let Some((at, escape)) = bad {
            // A literal from a macro has the span of the macro's use, where offsets mean nothing.
            let exact = (span.hi - span.lo) as usize == literal.len();
            let lo = span.lo + at as u32;
            let hi = lo + 1 + escape.len_utf8() as u32;
            let place = if exact { Span { lo, hi } } else { span };
            self.report(lexical::bad_escape(place, &escape.to_string()));
        }
    }

    /// `{a, b}`, `{x = a, y = b}`, each with `...` or a comma last.
    fn braces(&mut self) -> Parse<Expr> {
        let start = self.bump();
        self.enclosed(|p| p.braces_after(start))
    }

    fn braces_after(&mut self, start: Span) -> Parse<Expr> {
        let named = self.kind().is_name() && self.kind_at(1) == TokenKind::Assign;
        let (mut fields, mut items, mut rest) = (Vec::new(), Vec::new(), false);
        let mut height = 0;
        let mut first = Span::NONE;
        self.comma_list(TokenKind::RBrace, true, |p| {
            let item = p.span();
            if rest {
                return Err(p.unexpected("`}` after the `...`"));
            }
            if named && p.eat(TokenKind::Dots) {
                rest = true;
                return Ok(());
            }
            let has_name = p.kind().is_name() && p.kind_at(1) == TokenKind::Assign;
            if has_name != named && !p.at_kind(TokenKind::Dots) {
                return Err(p.report(grammar::mixed_fields(item, first)));
            }
            if has_name {
                let name = p.name("a field")?;
                p.bump();
                fields.push((name, p.expr()?));
            } else {
                rest = p.at_kind(TokenKind::Dots);
                items.push(p.expr()?);
            }
            if first.is_none() {
                first = p.since(item);
            }
            height = height.max(p.height);
            Ok(())
        })?;
        self.close(TokenKind::RBrace, start)?;
        let span = self.since(start);
        let kind = if named {
            ExprKind::Struct { fields, rest }
        } else {
            ExprKind::List(items)
        };
        self.grown(kind, span, height)
    }

    /// Reports `=` where a value is expected.
    pub(super) fn check_assignment(&mut self) -> Parse<()> {
        if !self.at_kind(TokenKind::Assign) {
            return Ok(());
        }
        let span = self.span();
        self.report(common::assign_in_condition(span));
        self.bump();
        // Parse it as the comparison that was meant.
        self.expr().map(|_| ())
    }

    /// Reports and takes `++a` or `--a`, from its first sign.
    pub(super) fn prefix_increment(&mut self, op: &str) -> Parse<Expr> {
        let signs = self.bump();
        if self.at_kind(TokenKind::Minus) {
            self.bump();
        }
        let first = self.primary()?;
        let operand = self.postfix(first)?;
        let variable = self.map.text(operand.span);
        Err(self.report(common::increment(signs, op, variable)))
    }

    /// Reports `a++ ;` and `a--;`, after the first sign.
    fn check_increment(&mut self, operand: Span) -> Parse<()> {
        let variable = self.map.text(operand);
        let signs = self.last_span().to(self.span());
        let last = self.tokens[self.at - 1].kind;
        match (last, self.kind(), self.kind_at(1)) {
            (TokenKind::Concat, TokenKind::Semi | TokenKind::RParen, _) => {
                let span = self.last_span();
                Err(self.report(common::increment(span, "++", variable)))
            }
            (TokenKind::Minus, TokenKind::Minus, TokenKind::Semi | TokenKind::RParen) => {
                Err(self.report(common::increment(signs, "--", variable)))
            }
            _ => Ok(()),
        }
    }

    /// Parses a name that denotes a value, with or without a leading dot.
    pub(super) fn prefixed_name(&mut self, what: &str) -> Parse<(bool, Ident)> {
        let global = self.eat(TokenKind::Dot);
        Ok((global, self.name(what)?))
    }

    /// Converts a callee to the type that it denotes: `T` or `T<A>` in the instance `T<A>(args) name`.
    pub(super) fn type_of_callee(&mut self, callee: Expr, type_args: Vec<Type>) -> Parse<Type> {
        let ExprKind::Name { global, name } = callee.kind else {
            return Err(Failed);
        };
        let base = Type {
            kind: TypeKind::Name { global, name },
            span: callee.span,
        };
        if type_args.is_empty() {
            return Ok(base);
        }
        let span = type_args
            .last()
            .map_or(base.span, |last| base.span.to(last.span));
        Ok(Type {
            kind: TypeKind::Specialized {
                base: Box::new(base),
                args: type_args,
            },
            span,
        })
    }
}

//! The conditions of `#if` and `#elif`: integer expressions of 64 bits that wrap.

use diag::Span;
use smol_str::SmolStr;

use super::Preprocessor;
use crate::errors::preprocess as errors;
use crate::literal;
use crate::token::{Bad, Token, TokenKind};

/// Deepest nesting of a condition.
const MAX_DEPTH: usize = 100;

impl Preprocessor<'_> {
    /// Returns true if a condition holds. An invalid one is reported and does not hold.
    pub(super) fn condition(&mut self, line: Vec<Token>, directive: Span) -> bool {
        let Some(line) = self.replace_defined(line) else {
            return false;
        };
        let tokens = self.expand_list(line);
        if self.stopped
            || tokens
                .iter()
                .any(|t| t.kind == TokenKind::Bad(Bad::AlreadyReported))
        {
            return false;
        }
        let mut eval = Eval {
            tokens: &tokens,
            at: 0,
            depth: 0,
            directive,
        };
        let result = eval.ternary(true).and_then(|value| match eval.peek() {
            None => Ok(value),
            Some(token) => Err(Wrong::Form(
                token.span,
                format!("unexpected {}", token.describe()),
            )),
        });
        match result {
            Ok(value) => value != 0,
            Err(Wrong::Form(span, what)) => {
                self.report(errors::condition(span, &what));
                false
            }
            Err(Wrong::Zero(span)) => {
                self.report(errors::condition_zero(span));
                false
            }
        }
    }

    /// Replaces `defined X` and `defined(X)`, whose names must not be expanded.
    fn replace_defined(&mut self, line: Vec<Token>) -> Option<Vec<Token>> {
        let mut out = Vec::with_capacity(line.len());
        let mut i = 0;
        while i < line.len() {
            let token = &line[i];
            if token.kind != TokenKind::Ident || token.text != "defined" {
                out.push(token.clone());
                i += 1;
                continue;
            }
            let kinds = |n: usize| line.get(i + n).map(|t| t.kind);
            let (name, taken) = match (kinds(1), kinds(2), kinds(3)) {
                (Some(TokenKind::Ident), ..) => (&line[i + 1], 2),
                (Some(TokenKind::LParen), Some(TokenKind::Ident), Some(TokenKind::RParen)) => {
                    (&line[i + 2], 4)
                }
                _ => {
                    self.report(errors::condition(token.span, "`defined` needs a name"));
                    return None;
                }
            };
            let text = if self.is_defined(&name.text) {
                "1"
            } else {
                "0"
            };
            out.push(Token {
                kind: TokenKind::Int,
                text: SmolStr::new_static(text),
                ..token.clone()
            });
            i += taken;
        }
        Some(out)
    }
}

enum Wrong {
    Form(Span, String),
    Zero(Span),
}

/// Recursive descent over a condition. `live` is false for operands whose value does not count, as on the right of
/// `0 &&`. A division by zero there is not an error.
struct Eval<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    directive: Span,
}

impl Eval<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.peek().is_some_and(|t| t.kind == kind);
        self.at += usize::from(found);
        found
    }

    fn form<T>(&self, what: &str) -> Result<T, Wrong> {
        match self.peek() {
            Some(token) => Err(Wrong::Form(
                token.span,
                format!("{what}, found {}", token.describe()),
            )),
            None => {
                let end = self.tokens.last().map_or(self.directive, |t| t.span);
                Err(Wrong::Form(end, format!("{what} after this")))
            }
        }
    }

    fn ternary(&mut self, live: bool) -> Result<i64, Wrong> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Wrong::Form(
                self.directive,
                format!("it is nested more than {MAX_DEPTH} deep"),
            ));
        }
        let condition = self.binary(0, live)?;
        let value = if self.eat(TokenKind::Question) {
            let then = self.ternary(live && condition != 0)?;
            if !self.eat(TokenKind::Colon) {
                return self.form("expected `:`");
            }
            let otherwise = self.ternary(live && condition == 0)?;
            if condition != 0 { then } else { otherwise }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(value)
    }

    fn binary(&mut self, least: u8, live: bool) -> Result<i64, Wrong> {
        let mut left = self.unary(live)?;
        while let Some((op, power, span)) = self
            .peek()
            .and_then(|t| Some((t.kind, power(t.kind)?, t.span)))
        {
            if power < least {
                break;
            }
            self.at += 1;
            let live = match op {
                TokenKind::AndAnd => live && left != 0,
                TokenKind::OrOr => live && left == 0,
                _ => live,
            };
            // Each level of precedence is one call, so the depth stays within that of `unary`.
            let right = self.binary(power + 1, live)?;
            left = match apply(op, left, right) {
                Some(value) => value,
                None if live => return Err(Wrong::Zero(span)),
                None => 0,
            };
        }
        Ok(left)
    }

    fn unary(&mut self, live: bool) -> Result<i64, Wrong> {
        let mut signs = Vec::new();
        while let Some(token) = self.peek().filter(|t| {
            matches!(
                t.kind,
                TokenKind::Minus | TokenKind::Plus | TokenKind::Bang | TokenKind::Tilde
            )
        }) {
            signs.push(token.kind);
            self.at += 1;
        }
        let mut value = self.primary(live)?;
        for sign in signs.into_iter().rev() {
            value = match sign {
                TokenKind::Minus => value.wrapping_neg(),
                TokenKind::Bang => i64::from(value == 0),
                TokenKind::Tilde => !value,
                _ => value,
            };
        }
        Ok(value)
    }

    fn primary(&mut self, live: bool) -> Result<i64, Wrong> {
        if self.eat(TokenKind::LParen) {
            let value = self.ternary(live)?;
            return if self.eat(TokenKind::RParen) {
                Ok(value)
            } else {
                self.form("expected `)`")
            };
        }
        let Some(token) = self.peek() else {
            return self.form("expected a value");
        };
        let value = match token.kind {
            // An undefined name is 0, as in C, except that `true` is 1.
            TokenKind::Ident => i64::from(token.text == "true"),
            TokenKind::Int => match number(&token.text) {
                Some(value) => value,
                None => {
                    return Err(Wrong::Form(
                        token.span,
                        format!("{} is no integer of 64 bits", token.describe()),
                    ));
                }
            },
            TokenKind::Bad(Bad::Char) => match character(&token.text) {
                Some(value) => value,
                None => return self.form("expected a value"),
            },
            _ => return self.form("expected a value"),
        };
        self.at += 1;
        Ok(value)
    }
}

/// Returns the value of a number in the syntax of C or P4. P4's widths and C's suffixes do not matter here.
fn number(text: &str) -> Option<i64> {
    let plain = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let (value, _) = literal::integer(plain).ok()?;
    // C keeps values above the signed range as unsigned; their bits are the same.
    i64::try_from(&value)
        .ok()
        .or_else(|| u64::try_from(&value).ok().map(|v| v as i64))
}

/// Returns the value of a character constant in ASCII, as in C.
fn character(text: &str) -> Option<i64> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let Some(escape) = inner.strip_prefix('\\') else {
        return inner.bytes().next().map(i64::from);
    };
    Some(match escape.as_bytes() {
        [b'x', ..] => i64::from_str_radix(&escape[1..], 16).ok()?,
        [b'0'..=b'7', ..] => i64::from_str_radix(escape, 8).ok()?,
        [b'a'] => 7,
        [b'b'] => 8,
        [b't'] => 9,
        [b'n'] => 10,
        [b'v'] => 11,
        [b'f'] => 12,
        [b'r'] => 13,
        [plain @ (b'\'' | b'"' | b'\\' | b'?')] => i64::from(*plain),
        _ => return None,
    })
}

fn power(kind: TokenKind) -> Option<u8> {
    Some(match kind {
        TokenKind::OrOr => 1,
        TokenKind::AndAnd => 2,
        TokenKind::Pipe => 3,
        TokenKind::Caret => 4,
        TokenKind::Amp => 5,
        TokenKind::EqEq | TokenKind::Ne => 6,
        TokenKind::Lt | TokenKind::Gt | TokenKind::Le | TokenKind::Ge => 7,
        TokenKind::Shl | TokenKind::Shr => 8,
        TokenKind::Plus | TokenKind::Minus => 9,
        TokenKind::Star | TokenKind::Slash | TokenKind::Percent => 10,
        _ => return None,
    })
}

/// Applies an operator. `None` for a division by zero.
fn apply(op: TokenKind, a: i64, b: i64) -> Option<i64> {
    let shift = u32::try_from(b).ok().filter(|s| *s < 64);
    Some(match op {
        TokenKind::OrOr => i64::from(a != 0 || b != 0),
        TokenKind::AndAnd => i64::from(a != 0 && b != 0),
        TokenKind::Pipe => a | b,
        TokenKind::Caret => a ^ b,
        TokenKind::Amp => a & b,
        TokenKind::EqEq => i64::from(a == b),
        TokenKind::Ne => i64::from(a != b),
        TokenKind::Lt => i64::from(a < b),
        TokenKind::Gt => i64::from(a > b),
        TokenKind::Le => i64::from(a <= b),
        TokenKind::Ge => i64::from(a >= b),
        TokenKind::Shl => shift.map_or(0, |s| a.wrapping_shl(s)),
        TokenKind::Shr => shift.map_or(if a < 0 { -1 } else { 0 }, |s| a >> s),
        TokenKind::Plus => a.wrapping_add(b),
        TokenKind::Minus => a.wrapping_sub(b),
        TokenKind::Star => a.wrapping_mul(b),
        TokenKind::Slash if b != 0 => a.wrapping_div(b),
        TokenKind::Percent if b != 0 => a.wrapping_rem(b),
        _ => return None,
    })
}

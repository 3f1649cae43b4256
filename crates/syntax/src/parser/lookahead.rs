//! Lookahead over a whole type, to distinguish declarations, casts and type arguments.

use super::Parser;
use super::scopes::Meaning;
use crate::token::TokenKind;

/// Most tokens that one lookahead takes; the deciding one is near.
const MAX_STEPS: u32 = 2_000;
/// Deepest nesting of type arguments in a lookahead. The parser reports deeper ones.
const MAX_NESTING: u32 = 64;

/// Cursor of a lookahead, which takes no tokens from the parser.
#[derive(Clone, Copy)]
pub(super) struct Look {
    at: usize,
    /// Number of `>` of the current token that are already passed.
    taken: u8,
    steps: u32,
}

impl Parser<'_> {
    /// Starts a lookahead `n` tokens after the current one.
    pub(super) fn look(&self, n: usize) -> Look {
        Look {
            at: self.at + n,
            taken: 0,
            steps: 0,
        }
    }

    /// Returns the kind of the token at the lookahead's cursor.
    pub(super) fn seen(&self, look: &Look) -> TokenKind {
        let kind = self.tokens.get(look.at).map_or(TokenKind::Eof, |t| t.kind);
        match (kind, look.taken) {
            (TokenKind::Shr, 1) => TokenKind::Gt,
            (TokenKind::Ge, 1) => TokenKind::Assign,
            (TokenKind::ShrAssign, 1) => TokenKind::Ge,
            (TokenKind::ShrAssign, 2) => TokenKind::Assign,
            (kind, _) => kind,
        }
    }

    /// Returns the lookahead one token further.
    pub(super) fn after(&self, look: Look) -> Look {
        Look {
            at: look.at + 1,
            taken: 0,
            steps: look.steps + 1,
        }
    }

    fn step(&self, look: &mut Look) {
        look.at += 1;
        look.taken = 0;
        look.steps += 1;
    }

    fn step_over(&self, look: &mut Look, kind: TokenKind) -> bool {
        let found = self.seen(look) == kind;
        if found {
            self.step(look);
        }
        found
    }

    fn step_gt(&self, look: &mut Look) -> bool {
        match self.seen(look) {
            TokenKind::Gt => self.step(look),
            TokenKind::Shr | TokenKind::Ge | TokenKind::ShrAssign => look.taken += 1,
            _ => return false,
        }
        true
    }

    /// Returns true if a type follows, and moves past it.
    pub(super) fn skip_type(&self, look: &mut Look) -> bool {
        self.skip_type_in(look, 0)
    }

    /// Returns true if type arguments in angle brackets follow, and moves past them.
    pub(super) fn skip_type_args(&self, look: &mut Look) -> bool {
        self.skip_args_in(look, 0)
    }

    fn skip_type_in(&self, look: &mut Look, nesting: u32) -> bool {
        if nesting > MAX_NESTING || look.steps > MAX_STEPS {
            return false;
        }
        let kind = self.seen(look);
        match kind {
            TokenKind::Bool
            | TokenKind::Error
            | TokenKind::MatchKindKw
            | TokenKind::StringType
            | TokenKind::Void
            | TokenKind::Underscore => {
                self.step(look);
            }
            TokenKind::Bit | TokenKind::IntType | TokenKind::Varbit => {
                self.step(look);
                if self.seen(look) == TokenKind::Lt && !self.skip_width(look, nesting > 0) {
                    return false;
                }
            }
            TokenKind::Tuple => {
                self.step(look);
                if !self.skip_args_in(look, nesting + 1) {
                    return false;
                }
            }
            _ => {
                let global = self.step_over(look, TokenKind::Dot);
                if !self.seen(look).is_name() {
                    return false;
                }
                let name = self.tokens[look.at].text.as_str();
                let meaning = if global {
                    self.scopes.global(name)
                } else {
                    self.scopes.meaning(name)
                };
                if meaning == Some(Meaning::Value) {
                    return false;
                }
                self.step(look);
                if self.seen(look) == TokenKind::Lt && !self.skip_args_in(look, nesting + 1) {
                    return false;
                }
            }
        }
        while self.seen(look) == TokenKind::LBracket {
            if !self.skip_brackets(look) {
                return false;
            }
        }
        true
    }

    fn skip_args_in(&self, look: &mut Look, nesting: u32) -> bool {
        if !self.step_over(look, TokenKind::Lt) {
            return false;
        }
        // `tuple<>`
        if self.step_gt(look) {
            return true;
        }
        loop {
            if !self.skip_type_in(look, nesting + 1) {
                return false;
            }
            if !self.step_over(look, TokenKind::Comma) {
                return self.step_gt(look);
            }
        }
    }

    /// Skips `<8>`, `<W + 1>` or `<1 << W>`, possibly inside other angle brackets.
    fn skip_width(&self, look: &mut Look, in_angles: bool) -> bool {
        self.step(look);
        loop {
            match self.seen(look) {
                TokenKind::LParen => {
                    if !self.skip_brackets(look) {
                        return false;
                    }
                }
                TokenKind::Shr if look.taken > 0 || self.closes_width(look.at, in_angles) => {
                    return self.step_gt(look);
                }
                kind if is_operand(kind)
                    || kind == TokenKind::Dot
                    || is_operator(kind)
                    || is_of_condition(kind) =>
                {
                    self.step(look);
                }
                _ => return self.step_gt(look),
            }
            if look.steps > MAX_STEPS {
                return false;
            }
        }
    }

    /// Returns true if the `>>` at a token closes a width and the angle brackets around it. It is a shift if numbers
    /// and names with operators between them, and then another `>`, follow. Outside of angle brackets it is a shift
    /// too.
    pub(super) fn closes_width(&self, at: usize, in_angles: bool) -> bool {
        let kind = |at: usize| self.tokens.get(at).map_or(TokenKind::Eof, |t| t.kind);
        let mut at = at + 1;
        while is_operand(kind(at)) && is_operator(kind(at + 1)) && kind(at + 1) != TokenKind::Shr {
            at += 2;
        }
        let shifts = is_operand(kind(at)) && matches!(kind(at + 1), TokenKind::Gt | TokenKind::Shr);
        in_angles && !shifts
    }

    /// Returns the number of tokens of the next bracket with its contents, if it is closed.
    pub(super) fn bracketed(&self) -> Option<usize> {
        let mut look = self.look(0);
        self.skip_brackets(&mut look).then_some(look.steps as usize)
    }

    /// Returns true if a closed bracket follows, and moves past it.
    pub(super) fn skip_brackets(&self, look: &mut Look) -> bool {
        let mut depth = 0_u32;
        while look.steps <= MAX_STEPS {
            match self.seen(look) {
                TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace => depth += 1,
                TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace => depth -= 1,
                TokenKind::Eof => return false,
                _ => {}
            }
            self.step(look);
            if depth == 0 {
                return true;
            }
        }
        false
    }

    /// Returns true if a declaration `T name` begins at the current token.
    pub(super) fn at_typed_name(&self) -> bool {
        let mut look = self.look(0);
        self.skip_type(&mut look) && self.seen(&look).is_name()
    }

    /// Returns true if `T f(...) {` or `T f<U>(...) {` comes next: a function, in place of a variable or an instance.
    pub(super) fn at_local_function(&self) -> bool {
        let mut look = self.look(0);
        if !self.skip_type(&mut look) || !self.seen(&look).is_name() {
            return false;
        }
        look = self.after(look);
        if self.seen(&look) == TokenKind::Lt && !self.skip_type_args(&mut look) {
            return false;
        }
        self.seen(&look) == TokenKind::LParen
            && self.skip_brackets(&mut look)
            && self.seen(&look) == TokenKind::LBrace
    }

    /// Returns true if the current `(` begins a cast.
    pub(super) fn at_cast(&self) -> bool {
        let mut look = self.look(1);
        if !self.skip_type(&mut look) || self.seen(&look) != TokenKind::RParen {
            return false;
        }
        let first = self.kind_at(1);
        let (plain, name) = match (first, self.kind_at(2)) {
            (TokenKind::Dot, _) => (self.kind_at(3) == TokenKind::RParen, 2),
            (kind, next) => (kind.is_name() && next == TokenKind::RParen, 1),
        };
        if !plain {
            return first != TokenKind::Underscore && first != TokenKind::Error;
        }
        let name = self.tokens[self.at + name].text.as_str();
        let meaning = if first == TokenKind::Dot {
            self.scopes.global(name)
        } else {
            self.scopes.meaning(name)
        };
        match meaning {
            Some(meaning) => meaning == Meaning::Type,
            // An unknown name in parentheses, with a value after it, can only be meant as a type.
            None => {
                self.step(&mut look);
                let next = self.seen(&look);
                next.is_name()
                    || matches!(
                        next,
                        TokenKind::Int
                            | TokenKind::Str
                            | TokenKind::True
                            | TokenKind::False
                            | TokenKind::LParen
                            | TokenKind::LBrace
                            | TokenKind::Tilde
                            | TokenKind::Bang
                            | TokenKind::This
                    )
            }
        }
    }

    /// Returns true if the current `<` begins the type arguments of a call, or of a type before a dot. The alternative,
    /// a comparison, would compare its boolean result again, which is not allowed.
    pub(super) fn at_type_args(&self) -> bool {
        let mut look = self.look(0);
        self.skip_type_args(&mut look)
            && matches!(self.seen(&look), TokenKind::LParen | TokenKind::Dot)
    }
}

/// Returns true if a token can be an operand of a width by itself.
fn is_operand(kind: TokenKind) -> bool {
    kind == TokenKind::Int || kind.is_name()
}

/// Returns true if a token can be part of a condition in a width.
fn is_of_condition(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Lt
            | TokenKind::Le
            | TokenKind::EqEq
            | TokenKind::Ne
            | TokenKind::AndAnd
            | TokenKind::OrOr
    ) || matches!(
        kind,
        TokenKind::Bang
            | TokenKind::True
            | TokenKind::False
            | TokenKind::Question
            | TokenKind::Colon
    )
}

/// Returns true if a token can be an operator in a width.
fn is_operator(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Plus
            | TokenKind::Minus
            | TokenKind::Star
            | TokenKind::Slash
            | TokenKind::Percent
            | TokenKind::Shl
            | TokenKind::Shr
    ) || matches!(
        kind,
        TokenKind::Amp | TokenKind::Pipe | TokenKind::Caret | TokenKind::Tilde
    )
}

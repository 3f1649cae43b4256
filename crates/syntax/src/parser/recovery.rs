//! Recovery after an error: finding the token at which parsing resumes.

use super::Parser;
use crate::token::TokenKind;

/// Returns true for a keyword of declarations that are allowed at top level only.
fn begins_outer(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Header
            | TokenKind::HeaderUnion
            | TokenKind::Struct
            | TokenKind::ParserKw
            | TokenKind::Control
            | TokenKind::Package
            | TokenKind::Extern
            | TokenKind::Typedef
    )
}

impl Parser<'_> {
    /// Returns true if the current token begins a declaration that is never between braces. Then a brace is missing
    /// before it.
    pub(super) fn at_outer_declaration(&self) -> bool {
        self.token().first && begins_outer(self.kind())
    }

    /// Returns true if a declaration of any kind seems to begin here.
    fn at_declaration(&self) -> bool {
        self.token().first
            && (begins_outer(self.kind())
                || matches!(
                    self.kind(),
                    TokenKind::Const
                        | TokenKind::Action
                        | TokenKind::Enum
                        | TokenKind::MatchKindKw
                        | TokenKind::Type
                        | TokenKind::Table
                        | TokenKind::At
                ))
    }

    /// Skips to the next declaration at top level. `before` is the index of the failed one's first token.
    pub(super) fn recover_declaration(&mut self, before: usize) {
        if self.at == before {
            self.bump();
        }
        let mut depth = 0_u32;
        while self.kind() != TokenKind::Eof {
            if self.at_outer_declaration() || (depth == 0 && self.at_declaration()) {
                return;
            }
            match self.kind() {
                TokenKind::LBrace => depth += 1,
                TokenKind::RBrace => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        self.bump();
                        self.eat(TokenKind::Semi);
                        return;
                    }
                }
                TokenKind::Semi if depth == 0 => {
                    self.bump();
                    return;
                }
                _ => {}
            }
            self.bump();
        }
    }

    /// Skips past the next `;`, or to the `}` that ends the current list of members, or to a keyword that begins the
    /// next member. `before` is the index of the failed one's first token.
    pub(super) fn recover_member(&mut self, before: usize) {
        let mut depth = 0_u32;
        let mut open = 0_u32;
        while self.kind() != TokenKind::Eof {
            let moved = self.at > before;
            if self.at_outer_declaration() || (depth == 0 && moved && self.begins_member()) {
                return;
            }
            match self.kind() {
                TokenKind::LBrace => depth += 1,
                TokenKind::RBrace if depth == 0 => return,
                TokenKind::RBrace => {
                    depth -= 1;
                    if depth == 0 {
                        self.bump();
                        self.eat(TokenKind::Semi);
                        return;
                    }
                }
                TokenKind::LParen => open += 1,
                TokenKind::RParen => open = open.saturating_sub(1),
                // A `;` inside parentheses belongs to `for`.
                TokenKind::Semi if depth == 0 && open == 0 => {
                    self.bump();
                    return;
                }
                _ => {}
            }
            self.bump();
        }
    }

    fn begins_member(&self) -> bool {
        self.token().first
            && (self.at_declaration()
                || matches!(
                    self.kind(),
                    TokenKind::If
                        | TokenKind::For
                        | TokenKind::Switch
                        | TokenKind::Return
                        | TokenKind::Exit
                        | TokenKind::Break
                        | TokenKind::Continue
                        | TokenKind::Transition
                        | TokenKind::State
                        | TokenKind::Apply
                        | TokenKind::Key
                        | TokenKind::Actions
                        | TokenKind::Entries
                        | TokenKind::Default
                        | TokenKind::ValueSet
                ))
    }
}

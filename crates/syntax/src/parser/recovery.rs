//! Recovery after an error: finding the token at which parsing resumes.

use super::Parser;
use crate::token::Kind;

/// Returns true for a keyword of declarations that are allowed at top level only.
fn begins_outer(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Header
            | Kind::HeaderUnion
            | Kind::Struct
            | Kind::ParserKw
            | Kind::Control
            | Kind::Package
            | Kind::Extern
            | Kind::Typedef
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
                    Kind::Const
                        | Kind::Action
                        | Kind::Enum
                        | Kind::MatchKindKw
                        | Kind::Type
                        | Kind::Table
                        | Kind::At
                ))
    }

    /// Skips to the next declaration at top level. `before` is the index of the failed one's first token.
    pub(super) fn recover_declaration(&mut self, before: usize) {
        if self.at == before {
            self.bump();
        }
        let mut depth = 0_u32;
        while self.kind() != Kind::Eof {
            if self.at_outer_declaration() || (depth == 0 && self.at_declaration()) {
                return;
            }
            match self.kind() {
                Kind::LBrace => depth += 1,
                Kind::RBrace => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        self.bump();
                        self.eat(Kind::Semi);
                        return;
                    }
                }
                Kind::Semi if depth == 0 => {
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
        while self.kind() != Kind::Eof {
            let moved = self.at > before;
            if self.at_outer_declaration() || (depth == 0 && moved && self.begins_member()) {
                return;
            }
            match self.kind() {
                Kind::LBrace => depth += 1,
                Kind::RBrace if depth == 0 => return,
                Kind::RBrace => {
                    depth -= 1;
                    if depth == 0 {
                        self.bump();
                        self.eat(Kind::Semi);
                        return;
                    }
                }
                Kind::LParen => open += 1,
                Kind::RParen => open = open.saturating_sub(1),
                // A `;` inside parentheses belongs to `for`.
                Kind::Semi if depth == 0 && open == 0 => {
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
                    Kind::If
                        | Kind::For
                        | Kind::Switch
                        | Kind::Return
                        | Kind::Exit
                        | Kind::Break
                        | Kind::Continue
                        | Kind::Transition
                        | Kind::State
                        | Kind::Apply
                        | Kind::Key
                        | Kind::Actions
                        | Kind::Entries
                        | Kind::Default
                        | Kind::ValueSet
                ))
    }
}

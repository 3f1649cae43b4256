//! Tables and their properties.

use diag::Span;

use super::{Parse, Parser};
use crate::ast::{ActionRef, Annotation, DeclKind, Entry, KeyElement, Property, PropertyValue};
use crate::errors::common;
use crate::token::TokenKind;

impl Parser<'_> {
    /// `table t { properties }`
    pub(super) fn table(&mut self) -> Parse<DeclKind> {
        self.bump();
        let name = self.name("a table")?;
        self.scopes.declare_value(&name);
        if self.at_kind(TokenKind::LParen) {
            let opener = self.span();
            let count = self.bracketed();
            let last = count.map_or(opener, |count| self.tokens[self.at + count - 1].span);
            let failed = self.report(common::table_parameters(opener.to(last)));
            self.at += count.ok_or(failed)?;
        }
        let opener = self.expect(TokenKind::LBrace)?;
        let properties = self.nested(|p| p.members(opener, |p| p.property().map(Some)))?;
        Ok(DeclKind::Table { name, properties })
    }

    fn property(&mut self) -> Parse<Property> {
        let start = self.span();
        let annotations = self.annotations()?;
        if self.at_word("reads") && self.kind_at(1) == TokenKind::LBrace {
            let failed = self.report(common::p4_14(start, "`reads` is the key of a table"));
            self.stop();
            return Err(failed);
        }
        let is_const = self.eat(TokenKind::Const);
        let word = self.kind();
        let name = self.name("a table property")?;
        if matches!(self.kind(), TokenKind::Colon | TokenKind::LBrace) {
            let failed = self.report(common::table_property_colon(self.span()));
            if !self.eat(TokenKind::Colon)
                && !matches!(
                    word,
                    TokenKind::Key | TokenKind::Actions | TokenKind::Entries
                )
            {
                return Err(failed);
            }
        } else {
            self.expect(TokenKind::Assign)?;
        }
        let braces = self.at_kind(TokenKind::LBrace);
        let value = match word {
            TokenKind::Key if braces => PropertyValue::Key(self.property_list(Self::key_element)?),
            TokenKind::Actions if braces => {
                PropertyValue::Actions(self.property_list(Self::listed_action)?)
            }
            TokenKind::Entries if braces => {
                PropertyValue::Entries(self.property_list(Self::entry)?)
            }
            TokenKind::Key | TokenKind::Actions | TokenKind::Entries => {
                return Err(self.unexpected("`{`"));
            }
            _ => {
                let value = self.value()?;
                self.semicolon("the property")?;
                PropertyValue::Expr(value)
            }
        };
        Ok(Property {
            annotations,
            is_const,
            name,
            value,
            span: self.since(start),
        })
    }

    /// Parses `{ items }`, and the `;` that some programs put after it.
    fn property_list<T>(&mut self, item: fn(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let opener = self.bump();
        let items = self.nested(|p| p.members(opener, |p| item(p).map(Some)))?;
        self.eat(TokenKind::Semi);
        Ok(items)
    }

    /// `e : kind @ann;`
    fn key_element(&mut self) -> Parse<KeyElement> {
        let start = self.span();
        let expr = self.expr()?;
        if matches!(
            self.kind(),
            TokenKind::Semi | TokenKind::Assign | TokenKind::RBrace | TokenKind::Comma
        ) {
            return Err(self.report(common::key_without_match_kind(self.span())));
        }
        self.expect(TokenKind::Colon)?;
        let match_kind = self.name("a match kind")?;
        let annotations = self.annotations()?;
        self.semicolon("the key")?;
        Ok(KeyElement {
            expr,
            match_kind,
            annotations,
            span: self.since(start),
        })
    }

    /// `@ann a(args);`
    fn listed_action(&mut self) -> Parse<ActionRef> {
        let start = self.span();
        let annotations = self.annotations()?;
        let action = self.action_ref(annotations, start)?;
        self.semicolon("the action")?;
        Ok(action)
    }

    fn action_ref(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<ActionRef> {
        let (global, name) = self.prefixed_name("an action")?;
        let args = if self.at_kind(TokenKind::LParen) {
            self.args()?
        } else {
            Vec::new()
        };
        Ok(ActionRef {
            annotations,
            global,
            name,
            args,
            span: self.since(start),
        })
    }

    /// `const priority=n: keyset : action(args) @ann;`
    fn entry(&mut self) -> Parse<Entry> {
        let start = self.span();
        let mut annotations = self.annotations()?;
        let is_const = self.eat(TokenKind::Const);
        let priority = if self.at_kind(TokenKind::Priority) && self.kind_at(1) == TokenKind::Assign
        {
            self.bump();
            self.bump();
            let value = self.value()?;
            self.expect(TokenKind::Colon)?;
            Some(value)
        } else {
            None
        };
        let keyset = self.keyset()?;
        self.check_comma(
            "write an entry for each value; of several keys, put the values in parentheses: `(a, b): action();`",
        )?;
        self.expect(TokenKind::Colon)?;
        let at = self.span();
        let action = self.action_ref(Vec::new(), at)?;
        annotations.extend(self.annotations()?);
        self.semicolon("the entry")?;
        Ok(Entry {
            is_const,
            priority,
            keyset,
            action,
            annotations,
            span: self.since(start),
        })
    }
}

//! Annotations (specification chapter "Annotations").

use smol_str::SmolStr;

use super::{Parse, Parser};
use crate::ast::{Annotation, AnnotationBody};
use crate::errors::grammar;
use crate::token::{Bad, TokenKind};

impl Parser<'_> {
    /// `optAnnotations`.
    pub(super) fn annotations(&mut self) -> Parse<Vec<Annotation>> {
        let mut list = Vec::new();
        while self.at_kind(TokenKind::At) {
            list.push(self.annotation()?);
        }
        Ok(list)
    }

    fn annotation(&mut self) -> Parse<Annotation> {
        let start = self.bump();
        // Any word may name an annotation, even a keyword.
        if !self.kind().is_name() && !self.kind().is_keyword() {
            return Err(self.unexpected("the name of an annotation"));
        }
        let name = crate::ast::Ident {
            name: self.token().text.clone(),
            span: self.span(),
        };
        self.bump();
        let body = match self.kind() {
            _ if name.name == "pragma" => self.pragma_body(),
            TokenKind::LParen if name.name == "field_list" => self.numbers()?,
            TokenKind::LParen => self.unstructured(name.name == "name")?,
            TokenKind::LBracket => self.structured()?,
            _ => AnnotationBody::None,
        };
        Ok(Annotation {
            name,
            body,
            span: self.since(start),
        })
    }

    /// Takes everything to the end of the line.
    fn pragma_body(&mut self) -> AnnotationBody {
        let mut texts = Vec::new();
        while !matches!(self.kind(), TokenKind::PragmaEnd | TokenKind::Eof) {
            texts.push(self.token().text.clone());
            self.bump();
        }
        self.eat(TokenKind::PragmaEnd);
        AnnotationBody::Unstructured(texts)
    }

    /// Parses `(tokens)`: any tokens with balanced parentheses. Escapes in strings are checked only if `read` is set,
    /// since other annotations define their own.
    fn unstructured(&mut self, read: bool) -> Parse<AnnotationBody> {
        let mut texts: Vec<SmolStr> = Vec::new();
        let mut open = vec![self.bump()];
        while let Some(&opener) = open.last() {
            match self.kind() {
                TokenKind::LParen => open.push(self.span()),
                TokenKind::Bad(Bad::Char) => {}
                TokenKind::RParen | TokenKind::Eof | TokenKind::Bad(_) => {
                    if !self.at_kind(TokenKind::RParen) {
                        self.close(TokenKind::RParen, opener)?;
                    }
                    open.pop();
                }
                TokenKind::Str if read => self.check_escapes(),
                _ => {}
            }
            texts.push(self.token().text.clone());
            self.bump();
        }
        // The last closing parenthesis is not part of the body.
        texts.pop();
        Ok(AnnotationBody::Unstructured(texts))
    }

    /// Parses `(e, e)`: the numbers of field lists, which programs name by constants.
    fn numbers(&mut self) -> Parse<AnnotationBody> {
        let opener = self.bump();
        let body = AnnotationBody::Exprs(self.comma_list(TokenKind::RParen, true, Self::value)?);
        self.close(TokenKind::RParen, opener)?;
        Ok(body)
    }

    /// `[e, e]` or `[k = e, k = e]`
    fn structured(&mut self) -> Parse<AnnotationBody> {
        let opener = self.bump();
        let named = self.kind().is_name() && self.kind_at(1) == TokenKind::Assign;
        let body = if named {
            AnnotationBody::Pairs(self.comma_list(TokenKind::RBracket, true, |p| {
                let key = p.name("a key")?;
                p.expect(TokenKind::Assign)?;
                Ok((key, p.value()?))
            })?)
        } else {
            AnnotationBody::Exprs(self.comma_list(TokenKind::RBracket, true, Self::value)?)
        };
        self.close(TokenKind::RBracket, opener)?;
        Ok(body)
    }

    /// Reports annotations with no declaration after them.
    pub(super) fn refuse_annotations(&mut self, annotations: &[Annotation]) {
        if let (Some(first), Some(last)) = (annotations.first(), annotations.last()) {
            self.report(grammar::stray_annotation(first.span.to(last.span)));
        }
    }
}

//! Annotations (specification chapter "Annotations").

use smol_str::SmolStr;

use super::{Parse, Parser};
use crate::ast::{Annotation, AnnotationBody};
use crate::errors::grammar;
use crate::token::{Bad, Kind};

impl Parser<'_> {
    /// `optAnnotations`.
    pub(super) fn annotations(&mut self) -> Parse<Vec<Annotation>> {
        let mut list = Vec::new();
        while self.at_kind(Kind::At) {
            list.push(self.annotation()?);
        }
        Ok(list)
    }

    fn annotation(&mut self) -> Parse<Annotation> {
        let start = self.bump();
        // Every word may name an annotation, those of the language too.
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
            Kind::LParen if name.name == "field_list" => self.numbers()?,
            Kind::LParen => self.unstructured(name.name == "name")?,
            Kind::LBracket => self.structured()?,
            _ => AnnotationBody::None,
        };
        Ok(Annotation {
            name,
            body,
            span: self.since(start),
        })
    }

    /// Everything to the end of the line.
    fn pragma_body(&mut self) -> AnnotationBody {
        let mut texts = Vec::new();
        while !matches!(self.kind(), Kind::PragmaEnd | Kind::Eof) {
            texts.push(self.token().text.clone());
            self.bump();
        }
        self.eat(Kind::PragmaEnd);
        AnnotationBody::Unstructured(texts)
    }

    /// `(tokens)`, whatever they are, as long as the parentheses are balanced. Strings are anybody's, but those that are `read` here.
    fn unstructured(&mut self, read: bool) -> Parse<AnnotationBody> {
        let mut texts: Vec<SmolStr> = Vec::new();
        let mut open = vec![self.bump()];
        while let Some(&opener) = open.last() {
            match self.kind() {
                Kind::LParen => open.push(self.span()),
                Kind::Bad(Bad::Char) => {}
                Kind::RParen | Kind::Eof | Kind::Bad(_) => {
                    if !self.at_kind(Kind::RParen) {
                        self.close(Kind::RParen, opener)?;
                    }
                    open.pop();
                }
                Kind::Str if read => self.check_escapes(),
                _ => {}
            }
            texts.push(self.token().text.clone());
            self.bump();
        }
        // The parenthesis that closes all is none of the tokens.
        texts.pop();
        Ok(AnnotationBody::Unstructured(texts))
    }

    /// `(e, e)`: programs name their field lists by constants.
    fn numbers(&mut self) -> Parse<AnnotationBody> {
        let opener = self.bump();
        let body = AnnotationBody::Exprs(self.comma_list(Kind::RParen, true, Self::value)?);
        self.close(Kind::RParen, opener)?;
        Ok(body)
    }

    /// `[e, e]` or `[k = e, k = e]`
    fn structured(&mut self) -> Parse<AnnotationBody> {
        let opener = self.bump();
        let named = self.kind().is_name() && self.kind_at(1) == Kind::Assign;
        let body = if named {
            AnnotationBody::Pairs(self.comma_list(Kind::RBracket, true, |p| {
                let key = p.name("a key")?;
                p.expect(Kind::Assign)?;
                Ok((key, p.value()?))
            })?)
        } else {
            AnnotationBody::Exprs(self.comma_list(Kind::RBracket, true, Self::value)?)
        };
        self.close(Kind::RBracket, opener)?;
        Ok(body)
    }

    /// Reports annotations that precede no declaration.
    pub(super) fn refuse_annotations(&mut self, annotations: &[Annotation]) {
        if let (Some(first), Some(last)) = (annotations.first(), annotations.last()) {
            self.report(grammar::stray_annotation(first.span.to(last.span)));
        }
    }
}

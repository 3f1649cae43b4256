//! Types (specification appendix, `typeRef` and below).

use diag::Span;

use super::{Parse, Parser};
use crate::ast::{Expr, Ident, Type, TypeKind};
use crate::errors::{common, grammar};
use crate::token::TokenKind;

impl Parser<'_> {
    /// Parses `typeRef`, `void` and `_` included: the type checker reports types that are not allowed in a context.
    /// Sets `height` as expressions do.
    pub(super) fn ty(&mut self) -> Parse<Type> {
        self.nested(Self::ty_here)
    }

    fn ty_here(&mut self) -> Parse<Type> {
        let start = self.span();
        self.height = 0;
        let kind = match self.kind() {
            TokenKind::Bool => self.plain_type(TypeKind::Bool),
            TokenKind::Error => self.plain_type(TypeKind::Error),
            TokenKind::MatchKindKw => self.plain_type(TypeKind::MatchKind),
            TokenKind::StringType => self.plain_type(TypeKind::String),
            TokenKind::Void => self.plain_type(TypeKind::Void),
            TokenKind::Underscore => self.plain_type(TypeKind::DontCare),
            TokenKind::IntType => {
                self.bump();
                match self.width()? {
                    Some(width) => TypeKind::SignedInt(width),
                    None => TypeKind::Int,
                }
            }
            TokenKind::Bit => {
                self.bump();
                self.check_width_brackets();
                TypeKind::Bit(self.width()?)
            }
            TokenKind::Varbit => {
                self.bump();
                match self.width()? {
                    Some(width) => TypeKind::Varbit(width),
                    None => return Err(self.unexpected("`<` and the greatest width of the varbit")),
                }
            }
            TokenKind::Tuple => {
                self.bump();
                TypeKind::Tuple(self.type_args()?)
            }
            TokenKind::List if self.kind_at(1) == TokenKind::Lt => {
                self.bump();
                let args = self.type_args()?;
                match <[Type; 1]>::try_from(args) {
                    Ok([element]) => TypeKind::List(Box::new(element)),
                    Err(_) => {
                        let span = self.since(start);
                        return Err(self.report(grammar::list_of_several(span)));
                    }
                }
            }
            _ => self.named_type(start)?,
        };
        let mut ty = Type {
            kind,
            span: self.since(start),
        };
        let mut sizes = 0;
        while self.at_kind(TokenKind::LBracket) {
            sizes += 1;
            if self.depth + sizes >= super::MAX_DEPTH {
                return Err(self.too_deep(self.span()));
            }
            let size = self.array_size()?;
            ty = array_of(ty, size, self.since(start));
        }
        Ok(ty)
    }

    /// Parses `[n]`, from its bracket. Sets `height` to that of an array of the type before it.
    pub(super) fn array_size(&mut self) -> Parse<Expr> {
        let height = self.height;
        let opener = self.bump();
        let size = self.value()?;
        self.close(TokenKind::RBracket, opener)?;
        self.height = self.height.max(height) + 1;
        Ok(size)
    }

    /// Parses `[n]` and `[n][m]` after a name of type `ty`, as in C: the first is the outermost.
    pub(super) fn sizes_after_name(&mut self, ty: Type) -> Parse<Type> {
        let mut sizes = Vec::new();
        while self.at_kind(TokenKind::LBracket) {
            if self.depth + sizes.len() as u32 + 1 >= super::MAX_DEPTH {
                return Err(self.too_deep(self.span()));
            }
            sizes.push(self.array_size()?);
        }
        let span = ty.span;
        let nested = sizes.into_iter().rev();
        Ok(nested.fold(ty, |ty, size| array_of(ty, size, span)))
    }

    fn plain_type(&mut self, kind: TypeKind) -> TypeKind {
        self.bump();
        kind
    }

    /// `X`, `.X`, `X<A>`.
    fn named_type(&mut self, start: Span) -> Parse<TypeKind> {
        let global = self.eat(TokenKind::Dot);
        if self.kind() == TokenKind::Ident
            && let Some(name) = self.foreign_type()
        {
            return Ok(TypeKind::Name { global, name });
        }
        if !self.kind().is_name() && !self.kind().is_keyword() {
            return Err(self.unexpected("a type"));
        }
        let name = self.name("a type")?;
        let kind = TypeKind::Name { global, name };
        if !self.at_kind(TokenKind::Lt) {
            return Ok(kind);
        }
        let base = Box::new(Type {
            kind,
            span: self.since(start),
        });
        Ok(TypeKind::Specialized {
            base,
            args: self.type_args()?,
        })
    }

    /// `<A, B>`, from its `<`.
    pub(super) fn type_args(&mut self) -> Parse<Vec<Type>> {
        self.expect(TokenKind::Lt)?;
        let mut height = 0;
        let args = self.comma_list(TokenKind::Gt, false, |p| {
            let arg = p.type_in_angles()?;
            height = height.max(p.height);
            Ok(arg)
        })?;
        self.expect_gt()?;
        self.height = height + 1;
        Ok(args)
    }

    /// Parses a type between angle brackets.
    pub(super) fn type_in_angles(&mut self) -> Parse<Type> {
        let outer = std::mem::replace(&mut self.in_angles, true);
        let ty = self.ty();
        self.in_angles = outer;
        ty
    }

    /// Parses `<T, U>`, if present.
    pub(super) fn type_params(&mut self) -> Parse<Vec<Ident>> {
        if !self.eat(TokenKind::Lt) {
            return Ok(Vec::new());
        }
        if self.at_kind(TokenKind::Gt) {
            return Err(self.unexpected("the name of a type parameter"));
        }
        let names = self.comma_list(TokenKind::Gt, false, |p| p.name("a type parameter"))?;
        self.expect_gt()?;
        Ok(names)
    }

    /// Parses `<8>`, `<W + 1>`, `<1 << W>` or `<W < 8 ? W : 8>`, if present.
    fn width(&mut self) -> Parse<Option<Box<Expr>>> {
        if !self.eat(TokenKind::Lt) {
            return Ok(None);
        }
        let width = self.width_value()?;
        self.expect_gt()?;
        Ok(Some(Box::new(width)))
    }

    /// Reports `bit[8]`, an array of single bits, which is rarely meant.
    fn check_width_brackets(&mut self) {
        if self.at_kind(TokenKind::LBracket)
            && self.kind_at(1) == TokenKind::Int
            && self.kind_at(2) == TokenKind::RBracket
        {
            let size = &self.tokens[self.at + 1].text;
            let span = self.span().to(self.tokens[self.at + 2].span);
            self.report(common::bit_brackets(span, size));
        }
    }

    /// Takes a type of C, of one word or several, and reports it. In the tree it is a name.
    fn foreign_type(&mut self) -> Option<Ident> {
        let text = self.token().text.clone();
        if self.scopes.meaning(&text).is_some() {
            return None;
        }
        let is_word = |at: usize| {
            self.tokens.get(at).is_some_and(|token| {
                matches!(
                    &*token.text,
                    "unsigned" | "signed" | "char" | "short" | "int" | "long"
                )
            })
        };
        // The last word may be the name that is declared.
        let names = |at: usize| {
            let next = self.tokens.get(at + 1);
            next.is_some_and(|token| token.kind.is_name() || token.kind == TokenKind::IntType)
        };
        let mut last = self.at;
        while is_word(self.at) && is_word(last + 1) && names(last + 1) {
            last += 1;
        }
        let words: Vec<&str> = self.tokens[self.at..=last]
            .iter()
            .map(|t| &*t.text)
            .collect();
        let instead = if is_word(self.at) {
            let kind = if words.contains(&"unsigned") {
                "bit"
            } else {
                "int"
            };
            let width = match () {
                () if words.contains(&"char") => 8,
                () if words.contains(&"short") => 16,
                () if words.contains(&"long") => 64,
                () => 32,
            };
            format!("`{kind}<{width}>`")
        } else {
            let width = match text.as_str() {
                "uint8_t" | "u8" | "u_char" | "__u8" => "bit<8>",
                "uint16_t" | "u16" | "__u16" | "__be16" => "bit<16>",
                "uint32_t" | "u32" | "__u32" | "__be32" | "uint" => "bit<32>",
                "uint64_t" | "u64" | "__u64" | "__be64" | "size_t" => "bit<64>",
                "int8_t" => "int<8>",
                "int16_t" => "int<16>",
                "int32_t" => "int<32>",
                "int64_t" => "int<64>",
                "float" | "double" => "",
                _ => return None,
            };
            if width.is_empty() {
                "integers: P4 has no floating-point numbers; scale by a constant".to_owned()
            } else {
                format!("`{width}`")
            }
        };
        let name = words.join(" ");
        let span = self.span().to(self.tokens[last].span);
        self.report(common::c_type(span, &name, &instead));
        self.at = last + 1;
        Some(Ident { name: text, span })
    }
}

/// `elem[size]`
fn array_of(elem: Type, size: Expr, span: Span) -> Type {
    let kind = TypeKind::Stack {
        elem: Box::new(elem),
        size: Box::new(size),
    };
    Type { kind, span }
}

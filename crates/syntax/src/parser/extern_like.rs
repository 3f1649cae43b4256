//! Externs, functions, actions, packages, and their parameters.

use super::{Parse, Parser};
use crate::ast::{DeclKind, Direction, Ident, Method, Param, Proto, Type};
use crate::errors::grammar;
use crate::token::TokenKind;

impl Parser<'_> {
    /// `extern X<T> { methods }` and `extern T f(params);`
    pub(super) fn extern_declaration(&mut self) -> Parse<DeclKind> {
        self.bump();
        let mut look = self.look(1);
        let object = self.kind().is_name()
            && (self.seen(&look) == TokenKind::LBrace
                || (self.seen(&look) == TokenKind::Lt
                    && self.skip_type_args(&mut look)
                    && self.seen(&look) == TokenKind::LBrace));
        if object {
            return self.extern_object();
        }
        let result = self.ty()?;
        let name = self.name("a function")?;
        let proto = self.scoped(|p| p.proto(name, Some(result)))?;
        self.scopes.declare_value(&proto.name);
        self.semicolon("the extern function")?;
        Ok(DeclKind::ExternFunction(proto))
    }

    fn extern_object(&mut self) -> Parse<DeclKind> {
        let name = self.name("an extern")?;
        self.scopes.declare_type(&name);
        let (type_params, methods) = self.scoped(|p| {
            let type_params = p.type_params()?;
            p.scopes.declare_types(&type_params);
            let opener = p.expect(TokenKind::LBrace)?;
            let methods = p.members(opener, |p| p.method(&name).map(Some))?;
            Ok((type_params, methods))
        })?;
        Ok(DeclKind::Extern {
            name,
            type_params,
            methods,
        })
    }

    /// `methodPrototype`.
    fn method(&mut self, object: &Ident) -> Parse<Method> {
        let start = self.span();
        let annotations = self.annotations()?;
        let is_abstract = self.eat(TokenKind::Abstract);
        let constructor = self.kind_at(1) == TokenKind::LParen && self.token().text == object.name;
        let result = if constructor { None } else { Some(self.ty()?) };
        let name = self.name("a method")?;
        let proto = self.scoped(|p| p.proto(name, result))?;
        self.semicolon("the method")?;
        Ok(Method {
            annotations,
            is_abstract,
            proto,
            span: self.since(start),
        })
    }

    /// Parses type parameters and parameters after a name; they stay in scope.
    fn proto(&mut self, name: Ident, result: Option<Type>) -> Parse<Proto> {
        let type_params = self.type_params()?;
        self.scopes.declare_types(&type_params);
        let params = self.params()?;
        Ok(Proto {
            name,
            type_params,
            params,
            result,
        })
    }

    /// `T f<X>(params) { body }`, after its name.
    pub(super) fn function(&mut self, result: Type, name: Ident) -> Parse<DeclKind> {
        self.scopes.declare_value(&name);
        self.scoped(|p| {
            let proto = p.proto(name, Some(result))?;
            p.scopes.declare_params(&proto.params);
            if p.at_kind(TokenKind::Semi) {
                let span = proto.name.span;
                let help =
                    "write `extern` before it if the target provides it, or give it a body, `{ ... }`";
                let failed = p.report(grammar::misplaced(
                    span,
                    "a function without a body",
                    "here",
                    help,
                ));
                p.bump();
                return Err(failed);
            }
            let body = p.block()?;
            Ok(DeclKind::Function { proto, body })
        })
    }

    /// `action a(params) { body }`
    pub(super) fn action(&mut self) -> Parse<DeclKind> {
        self.bump();
        let name = self.name("an action")?;
        self.scopes.declare_value(&name);
        self.scoped(|p| {
            let params = p.params()?;
            p.scopes.declare_params(&params);
            let body = p.block()?;
            Ok(DeclKind::Action { name, params, body })
        })
    }

    /// `package p<T>(params);`
    pub(super) fn package(&mut self) -> Parse<DeclKind> {
        self.bump();
        let name = self.name("a package")?;
        self.scopes.declare_type(&name);
        let (type_params, params) = self.scoped(|p| {
            let type_params = p.type_params()?;
            p.scopes.declare_types(&type_params);
            Ok((type_params, p.params()?))
        })?;
        self.semicolon("the package")?;
        Ok(DeclKind::Package {
            name,
            type_params,
            params,
        })
    }

    /// `(params)`
    pub(super) fn params(&mut self) -> Parse<Vec<Param>> {
        let opener = self.expect(TokenKind::LParen)?;
        let params = self.comma_list(TokenKind::RParen, false, Self::param)?;
        self.close(TokenKind::RParen, opener)?;
        Ok(params)
    }

    fn param(&mut self) -> Parse<Param> {
        let start = self.span();
        let annotations = self.annotations()?;
        let direction = match self.kind() {
            TokenKind::In => Direction::In,
            TokenKind::Out => Direction::Out,
            TokenKind::InOut => Direction::InOut,
            _ => Direction::None,
        };
        if direction != Direction::None {
            self.bump();
        }
        let ty = self.ty()?;
        let name = self.name("a parameter")?;
        let ty = self.sizes_after_name(ty)?;
        let default = if self.eat(TokenKind::Assign) {
            Some(self.value()?)
        } else {
            None
        };
        Ok(Param {
            annotations,
            direction,
            ty,
            name,
            default,
            span: self.since(start),
        })
    }
}

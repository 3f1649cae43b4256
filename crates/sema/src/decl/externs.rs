//! Extern objects.

use super::ParamOwner;
use crate::checker::Checker;
use crate::errors::declarations;
use crate::scope::Entity;
use hir::*;
use syntax::ast;

impl Checker<'_> {
    pub(super) fn extern_object(
        &mut self,
        decl: &ast::Decl,
        name: &ast::Ident,
        type_params: &[ast::Ident],
        methods: &[ast::Method],
    ) {
        let annotations = self.annotations_of(&decl.annotations, decl.span, name.span);
        // Its own name is known in its methods' signatures.
        let id = self.module.externs.push(Extern {
            name: name.name.clone(),
            type_params: Vec::new(),
            constructors: Vec::new(),
            methods: Vec::new(),
            annotations,
            span: name.span,
        });
        self.declare(name, Entity::Extern(id));
        self.scoped(|c| {
            let own = c.type_params(type_params);
            c.module.externs[id].type_params = own;
            for method in methods {
                c.method(id, name, method);
            }
        });
    }

    /// Reports a signature that mentions the extern itself with type arguments that grow: its methods, and theirs in
    /// turn, would never end.
    fn refuse_endless(&mut self, id: ExternId, proto: &Prototype) {
        let own = self.module.externs[id].type_params.clone();
        let mut types: Vec<Ty> = (proto.params.iter())
            .map(|p| self.module.locals[*p].ty.clone())
            .collect();
        types.push(proto.result.clone());
        let grows = |arg: &Ty| {
            !matches!(arg, Ty::Param(_)) && own.iter().any(|p| crate::infer::mentions(arg, *p))
        };
        let endless = types.iter().any(|ty| {
            crate::infer::any(ty, &mut |t| match t {
                Ty::Extern(other, args) => *other == id && args.iter().any(grows),
                _ => false,
            })
        });
        if endless {
            let name = self.module.externs[id].name.clone();
            self.report(declarations::endless_extern(proto.span, &name));
        }
    }

    fn method(&mut self, id: ExternId, name: &ast::Ident, method: &ast::Method) {
        let annotations =
            self.annotations_of(&method.annotations, method.span, method.proto.name.span);
        let proto = self.scoped(|c| c.proto(&method.proto, annotations, ParamOwner::Extern));
        let own_name = method.proto.name.name == name.name;
        let is_constructor = own_name && method.proto.result.is_none();
        if own_name != is_constructor || (method.proto.result.is_none() && !own_name) {
            self.report(declarations::constructor_form(
                method.proto.name.span,
                &name.name,
            ));
            return;
        }
        if is_constructor && (method.is_abstract || !method.proto.type_params.is_empty()) {
            self.report(declarations::constructor_form(
                method.proto.name.span,
                &name.name,
            ));
            return;
        }
        self.refuse_endless(id, &proto);
        for param in &proto.params {
            let local = &mut self.module.locals[*param];
            if is_constructor {
                if matches!(local.kind, LocalKind::Param(Direction::None)) {
                    local.kind = LocalKind::CtorParam;
                } else {
                    let at = local.span;
                    self.report(declarations::constructor_direction(at));
                }
            }
        }
        let twin = {
            let decl = &self.module.externs[id];
            let earlier: Vec<&Prototype> = if is_constructor {
                decl.constructors.iter().collect()
            } else {
                decl.methods
                    .iter()
                    .map(|m| &m.proto)
                    .filter(|p| p.name == proto.name)
                    .collect()
            };
            earlier
                .iter()
                .find(|p| self.same_parameters(&p.params, &proto.params))
                .map(|p| p.span)
        };
        if let Some(first) = twin {
            self.report(declarations::same_overload(&method.proto.name, first));
            return;
        }
        let decl = &mut self.module.externs[id];
        if is_constructor {
            decl.constructors.push(proto);
        } else {
            decl.methods.push(ExternMethod {
                proto,
                is_abstract: method.is_abstract,
            });
        }
    }
}

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
        // The extern's own name is in scope in its methods' signatures, where it is reported.
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

    /// Reports a signature that mentions the extern itself.
    fn refuse_recursive(&mut self, id: ExternId, proto: &Prototype) {
        let params = (proto.params.iter()).map(|p| &self.module.locals[*p].ty);
        let is_own = |ty: &Ty| {
            crate::infer::any(
                ty,
                &mut |t| matches!(t, Ty::Extern(other, _) if *other == id),
            )
        };
        if params.chain([&proto.result]).any(is_own) {
            let name = self.module.externs[id].name.clone();
            self.report(declarations::recursive_extern(proto.span, &name));
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
        self.refuse_recursive(id, &proto);
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

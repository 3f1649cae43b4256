//! Functions, and sets of functions of the same name.

use super::ParamOwner;
use crate::checker::{Checker, Context};
use crate::errors::{declarations, names, statements};
use crate::scope::{Entity, Overload};
use crate::stmt::{always_leaves, atomic_if};
use hir::*;
use smol_str::SmolStr;
use syntax::ast;

impl Checker<'_> {
    pub(super) fn extern_function(&mut self, decl: &ast::Decl, proto: &ast::Proto) {
        let annotations = self.annotations_of(&decl.annotations, decl.span, proto.name.span);
        let proto_done = self.scoped(|c| c.proto(proto, annotations, ParamOwner::Extern));
        let id = self.module.extern_functions.push(proto_done);
        self.add_overload(&proto.name, Overload::Extern(id));
    }

    pub(super) fn function_decl(
        &mut self,
        decl: &ast::Decl,
        proto: &ast::Proto,
        body: &ast::Block,
    ) {
        let annotations = self.annotations_of(&decl.annotations, decl.span, proto.name.span);
        let fresh = self.scopes.lookup_here(&proto.name.name).is_none();
        if fresh {
            self.declare(&proto.name, Entity::InProgress("a function"));
        }
        let function = self.function(proto, annotations, body, Context::Function);
        let id = self.module.functions.push(function);
        self.expect_use("function", &proto.name);
        if fresh {
            self.scopes.replace(
                &proto.name.name,
                Entity::Functions(vec![Overload::Function(id)]),
                proto.name.span,
            );
        } else {
            self.add_overload(&proto.name, Overload::Function(id));
        }
    }

    /// Checks a function's signature and body.
    pub(super) fn function(
        &mut self,
        proto: &ast::Proto,
        annotations: Vec<Annotation>,
        body: &ast::Block,
        context: Context,
    ) -> Function {
        self.scoped(|c| {
            let proto_done = c.proto(proto, annotations, ParamOwner::Function);
            // An abstract method's implementation has the parameters of its declaration.
            if context == Context::Function {
                c.refuse_optional(&proto_done.params);
            }
            let before = std::mem::replace(&mut c.result, proto_done.result.clone());
            let block = c.in_context(context, |c| c.block(body));
            let block = atomic_if(&proto_done.annotations, block, body.span);
            c.result = before;
            if !matches!(proto_done.result, Ty::Void | Ty::Poison) && !always_leaves(&block) {
                let shown = c.show(&proto_done.result);
                c.report(statements::missing_return(
                    proto.name.span,
                    &proto.name.name,
                    &shown,
                ));
            }
            if context == Context::Function {
                c.expect_params(&proto_done.params, "parameter");
            }
            Function {
                proto: proto_done,
                body: block,
            }
        })
    }

    /// Checks a signature; declares its type parameters and parameters in the current scope.
    pub(super) fn proto(
        &mut self,
        proto: &ast::Proto,
        annotations: Vec<Annotation>,
        owner: ParamOwner,
    ) -> Prototype {
        let mut type_params = self.type_params(&proto.type_params);
        let result = match &proto.result {
            Some(ty) => {
                let result = self.full_ty(ty);
                let impossible = match result {
                    // A factory function.
                    Ty::Extern(..) => owner != ParamOwner::Extern,
                    Ty::Int => true,
                    Ty::Parser(..) | Ty::Control(..) | Ty::Package(..) | Ty::MatchKind => true,
                    _ => false,
                };
                if impossible {
                    let shown = self.show(&result);
                    self.report(declarations::result_type(ty.span, &shown));
                    Ty::Poison
                } else {
                    result
                }
            }
            None => Ty::Void,
        };
        let params = self.params(&proto.params, owner);
        type_params.append(&mut self.implicit_params);
        let optional = self.optional_flags(&params);
        Prototype {
            name: proto.name.name.clone(),
            type_params,
            params,
            optional,
            result,
            annotations,
            span: proto.name.span,
        }
    }

    /// Adds a function to the overloads of its name.
    fn add_overload(&mut self, name: &ast::Ident, new: Overload) {
        match self.scopes.lookup_here(&name.name).cloned() {
            None => self.declare(name, Entity::Functions(vec![new])),
            Some(binding) => match binding.entity {
                Entity::Functions(mut all) => {
                    let twin = all.iter().find(|o| self.are_twins(**o, new)).copied();
                    if let Some(twin) = twin {
                        let first = match twin {
                            Overload::Function(id) => self.module.functions[id].proto.span,
                            Overload::Extern(id) => self.module.extern_functions[id].span,
                        };
                        self.report(declarations::same_overload(name, first));
                        return;
                    }
                    all.push(new);
                    self.scopes
                        .replace(&name.name, Entity::Functions(all), binding.span);
                }
                _ => self.report(names::duplicate(name, binding.span)),
            },
        }
    }

    fn are_twins(&self, a: Overload, b: Overload) -> bool {
        let params = |overload| match overload {
            Overload::Function(id) => &self.module.functions[id].proto.params,
            Overload::Extern(id) => &self.module.extern_functions[id].params,
        };
        self.same_parameters(params(a), params(b))
    }

    /// Returns true if neither the names nor the types of arguments can distinguish two lists of parameters.
    pub(super) fn same_parameters(&self, a: &[LocalId], b: &[LocalId]) -> bool {
        let sorted = |params: &[LocalId]| {
            let mut names: Vec<SmolStr> = params
                .iter()
                .map(|p| self.module.locals[*p].name.clone())
                .collect();
            names.sort_unstable();
            names
        };
        let types = |params: &[LocalId]| -> Vec<Ty> {
            let locals = params.iter().map(|p| &self.module.locals[*p]);
            locals.map(|l| l.ty.clone()).collect()
        };
        sorted(a) == sorted(b) && types(a) == types(b)
    }
}

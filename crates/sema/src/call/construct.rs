//! Constructors: instances of externs, parsers, controls and packages.

use super::{Called, Mode, Signature};
use crate::checker::{Checker, Context};
use crate::errors::{calls, declarations};
use crate::infer::has_infer;
use crate::scope::Entity;
use diag::Span;
use hir::*;
use std::rc::Rc;
use syntax::ast;

impl Checker<'_> {
    /// An instance of what `entity` denotes, without a name yet.
    pub(crate) fn construct(
        &mut self,
        entity: &Entity,
        name: &ast::Ident,
        types: &[Ty],
        args: &[ast::Arg],
        want: Option<&Ty>,
        span: Span,
    ) -> Option<Instance> {
        // A typedef of an object type brings its type arguments along.
        let (entity, types) = match entity {
            Entity::Type(Ty::Extern(id, a)) => (Entity::Extern(*id), a.to_vec()),
            Entity::Type(Ty::Parser(id, a)) => (Entity::Parser(*id), a.to_vec()),
            Entity::Type(Ty::Control(id, a)) => (Entity::Control(*id), a.to_vec()),
            Entity::Type(Ty::Package(id, a)) => (Entity::Package(*id), a.to_vec()),
            other => (other.clone(), types.to_vec()),
        };
        let mut constructor = 0;
        let mut signature = match entity {
            Entity::Extern(id) => {
                let decl = &self.module.externs[id];
                let all: Vec<Signature> =
                    decl.constructors.iter().map(Signature::of_proto).collect();
                if all.is_empty() {
                    let diagnostic = declarations::no_constructor(span, &decl.name, decl.span);
                    self.report(diagnostic);
                    self.give_up(args);
                    return None;
                }
                let Some(which) = self.pick(name, &all, args, span) else {
                    self.give_up(args);
                    return None;
                };
                constructor = which as u32;
                let mut signature = all[which].clone();
                let own = &self.module.externs[id].type_params;
                signature.result = Ty::Extern(id, own_params(own));
                // Its own may stand for `_` in its parameters.
                signature.type_params = [&own[..], &signature.type_params].concat();
                // What `_` stands for may show only where a method is called.
                signature.deferred = types.iter().any(|ty| has_infer(&self.zonk(ty)));
                signature
            }
            Entity::Parser(_) | Entity::Control(_) | Entity::Package(_) => {
                let mut all = vec![entity.clone()];
                if self.scopes.lookup(&name.name, true).is_some() {
                    all.extend(
                        self.overloads
                            .get(&name.name)
                            .into_iter()
                            .flatten()
                            .cloned(),
                    );
                }
                let all: Vec<Signature> =
                    all.iter().filter_map(|e| self.block_signature(e)).collect();
                if !self.has_body(&entity, span) {
                    self.give_up(args);
                    return None;
                }
                let Some(which) = self.pick(name, &all, args, span) else {
                    self.give_up(args);
                    return None;
                };
                all[which].clone()
            }
            Entity::Poison => {
                self.give_up(args);
                return None;
            }
            other => {
                self.report(declarations::not_instantiable(
                    span,
                    &name.name,
                    other.describe(),
                ));
                self.give_up(args);
                return None;
            }
        };
        signature.mode = Mode::Constructor;
        let bound = self.bind_typed(&signature, &types, args, want, span)?;
        Some(Instance {
            name: Default::default(),
            ty: bound.result,
            count: None,
            constructor,
            args: bound.args,
            implementations: Vec::new(),
            annotations: Vec::new(),
            span,
        })
    }

    /// The constructor of a parser, control or package.
    fn block_signature(&self, entity: &Entity) -> Option<Signature> {
        let (name, params, span, own, result): (_, _, _, _, &dyn Fn(Rc<[Ty]>) -> Ty) = match entity
        {
            Entity::Parser(id) => {
                let d = &self.module.parsers[*id];
                (&d.name, &d.ctor_params, d.span, &d.type_params, &|a| {
                    Ty::Parser(*id, a)
                })
            }
            Entity::Control(id) => {
                let d = &self.module.controls[*id];
                (&d.name, &d.ctor_params, d.span, &d.type_params, &|a| {
                    Ty::Control(*id, a)
                })
            }
            Entity::Package(id) => {
                let d = &self.module.packages[*id];
                (&d.name, &d.params, d.span, &d.type_params, &|a| {
                    Ty::Package(*id, a)
                })
            }
            _ => return None,
        };
        let mut signature = Signature::plain(name, params, Mode::Constructor, span);
        signature.type_params = own.clone();
        signature.result = result(own_params(own));
        // What a parser or control is generic in may show only where it is applied.
        signature.deferred = !matches!(entity, Entity::Package(_));
        Some(signature)
    }

    /// Reports a type of parsers or controls, of which there are no instances.
    fn has_body(&mut self, entity: &Entity, span: Span) -> bool {
        let diagnostic = match entity {
            Entity::Parser(id) if self.module.parsers[*id].body.is_none() => {
                let d = &self.module.parsers[*id];
                declarations::type_not_declaration(span, &d.name, "parser", d.span)
            }
            Entity::Control(id) if self.module.controls[*id].body.is_none() => {
                let d = &self.module.controls[*id];
                declarations::type_not_declaration(span, &d.name, "control", d.span)
            }
            _ => return true,
        };
        self.report(diagnostic);
        false
    }

    /// `C.apply(args)` on a type: an instance made for this one call. `None` if `base` is no type.
    pub(super) fn direct_application(
        &mut self,
        base: &ast::Expr,
        args: &[ast::Arg],
        span: Span,
    ) -> Option<Called> {
        let (global, name, type_args): (bool, &ast::Ident, &[ast::Type]) = match &base.kind {
            ast::ExprKind::Name { global, name } => (*global, name, &[]),
            ast::ExprKind::Type(ty) => match &ty.kind {
                ast::TypeKind::Name { global, name } => (*global, name, &[]),
                ast::TypeKind::Specialized { base, args } => match &base.kind {
                    ast::TypeKind::Name { global, name } => (*global, name, args),
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
        if !self.scopes.lookup(&name.name, global)?.entity.is_type() {
            return None;
        }
        let Some(entity) = self.resolve(global, name, "control", Entity::is_type) else {
            return Some(Called::Poison);
        };
        let types: Vec<Ty> = type_args.iter().map(|t| self.ty(t)).collect();
        let (wanted, help) = match entity {
            Entity::Parser(_) => (
                Context::ParserState,
                "apply it in a state of another parser",
            ),
            Entity::Control(_) => (
                Context::ControlApply,
                "apply it in the `apply` block of another control",
            ),
            _ => {
                self.report(calls::not_applicable(
                    base.span,
                    &name.name,
                    entity.describe(),
                ));
                return Some(self.give_up(args));
            }
        };
        if self.context != wanted {
            self.report(calls::wrong_context(
                span,
                entity.describe(),
                self.context.describe(),
                help,
            ));
            return Some(self.give_up(args));
        }
        let Some(mut instance) = self.construct(&entity, name, &types, &[], None, base.span) else {
            return Some(self.give_up(args));
        };
        instance.name = name.name.clone();
        let ty = instance.ty.clone();
        let (signature, is_parser) = match &ty {
            Ty::Parser(id, types) => {
                let parser = &self.module.parsers[*id];
                let signature =
                    Signature::plain(&parser.name, &parser.params, Mode::Apply, parser.span);
                (signature.inside(&parser.type_params, types), true)
            }
            Ty::Control(id, types) => {
                let control = &self.module.controls[*id];
                let signature =
                    Signature::plain(&control.name, &control.params, Mode::Apply, control.span);
                (signature.inside(&control.type_params, types), false)
            }
            _ => return Some(Called::Poison),
        };
        let id = self.module.instances.push(instance);
        let mut object = Expr {
            kind: ExprKind::Instance(id),
            ty,
            span: base.span,
        };
        let Some(bound) = self.bind(&signature, &[], args, None, span) else {
            return Some(Called::Poison);
        };
        self.zonk_expr(&mut object);
        let callee = if is_parser {
            Callee::Parser(object)
        } else {
            Callee::Control(object)
        };
        Some(Called::Call(
            Call {
                callee,
                args: bound.args,
                result: Ty::Void,
                span,
            },
            Some(id),
        ))
    }
}

fn own_params(params: &[TypeParamId]) -> Rc<[Ty]> {
    params.iter().map(|p| Ty::Param(*p)).collect()
}

//! Constructors: instances of externs, parsers, controls and packages.

use super::args::Bound;
use super::{Called, Mode, Signature};
use crate::checker::{Checker, Context};
use crate::errors::{calls, declarations, types};
use crate::infer::has_infer;
use crate::scope::Entity;
use diag::Span;
use hir::*;
use std::rc::Rc;
use syntax::ast;

/// Information that decides between parsers or controls whose constructors take the same arguments.
#[derive(Clone, Copy)]
pub(crate) enum Use<'e> {
    /// Type that the context expects, if any.
    Value(Option<&'e Ty>),
    /// Arguments of `apply` in a direct application.
    Applied(&'e [ast::Arg]),
    /// Name of the instance. The arguments of its first application will decide.
    Named(&'e str),
}

/// An instance whose parser or control is chosen by the arguments of its first application.
#[derive(Debug)]
pub(crate) struct Undecided {
    name: ast::Ident,
    candidates: Vec<Entity>,
    types: Vec<Ty>,
    args: Vec<ast::Arg>,
    span: Span,
}

impl Checker<'_> {
    /// Makes an unnamed instance of what `entity` denotes.
    pub(crate) fn construct(
        &mut self,
        entity: &Entity,
        name: &ast::Ident,
        types: &[Ty],
        args: &[ast::Arg],
        known: Use<'_>,
        span: Span,
    ) -> Option<Instance> {
        if matches!(entity, Entity::Type(_)) && !types.is_empty() {
            self.report(types::not_generic(span, &name.name));
            self.give_up(args);
            return None;
        }
        // A typedef of an object type includes its type arguments.
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
                // The extern's own type parameters may be inferred for `_` in its arguments.
                signature.type_params = [&own[..], &signature.type_params].concat();
                // The type for `_` may become known only when a method is called.
                signature.deferred = types.iter().any(|ty| has_infer(&self.zonk(ty)));
                signature
            }
            Entity::Parser(_) | Entity::Control(_) | Entity::Package(_) => {
                if !self.has_body(&entity, span) {
                    self.give_up(args);
                    return None;
                }
                let Some(signature) = self.pick_block(&entity, name, &types, args, known, span)
                else {
                    self.give_up(args);
                    return None;
                };
                signature
            }
            Entity::Poison => {
                self.give_up(args);
                return None;
            }
            other => {
                let made = match known {
                    Use::Named(made) => Some(made),
                    Use::Value(_) | Use::Applied(_) => None,
                };
                self.report(declarations::not_instantiable(
                    span,
                    &name.name,
                    other.describe(),
                    made,
                ));
                self.give_up(args);
                return None;
            }
        };
        signature.mode = Mode::Constructor;
        let want = match known {
            Use::Value(want) => want,
            Use::Applied(_) | Use::Named(_) => None,
        };
        let bound = self.bind_typed(&signature, &types, args, want, span)?;
        Some(instance_of(bound, constructor, span))
    }

    /// Picks the constructor among those of the parsers, controls or packages of a name.
    fn pick_block(
        &mut self,
        entity: &Entity,
        name: &ast::Ident,
        types: &[Ty],
        args: &[ast::Arg],
        known: Use<'_>,
        span: Span,
    ) -> Option<Signature> {
        let mut all = vec![entity.clone()];
        if self.scopes.lookup(&name.name, true).is_some() {
            let others = self.overloads.get(&name.name);
            all.extend(others.into_iter().flatten().cloned());
        }
        let constructors: Vec<Signature> =
            all.iter().filter_map(|e| self.block_signature(e)).collect();
        let mut fitting = self.fitting(&constructors, args);
        if fitting.len() > 1 {
            let closest = self.closest(&constructors, &fitting, args);
            if !closest.is_empty() {
                fitting = closest;
            }
        }
        if fitting.len() > 1 {
            match known {
                Use::Applied(applied) => {
                    let applications: Vec<Signature> = (fitting.iter())
                        .filter_map(|&i| self.application(&all[i]))
                        .collect();
                    let which = self.pick(name, &applications, applied, span)?;
                    fitting = vec![fitting[which]];
                }
                Use::Value(Some(want)) => {
                    fitting.retain(|&i| self.would_fit(&constructors[i], want));
                }
                Use::Named(_) => {
                    self.undecided_now = Some(Undecided {
                        name: name.clone(),
                        candidates: fitting.iter().map(|&i| all[i].clone()).collect(),
                        types: types.to_vec(),
                        args: args.to_vec(),
                        span,
                    });
                    fitting.truncate(1);
                }
                Use::Value(None) => {}
            }
        }
        let which = match fitting[..] {
            [one] => one,
            _ => self.pick(name, &constructors, args, span)?,
        };
        Some(constructors[which].clone())
    }

    /// Returns true if the result of a constructor can be unified with a type. No variables are solved.
    fn would_fit(&mut self, constructor: &Signature, want: &Ty) -> bool {
        let before = self.infer.clone();
        let own: Vec<Ty> = (constructor.type_params.iter())
            .map(|_| self.fresh())
            .collect();
        let made = crate::infer::subst(&constructor.result, &constructor.type_params, &own);
        let fits = self.unify(&made, want);
        self.infer = before;
        fits
    }

    /// Returns the signature of a parser's or control's `apply`.
    fn application(&self, entity: &Entity) -> Option<Signature> {
        let (name, span) = match entity {
            Entity::Parser(id) => {
                let parser = &self.module.parsers[*id];
                (&parser.name, parser.span)
            }
            Entity::Control(id) => {
                let control = &self.module.controls[*id];
                (&control.name, control.span)
            }
            _ => return None,
        };
        let params = self.block_params(entity);
        Some(Signature::plain(name, params, Mode::Apply, span))
    }

    /// Chooses the parser or control of an undecided instance at its first application. Returns false if nothing fits.
    pub(super) fn decide(&mut self, id: InstanceId, applied: &[ast::Arg], span: Span) -> bool {
        let Some(open) = self.undecided.remove(&id) else {
            return true;
        };
        let applications: Vec<Signature> = (open.candidates.iter())
            .filter_map(|e| self.application(e))
            .collect();
        let Some(which) = self.pick(&open.name, &applications, applied, span) else {
            return false;
        };
        // The first candidate was assumed until now.
        if which > 0
            && let Some(mut signature) = self.block_signature(&open.candidates[which])
        {
            signature.mode = Mode::Constructor;
            let bound = self.bind_typed(&signature, &open.types, &open.args, None, open.span);
            let Some(bound) = bound else {
                return false;
            };
            let made = instance_of(bound, 0, open.span);
            let instance = &mut self.module.instances[id];
            (instance.ty, instance.args) = (made.ty, made.args);
        }
        true
    }

    /// Returns the constructor's signature of a parser, control or package.
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
        // Type arguments of a parser or control may become known only when it is applied. A package may have a type
        // parameter that nothing in it depends on.
        signature.deferred = true;
        Some(signature)
    }

    /// Reports a parser type or control type, which has no instances.
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

    /// Checks `C.apply(args)` on a type: an instance made for this one call. `None` if `base` is not a type.
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
        let known = Use::Applied(args);
        let Some(mut instance) = self.construct(&entity, name, &types, &[], known, base.span)
        else {
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

/// Makes an unnamed instance.
fn instance_of(bound: Bound, constructor: u32, span: Span) -> Instance {
    Instance {
        name: Default::default(),
        ty: bound.result,
        count: None,
        constructor,
        args: bound.args.into_vec(),
        implementations: Vec::new(),
        annotations: Vec::new(),
        span,
    }
}

fn own_params(params: &[TypeParamId]) -> Rc<[Ty]> {
    params.iter().map(|p| Ty::Param(*p)).collect()
}

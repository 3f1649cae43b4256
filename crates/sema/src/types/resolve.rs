//! Resolution of types from the syntax tree.

use crate::checker::Checker;
use crate::errors::{constants, names, types};
use crate::infer::has_poison;
use crate::scope::Entity;
use crate::types::Container;
use crate::types::measure::Measure;
use diag::{Span, grouped};
use hir::*;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use std::rc::Rc;
use syntax::ast;

/// Widest integer, in bits.
pub(crate) const MAX_WIDTH: u32 = 1 << 16;
/// Most nodes that a type may have when written out, and its deepest nesting.
const MAX_TYPE: u32 = 2048;
const MAX_TYPE_DEPTH: u32 = 64;

impl Checker<'_> {
    /// Returns the type that `ty` denotes; [`Ty::Poison`] after an error. `_` becomes an inference variable.
    pub(crate) fn ty(&mut self, ty: &ast::Type) -> Ty {
        let resolved = self
            .deeper(ty.span, |c| c.ty_kind(ty))
            .unwrap_or(Ty::Poison);
        let mut budget = MAX_TYPE;
        if !fits(&resolved, &mut budget, MAX_TYPE_DEPTH) {
            let most = format!(
                "{} parts when its arguments are written out, nested {MAX_TYPE_DEPTH} levels deep",
                grouped(MAX_TYPE.into())
            );
            self.report(types::too_large(ty.span, "this type", &most));
            return Ty::Poison;
        }
        resolved
    }

    fn ty_kind(&mut self, ty: &ast::Type) -> Ty {
        match &ty.kind {
            ast::TypeKind::Bool => Ty::Bool,
            ast::TypeKind::Error => Ty::Error,
            ast::TypeKind::MatchKind => Ty::MatchKind,
            ast::TypeKind::String => Ty::String,
            ast::TypeKind::Int => Ty::Int,
            ast::TypeKind::Void => Ty::Void,
            ast::TypeKind::DontCare => self.fresh(),
            ast::TypeKind::Bit(None) => Ty::bit(1),
            ast::TypeKind::Bit(Some(width)) => self.width(width, 0).map_or(Ty::Poison, Ty::bit),
            ast::TypeKind::SignedInt(width) => self.width(width, 1).map_or(Ty::Poison, Ty::int),
            ast::TypeKind::Varbit(width) => self.width(width, 0).map_or(Ty::Poison, Ty::Varbit),
            ast::TypeKind::Name { global, name } => self.named_type(*global, name, &[], ty.span),
            ast::TypeKind::Specialized { base, args } => match &base.kind {
                ast::TypeKind::Name { global, name } => {
                    let args: Vec<Ty> = args.iter().map(|a| self.ty(a)).collect();
                    self.named_type(*global, name, &args, ty.span)
                }
                _ => {
                    self.report(types::not_generic(base.span, "this type"));
                    Ty::Poison
                }
            },
            ast::TypeKind::Stack { elem, size } => self.stack_type(elem, size),
            ast::TypeKind::Tuple(elems) => {
                let elems: Vec<Ty> = elems
                    .iter()
                    .map(|e| self.element(e, Container::Tuple))
                    .collect();
                Ty::Tuple(elems.into())
            }
            ast::TypeKind::List(elem) => Ty::List(Rc::new(self.element(elem, Container::List))),
        }
    }

    fn element(&mut self, ty: &ast::Type, container: Container) -> Ty {
        let elem = self.ty(ty);
        self.require_holds(container, elem, ty.span)
    }

    /// Reports a type that may not be an element of `container`.
    pub(crate) fn require_holds(&mut self, container: Container, ty: Ty, span: Span) -> Ty {
        if self.may_hold(container, &ty) {
            return ty;
        }
        if has_poison(&ty) {
            return Ty::Poison;
        }
        let shown = self.show(&ty);
        self.report(types::nesting(span, &shown, container));
        Ty::Poison
    }

    fn stack_type(&mut self, elem: &ast::Type, size: &ast::Expr) -> Ty {
        let ty = self.element(elem, Container::Stack);
        let Some((value, span)) = self.const_int(size) else {
            return Ty::Poison;
        };
        match value.to_u32() {
            Some(n) if n <= MAX_STACK_SIZE => Ty::Stack(Rc::new(ty), n),
            _ => {
                self.report(types::stack_size(span, &value, MAX_STACK_SIZE));
                Ty::Poison
            }
        }
    }

    /// Evaluates a width in bits: a compile-time integer of at least `least`.
    fn width(&mut self, width: &ast::Expr, least: u32) -> Option<u32> {
        let (value, span) = self.const_int(width)?;
        match value.to_u32() {
            Some(w) if (least..=MAX_WIDTH).contains(&w) => Some(w),
            _ => {
                self.report(types::width(span, &value, least, MAX_WIDTH));
                None
            }
        }
    }

    /// Evaluates an integer that must be a compile-time constant. `None` after an error.
    pub(crate) fn const_int(&mut self, expr: &ast::Expr) -> Option<(BigInt, Span)> {
        let value = self.expr(expr, None);
        if value.ty == Ty::Poison {
            return None;
        }
        if !matches!(value.ty, Ty::Int | Ty::Bits { .. }) && self.underlying(&value.ty).is_none() {
            let shown = self.show(&value.ty);
            self.report(types::mismatch(value.span, "an integer", &shown));
            return None;
        }
        match value.kind {
            ExprKind::Const(ConstValue::Int(n)) => Some((n, value.span)),
            _ => {
                let found = constants::not_constant(value.span, "this");
                self.report(if self.is_compile_time(&value) {
                    constants::of_an_instance(found)
                } else {
                    found
                });
                None
            }
        }
    }

    /// Returns the type of a name, with arguments.
    fn named_type(&mut self, global: bool, name: &ast::Ident, args: &[Ty], span: Span) -> Ty {
        let Some(entity) = self.resolve(global, name, "type", |e| e.is_type()) else {
            return Ty::Poison;
        };
        self.entity_type(&entity, name, args, span)
    }

    /// Returns the type that a type entity denotes, with arguments.
    pub(crate) fn entity_type(
        &mut self,
        entity: &Entity,
        name: &ast::Ident,
        args: &[Ty],
        span: Span,
    ) -> Ty {
        let params = match entity {
            Entity::Type(ty) => {
                if !args.is_empty() {
                    self.report(types::not_generic(span, &name.name));
                    return Ty::Poison;
                }
                return ty.clone();
            }
            Entity::Composite(id) => &self.module.composites[*id].type_params,
            Entity::Extern(id) => &self.module.externs[*id].type_params,
            Entity::Parser(id) => &self.module.parsers[*id].type_params,
            Entity::Control(id) => &self.module.controls[*id].type_params,
            Entity::Package(id) => &self.module.packages[*id].type_params,
            Entity::Poison | Entity::InProgress(_) => return Ty::Poison,
            other => {
                let what = self.describe(other);
                self.report(names::not_a_type(name, what));
                return Ty::Poison;
            }
        };
        let all = params.len();
        let written: Vec<TypeParamId> = params
            .iter()
            .copied()
            .filter(|p| !self.implicit.contains(p))
            .collect();
        if written.len() != args.len() {
            let diagnostic = if written.is_empty() {
                types::not_generic(span, &name.name)
            } else {
                let names = self.type_param_names(&written);
                types::type_argument_count(span, &name.name, &names, args.len())
            };
            self.report(diagnostic);
            return Ty::Poison;
        }
        let mut given = args.to_vec();
        given.resize_with(all, || self.fresh());
        let given: Rc<[Ty]> = given.into();
        let ty = match entity {
            Entity::Composite(id) => Ty::Composite(*id, given),
            Entity::Extern(id) => Ty::Extern(*id, given),
            Entity::Parser(id) => Ty::Parser(*id, given),
            Entity::Control(id) => Ty::Control(*id, given),
            Entity::Package(id) => Ty::Package(*id, given),
            _ => Ty::Poison,
        };
        if let Entity::Composite(id) = entity
            && !self.check_composite_args(*id, args, &ty, span)
        {
            return Ty::Poison;
        }
        ty
    }

    pub(crate) fn type_param_names(&self, params: &[TypeParamId]) -> Vec<smol_str::SmolStr> {
        let names = params
            .iter()
            .map(|p| self.module.type_params[*p].name.clone());
        names.collect()
    }

    /// Checks the nesting rules for a generic's fields, once its arguments are known.
    fn check_composite_args(&mut self, id: CompositeId, args: &[Ty], ty: &Ty, span: Span) -> bool {
        if args.is_empty() {
            return true;
        }
        if self.measure(ty).is_too_large() {
            self.report(types::too_large(span, "this type", &Measure::most()));
            return false;
        }
        let container = container_of(self.module.composites[id].kind);
        for (_, field) in self.field_types(id, args) {
            self.require_holds(container, field, span);
        }
        true
    }

    /// Returns the type of a parameter. A `_` in it becomes a type parameter of the parameter's owner.
    pub(crate) fn param_ty_of(&mut self, ty: &ast::Type) -> Ty {
        let resolved = self.ty(ty);
        let mut open = Vec::new();
        crate::infer::any(&self.zonk(&resolved), &mut |t| {
            if let Ty::Infer(i) = t {
                open.push(*i);
            }
            false
        });
        for i in open {
            if self.infer[i as usize].is_none() {
                let id = self.module.type_params.push(TypeParam { name: "_".into() });
                self.implicit_params.push(id);
                self.implicit.insert(id);
                self.infer[i as usize] = Some(Ty::Param(id));
            }
        }
        self.zonk(&resolved)
    }

    /// Returns the type that `ty` denotes, as [`Checker::ty`] does, but reports `_`: the type is required in full.
    pub(crate) fn full_ty(&mut self, ty: &ast::Type) -> Ty {
        let resolved = self.ty(ty);
        if crate::infer::has_infer(&self.zonk(&resolved)) {
            self.report(types::dont_care(ty.span));
            return Ty::Poison;
        }
        resolved
    }
}

/// Returns the kind of container that a composite is.
pub(crate) fn container_of(kind: CompositeKind) -> Container {
    match kind {
        CompositeKind::Struct => Container::Struct,
        CompositeKind::Header => Container::Header,
        CompositeKind::Union => Container::Union,
    }
}

/// Returns true if a type, written out, stays within the limits.
fn fits(ty: &Ty, budget: &mut u32, depth: u32) -> bool {
    if *budget == 0 || depth == 0 {
        return false;
    }
    *budget -= 1;
    match ty {
        Ty::Composite(_, args)
        | Ty::Extern(_, args)
        | Ty::Parser(_, args)
        | Ty::Control(_, args)
        | Ty::Package(_, args)
        | Ty::Tuple(args) => args.iter().all(|a| fits(a, budget, depth - 1)),
        Ty::Stack(elem, _) | Ty::List(elem) | Ty::Set(elem) => fits(elem, budget, depth - 1),
        _ => true,
    }
}

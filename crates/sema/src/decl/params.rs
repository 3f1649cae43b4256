//! Parameters.

use crate::checker::{Checker, Declared};
use crate::errors::{constants, declarations};
use crate::infer::{any, has_infer, has_int, subst};
use crate::scope::Entity;
use hir::*;
use syntax::ast;

/// Kind of a parameter list's owner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ParamOwner {
    /// A function, or the implementation of a method.
    Function,
    /// An extern function or method.
    Extern,
    /// An action: its parameters without direction come from the control plane.
    Action,
    /// A parser or control, for the parameters of `apply`.
    Block,
    /// A constructor, or a package.
    Constructor,
}

impl Checker<'_> {
    /// Declares parameters in the current scope.
    pub(crate) fn params(&mut self, params: &[ast::Param], owner: ParamOwner) -> Vec<LocalId> {
        params.iter().map(|p| self.param(p, owner)).collect()
    }

    fn param(&mut self, param: &ast::Param, owner: ParamOwner) -> LocalId {
        let annotations = self.annotations_of(&param.annotations, param.span, param.name.span);
        let annotations = self.with_display(annotations, &param.ty);
        let ty = self.param_ty_of(&param.ty);
        let direction = direction(param.direction);
        let ty = self.check_param_type(param, ty, direction, owner);
        let kind = if owner == ParamOwner::Constructor {
            LocalKind::CtorParam
        } else {
            LocalKind::Param(direction)
        };
        let optional = annotations.iter().any(|a| a.name == "optional");
        let id = self.module.locals.push(Local {
            name: param.name.name.clone(),
            ty: ty.clone(),
            kind,
            annotations,
            span: param.name.span,
        });
        if owner == ParamOwner::Action && direction == Direction::None {
            self.action_data.insert(id);
        }
        // The parameter is bound when the block is applied, after everything in it was constructed.
        if owner == ParamOwner::Block {
            self.block_data.insert(id);
        }
        if let Some(default) = &param.default {
            self.default_argument(id, param, default, &ty, direction, optional, owner);
        }
        self.declare(&param.name, Entity::Local(id));
        id
    }

    #[allow(clippy::too_many_arguments)]
    fn default_argument(
        &mut self,
        id: LocalId,
        param: &ast::Param,
        default: &ast::Expr,
        ty: &Ty,
        direction: Direction,
        optional: bool,
        owner: ParamOwner,
    ) {
        let outer = std::mem::replace(
            &mut self.constructors_allowed,
            owner == ParamOwner::Constructor,
        );
        let value = self.expr(default, Some(ty));
        let value = self.as_default(value, ty);
        self.constructors_allowed = outer;
        if optional {
            self.report(declarations::optional_default(param.name.span));
        } else if matches!(direction, Direction::Out | Direction::InOut) {
            self.report(declarations::default_on_out(default.span, &param.name.name));
        } else if value.ty != Ty::Poison && !self.is_compile_time(&value) {
            self.report(constants::not_constant(value.span, "a default argument"));
        }
        // Store an erroneous value too: calls that omit the argument are then not reported.
        self.defaults.insert(id, value);
    }

    /// Converts a default value to its parameter's type. If that has type parameters, the value may determine them;
    /// then each call checks the conversion.
    fn as_default(&mut self, value: Expr, ty: &Ty) -> Expr {
        let reported = std::mem::take(&mut self.diagnostics);
        let fixed = self.coerce(value.clone(), ty);
        let found = std::mem::replace(&mut self.diagnostics, reported);
        if fixed.ty != Ty::Poison || value.ty == Ty::Poison {
            found.iter().for_each(|d| self.report(d.clone()));
            return fixed;
        }
        let mut params = Vec::new();
        any(ty, &mut |part| {
            if let Ty::Param(id) = part {
                params.push(*id);
            }
            false
        });
        let vars: Vec<Ty> = params.iter().map(|_| self.fresh()).collect();
        let reported = std::mem::take(&mut self.diagnostics);
        let mut chosen = self.coerce(value, &subst(ty, &params, &vars));
        let wrong = std::mem::replace(&mut self.diagnostics, reported).has_errors();
        self.zonk_expr(&mut chosen);
        if wrong || has_infer(&chosen.ty) || has_int(&chosen.ty) {
            for mut diagnostic in found.iter().cloned() {
                if !wrong && has_int(&chosen.ty) {
                    diagnostic.help =
                        Some("give the numbers in it a width, as in `8w1`".to_owned());
                }
                self.report(diagnostic);
            }
            return fixed;
        }
        chosen
    }

    fn check_param_type(
        &mut self,
        param: &ast::Param,
        ty: Ty,
        direction: Direction,
        owner: ParamOwner,
    ) -> Ty {
        let (what, help) = match (&ty, direction, owner) {
            (Ty::Poison, ..) => return ty,
            (Ty::Void, ..) => ("no parameter can have it", "name a type with values"),
            (_, Direction::In | Direction::Out | Direction::InOut, ParamOwner::Constructor) => {
                self.report(declarations::constructor_direction(param.span));
                return ty;
            }
            (Ty::Extern(..), Direction::None, ParamOwner::Action) => {
                let help = "remove the parameter, and use the object in the action by its name";
                ("an action has values alone", help)
            }
            (Ty::Extern(..), Direction::None, _) => return ty,
            (Ty::Extern(..), ..) => (
                "objects are passed without a direction",
                "remove the direction",
            ),
            (Ty::Parser(..) | Ty::Control(..) | Ty::Package(..), _, ParamOwner::Constructor) => {
                return ty;
            }
            (Ty::Parser(..) | Ty::Control(..) | Ty::Package(..), ..) => {
                let help = "make it a parameter of the constructor: a second list in parentheses";
                (
                    "parsers, controls and packages are passed to constructors only",
                    help,
                )
            }
            (Ty::MatchKind, Direction::None, ParamOwner::Constructor)
            | (Ty::MatchKind, Direction::None | Direction::In, ParamOwner::Extern) => return ty,
            (Ty::MatchKind, ..) => (
                "match kinds are for tables and externs",
                "remove the parameter",
            ),
            (ty, Direction::In, ParamOwner::Extern) if self.is_value(ty) && *ty != Ty::String => {
                return ty.clone();
            }
            (Ty::Int | Ty::String | Ty::List(_), Direction::None, ParamOwner::Action) => (
                "its values exist only at compile time",
                "take a number with a width, as in bit<32>",
            ),
            (Ty::Varbit(_) | Ty::Error, Direction::None, ParamOwner::Action) => (
                "the control plane has no such values",
                "take numbers with a width, as in bit<32>",
            ),
            (_, Direction::None, _) => return ty,
            (ty, ..) if self.is_storable(ty) => return ty.clone(),
            (Ty::Int, ..) => {
                let help = "remove the direction, or give it a width, as in bit<32>";
                ("its values exist only at compile time", help)
            }
            _ => (
                "its values exist only at compile time",
                "remove the direction",
            ),
        };
        let shown = self.show(&ty);
        self.report(declarations::parameter_type(
            param.ty.span,
            &shown,
            what,
            help,
        ));
        Ty::Poison
    }

    /// Notes the parameters of a body, which should be used.
    pub(crate) fn expect_params(&mut self, params: &[LocalId], what: &'static str) {
        for id in params {
            let local = &self.module.locals[*id];
            self.declared.push(Declared {
                what,
                name: local.name.clone(),
                span: local.span,
            });
        }
    }

    /// Reports parameters that are not allowed in a parser or control with a body, or not allowed in a type of these.
    pub(super) fn head_fits(
        &mut self,
        head: &ast::Head,
        has_body: bool,
        params: &[LocalId],
        ctor_params: &[LocalId],
    ) {
        if has_body {
            self.refuse_optional(params);
            self.refuse_optional(ctor_params);
        } else if let Some((first, last)) = head.ctor_params.first().zip(head.ctor_params.last()) {
            let at = first.span.to(last.span);
            self.report(declarations::constructor_of_type(at, &head.name.name));
        }
    }

    /// Reports `@optional` on parameters that a body reads.
    pub(crate) fn refuse_optional(&mut self, params: &[LocalId]) {
        for id in params {
            if self.is_optional(*id) {
                let span = self.module.locals[*id].span;
                self.report(declarations::optional_elsewhere(span));
            }
        }
    }

    /// Returns, for each parameter, true if it is `@optional`.
    pub(crate) fn optional_flags(&self, params: &[LocalId]) -> Vec<bool> {
        params.iter().map(|p| self.is_optional(*p)).collect()
    }
}

fn direction(direction: ast::Direction) -> Direction {
    match direction {
        ast::Direction::None => Direction::None,
        ast::Direction::In => Direction::In,
        ast::Direction::Out => Direction::Out,
        ast::Direction::InOut => Direction::InOut,
    }
}

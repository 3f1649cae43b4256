//! Implicit conversions (specification section "Implicit casts").

use crate::checker::{Checker, constant, poison_expr};
use crate::constant;
use crate::errors::{types, warnings};
use crate::expr::cast::retyped;
use hir::*;

impl Checker<'_> {
    /// Converts a value to `to` implicitly, as its context requires, or reports an error. `to` may contain inference
    /// variables, which this solves.
    pub(crate) fn coerce(&mut self, value: Expr, to: &Ty) -> Expr {
        let to = self.shallow(to);
        if value.ty == Ty::Poison || to == Ty::Poison {
            return poison_expr(value.span);
        }
        if value.ty == to {
            return value;
        }
        if value.ty == Ty::Int
            && let Some((width, signed)) = self.bits_behind(&to)
        {
            return self.int_to_bits(value, &to, width, signed);
        }
        if let (Ty::Bits { .. }, Ty::Int) = (&value.ty, &to)
            && self.is_compile_time(&value)
        {
            return retyped(value, Ty::Int);
        }
        if let Some(inner) = self.underlying(&value.ty)
            && inner == to
        {
            return retyped(value, inner);
        }
        if let Ty::Tuple(from) = &value.ty {
            let from = from.clone();
            if let Some(done) = self.tuple_to(value.clone(), &from, &to) {
                return done;
            }
        }
        if self.unify(&value.ty, &to) {
            return value;
        }
        if let Some(diagnostic) = self.block_difference(&value, &to) {
            return self.poison(diagnostic);
        }
        let (from, shown) = (self.show(&value.ty), self.show(&to));
        let help = self.conversion(&value, &to);
        self.poison(types::mismatch_types(value.span, &shown, &from, help))
    }

    /// Reports the first difference between the parameters of a parser or control and those of the expected type.
    fn block_difference(&mut self, value: &Expr, to: &Ty) -> Option<diag::Diagnostic> {
        let (given, wanted, declared) = match (&value.ty, to) {
            (Ty::Parser(x, p), Ty::Parser(y, q)) => {
                let (x, y) = (&self.module.parsers[*x], &self.module.parsers[*y]);
                (
                    (&x.params, &x.type_params, p),
                    (&y.params, &y.type_params, q),
                    x.span,
                )
            }
            (Ty::Control(x, p), Ty::Control(y, q)) => {
                let (x, y) = (&self.module.controls[*x], &self.module.controls[*y]);
                (
                    (&x.params, &x.type_params, p),
                    (&y.params, &y.type_params, q),
                    x.span,
                )
            }
            _ => return None,
        };
        let (few, many) = self.without_optional(given.0, wanted.0);
        let order = self.params_text(many, &self.runtime_signature(many, &[], &[]));
        let (given, wanted) = ((few, given.1, given.2), (many, wanted.1, wanted.2));
        let names: Vec<(smol_str::SmolStr, diag::Span)> = given
            .0
            .iter()
            .map(|p| {
                (
                    self.module.locals[*p].name.clone(),
                    self.module.locals[*p].span,
                )
            })
            .collect();
        let given = self.runtime_signature(given.0, given.1, given.2);
        let wanted = self.runtime_signature(wanted.0, wanted.1, wanted.2);
        let (from, to) = (self.show(&value.ty), self.show(to));
        if given.len() != wanted.len() {
            return Some(types::block_parameters(
                value.span,
                &from,
                &to,
                (given.len(), declared),
                wanted.len(),
            ));
        }
        for ((have, want), (name, at)) in given.iter().zip(&wanted).zip(&names) {
            let same_type = self.unify(&have.1, &want.1);
            if have.0 != want.0 || !same_type {
                let have = self.directed(have);
                let want = self.directed(&(want.0, self.zonk(&want.1)));
                let found = types::block_parameter(value.span, &from, &to, name, &have, &want, *at);
                return Some(if self.are_reordered(&given, &wanted) {
                    found.help(types::in_order(&order))
                } else {
                    found
                });
            }
        }
        None
    }

    /// Formats parameters of these directions and types as in a declaration.
    pub(crate) fn params_text(&self, params: &[LocalId], types: &[(Direction, Ty)]) -> String {
        let one = |(param, ty): (&LocalId, &(Direction, Ty))| {
            format!("{} {}", self.directed(ty), self.module.locals[*param].name)
        };
        let texts: Vec<String> = params.iter().zip(types).map(one).collect();
        texts.join(", ")
    }

    /// Formats a direction and a type as in a declaration.
    pub(crate) fn directed(&self, (direction, ty): &(Direction, Ty)) -> String {
        format!("{}{}", direction_word(*direction), self.show(ty))
    }

    /// Returns true if blocks have the same parameters in different orders, as far as is known. A type that is still
    /// open fits any.
    fn are_reordered(&self, given: &[(Direction, Ty)], wanted: &[(Direction, Ty)]) -> bool {
        let mut left: Vec<(Direction, Ty)> =
            given.iter().map(|(d, ty)| (*d, self.zonk(ty))).collect();
        let wanted: Vec<(Direction, Ty)> =
            wanted.iter().map(|(d, ty)| (*d, self.zonk(ty))).collect();
        let is_open = |(_, ty): &&(Direction, Ty)| crate::infer::has_infer(ty);
        let take = |left: &mut Vec<(Direction, Ty)>, want: &(Direction, Ty), open: bool| {
            let fits = |have: &(Direction, Ty)| have.0 == want.0 && (open || have.1 == want.1);
            let place = left.iter().position(fits);
            place.map(|at| left.remove(at)).is_some()
        };
        wanted
            .iter()
            .filter(|w| !is_open(w))
            .all(|w| take(&mut left, w, false))
            && wanted
                .iter()
                .filter(is_open)
                .all(|w| take(&mut left, w, true))
    }

    /// Returns width and sign of the number that represents a type: `bit<N>`, `int<N>`, or a `type` made of them.
    pub(crate) fn bits_behind(&self, ty: &Ty) -> Option<(u32, bool)> {
        match ty {
            Ty::Bits { width, signed } => Some((*width, *signed)),
            Ty::NewType(id) => self.bits_behind(&self.module.new_types[*id].ty),
            _ => None,
        }
    }

    fn int_to_bits(&mut self, value: Expr, ty: &Ty, width: u32, signed: bool) -> Expr {
        let ty = ty.clone();
        let ExprKind::Const(ConstValue::Int(n)) = &value.kind else {
            let span = value.span;
            return Expr {
                kind: ExprKind::Cast(Box::new(value)),
                ty,
                span,
            };
        };
        let wrapped = constant::wrap(n, width, signed);
        if wrapped != *n {
            let shown = self.show(&ty);
            let diagnostic = if !signed && n.sign() == num_bigint::Sign::Minus {
                warnings::negative(value.span, n, &shown, &wrapped)
            } else {
                warnings::truncated(value.span, n, &shown, &wrapped)
            };
            self.report(diagnostic);
        }
        constant(ConstValue::Int(wrapped), ty, value.span)
    }

    /// Converts a tuple to a tuple, struct, header, list or stack, element by element. `None` if `to` is none of these.
    fn tuple_to(&mut self, value: Expr, from: &[Ty], to: &Ty) -> Option<Expr> {
        let slots: Vec<Ty> = match to {
            Ty::Tuple(slots) => slots.to_vec(),
            Ty::Composite(id, args) if self.module.composites[*id].kind != CompositeKind::Union => {
                self.field_types(*id, args)
                    .into_iter()
                    .map(|(_, ty)| ty)
                    .collect()
            }
            Ty::List(elem) => vec![(**elem).clone(); from.len()],
            Ty::Stack(elem, n) => vec![(**elem).clone(); *n as usize],
            _ => return None,
        };
        if slots.len() != from.len() {
            let shown = self.show(to);
            return Some(self.poison(types::list_length(
                value.span,
                &shown,
                part_of(to),
                slots.len(),
                from.len(),
            )));
        }
        let span = value.span;
        let elems: Vec<Expr> = match value.kind {
            ExprKind::List(elems) => elems,
            ExprKind::Const(ConstValue::List(values)) => values
                .into_iter()
                .zip(from)
                .map(|(v, ty)| constant(v, ty.clone(), span))
                .collect(),
            kind => {
                // Not a literal but a variable, for example: its elements cannot be converted one by one.
                let same = slots
                    .iter()
                    .zip(from)
                    .all(|(slot, ty)| self.unify(slot, ty));
                if !same || !matches!(to, Ty::Tuple(_)) {
                    let (from, shown) = (self.show(&Ty::Tuple(from.into())), self.show(to));
                    return Some(self.poison(types::mismatch_types(span, &shown, &from, None)));
                }
                return Some(Expr {
                    kind,
                    ty: Ty::Tuple(from.into()),
                    span,
                });
            }
        };
        let elems = elems
            .into_iter()
            .zip(&slots)
            .map(|(e, slot)| self.coerce(e, slot))
            .collect();
        Some(self.gathered(elems, to.clone(), span))
    }
}

/// Returns the users' word for a part of a type.
pub(crate) fn part_of(ty: &Ty) -> &'static str {
    match ty {
        Ty::Composite(..) => "field",
        _ => "element",
    }
}

/// Formats a direction with a space after it.
fn direction_word(direction: Direction) -> &'static str {
    match direction {
        Direction::None => "",
        Direction::In => "in ",
        Direction::Out => "out ",
        Direction::InOut => "inout ",
    }
}

//! Type variables: substitution, unification, solutions.

use crate::checker::Checker;
use hir::*;
use std::rc::Rc;

/// Deepest nesting that unification follows. Types are kept far below that.
const MAX_UNIFY: u32 = 160;

/// Replaces `params` in `ty` by `args`.
pub(crate) fn subst(ty: &Ty, params: &[TypeParamId], args: &[Ty]) -> Ty {
    if params.is_empty() || args.is_empty() {
        return ty.clone();
    }
    map(ty, &mut |t| match t {
        Ty::Param(id) => params
            .iter()
            .position(|p| p == id)
            .and_then(|i| args.get(i))
            .cloned(),
        _ => None,
    })
}

/// Rebuilds a type. `f` may replace each node before its parts are visited.
fn map(ty: &Ty, f: &mut dyn FnMut(&Ty) -> Option<Ty>) -> Ty {
    if let Some(done) = f(ty) {
        return done;
    }
    let mut all = |args: &Rc<[Ty]>| -> Rc<[Ty]> {
        if args.is_empty() {
            args.clone()
        } else {
            args.iter().map(|a| map(a, f)).collect()
        }
    };
    match ty {
        Ty::Composite(id, args) => Ty::Composite(*id, all(args)),
        Ty::Extern(id, args) => Ty::Extern(*id, all(args)),
        Ty::Parser(id, args) => Ty::Parser(*id, all(args)),
        Ty::Control(id, args) => Ty::Control(*id, all(args)),
        Ty::Package(id, args) => Ty::Package(*id, all(args)),
        Ty::Tuple(elems) => Ty::Tuple(all(elems)),
        Ty::Stack(elem, n) => Ty::Stack(Rc::new(map(elem, f)), *n),
        Ty::List(elem) => Ty::List(Rc::new(map(elem, f))),
        Ty::Set(elem) => Ty::Set(Rc::new(map(elem, f))),
        _ => ty.clone(),
    }
}

/// Replaces every variable left in a type by `void`.
pub(crate) fn void_open(ty: &Ty) -> Ty {
    map(ty, &mut |t| matches!(t, Ty::Infer(_)).then_some(Ty::Void))
}

/// Returns true if any part of a type satisfies `want`.
pub(crate) fn any(ty: &Ty, want: &mut dyn FnMut(&Ty) -> bool) -> bool {
    want(ty)
        || match ty {
            Ty::Composite(_, args)
            | Ty::Extern(_, args)
            | Ty::Parser(_, args)
            | Ty::Control(_, args)
            | Ty::Package(_, args)
            | Ty::Tuple(args) => args.iter().any(|a| any(a, want)),
            Ty::Stack(elem, _) | Ty::List(elem) | Ty::Set(elem) => any(elem, want),
            _ => false,
        }
}

/// Returns true if inference variables are left in a type.
pub(crate) fn has_infer(ty: &Ty) -> bool {
    any(ty, &mut |t| matches!(t, Ty::Infer(_)))
}

/// Returns true if `int` without a width is part of a type.
pub(crate) fn has_int(ty: &Ty) -> bool {
    any(ty, &mut |t| matches!(t, Ty::Int))
}

/// Returns true if a type parameter is part of a type.
pub(crate) fn mentions(ty: &Ty, param: TypeParamId) -> bool {
    any(ty, &mut |t| *t == Ty::Param(param))
}

/// Returns true if [`Ty::Poison`] is part of a type.
pub(crate) fn has_poison(ty: &Ty) -> bool {
    any(ty, &mut |t| matches!(t, Ty::Poison))
}

impl Checker<'_> {
    /// Makes a new inference variable.
    pub(crate) fn fresh(&mut self) -> Ty {
        self.infer.push(None);
        Ty::Infer(self.infer.len() as u32 - 1)
    }

    /// Replaces every solved variable in a type.
    pub(crate) fn zonk(&self, ty: &Ty) -> Ty {
        if !has_infer(ty) {
            return ty.clone();
        }
        map(ty, &mut |t| match t {
            Ty::Infer(i) => Some(match self.infer.get(*i as usize) {
                Some(Some(known)) => self.zonk(known),
                _ => t.clone(),
            }),
            _ => None,
        })
    }

    /// Makes two types equal by solving variables. Returns false if they cannot be equal.
    pub(crate) fn unify(&mut self, a: &Ty, b: &Ty) -> bool {
        self.unify_at(a, b, MAX_UNIFY)
    }

    fn unify_at(&mut self, a: &Ty, b: &Ty, depth: u32) -> bool {
        if depth == 0 {
            return false;
        }
        let (a, b) = (self.shallow(a), self.shallow(b));
        match (&a, &b) {
            (Ty::Poison, _) | (_, Ty::Poison) => true,
            (Ty::Infer(i), Ty::Infer(j)) if i == j => true,
            (Ty::Infer(i), other) | (other, Ty::Infer(i)) => self.solve(*i, other),
            (Ty::Composite(x, p), Ty::Composite(y, q)) => x == y && self.unify_all(p, q, depth),
            (Ty::Extern(x, p), Ty::Extern(y, q)) => x == y && self.unify_all(p, q, depth),
            (Ty::Package(x, p), Ty::Package(y, q)) => x == y && self.unify_all(p, q, depth),
            (Ty::Tuple(p), Ty::Tuple(q)) => self.unify_all(p, q, depth),
            (Ty::Stack(p, n), Ty::Stack(q, m)) => n == m && self.unify_at(p, q, depth - 1),
            (Ty::List(p), Ty::List(q)) | (Ty::Set(p), Ty::Set(q)) => self.unify_at(p, q, depth - 1),
            (Ty::Parser(x, p), Ty::Parser(y, q)) if x == y => self.unify_all(p, q, depth),
            (Ty::Control(x, p), Ty::Control(y, q)) if x == y => self.unify_all(p, q, depth),
            (Ty::Parser(x, p), Ty::Parser(y, q)) => {
                let (x, y) = (&self.module.parsers[*x], &self.module.parsers[*y]);
                let (few, many) = self.without_optional(&x.params, &y.params);
                let one = self.runtime_signature(few, &x.type_params, p);
                let two = self.runtime_signature(many, &y.type_params, q);
                self.unify_signatures(&one, &two, depth)
            }
            (Ty::Control(x, p), Ty::Control(y, q)) => {
                let (x, y) = (&self.module.controls[*x], &self.module.controls[*y]);
                let (few, many) = self.without_optional(&x.params, &y.params);
                let one = self.runtime_signature(few, &x.type_params, p);
                let two = self.runtime_signature(many, &y.type_params, q);
                self.unify_signatures(&one, &two, depth)
            }
            _ => a == b,
        }
    }

    fn unify_all(&mut self, a: &[Ty], b: &[Ty], depth: u32) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(x, y)| self.unify_at(x, y, depth - 1))
    }

    /// Returns directions and types of parameters, with type arguments substituted.
    pub(crate) fn runtime_signature(
        &self,
        params: &[LocalId],
        tp: &[TypeParamId],
        args: &[Ty],
    ) -> Vec<(Direction, Ty)> {
        params
            .iter()
            .map(|p| {
                let local = &self.module.locals[*p];
                let direction = match local.kind {
                    LocalKind::Param(direction) => direction,
                    _ => Direction::None,
                };
                (direction, subst(&local.ty, tp, args))
            })
            .collect()
    }

    /// Returns the parameters of two blocks. `@optional` ones at the end of one are left out if the other lacks them.
    pub(crate) fn without_optional<'p>(
        &self,
        a: &'p [LocalId],
        b: &'p [LocalId],
    ) -> (&'p [LocalId], &'p [LocalId]) {
        let cut = |longer: &'p [LocalId], n: usize| {
            let droppable = longer.len() > n && longer[n..].iter().all(|p| self.is_optional(*p));
            if droppable { &longer[..n] } else { longer }
        };
        (cut(a, b.len()), cut(b, a.len()))
    }

    fn unify_signatures(
        &mut self,
        a: &[(Direction, Ty)],
        b: &[(Direction, Ty)],
        depth: u32,
    ) -> bool {
        a.len() == b.len()
            && a.iter()
                .zip(b)
                .all(|(x, y)| x.0 == y.0 && self.unify_at(&x.1, &y.1, depth - 1))
    }

    /// Resolves a type until its outermost node is not a solved variable.
    pub(crate) fn shallow(&self, ty: &Ty) -> Ty {
        let mut ty = ty.clone();
        while let Ty::Infer(i) = ty {
            match self.infer.get(i as usize) {
                Some(Some(known)) => ty = known.clone(),
                _ => break,
            }
        }
        ty
    }

    fn solve(&mut self, variable: u32, ty: &Ty) -> bool {
        let ty = self.zonk(ty);
        if any(&ty, &mut |t| *t == Ty::Infer(variable)) {
            return false;
        }
        match self.infer.get_mut(variable as usize) {
            Some(slot) => {
                *slot = Some(ty);
                true
            }
            None => false,
        }
    }

    /// Replaces solved variables in an expression and all its parts.
    pub(crate) fn zonk_expr(&self, expr: &mut Expr) {
        map_types(expr, &|ty| self.zonk(ty));
    }
}

/// Replaces the types of an expression and of all its parts.
pub(crate) fn map_types(expr: &mut Expr, f: &dyn Fn(&Ty) -> Ty) {
    expr.ty = f(&expr.ty);
    match &mut expr.kind {
        ExprKind::Field(e, _)
        | ExprKind::TupleField(e, _)
        | ExprKind::StackProperty(e, _)
        | ExprKind::Slice { base: e, .. }
        | ExprKind::IsValid(e)
        | ExprKind::Unary(_, e)
        | ExprKind::Cast(e) => map_types(e, f),
        ExprKind::StackIndex(a, b) | ExprKind::PartSelect { base: a, lo: b, .. } => {
            map_types(a, f);
            map_types(b, f);
        }
        ExprKind::Chain(first, steps) => {
            map_types(first, f);
            for step in steps {
                step.ty = f(&step.ty);
                map_types(&mut step.right, f);
            }
        }
        ExprKind::Mux(a, b, c) => {
            map_types(a, f);
            map_types(b, f);
            map_types(c, f);
        }
        ExprKind::List(elems) => elems.iter_mut().for_each(|e| map_types(e, f)),
        // The variables of a call were solved when it was checked.
        _ => {}
    }
}

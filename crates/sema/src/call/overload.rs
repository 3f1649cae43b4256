//! Overload resolution: by the number and the names of the arguments (specification section "Function overloading"),
//! and then by their types.

use super::Signature;
use crate::checker::Checker;
use crate::errors::{a_type, calls, quoted};
use diag::{Span, counted};
use hir::{CompositeKind, Direction, LocalKind, Ty};
use syntax::ast;

/// Fit of an argument to a type.
enum Fit {
    /// The argument has the type.
    Exact,
    /// The argument can be converted, or may turn out to have the type.
    Converts,
    /// The argument does not fit. Description of it, with its article.
    Not(String),
}

/// Parts of a value of a type, if it is written as a list.
enum Parts {
    /// Parts of these types.
    Are(Vec<Ty>),
    /// Unknown parts, since the type is still open.
    Any,
    /// No parts: values are not written as lists.
    None,
}

impl Checker<'_> {
    /// Picks the one signature that fits the arguments. A lone candidate is always taken, so that its own errors are
    /// reported.
    pub(crate) fn pick(
        &mut self,
        name: &ast::Ident,
        all: &[Signature],
        args: &[ast::Arg],
        span: Span,
    ) -> Option<usize> {
        if all.len() == 1 {
            return Some(0);
        }
        let fitting = self.fitting(all, args);
        if let [one] = fitting[..] {
            return Some(one);
        }
        let closest = self.closest(all, &fitting, args);
        match closest[..] {
            [one] => return Some(one),
            [] => {
                let reasons = (all.iter())
                    .map(|s| (s.span, self.why_not(s, args)))
                    .collect();
                self.report(calls::no_overload(span, &name.name, args.len(), reasons));
            }
            _ => {
                let locations: Vec<Span> = closest.iter().map(|&i| all[i].span).collect();
                self.report(calls::ambiguous(span, &name.name, &locations));
            }
        }
        None
    }

    /// Returns the indices of the signatures that fit the number and the names of the arguments.
    pub(super) fn fitting(&self, all: &[Signature], args: &[ast::Arg]) -> Vec<usize> {
        (0..all.len())
            .filter(|&i| self.misfit(&all[i], args).is_none())
            .collect()
    }

    /// Returns those of `fitting` whose parameters' types fit the arguments best. It is one, unless none fits or
    /// several fit equally well.
    pub(super) fn closest(
        &mut self,
        all: &[Signature],
        fitting: &[usize],
        args: &[ast::Arg],
    ) -> Vec<usize> {
        let scored: Vec<(u32, usize)> = fitting
            .iter()
            .filter_map(|&i| Some((self.closeness(&all[i], args).ok()?, i)))
            .collect();
        let best = scored.iter().map(|(score, _)| *score).max();
        let are_best = scored.into_iter().filter(|(score, _)| Some(*score) == best);
        are_best.map(|(_, i)| i).collect()
    }

    /// Describes why a signature does not fit.
    fn why_not(&mut self, signature: &Signature, args: &[ast::Arg]) -> String {
        self.misfit(signature, args)
            .or_else(|| self.closeness(signature, args).err())
            .unwrap_or_default()
    }

    /// Returns an argument's type without regard to its parameter; `None` if it has none by itself.
    fn type_alone(&mut self, value: &ast::Expr) -> Option<Ty> {
        let place = (std::ptr::from_ref(value).addr(), value.span);
        if let Some(known) = self.alone.get(&place) {
            return known.clone();
        }
        // Its errors are reported when it is bound.
        let reported = std::mem::take(&mut self.diagnostics);
        let allowed = std::mem::replace(&mut self.constructors_allowed, true);
        let ty = self.expr(value, None).ty;
        self.constructors_allowed = allowed;
        self.diagnostics = reported;
        let ty = (ty != Ty::Poison).then_some(ty);
        self.alone.insert(place, ty.clone());
        ty
    }

    /// Returns the number of arguments that have exactly their parameters' types. The error describes one that cannot
    /// be converted.
    fn closeness(&mut self, signature: &Signature, args: &[ast::Arg]) -> Result<u32, String> {
        let mut exact = 0;
        for (i, arg) in args.iter().enumerate() {
            let named = |p: &hir::LocalId| match &arg.name {
                Some(name) => self.module.locals[*p].name == name.name,
                None => signature.params.get(i) == Some(p),
            };
            let Some(param) = signature.params.iter().find(|p| named(p)) else {
                continue;
            };
            let local = &self.module.locals[*param];
            let name = local.name.clone();
            let wanted = crate::infer::subst(&local.ty, &signature.outer.0, &signature.outer.1);
            let reads = !matches!(
                local.kind,
                LocalKind::Param(Direction::Out | Direction::InOut)
            );
            match self.fit(&arg.value, &wanted, reads) {
                Fit::Exact => exact += 1,
                Fit::Converts => {}
                Fit::Not(given) => {
                    let wanted = self.show(&wanted);
                    return Err(format!("here `{name}` is {}, not {given}", a_type(&wanted)));
                }
            }
        }
        Ok(exact)
    }

    /// Tests how an argument fits its parameter's type, lists and structures part by part. `reads` is true if the
    /// parameter is read, so that the argument may be converted.
    fn fit(&mut self, value: &ast::Expr, wanted: &Ty, reads: bool) -> Fit {
        use ast::ExprKind::*;
        match &value.kind {
            DontCare | Default | Invalid => Fit::Converts,
            List(elems) => {
                let (given, rest) = match elems.split_last() {
                    Some((last, given)) if matches!(last.kind, Default) => (given, true),
                    _ => (&elems[..], false),
                };
                match self.parts_of(wanted, given.len()) {
                    Parts::Any => Fit::Converts,
                    Parts::Are(slots)
                        if slots.len() == given.len() || rest && given.len() < slots.len() =>
                    {
                        self.fit_all("a list", given.iter().zip(&slots))
                    }
                    Parts::Are(_) | Parts::None => {
                        Fit::Not(format!("a list of {}", counted(given.len(), "element")))
                    }
                }
            }
            Struct { fields, rest } => {
                let slots = match wanted {
                    Ty::Composite(id, args)
                        if self.module.composites[*id].kind != CompositeKind::Union =>
                    {
                        self.field_types(*id, args)
                    }
                    Ty::Param(_) | Ty::Infer(_) | Ty::Poison => return Fit::Converts,
                    _ => Vec::new(),
                };
                let slot = |name: &ast::Ident| slots.iter().find(|(n, _)| *n == name.name);
                let pairs: Option<Vec<(&ast::Expr, &Ty)>> = (fields.iter())
                    .map(|(name, value)| Some((value, &slot(name)?.1)))
                    .collect();
                match pairs.filter(|pairs| *rest || pairs.len() == slots.len()) {
                    Some(pairs) => self.fit_all("a structure", pairs.into_iter()),
                    None => {
                        let names: Vec<&str> =
                            fields.iter().map(|(n, _)| n.name.as_str()).collect();
                        Fit::Not(format!("a structure of {}", quoted(&names)))
                    }
                }
            }
            _ => match self.type_alone(value) {
                Some(ty) => self.fit_type(&ty, wanted, reads),
                None => Fit::Converts,
            },
        }
    }

    /// Combines the fits of the parts of `what`.
    fn fit_all<'e>(
        &mut self,
        what: &str,
        parts: impl Iterator<Item = (&'e ast::Expr, &'e Ty)>,
    ) -> Fit {
        let mut all = Fit::Exact;
        for (value, wanted) in parts {
            match self.fit(value, wanted, true) {
                Fit::Exact => {}
                Fit::Converts => all = Fit::Converts,
                Fit::Not(given) => {
                    let wanted = a_type(&self.show(wanted));
                    return Fit::Not(format!("{what} with {given} in the place of {wanted}"));
                }
            }
        }
        all
    }

    fn fit_type(&self, ty: &Ty, wanted: &Ty, reads: bool) -> Fit {
        let is_generic = crate::infer::any(wanted, &mut |t| matches!(t, Ty::Param(_)));
        let converts = reads
            && (*ty == Ty::Int && self.bits_behind(wanted).is_some()
                || self.underlying(ty).is_some_and(|inner| inner == *wanted));
        if ty == wanted {
            Fit::Exact
        } else if is_generic || converts {
            Fit::Converts
        } else {
            Fit::Not(a_type(&self.show(ty)))
        }
    }

    /// Returns the types of the parts in a list that stands for a value of a type.
    fn parts_of(&self, ty: &Ty, given: usize) -> Parts {
        match ty {
            Ty::Composite(id, args) if self.module.composites[*id].kind != CompositeKind::Union => {
                let fields = self.field_types(*id, args);
                Parts::Are(fields.into_iter().map(|(_, ty)| ty).collect())
            }
            Ty::Tuple(elems) => Parts::Are(elems.to_vec()),
            Ty::Stack(elem, n) => Parts::Are(vec![(**elem).clone(); *n as usize]),
            Ty::List(elem) => Parts::Are(vec![(**elem).clone(); given]),
            Ty::Param(_) | Ty::Infer(_) | Ty::Poison => Parts::Any,
            _ => Parts::None,
        }
    }

    /// Describes the misfit of the arguments' number and names. Each argument needs a parameter, and each parameter an
    /// argument unless it may be absent.
    fn misfit(&self, signature: &Signature, args: &[ast::Arg]) -> Option<String> {
        let params = &signature.params;
        if args.len() > params.len() {
            return Some(format!(
                "this one has {}",
                counted(params.len(), "parameter")
            ));
        }
        let mut filled = vec![false; params.len()];
        for (i, arg) in args.iter().enumerate() {
            let slot = match &arg.name {
                Some(name) => {
                    let mut names = params.iter().map(|p| &self.module.locals[*p].name);
                    let Some(slot) = names.position(|known| *known == name.name) else {
                        return Some(format!("this one has no parameter `{}`", name.name));
                    };
                    slot
                }
                None => i,
            };
            filled[slot] = true;
        }
        let mut missing = params.iter().zip(filled);
        let (missing, _) = missing.find(|(p, filled)| !filled && !self.may_be_absent(**p))?;
        let name = &self.module.locals[*missing].name;
        Some(format!("this one needs an argument for `{name}`"))
    }

    /// Returns true if a parameter may be without an argument.
    pub(crate) fn may_be_absent(&self, param: hir::LocalId) -> bool {
        self.defaults.contains_key(&param) || self.is_optional(param)
    }

    /// Returns true if a parameter is `@optional`.
    pub(crate) fn is_optional(&self, param: hir::LocalId) -> bool {
        self.module.locals[param]
            .annotations
            .iter()
            .any(|a| a.name == "optional")
    }
}

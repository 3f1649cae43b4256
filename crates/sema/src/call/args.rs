//! Binding of arguments to parameters: by position or name, typed, directed, with type arguments inferred.

use crate::checker::{Checker, poison_expr};
use crate::errors::{calls, constants, types};
use crate::infer::{has_infer, has_int, has_poison, map_types, mentions, subst};
use diag::Span;
use diag::nearest;
use hir::*;
use smol_str::SmolStr;
use syntax::ast;

/// Width of a number without a width, if its object was declared with `_` and nothing else determines the type: that of
/// an index.
const NUMBER_FOR_UNDETERMINED: u32 = 32;

/// Kind of callee, which determines the arguments that a directionless parameter accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// A compile-time constant: functions.
    Function,
    /// Any value, as for `in`, or an object: extern functions and methods.
    Extern,
    /// Any value: an action called by the program itself.
    Action,
    /// A compile-time constant or an object, perhaps an inline instance: constructors.
    Constructor,
    /// A compile-time constant or an object: `apply` of parsers and controls.
    Apply,
}

/// Signature of a callee.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    /// Name of the callee, for messages.
    pub(crate) name: SmolStr,
    /// Type parameters of the callee itself.
    pub(crate) type_params: Vec<TypeParamId>,
    /// Its parameters.
    pub(crate) params: Vec<LocalId>,
    /// Result type.
    pub(crate) result: Ty,
    /// Kind of the callee, for directionless parameters.
    pub(crate) mode: Mode,
    /// Type parameters of the enclosing declaration, and their arguments.
    pub(crate) outer: (Vec<TypeParamId>, Vec<Ty>),
    /// True if type arguments that the arguments do not determine may be inferred later.
    pub(crate) deferred: bool,
    /// Location of the declaration.
    pub(crate) span: Span,
}

impl Signature {
    /// Makes the signature of a function or method.
    pub(crate) fn of_proto(proto: &Prototype) -> Signature {
        Signature {
            name: proto.name.clone(),
            type_params: proto.type_params.clone(),
            params: proto.params.clone(),
            result: proto.result.clone(),
            mode: Mode::Function,
            outer: (Vec::new(), Vec::new()),
            deferred: false,
            span: proto.span,
        }
    }

    /// Makes a signature without type parameters and result.
    pub(crate) fn plain(name: &SmolStr, params: &[LocalId], mode: Mode, span: Span) -> Signature {
        Signature {
            name: name.clone(),
            type_params: Vec::new(),
            params: params.to_vec(),
            result: Ty::Void,
            mode,
            outer: (Vec::new(), Vec::new()),
            deferred: false,
            span,
        }
    }

    /// Makes the signature of an extern function or method.
    pub(crate) fn of_extern(proto: &Prototype) -> Signature {
        Signature {
            mode: Mode::Extern,
            ..Signature::of_proto(proto)
        }
    }

    /// Returns the signature inside a generic declaration with these arguments.
    pub(crate) fn inside(mut self, params: &[TypeParamId], args: &[Ty]) -> Signature {
        self.outer = (params.to_vec(), args.to_vec());
        self
    }
}

/// Bound arguments, in parameter order.
#[derive(Debug)]
pub(crate) struct Bound {
    /// One for each parameter.
    pub(crate) args: Args,
    /// One for each type parameter.
    pub(crate) type_args: Vec<Ty>,
    /// Result type of the call.
    pub(crate) result: Ty,
}

/// State of one parameter during binding.
enum Filled {
    Done(Arg),
    /// A number without a width, for a type that is not yet known.
    Number(Expr),
    Failed,
}

/// Returns the location of the number without a width in a list, as far as its elements are written out.
fn without_width(value: &Expr) -> Span {
    if let ExprKind::List(elems) = &value.kind
        && let Some(elem) = elems.iter().find(|e| has_int(&e.ty))
    {
        return without_width(elem);
    }
    value.span
}

/// Returns the location of all surplus arguments.
pub(crate) fn surplus(args: &[ast::Arg]) -> Span {
    let ends = args.first().zip(args.last());
    ends.map_or(Span::NONE, |(first, last)| {
        first.value.span.to(last.value.span)
    })
}

impl Checker<'_> {
    /// Binds arguments. `None` after an error that makes the call meaningless.
    pub(crate) fn bind(
        &mut self,
        sig: &Signature,
        types: &[ast::Type],
        args: &[ast::Arg],
        want: Option<&Ty>,
        span: Span,
    ) -> Option<Bound> {
        let explicit: Vec<Ty> = types.iter().map(|t| self.ty(t)).collect();
        self.bind_typed(sig, &explicit, args, want, span)
    }

    /// Binds arguments as [`Checker::bind`] does, with type arguments already resolved.
    pub(crate) fn bind_typed(
        &mut self,
        sig: &Signature,
        explicit: &[Ty],
        args: &[ast::Arg],
        want: Option<&Ty>,
        span: Span,
    ) -> Option<Bound> {
        let vars: Vec<Ty> = sig.type_params.iter().map(|_| self.fresh()).collect();
        if !explicit.is_empty() {
            let written = sig.type_params.iter().copied();
            let written: Vec<TypeParamId> =
                written.filter(|p| !self.implicit.contains(p)).collect();
            if explicit.len() != written.len() {
                let diagnostic = if written.is_empty() {
                    types::not_generic(span, &sig.name)
                } else {
                    let names = self.type_param_names(&written);
                    types::type_argument_count(span, &sig.name, &names, explicit.len())
                };
                self.report(diagnostic);
                self.give_up(args);
                return None;
            }
            for (var, ty) in vars.iter().zip(explicit) {
                self.unify(var, ty);
            }
        }
        let slots = self.assign(sig, args, span)?;
        // Each argument has a slot: none is left over.
        let written = args.iter().filter_map(|arg| {
            let is_this = |slot: &Option<&ast::Arg>| slot.is_some_and(|s| std::ptr::eq(s, arg));
            slots.iter().position(is_this)
        });
        let written: Vec<usize> = written.collect();
        let before = self.constructors_allowed;
        self.constructors_allowed = sig.mode == Mode::Constructor;
        let mut filled = Vec::with_capacity(slots.len());
        for (param, slot) in sig.params.iter().zip(slots) {
            filled.push(match slot {
                Some(arg) => {
                    let ty = self.param_ty(sig, *param, &vars);
                    self.fill(sig, *param, &ty, arg)
                }
                None => Filled::Done(self.absent(sig, *param, &vars, span)),
            });
        }
        self.constructors_allowed = before;
        let result = subst(
            &subst(&sig.result, &sig.outer.0, &sig.outer.1),
            &sig.type_params,
            &vars,
        );
        if let Some(want) = want
            && has_infer(&self.zonk(&result))
        {
            let want = self.zonk(want);
            if !has_infer(&want) {
                self.unify(&result, &want);
            }
        }
        let (args, type_args, result) = self.close(sig, filled, &vars, &result, span);
        Some(Bound {
            args: Args::new(args, written),
            type_args,
            result,
        })
    }

    fn param_ty(&self, sig: &Signature, param: LocalId, vars: &[Ty]) -> Ty {
        let ty = subst(&self.module.locals[param].ty, &sig.outer.0, &sig.outer.1);
        subst(&ty, &sig.type_params, vars)
    }

    /// Assigns arguments to parameters.
    fn assign<'e>(
        &mut self,
        sig: &Signature,
        args: &'e [ast::Arg],
        span: Span,
    ) -> Option<Vec<Option<&'e ast::Arg>>> {
        let mut slots: Vec<Option<&ast::Arg>> = vec![None; sig.params.len()];
        let named = args.iter().filter(|a| a.name.is_some()).count();
        let mut bad = false;
        if named != 0 && named != args.len() {
            let at = args
                .iter()
                .find(|a| a.name.is_none())
                .map_or(span, |a| a.value.span);
            self.report(calls::mixed(at));
            bad = true;
        } else if named != 0 {
            for arg in args {
                let Some(name) = &arg.name else { continue };
                let slot = sig
                    .params
                    .iter()
                    .position(|p| self.module.locals[*p].name == name.name);
                match slot {
                    Some(i) if slots[i].is_some() => {
                        self.report(calls::argument_twice(name));
                        bad = true;
                    }
                    Some(i) => slots[i] = Some(arg),
                    None => {
                        let all: Vec<SmolStr> = sig
                            .params
                            .iter()
                            .map(|p| self.module.locals[*p].name.clone())
                            .collect();
                        let near = nearest(&name.name, all.iter().map(SmolStr::as_str));
                        self.report(calls::unknown_argument(name, &sig.name, near));
                        bad = true;
                    }
                }
            }
        } else if args.len() > sig.params.len() {
            let extra = surplus(&args[sig.params.len()..]);
            let mut found = calls::too_many(extra, &sig.name, sig.params.len(), args.len());
            if let Some(longer) = self.longer_relative(&sig.name, args.len()) {
                found.help = Some(longer);
            }
            self.report(found.also(sig.span, "declared here"));
            bad = true;
        } else {
            for (slot, arg) in slots.iter_mut().zip(args) {
                *slot = Some(arg);
            }
        }
        if !bad {
            let missing: Vec<SmolStr> = sig
                .params
                .iter()
                .zip(&slots)
                .filter(|(p, slot)| slot.is_none() && !self.may_be_absent(**p))
                .map(|(p, _)| self.module.locals[*p].name.clone())
                .collect();
            if !missing.is_empty() {
                self.report(
                    calls::missing(span, &sig.name, &missing).also(sig.span, "declared here"),
                );
                bad = true;
            }
        }
        if bad {
            self.give_up(args);
            return None;
        }
        Some(slots)
    }

    /// Returns the value of a parameter without an argument, with type arguments substituted.
    fn absent(&mut self, sig: &Signature, param: LocalId, vars: &[Ty], span: Span) -> Arg {
        let Some(mut value) = self.defaults.get(&param).cloned() else {
            return Arg::Absent;
        };
        value.span = span;
        let here = |ty: &Ty| {
            let inside = subst(ty, &sig.outer.0, &sig.outer.1);
            subst(&inside, &sig.type_params, vars)
        };
        self.make_own(&mut value, &here);
        let ty = self.param_ty(sig, param, vars);
        Arg::In(self.coerce(value, &ty))
    }

    /// Makes a copy of a default value for one call, with its types mapped by `here`. Each call makes objects of its
    /// own.
    fn make_own(&mut self, value: &mut Expr, here: &dyn Fn(&Ty) -> Ty) {
        map_types(value, here);
        let ExprKind::Instance(id) = &mut value.kind else {
            return;
        };
        if !self.module.instances[*id].name.is_empty() {
            return;
        }
        let mut own = self.module.instances[*id].clone();
        own.ty = here(&own.ty);
        for arg in &mut own.args {
            if let Arg::In(inner) = arg {
                self.make_own(inner, here);
            }
        }
        *id = self.module.instances.push(own);
    }

    fn fill(&mut self, sig: &Signature, param: LocalId, ty: &Ty, arg: &ast::Arg) -> Filled {
        let local = &self.module.locals[param];
        let (name, kind, declared) = (local.name.clone(), local.kind, local.span);
        let direction = match kind {
            LocalKind::Param(direction) => direction,
            _ => Direction::None,
        };
        let dont_care = matches!(arg.value.kind, ast::ExprKind::DontCare);
        match direction {
            Direction::Out if dont_care => Filled::Done(Arg::Discard(ty.clone())),
            Direction::Out | Direction::InOut => {
                if dont_care {
                    self.report(calls::dont_care(arg.value.span, &name));
                    return Filled::Failed;
                }
                let value = self.expr(&arg.value, None);
                if value.ty == Ty::Poison || !self.require_lvalue(&value) {
                    return Filled::Failed;
                }
                if !self.unify(ty, &value.ty) {
                    let (want, got) = (self.show(&self.zonk(ty)), self.show(&value.ty));
                    let word = if direction == Direction::Out {
                        "out"
                    } else {
                        "inout"
                    };
                    self.report(calls::lvalue_type(
                        value.span, &name, word, &want, &got, declared,
                    ));
                    return Filled::Failed;
                }
                Filled::Done(if direction == Direction::Out {
                    Arg::Out(value)
                } else {
                    Arg::InOut(value)
                })
            }
            Direction::In | Direction::None => {
                if dont_care {
                    self.report(calls::dont_care(arg.value.span, &name));
                    return Filled::Failed;
                }
                let known = self.zonk(ty);
                let bare = matches!(known, Ty::Infer(_));
                let value = self.expr(&arg.value, (!bare).then_some(&known));
                if value.ty == Ty::Poison {
                    return Filled::Failed;
                }
                if direction == Direction::None
                    && !matches!(sig.mode, Mode::Action | Mode::Extern)
                    && !self.is_object(&value.ty)
                {
                    let what = format!("the argument for the directionless parameter `{name}`");
                    if !self.require_compile_time(&value, &what) {
                        return Filled::Failed;
                    }
                }
                if sig.mode == Mode::Constructor && self.is_runtime_parameter(&value) {
                    let what = "an argument of a constructor";
                    self.report(constants::not_constant(value.span, what));
                    return Filled::Failed;
                }
                if bare && value.ty == Ty::Int {
                    return Filled::Number(value);
                }
                let is_block =
                    matches!(value.ty, Ty::Parser(..) | Ty::Control(..) | Ty::Package(..));
                let takes_blocks = matches!(sig.mode, Mode::Constructor | Mode::Apply);
                if bare
                    && !self.is_value(&value.ty)
                    && (!self.is_object(&value.ty) || is_block && !takes_blocks)
                {
                    let shown = self.show(&value.ty);
                    self.report(types::not_storable(value.span, &shown));
                    return Filled::Failed;
                }
                // An extern's `int` parameter accepts a run-time number with its own width.
                if known == Ty::Int
                    && sig.mode == Mode::Extern
                    && matches!(value.ty, Ty::Bits { .. })
                    && !self.is_compile_time(&value)
                {
                    return Filled::Done(Arg::In(value));
                }
                let value = self.coerce(value, &known);
                if value.ty == Ty::Poison {
                    Filled::Failed
                } else {
                    Filled::Done(Arg::In(value))
                }
            }
        }
    }

    /// Returns true if a value is a parameter that is bound only when its owner runs.
    fn is_runtime_parameter(&self, value: &Expr) -> bool {
        match value.kind {
            ExprKind::Local(id) => matches!(self.module.locals[id].kind, LocalKind::Param(_)),
            _ => false,
        }
    }

    /// Returns true if a type is that of objects, which are always compile-time constants.
    fn is_object(&self, ty: &Ty) -> bool {
        matches!(
            ty,
            Ty::Extern(..) | Ty::Parser(..) | Ty::Control(..) | Ty::Package(..)
        )
    }

    /// Solves the remaining variables, and rewrites the arguments with the solution.
    fn close(
        &mut self,
        sig: &Signature,
        filled: Vec<Filled>,
        vars: &[Ty],
        result: &Ty,
        span: Span,
    ) -> (Vec<Arg>, Vec<Ty>, Ty) {
        let mut failed = false;
        let mut args = Vec::with_capacity(filled.len());
        for (param, slot) in sig.params.iter().zip(filled) {
            args.push(match slot {
                Filled::Done(arg) => arg,
                Filled::Number(value) => {
                    let ty = self.param_ty(sig, *param, vars);
                    if self.is_undetermined(sig, *param, &ty) {
                        self.unify(&ty, &Ty::bit(NUMBER_FOR_UNDETERMINED));
                    }
                    let at = value.span;
                    let compile_time = !matches!(
                        self.module.locals[*param].kind,
                        LocalKind::Param(Direction::In)
                    );
                    let value = self.coerce(value, &ty);
                    if value.ty == Ty::Int && !compile_time {
                        self.report(types::int_argument(at));
                        failed = true;
                    }
                    Arg::In(value)
                }
                Filled::Failed => {
                    failed = true;
                    Arg::In(poison_expr(span))
                }
            });
        }
        let mut type_args = Vec::with_capacity(vars.len());
        for (id, var) in sig.type_params.iter().zip(vars) {
            let mut ty = self.zonk(var);
            if matches!(ty, Ty::Infer(_)) && self.only_for_absent(sig, *id, &args) {
                // No value will ever have this type.
                self.unify(var, &Ty::Void);
                ty = Ty::Void;
            } else if has_infer(&ty) && !sig.deferred {
                // After an error in an argument no further error is reported.
                if !failed && !has_poison(&ty) {
                    let name = self.module.type_params[*id].name.clone();
                    self.report(types::cannot_infer(span, &name, &sig.name));
                }
                self.unify(var, &Ty::Poison);
                self.solve_poison(var);
                ty = Ty::Poison;
            }
            type_args.push(ty);
        }
        for (param, arg) in sig.params.iter().zip(&mut args) {
            match arg {
                Arg::In(e) | Arg::Out(e) | Arg::InOut(e) => {
                    self.zonk_expr(e);
                    let run_time = matches!(
                        self.module.locals[*param].kind,
                        LocalKind::Param(Direction::In)
                    );
                    if run_time && e.ty != Ty::Int && has_int(&e.ty) && !failed {
                        self.report(types::int_argument(without_width(e)));
                        failed = true;
                    }
                }
                Arg::Discard(ty) => *ty = self.zonk(ty),
                Arg::Absent => {}
            }
        }
        let result = self.zonk(result);
        (args, type_args, result)
    }

    /// Returns true if a method's parameter has a type that was declared as `_` for its object and is not determined
    /// yet.
    fn is_undetermined(&self, sig: &Signature, param: LocalId, ty: &Ty) -> bool {
        let of_object =
            matches!(self.module.locals[param].ty, Ty::Param(id) if sig.outer.0.contains(&id));
        sig.mode == Mode::Extern && of_object && matches!(self.zonk(ty), Ty::Infer(_))
    }

    /// True if no parameter with an argument mentions a type parameter. If the result mentions it, a parameter without
    /// an argument must mention it too.
    fn only_for_absent(&self, sig: &Signature, id: TypeParamId, args: &[Arg]) -> bool {
        let mut absent = !mentions(&sig.result, id);
        for (param, arg) in sig.params.iter().zip(args) {
            if mentions(&self.module.locals[*param].ty, id) {
                match arg {
                    Arg::Absent => absent = true,
                    _ => return false,
                }
            }
        }
        absent
    }

    fn solve_poison(&mut self, var: &Ty) {
        if let Ty::Infer(i) = var
            && let Some(slot) = self.infer.get_mut(*i as usize)
            && slot.is_none()
        {
            *slot = Some(Ty::Poison);
        }
    }
}

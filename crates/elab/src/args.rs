//! Arguments: evaluated from left to right, then copied in and out, or shared where that is unobservable.

use crate::apart::same_form;
use crate::assign::LValue;
use crate::effects::with_effects_after;
use crate::instances::{Binding, InstRef};
use crate::storage::{HeaderLoc, Leaf, Storage};
use crate::value::{HeaderValue, Value};
use crate::{Elab, Result, errors};
use diag::Span;
use hir::{Direction, LocalId, LocalKind, Ty};
use ir::{Arg, HeaderRef, Param, Place, Routine};

/// An argument after evaluation.
pub(crate) enum EvalArg {
    /// An object.
    Object(InstRef),
    /// A value that is copied in.
    In(Value),
    /// An l-value that is copied out to.
    Out(LValue),
    /// An l-value that is copied in and out. It has a value, too, if a later argument may change the l-value.
    InOut(LValue, Option<Value>),
    /// Nothing: the value that is copied out is dropped.
    Discard,
}

/// Arguments after evaluation.
pub(crate) struct EvalArgs {
    /// One for each parameter.
    pub(crate) all: Vec<EvalArg>,
    /// Indices of the arguments that the source gives, in the order in which they are copied back.
    written: Vec<usize>,
}

/// A parameter of a body that has been built.
#[derive(Clone)]
pub(crate) enum ParamInst {
    /// Bound to an object.
    Object(InstRef),
    /// The argument's own storage.
    Shared(Storage),
    /// Storage of its own.
    Copied(Direction, Storage),
}

/// A parameter to copy back once a body has run.
#[derive(Clone)]
pub(crate) struct CopyOut {
    /// Destination.
    pub(crate) dst: LValue,
    /// Storage of the parameter.
    pub(crate) src: Storage,
    /// Location in the source text.
    pub(crate) span: Span,
}

/// Arguments as they are passed to a routine.
pub(crate) struct CallArgs {
    pub(crate) passed: Vec<Arg>,
    /// Parameters to copy back after the call.
    pub(crate) after: Vec<CopyOut>,
    /// Headers that the call itself copies back, after which no other header of their unions is valid.
    pub(crate) alone: Vec<HeaderLoc>,
}

impl EvalArgs {
    /// Appends values as arguments that the source does not give.
    pub(crate) fn with(mut self, values: impl Iterator<Item = Value>) -> EvalArgs {
        self.all.extend(values.map(EvalArg::In));
        self
    }

    /// Returns the indices of all arguments: those that the source gives come first, in their order.
    fn in_order(&self) -> impl Iterator<Item = usize> {
        let others = (0..self.all.len()).filter(|i| !self.written.contains(i));
        self.written.iter().copied().chain(others)
    }
}

impl Elab<'_> {
    /// Returns a parameter's direction; `None` means by value.
    pub(crate) fn direction(&self, param: LocalId) -> Direction {
        match self.module.locals[param].kind {
            LocalKind::Param(direction) => direction,
            _ => Direction::None,
        }
    }

    /// Evaluates arguments from left to right as the source gives them, then those that it omits.
    pub(crate) fn eval_args(&mut self, args: &hir::Args) -> Result<EvalArgs> {
        let mut all: Vec<Option<EvalArg>> = args.iter().map(|_| None).collect();
        let in_order = with_effects_after(args);
        for &(i, arg, effects_after) in &in_order {
            all[i] = Some(self.eval_arg(arg, effects_after)?);
        }
        let written = in_order.into_iter().map(|(i, ..)| i).collect();
        let complete = all.into_iter().zip(args.iter());
        let complete = complete.map(|(done, arg)| match done {
            Some(done) => Ok(done),
            None => self.eval_arg(arg, false),
        });
        Ok(EvalArgs {
            all: complete.collect::<Result<_>>()?,
            written,
        })
    }

    fn eval_arg(&mut self, arg: &hir::Arg, effects_after: bool) -> Result<EvalArg> {
        Ok(match arg {
            hir::Arg::In(expr) => match self.object(expr)? {
                Some(object) => EvalArg::Object(object),
                None => {
                    let mut value = self.eval(expr)?;
                    if effects_after {
                        value = self.save(value, &expr.ty, expr.span)?;
                    }
                    EvalArg::In(value)
                }
            },
            hir::Arg::Out(expr) => EvalArg::Out(self.lvalue(expr, true)?),
            hir::Arg::InOut(expr) => {
                let place = self.lvalue(expr, true)?;
                let mut taken = None;
                if effects_after {
                    let value = self.load(&place, expr.span)?;
                    taken = Some(self.save(value, &expr.ty, expr.span)?);
                }
                EvalArg::InOut(place, taken)
            }
            hir::Arg::Discard(_) | hir::Arg::Absent => EvalArg::Discard,
        })
    }

    /// Returns the storage of each argument that a body may use in place of a parameter of its own. Such an
    /// argument does not overlap another one, and still has the value that it had when it was evaluated.
    pub(crate) fn shareable(&self, args: &[EvalArg]) -> Vec<Option<Storage>> {
        let storage = |arg: &EvalArg| -> Option<(Vec<Leaf>, bool)> {
            match arg {
                EvalArg::In(Value::Stored(storage)) => Some((self.leaves(storage), false)),
                EvalArg::Out(place) | EvalArg::InOut(place, _) => {
                    Some((self.leaves_written(place), true))
                }
                _ => None,
            }
        };
        let all: Vec<_> = args.iter().map(storage).collect();
        args.iter()
            .enumerate()
            .map(|(i, arg)| {
                let own = match arg {
                    EvalArg::In(Value::Stored(storage))
                    | EvalArg::Out(LValue::Whole(storage))
                    | EvalArg::InOut(LValue::Whole(storage), None) => storage,
                    _ => return None,
                };
                if !matches!(arg, EvalArg::In(_)) && is_of_union(own) {
                    return None;
                }
                let (leaves, written) = all[i].as_ref()?;
                let apart = all.iter().enumerate().all(|(j, other)| match other {
                    Some((others, other_written)) if i != j && (*written || *other_written) => {
                        !self.leaves_overlap(leaves, others)
                    }
                    _ => true,
                });
                (apart && self.is_static(own)).then(|| own.clone())
            })
            .collect()
    }

    fn leaves_overlap(&self, a: &[Leaf], b: &[Leaf]) -> bool {
        let header = |leaf: &Leaf| match leaf {
            Leaf::Header(h) | Leaf::Scalar(Place::Field(h, _)) => Some(*h),
            Leaf::Scalar(Place::Var(_)) => None,
        };
        a.iter().any(|a| {
            b.iter().any(|b| match (a, b) {
                (Leaf::Scalar(a), Leaf::Scalar(b)) if a == b => true,
                (Leaf::Scalar(Place::Field(_, i)), Leaf::Scalar(Place::Field(_, j))) if i != j => {
                    false
                }
                _ => match (header(a), header(b)) {
                    (Some(a), Some(b)) => self.same_header(a, b),
                    _ => false,
                },
            })
        })
    }

    /// Makes the parameters of a body and binds them in the environment.
    pub(crate) fn make_params(
        &mut self,
        params: &[LocalId],
        args: &[EvalArg],
        share: &[Option<Storage>],
    ) -> Result<Vec<ParamInst>> {
        let mut made = Vec::new();
        for (i, &param) in params.iter().enumerate() {
            let local = &self.module.locals[param];
            let inst = match (args.get(i), share.get(i)) {
                (Some(EvalArg::Object(object)), _) => ParamInst::Object(*object),
                (_, Some(Some(storage))) => ParamInst::Shared(storage.clone()),
                _ => {
                    let storage = self.allocate(&local.name, &local.ty, local.span)?;
                    ParamInst::Copied(self.direction(param), storage)
                }
            };
            self.env.locals.insert(
                param,
                match &inst {
                    ParamInst::Object(object) => Binding::Instance(*object),
                    ParamInst::Shared(storage) | ParamInst::Copied(_, storage) => {
                        Binding::Storage(storage.clone())
                    }
                },
            );
            made.push(inst);
        }
        Ok(made)
    }

    /// Resets shared `out` parameters, which are undefined at the beginning of a body.
    pub(crate) fn reset_shared_outs(
        &mut self,
        params: &[LocalId],
        made: &[ParamInst],
        span: Span,
    ) -> Result<()> {
        for (&param, inst) in params.iter().zip(made) {
            if let (ParamInst::Shared(storage), Direction::Out) = (inst, self.direction(param)) {
                let storage = storage.clone();
                self.reset(&storage, span)?;
            }
        }
        Ok(())
    }

    /// Returns the parameters of a routine.
    pub(crate) fn routine_params(&self, made: &[ParamInst]) -> Vec<Param> {
        let mut params = Vec::new();
        for inst in made {
            let ParamInst::Copied(direction, storage) = inst else {
                continue;
            };
            for leaf in self.leaves(storage) {
                params.push(match (leaf, direction) {
                    (Leaf::Scalar(Place::Var(v)), Direction::Out) => Param::Out(v),
                    (Leaf::Scalar(Place::Var(v)), Direction::InOut) => Param::InOut(v),
                    (Leaf::Scalar(Place::Var(v)), _) => Param::In(v),
                    (Leaf::Header(HeaderRef::Header(h)), Direction::Out) => Param::HeaderOut(h),
                    (Leaf::Header(HeaderRef::Header(h)), Direction::InOut) => Param::HeaderInOut(h),
                    (Leaf::Header(HeaderRef::Header(h)), _) => Param::HeaderIn(h),
                    // A parameter's own storage is made of variables and headers.
                    _ => continue,
                });
            }
        }
        params
    }

    /// Returns the arguments for a routine, and what the call requires besides.
    pub(crate) fn call_args(
        &mut self,
        routine: Routine,
        made: &[ParamInst],
        args: &EvalArgs,
        span: Span,
    ) -> Result<CallArgs> {
        let mut all: Vec<Vec<Arg>> = made.iter().map(|_| Vec::new()).collect();
        let (mut after, mut alone) = (Vec::new(), Vec::new());
        // Arguments that the call itself copies back. It does so in the order of parameters, whatever their order
        // in the source.
        let mut by_call: Vec<(usize, Vec<Leaf>)> = Vec::new();
        for i in args.in_order() {
            let (Some(inst), Some(arg)) = (made.get(i), args.all.get(i)) else {
                continue;
            };
            let passed = &mut all[i];
            match (inst, arg) {
                (ParamInst::Object(known), EvalArg::Object(given)) => {
                    if known != given {
                        return self.fail(errors::different_objects(span, Span::NONE));
                    }
                }
                (ParamInst::Shared(known), arg) => {
                    let same = match arg {
                        EvalArg::In(Value::Stored(given))
                        | EvalArg::Out(LValue::Whole(given))
                        | EvalArg::InOut(LValue::Whole(given), None) => given == known,
                        _ => false,
                    };
                    if !same {
                        return self.fail(errors::different_objects(span, Span::NONE));
                    }
                }
                (ParamInst::Copied(_, storage), EvalArg::In(value)) => {
                    self.in_args(storage, value, span, passed)?;
                }
                (
                    ParamInst::Copied(direction, storage),
                    EvalArg::Out(lvalue) | EvalArg::InOut(lvalue, _),
                ) => {
                    let place = match (lvalue, arg) {
                        // Passed directly, unless the call would copy it back before an argument that must come
                        // first.
                        (LValue::Whole(given), EvalArg::Out(_) | EvalArg::InOut(_, None))
                            if same_form(given, storage)
                                && (!is_of_union(given) || self.may_exit(routine))
                                && !self.is_too_early(i, given, &by_call)
                                && !self.is_copied_back(&after, given) =>
                        {
                            by_call.push((i, self.leaves(given)));
                            // Nothing runs after a call that exits, so the union's other headers become invalid
                            // before it.
                            if let Storage::Header(header) = given
                                && header.union.is_some()
                            {
                                alone.push(header.clone());
                            }
                            given.clone()
                        }
                        _ => self.temporary(storage, arg, span, &mut after)?,
                    };
                    for leaf in self.leaves_at(&place, span) {
                        passed.push(match leaf {
                            Leaf::Scalar(place) if *direction == Direction::Out => {
                                Arg::Out(Some(place))
                            }
                            Leaf::Scalar(place) => Arg::InOut(place),
                            Leaf::Header(header) => Arg::Header(Some(header)),
                        });
                    }
                }
                (ParamInst::Copied(direction, storage), EvalArg::Discard) => {
                    for leaf in self.leaves(storage) {
                        passed.push(self.absent(leaf, *direction, span));
                    }
                }
                _ => return self.fail(errors::not_an_instance(span)),
            }
        }
        Ok(CallArgs {
            passed: all.into_iter().flatten().collect(),
            after,
            alone,
        })
    }

    /// Returns true if the call would copy an argument back too early: before an overlapping one that precedes it
    /// in the source. Such an argument belongs to a later parameter, and is among those so far.
    pub(crate) fn is_too_early(
        &self,
        number: usize,
        given: &Storage,
        so_far: &[(usize, Vec<Leaf>)],
    ) -> bool {
        let own = self.leaves(given);
        let mut later = so_far.iter().filter(|(other, _)| *other > number);
        later.any(|(_, leaves)| self.leaves_overlap(&own, leaves))
    }

    /// Returns true if an argument that is copied back after the call overlaps this storage.
    pub(crate) fn is_copied_back(&self, after: &[CopyOut], given: &Storage) -> bool {
        let own = self.leaves(given);
        (after.iter()).any(|copy| self.leaves_overlap(&own, &self.leaves_written(&copy.dst)))
    }

    /// Returns what is passed for an argument that is omitted or `_`.
    fn absent(&mut self, leaf: Leaf, direction: Direction, span: Span) -> Arg {
        match leaf {
            Leaf::Scalar(_) if direction == Direction::Out => Arg::Out(None),
            Leaf::Header(_) if direction == Direction::Out => Arg::Header(None),
            Leaf::Scalar(place) => {
                let ty = self.place_type(place);
                if direction == Direction::InOut {
                    return Arg::InOut(Place::Var(self.new_var("_", ty, span)));
                }
                Arg::In(self.zero(ty, span))
            }
            Leaf::Header(header) => {
                let ty = self.header_ref_type(header);
                Arg::Header(Some(HeaderRef::Header(self.new_header("_", ty, span))))
            }
        }
    }

    /// Allocates storage that stands for an argument while a routine runs. It is for an l-value whose storage is
    /// not like the parameter's, or that the call itself would copy in or back at the wrong time.
    fn temporary(
        &mut self,
        param: &Storage,
        arg: &EvalArg,
        span: Span,
        after: &mut Vec<CopyOut>,
    ) -> Result<Storage> {
        let storage = self.storage_like(param, span)?;
        let dst = match arg {
            EvalArg::Out(place) => place.clone(),
            EvalArg::InOut(place, taken) => {
                let value = self.taken(place, taken, span)?;
                self.assign(&storage, value, span)?;
                place.clone()
            }
            _ => return self.fail(errors::not_storable(span)),
        };
        after.push(CopyOut {
            dst,
            src: storage.clone(),
            span,
        });
        Ok(storage)
    }

    /// Returns the value that an `inout` argument had when it was evaluated.
    fn taken(&mut self, place: &LValue, taken: &Option<Value>, span: Span) -> Result<Value> {
        match taken {
            Some(value) => Ok(value.clone()),
            None => self.load(place, span),
        }
    }

    /// Returns the value of an l-value.
    pub(crate) fn load(&mut self, lvalue: &LValue, span: Span) -> Result<Value> {
        Ok(match lvalue {
            LValue::Whole(storage) => Value::Stored(storage.clone()),
            LValue::Slice { place, hi, lo } => {
                let whole = self.read(*place, span);
                Value::Scalar(self.slice(whole, *hi, *lo, span))
            }
            LValue::Bits { of, lo, width } => {
                let whole = self.load(of, span)?;
                let whole = self.as_scalar(&whole, span)?;
                Value::Scalar(self.bits_from(whole, *lo, *width, span))
            }
            LValue::List(parts) => {
                let mut values = Vec::new();
                for part in parts {
                    values.push(self.load(part, span)?);
                }
                Value::Struct(values)
            }
            LValue::Chosen {
                on,
                alternatives,
                ty,
            } => {
                let mut values = Vec::new();
                for alternative in alternatives {
                    values.push(self.load(alternative, span)?);
                }
                self.choice(*on, &values, ty, span)?
            }
        })
    }

    fn in_args(
        &mut self,
        param: &Storage,
        value: &Value,
        span: Span,
        into: &mut Vec<Arg>,
    ) -> Result<()> {
        match param {
            Storage::Scalar(place) => {
                let ty = self.place_type(*place);
                let scalar = self.as_scalar(value, span)?;
                into.push(Arg::In(self.cast(scalar, ty, span)));
            }
            Storage::Header(header) => {
                into.push(Arg::Header(Some(match self.as_header(value, span)? {
                    HeaderValue::At(from) => from.at,
                    _ => {
                        let copy = self.new_header("tmp", header.ty, span);
                        let copy = HeaderLoc {
                            at: HeaderRef::Header(copy),
                            ty: header.ty,
                            union: None,
                        };
                        self.assign(&Storage::Header(copy.clone()), value.clone(), span)?;
                        copy.at
                    }
                })));
            }
            Storage::Struct(parts) => {
                for (part, value) in parts.iter().zip(self.elements_of(value, span)) {
                    self.in_args(part, &value, span, into)?;
                }
            }
            Storage::Union(members) => {
                for (member, value) in members.iter().zip(self.parts(value)) {
                    self.in_args(&Storage::Header(member.clone()), &value, span, into)?;
                }
            }
            Storage::Stack(stack) => {
                for (elem, value) in self.elements(stack).iter().zip(self.parts(value)) {
                    self.in_args(elem, &value, span, into)?;
                }
                into.push(Arg::In(match value {
                    Value::Stored(Storage::Stack(from)) => self.read(Place::Var(from.next), span),
                    _ => self.bits(32, 0, span),
                }));
            }
            Storage::Array(array) => {
                let fixed = self.fixed_array(value, array, span)?;
                let mut headers = Vec::new();
                self.array_headers(&fixed, &mut headers);
                into.extend(headers.into_iter().map(|h| Arg::Header(Some(h))));
            }
        }
        Ok(())
    }

    /// Copies arguments in by assignments, for a body that is inlined at a call.
    pub(crate) fn copy_in(
        &mut self,
        made: &[ParamInst],
        args: &EvalArgs,
        span: Span,
    ) -> Result<Vec<CopyOut>> {
        let mut after = Vec::new();
        for i in args.in_order() {
            let (Some(inst), Some(arg)) = (made.get(i), args.all.get(i)) else {
                continue;
            };
            let copied = match (inst, arg) {
                (ParamInst::Object(known), EvalArg::Object(given)) if known == given => None,
                (ParamInst::Shared(_), _) => None,
                (ParamInst::Copied(_, storage), EvalArg::In(value)) => {
                    self.assign(storage, value.clone(), span)?;
                    None
                }
                (ParamInst::Copied(_, storage), EvalArg::Out(dst)) => {
                    self.reset(storage, span)?;
                    Some((dst, storage))
                }
                (ParamInst::Copied(_, storage), EvalArg::InOut(dst, taken)) => {
                    let value = self.taken(dst, taken, span)?;
                    self.assign(storage, value, span)?;
                    Some((dst, storage))
                }
                (ParamInst::Copied(_, storage), EvalArg::Discard) => {
                    self.reset(storage, span)?;
                    None
                }
                _ => return self.fail(errors::different_objects(span, Span::NONE)),
            };
            after.extend(copied.map(|(dst, storage)| CopyOut {
                dst: dst.clone(),
                src: storage.clone(),
                span,
            }));
        }
        Ok(after)
    }

    /// Copies parameters back to their arguments.
    pub(crate) fn copy_out(&mut self, outs: &[CopyOut]) -> Result<()> {
        for out in outs {
            self.store(&out.dst, Value::Stored(out.src.clone()), out.span)?;
        }
        Ok(())
    }

    /// Allocates storage for a result of a type; `None` for `void`.
    pub(crate) fn result_storage(
        &mut self,
        name: &str,
        ty: &Ty,
        span: Span,
    ) -> Result<Option<Storage>> {
        match self.resolve(ty) {
            Ty::Void => Ok(None),
            ty => Ok(Some(self.allocate(name, &ty, span)?)),
        }
    }
}

/// Returns true if storage is a header of a union: copying back to it changes the validity of the union's other
/// headers.
fn is_of_union(storage: &Storage) -> bool {
    matches!(storage, Storage::Header(header) if header.union.is_some())
}

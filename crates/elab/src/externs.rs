//! Calls of externs, with arguments in the form of the IR.

use crate::args::CopyOut;
use crate::assign::LValue;
use crate::effects::with_effects_after;
use crate::instances::InstRef;
use crate::storage::{Leaf, Storage};
use crate::types::TypeShape;
use crate::value::{HeaderValue, Value};
use crate::{Elab, Result, errors};
use hir::{Arg, Call, ConstValue, Prototype, Ty};
use ir::{Effect, ExprKind, ExternArg, ExternCall, HeaderRef, StmtKind, Type};

/// Form of an argument of an extern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ArgForm {
    /// Split into scalars, also for a type parameter.
    Scalars,
    /// A header as a whole.
    Header,
    /// A string, or a member of an enum. A member that is given for a type parameter is an ordinary value.
    ByName,
    /// Another object.
    Object,
}

/// Places that an extern writes: those of the argument with this number, and those of earlier ones in the source.
struct Outs<'a> {
    number: usize,
    /// Those that the extern writes itself, in the order of parameters, by number.
    direct: &'a mut Vec<(usize, Vec<Leaf>)>,
    /// Those that are copied back after the call.
    after: &'a mut Vec<CopyOut>,
}

impl Elab<'_> {
    /// Builds a call of an object's method.
    pub(crate) fn method(
        &mut self,
        object: InstRef,
        method: u32,
        call: &Call,
        wanted: bool,
    ) -> Result<Value> {
        let hir::Callee::Method { object: expr, .. } = &call.callee else {
            return self.fail(errors::not_an_instance(call.span));
        };
        let Ty::Extern(id, _) = self.resolve(&expr.ty) else {
            return self.fail(errors::not_an_instance(call.span));
        };
        let declared = &self.module.externs[id].methods[method as usize];
        match object {
            InstRef::PacketIn | InstRef::PacketOut => {
                self.packet_method(object, &declared.proto.name, call)
            }
            InstRef::Extern(object) if declared.is_abstract => {
                let key = (object, declared.proto.name.clone());
                let Some(routine) = self.methods.get(&key).cloned() else {
                    return self.fail(errors::unexpected(call.span, &declared.proto.name));
                };
                let args = self.eval_args(&call.args)?;
                self.call_routine(&routine, &args, wanted, &call.result, call.span)
            }
            InstRef::Extern(object) => {
                self.extern_call(Some(object), &declared.proto, call, wanted)
            }
            InstRef::Control(_) | InstRef::Parser(_) => {
                self.fail(errors::not_an_instance(call.span))
            }
        }
    }

    /// Builds a call of an extern function. Those of the language itself become statements of their own.
    pub(crate) fn extern_function(
        &mut self,
        proto: &Prototype,
        call: &Call,
        wanted: bool,
    ) -> Result<Value> {
        match (proto.name.as_str(), &call.args[..]) {
            ("verify", [Arg::In(cond), Arg::In(error)]) if self.body.in_parser => {
                let swapped = call.args.as_written().next().is_some_and(|(i, _)| i == 1);
                let mut operands = [cond, error];
                if swapped {
                    operands.reverse();
                }
                let mut values = self.operands(&operands)?;
                if swapped {
                    values.reverse();
                }
                let cond = self.as_scalar(&values[0], cond.span)?;
                let error = self.as_scalar(&values[1], error.span)?;
                self.emit(StmtKind::Verify { cond, error }, call.span)?;
                Ok(Value::Nothing)
            }
            // The checker has evaluated it: it holds.
            ("static_assert", _) => Ok(Value::Scalar(self.bool(true, call.span))),
            _ => self.extern_call(None, proto, call, wanted),
        }
    }

    fn extern_call(
        &mut self,
        object: Option<ir::ExternInst>,
        proto: &Prototype,
        call: &Call,
        wanted: bool,
    ) -> Result<Value> {
        let digest = match (&*proto.name, object, &call.args[..]) {
            ("digest", None, [_, Arg::In(data)]) => Some(self.note_digest(&data.ty, data.span)?),
            _ => None,
        };
        let mut args: Vec<_> = call.args.iter().map(|_| ExternArg::Absent).collect();
        let (mut direct, mut after) = (Vec::new(), Vec::new());
        for (i, arg, keep) in with_effects_after(&call.args) {
            let declared = &self.module.locals[proto.params[i]].ty;
            let form = self.form(declared);
            let mut outs = Outs {
                number: i,
                direct: &mut direct,
                after: &mut after,
            };
            args[i] = self.extern_arg(arg, form, keep, &mut outs)?;
        }
        let mut value = Value::Nothing;
        let mut result = Vec::new();
        let mut returned = None;
        if wanted && let Some(to) = self.result_storage(&proto.name, &call.result, call.span)? {
            result = self.places(&to);
            value = Value::Stored(to.clone());
            returned = Some(to);
        }
        let mut made = ExternCall {
            object,
            name: proto.name.clone(),
            effect: self.effect(proto, &args),
            args,
            result,
        };
        if object.is_none() {
            self.log_formats(&mut made, call);
            self.kept_fields(&mut made, call.span)?;
        }
        if let Some(digest) = digest {
            // The digest's number: its data alone would not identify it.
            let number = ir::Bits::new(32, digest);
            let number = self.expr(ExprKind::Const(number), Type::bit(32), call.span);
            made.args.push(ExternArg::In(vec![number]));
        }
        self.emit(StmtKind::Extern(made), call.span)?;
        if let Some(Storage::Header(header)) = returned {
            self.set_valid(&header, call.span)?;
        }
        self.copy_out(&after)?;
        Ok(value)
    }

    /// Adds formats to a log message, as the declarations of its values define them.
    fn log_formats(&mut self, made: &mut ExternCall, call: &Call) {
        let ("log_msg", [_, Arg::In(data)]) = (&*made.name, &call.args[..]) else {
            return;
        };
        let mut declared = Vec::new();
        self.declared_parts(data, &mut declared);
        let formats = declared.iter().map(|declared| {
            let mut annotations = declared.annotations.iter();
            let format = annotations.find(|a| a.name == "format")?;
            format.values.first().map(|name| name.as_str())
        });
        let formats: Vec<Option<&str>> = formats.collect();
        if let Some(ExternArg::String(text)) = made.args.first_mut() {
            *text = with_formats(text, &formats);
        }
    }

    /// Returns the form of an argument for a parameter of this type.
    fn form(&self, declared: &Ty) -> ArgForm {
        match declared {
            Ty::Composite(id, _)
                if self.module.composites[*id].kind == hir::CompositeKind::Header =>
            {
                ArgForm::Header
            }
            Ty::Enum(_) | Ty::String => ArgForm::ByName,
            Ty::Extern(..) => ArgForm::Object,
            _ => ArgForm::Scalars,
        }
    }

    fn extern_arg(
        &mut self,
        arg: &Arg,
        form: ArgForm,
        keep: bool,
        outs: &mut Outs<'_>,
    ) -> Result<ExternArg> {
        Ok(match arg {
            Arg::Discard(_) | Arg::Absent => ExternArg::Absent,
            Arg::In(expr) => {
                match self.object(expr)? {
                    Some(InstRef::Extern(object)) if form == ArgForm::Object => {
                        return Ok(ExternArg::Object(object));
                    }
                    Some(_) => return self.fail(errors::extern_argument(expr.span)),
                    None => {}
                }
                if form == ArgForm::ByName
                    && let Some(fixed) = self.compile_time_arg(expr)
                {
                    return Ok(fixed);
                }
                let mut value = self.eval(expr)?;
                if keep {
                    value = self.save(value, &expr.ty, expr.span)?;
                }
                if form == ArgForm::Header {
                    return Ok(ExternArg::HeaderIn(self.header_in(&value, expr)?));
                }
                let mut scalars = Vec::new();
                self.scalars(&value, expr.span, &mut scalars)?;
                ExternArg::In(scalars)
            }
            Arg::Out(expr) | Arg::InOut(expr) => {
                let reads = matches!(arg, Arg::InOut(_));
                let lvalue = self.lvalue(expr, true)?;
                let storage = match &lvalue {
                    LValue::List(_) => return self.fail(errors::extern_argument(expr.span)),
                    LValue::Whole(storage)
                        if !(reads && keep
                            || self.is_too_early(outs.number, storage, outs.direct)
                            || self.is_copied_back(outs.after, storage)) =>
                    {
                        outs.direct.push((outs.number, self.leaves(storage)));
                        storage.clone()
                    }
                    _ => self.stand_in(&lvalue, expr, reads, outs.after)?,
                };
                match &storage {
                    Storage::Header(header) if form == ArgForm::Header => {
                        if header.union.is_some() {
                            outs.after.push(CopyOut {
                                dst: lvalue.clone(),
                                src: storage.clone(),
                                span: expr.span,
                            });
                        }
                        ExternArg::HeaderOut(header.at)
                    }
                    _ if reads => ExternArg::InOut(self.places(&storage)),
                    _ => ExternArg::Out(self.places(&storage)),
                }
            }
        })
    }

    /// Returns the argument for a string or a member of an enum that is known at compile time.
    fn compile_time_arg(&mut self, expr: &hir::Expr) -> Option<ExternArg> {
        match (self.resolve(&expr.ty), self.evaluate(expr)?) {
            (Ty::String, ConstValue::String(text)) => Some(ExternArg::String(text)),
            (Ty::Enum(id), ConstValue::Enum(member)) => {
                let (of, member) = self.enum_member(id, member, expr.span);
                Some(ExternArg::Member(of, member))
            }
            _ => None,
        }
    }

    fn header_in(&mut self, value: &Value, expr: &hir::Expr) -> Result<HeaderRef> {
        match self.as_header(value, expr.span)? {
            HeaderValue::At(header) => Ok(header.at),
            _ => match &*self.shape(&expr.ty, expr.span)? {
                TypeShape::Header(_) => {
                    let copy = self.allocate("tmp", &expr.ty, expr.span)?;
                    self.assign(&copy, value.clone(), expr.span)?;
                    match copy {
                        Storage::Header(header) => Ok(header.at),
                        _ => self.fail(errors::extern_argument(expr.span)),
                    }
                }
                _ => self.fail(errors::extern_argument(expr.span)),
            },
        }
    }

    /// Allocates storage that an extern writes in place of an argument. The argument is bits of a variable, an
    /// element that is selected at run time, or something that a later argument changes.
    fn stand_in(
        &mut self,
        lvalue: &LValue,
        expr: &hir::Expr,
        reads: bool,
        after: &mut Vec<CopyOut>,
    ) -> Result<Storage> {
        let span = expr.span;
        let storage = self.allocate("tmp", &expr.ty, span)?;
        if reads {
            let value = self.load(lvalue, span)?;
            self.assign(&storage, value, span)?;
        }
        after.push(CopyOut {
            dst: lvalue.clone(),
            src: storage.clone(),
            span,
        });
        Ok(storage)
    }

    /// Returns the side effects of a call of a function or method with this declaration.
    fn effect(&self, proto: &Prototype, args: &[ExternArg]) -> Effect {
        let draws = arch::by_package(&self.program.arch).map_or(&[][..], |arch| arch.draws);
        let draws = args.iter().any(|arg| match arg {
            ExternArg::Member(of, member) => {
                let of = &self.program.enums[*of];
                let member = of.members.get(*member as usize);
                draws
                    .iter()
                    .any(|d| of.name == d.of && member.is_some_and(|name| name == d.member))
            }
            _ => false,
        });
        let declared = |name: &str| proto.annotations.iter().any(|a| a.name == name);
        match (declared("pure"), declared("isolated")) {
            (true, _) if !draws => Effect::None,
            (false, false) => Effect::Any,
            _ => Effect::Outside,
        }
    }
}

/// Adds formats to a message, one for each value; `None` leaves a value as it is.
fn with_formats(message: &str, formats: &[Option<&str>]) -> String {
    let mut formats = formats.iter();
    let mut text = String::new();
    let mut parts = message.split("{}");
    text += parts.next().unwrap_or_default();
    for part in parts {
        match formats.next() {
            Some(Some(format)) => text += &format!("{{:{format}}}"),
            _ => text += "{}",
        }
        text += part;
    }
    text
}

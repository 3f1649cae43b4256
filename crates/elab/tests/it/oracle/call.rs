//! Calls: copy-in and copy-out (section 6.8).

use super::machine::{Frame, Leave, Machine, Result};
use super::place::StoragePath;
use super::value::Value;
use hir::{Arg, Args, BodyDecl, Call, Callee, ControlId, Expr, ExprKind, InstanceId, LocalId, Ty};
use num_bigint::BigInt;

/// Arguments after evaluation.
pub(super) struct Given {
    /// Value of each argument; `None` for a parameter that begins undefined.
    pub(super) values: Vec<Option<Value>>,
    /// Indices of the arguments that are copied back, in order, with their destinations.
    pub(super) back: Vec<(usize, StoragePath)>,
}

impl Machine<'_> {
    /// Makes a call; returns its value.
    pub(super) fn call(&mut self, call: &Call) -> Result<Option<Value>> {
        match &call.callee {
            Callee::Function(id, types) => {
                let function = &self.module.functions[*id];
                let types = types.iter().map(|ty| self.resolve(ty));
                let params = function.proto.type_params.iter().copied();
                let frame = Frame {
                    types: params.zip(types).collect(),
                    ..Frame::default()
                };
                let given = self.arguments(&call.args)?;
                self.run(frame, &function.proto.params, given, |m| {
                    m.block(&function.body)
                })
            }
            Callee::Action(id) => {
                let action = &self.module.actions[*id];
                let frame = Frame {
                    control: Some(self.control()),
                    ..Frame::default()
                };
                let given = self.arguments(&call.args)?;
                self.run(frame, &action.params, given, |m| m.block(&action.body))
            }
            Callee::Control(Expr {
                kind: ExprKind::Instance(instance),
                ..
            }) => {
                let given = self.arguments(&call.args)?;
                self.run_control(*instance, given)
            }
            Callee::ExternFunction(id, _) => {
                let given = self.arguments(&call.args)?.values;
                let given: Vec<Value> = given.into_iter().flatten().collect();
                match self.module.extern_functions[*id].name.as_str() {
                    "csum_replace2" => Ok(Some(changed_checksum(&given))),
                    "verify" if given[0].bool() => Ok(None),
                    other => panic!("`{other}` rejects the packet, or the oracle has none"),
                }
            }
            Callee::Table(table) => {
                self.apply(*table)?;
                Ok(None)
            }
            Callee::SetValid(header) | Callee::SetInvalid(header) => {
                let place = self.place(header)?;
                let Value::Header(_, fields) = self.read(&place) else {
                    panic!("{header:?} is no header");
                };
                let valid = matches!(call.callee, Callee::SetValid(_));
                self.write(&place, Value::Header(valid, fields));
                Ok(None)
            }
            Callee::PushFront(stack, count) | Callee::PopFront(stack, count) => {
                let place = self.place(stack)?;
                let mut stack = self.read(&place);
                let elements = stack.parts_mut();
                let count = (*count as usize).min(elements.len());
                if let Callee::PushFront(..) = call.callee {
                    elements.rotate_right(count);
                    elements[..count].iter_mut().for_each(|e| *e = e.nothing());
                } else {
                    elements.rotate_left(count);
                    let end = elements.len() - count;
                    elements[end..].iter_mut().for_each(|e| *e = e.nothing());
                }
                self.write(&place, stack);
                Ok(None)
            }
            other => panic!("the oracle has no {other:?}"),
        }
    }

    /// Evaluates arguments from left to right in the order of the source. It saves the l-value for `out` and `inout`,
    /// and the value for `in` and `inout`.
    pub(super) fn arguments(&mut self, args: &Args) -> Result<Given> {
        let mut given = Given {
            values: vec![None; args.len()],
            back: Vec::new(),
        };
        for (i, arg) in args.as_written() {
            match arg {
                Arg::In(expr) => given.values[i] = Some(self.eval(expr)?),
                Arg::Out(expr) => given.back.push((i, self.place(expr)?)),
                Arg::InOut(expr) => {
                    let place = self.place(expr)?;
                    given.values[i] = Some(self.read(&place));
                    given.back.push((i, place));
                }
                Arg::Discard(_) | Arg::Absent => {}
            }
        }
        // Omitted arguments have default values, which are known at compile time.
        for (value, arg) in given.values.iter_mut().zip(args.iter()) {
            if let (None, Arg::In(expr)) = (&value, arg) {
                *value = Some(self.eval(expr)?);
            }
        }
        Ok(given)
    }

    /// Runs a body with its parameters, and copies them back, however it ends.
    pub(super) fn run(
        &mut self,
        frame: Frame,
        params: &[LocalId],
        given: Given,
        body: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<Option<Value>> {
        self.frames.push(frame);
        for (&param, value) in params.iter().zip(given.values) {
            self.declare(param, value);
        }
        let end = body(self);
        let mut frame = self.frames.pop().expect("it was pushed");
        for (i, place) in given.back {
            let value = frame.locals.remove(&params[i]).expect("a parameter");
            self.write(&place, value);
        }
        match end {
            Ok(()) => Ok(None),
            Err(Leave::Return(value)) => Ok(value),
            Err(leave) => Err(leave),
        }
    }

    /// Applies a control. Its variables outside of `apply` are made at the beginning, each time (section 14.4).
    pub(super) fn run_control(
        &mut self,
        instance: InstanceId,
        given: Given,
    ) -> Result<Option<Value>> {
        let instance = &self.module.instances[instance];
        let control = &self.module.controls[control_of(&instance.ty)];
        let body = control.body.as_ref().expect("a control with a body");
        let mut constants = Vec::new();
        for (param, arg) in control.ctor_params.iter().zip(&instance.args) {
            if let Arg::In(expr) = arg {
                constants.push((*param, self.eval(expr)?));
            }
        }
        self.run(Frame::default(), &control.params, given, |m| {
            for (param, value) in constants {
                m.declare(param, Some(value));
            }
            for local in &body.locals {
                if let BodyDecl::Local(local, init) = local {
                    let value = match init {
                        Some(init) => Some(m.eval(init)?),
                        None => None,
                    };
                    m.declare(*local, value);
                }
            }
            m.block(&body.apply)
        })
    }
}

/// The declaration of a control.
fn control_of(ty: &Ty) -> ControlId {
    match ty {
        Ty::Control(id, _) => *id,
        other => panic!("{other:?} is no control"),
    }
}

/// An Internet checksum after a word under it changed: the complement of `~sum + ~old + new` (RFC 1624, equation 3).
fn changed_checksum(words: &[Value]) -> Value {
    let word = |i: usize| words[i].bits().value.clone();
    let mut sum: BigInt = (0xffff - word(0)) + (0xffff - word(1)) + word(2);
    while sum > 0xffff.into() {
        sum = (&sum >> 16) + (&sum & BigInt::from(0xffff));
    }
    Value::number(0xffff - sum, 16, false)
}

//! Calls of functions, actions and controls.
//!
//! The callees become routines, one for each instance. Two kinds of bodies are built in place of the call instead.
//! One is a function called by a parser, because its use of the packet may end in `reject`. The other is a control
//! that is given the outgoing packet, so that a deparser is a plain sequence of emits.

use crate::args::{CallArgs, CopyOut, EvalArg, EvalArgs, ParamInst};
use crate::body::{Body, InlineFrame};
use crate::effects::returns_early;
use crate::instances::{Binding, ControlInst, Env, InstRef};
use crate::storage::{HeaderLoc, Leaf, Storage};
use crate::types::type_map;
use crate::value::Value;
use crate::{Elab, Result, errors, names};
use diag::Span;
use hir::{Call, Callee, FunctionId, LocalId, Ty};
use ir::analysis::mentions::{Mentions, each};
use ir::{Arg, HeaderRef, Param, Place, Routine, RoutineData, RoutineKind, StmtKind};
use smol_str::SmolStr;
use std::rc::Rc;

/// Key of a function's routine: the function, its type arguments, and the objects among its arguments.
pub(crate) type FunctionKey = (FunctionId, Vec<Ty>, Vec<InstRef>);

/// A body that can be called.
#[derive(Clone)]
pub(crate) struct RoutineInst {
    /// The routine; `None` if the body is built in place of each call.
    pub(crate) routine: Option<Routine>,
    /// One for each declared parameter.
    pub(crate) params: Vec<ParamInst>,
    /// Storage in which the routine leaves its result.
    pub(crate) result: Option<Storage>,
}

/// A parameter of a pipeline's block, with its binding.
pub(crate) struct Bound {
    pub(crate) param: LocalId,
    pub(crate) binding: Binding,
}

impl Elab<'_> {
    /// Builds a call; returns its value, if that is wanted.
    pub(crate) fn call(&mut self, call: &Call, wanted: bool) -> Result<Value> {
        let span = call.span;
        match &call.callee {
            Callee::Function(id, types) => {
                let types: Vec<Ty> = types.iter().map(|t| self.resolve(t)).collect();
                let args = self.eval_args(&call.args)?;
                if self.body.in_parser {
                    self.inline_function(*id, &types, &args, span)
                } else {
                    let routine = self.function(*id, types, &args.all, span)?;
                    self.call_routine(&routine, &args, wanted, &call.result, span)
                }
            }
            Callee::ExternFunction(id, _) => {
                let proto = &self.module.extern_functions[*id];
                self.extern_function(proto, call, wanted)
            }
            Callee::Method { object, method, .. } => {
                if let Some((all, index)) = self.chosen_at_run_time(object)? {
                    return self.method_of_one(&all, index, *method, call, wanted);
                }
                let object = self.must_be_object(object)?;
                self.method(object, *method, call, wanted)
            }
            Callee::Action(id) => {
                let args = self.eval_args(&call.args)?;
                let routine = self.action_routine(*id)?;
                self.call_routine(&routine, &args, false, &Ty::Void, span)
            }
            Callee::Control(object) => {
                let InstRef::Control(control) = self.must_be_object(object)? else {
                    return self.fail(errors::not_an_instance(span));
                };
                let args = self.eval_args(&call.args)?;
                self.apply_control(control, &args, span)?;
                Ok(Value::Nothing)
            }
            Callee::Parser(_) => self.fail(errors::unexpected(span, "a parser's `apply`")),
            Callee::Table(table) => {
                self.apply_table(*table, None, None, span)?;
                Ok(Value::Nothing)
            }
            Callee::SetValid(header) | Callee::SetInvalid(header) => {
                let valid = matches!(call.callee, Callee::SetValid(_));
                match self.eval(header)? {
                    Value::Stored(Storage::Header(header)) => {
                        self.set_validity(header, valid, span)?;
                    }
                    _ => return self.fail(errors::not_storable(span)),
                }
                Ok(Value::Nothing)
            }
            Callee::PushFront(stack, count) | Callee::PopFront(stack, count) => {
                let stack = self.stack(stack)?;
                let stacks = stack.members.iter().map(|&(s, _)| s).collect();
                let kind = match call.callee {
                    Callee::PushFront(..) => StmtKind::PushFront(stacks, *count),
                    _ => StmtKind::PopFront(stacks, *count),
                };
                self.emit(kind, span)?;
                Ok(Value::Nothing)
            }
        }
    }

    /// Returns the array and the index of an object that is selected at run time.
    fn chosen_at_run_time(
        &mut self,
        object: &hir::Expr,
    ) -> Result<Option<(Rc<[InstRef]>, ir::Expr)>> {
        let hir::ExprKind::StackIndex(array, index) = &object.kind else {
            return Ok(None);
        };
        let hir::ExprKind::Instance(id) = array.kind else {
            return Ok(None);
        };
        if self.evaluate(index).is_some() {
            return Ok(None);
        }
        let all = self.instance_array(id)?;
        let index = self.scalar(index)?;
        Ok(Some((all, self.as_index(index, object.span))))
    }

    /// Calls a method of the object in an array that `index` selects. If the index is out of bounds, nothing is
    /// called, and the result is zero.
    fn method_of_one(
        &mut self,
        all: &[InstRef],
        index: ir::Expr,
        method: u32,
        call: &Call,
        wanted: bool,
    ) -> Result<Value> {
        let span = call.span;
        let on = self.save_scalar(index, span)?;
        let result = if wanted {
            self.result_storage("tmp", &call.result, span)?
        } else {
            None
        };
        if let Some(result) = &result {
            self.reset(result, span)?;
        }
        let mut cases = Vec::new();
        for (i, &object) in all.iter().enumerate() {
            let block = self.block(|elab| {
                let value = elab.method(object, method, call, wanted)?;
                match &result {
                    Some(result) => elab.assign(result, value, span),
                    None => Ok(()),
                }
            })?;
            cases.push((vec![ir::Bits::new(32, i as u32)], block));
        }
        let default = Vec::new();
        self.emit(StmtKind::Switch { on, cases, default }, span)?;
        Ok(result.map_or(Value::Nothing, Value::Stored))
    }

    /// Calls a routine that has been built.
    pub(crate) fn call_routine(
        &mut self,
        callee: &RoutineInst,
        args: &EvalArgs,
        wanted: bool,
        result: &Ty,
        span: Span,
    ) -> Result<Value> {
        let Some(routine) = callee.routine else {
            return self.fail(errors::not_an_instance(span));
        };
        let CallArgs {
            mut passed,
            after,
            alone,
        } = self.call_args(routine, &callee.params, args, span)?;
        if !after.is_empty() && self.may_exit(routine) {
            return self.bits_of_exiting(routine, span);
        }
        let mut value = Value::Nothing;
        if let Some(returned) = &callee.result {
            let to = if wanted {
                let name = self.program.routines[routine].name.clone();
                let to = self.allocate(&name, result, span)?;
                value = Value::Stored(to.clone());
                Some(to)
            } else {
                None
            };
            for leaf in self.leaves(to.as_ref().unwrap_or(returned)) {
                passed.push(match leaf {
                    Leaf::Scalar(place) => Arg::Out(to.is_some().then_some(place)),
                    Leaf::Header(header) => Arg::Header(to.is_some().then_some(header)),
                });
            }
        }
        let call = StmtKind::Call(routine, passed);
        if !alone.is_empty() {
            let touched = Mentions::of_stmt(&self.program, &call);
            for other in alone.iter().flat_map(HeaderLoc::siblings) {
                let mut used = false;
                each(&self.program, other, |h| used |= touched.contains(h));
                if used {
                    return self.bits_of_exiting(routine, span);
                }
            }
            for header in &alone {
                self.only_valid(header, span)?;
            }
        }
        self.emit(call, span)?;
        self.copy_out(&after)?;
        Ok(value)
    }

    fn bits_of_exiting<T>(&mut self, routine: Routine, span: Span) -> Result<T> {
        let name = self.program.routines[routine].name.clone();
        self.fail(errors::bits_of_exiting(span, &name))
    }

    /// Returns true if a routine may exit.
    pub(crate) fn may_exit(&self, routine: Routine) -> bool {
        Mentions::of_block(&self.program, &self.program.routines[routine].body).exits
    }

    /// Returns the routine of a function.
    fn function(
        &mut self,
        id: FunctionId,
        types: Vec<Ty>,
        args: &[EvalArg],
        span: Span,
    ) -> Result<RoutineInst> {
        let objects = args
            .iter()
            .filter_map(|a| match a {
                EvalArg::Object(object) => Some(*object),
                _ => None,
            })
            .collect();
        let key = (id, types, objects);
        if let Some(known) = self.functions.get(&key) {
            return Ok(known.clone());
        }
        self.grow(1, span)?;
        let function = &self.module.functions[id];
        let env = Env {
            types: type_map(&function.proto.type_params, &key.1),
            ..Env::default()
        };
        let name = function.proto.name.clone();
        let (made, _) = self.within(env, |elab| elab.function_routine(id, name, args))?;
        self.functions.insert(key, made.clone());
        Ok(made)
    }

    /// Builds a routine of a function in the current environment.
    fn function_routine(
        &mut self,
        id: FunctionId,
        name: SmolStr,
        args: &[EvalArg],
    ) -> Result<RoutineInst> {
        let function = &self.module.functions[id];
        let params = self.make_params(&function.proto.params, args, &[])?;
        let span = function.proto.span;
        let result = self.result_storage(&name, &function.proto.result, span)?;
        let body = Body {
            result: result.clone(),
            ..Body::default()
        };
        let ((), block) = self.separate(body, |elab| elab.stmts(&function.body))?;
        let mut all = self.routine_params(&params);
        if let Some(result) = &result {
            for leaf in self.leaves(result) {
                match leaf {
                    Leaf::Scalar(Place::Var(var)) => all.push(Param::Out(var)),
                    Leaf::Header(HeaderRef::Header(header)) => all.push(Param::HeaderOut(header)),
                    _ => {}
                }
            }
        }
        let routine = self.program.routines.push(RoutineData {
            name,
            kind: RoutineKind::Function,
            params: all,
            body: without_trailing_return(block),
            span,
        });
        Ok(RoutineInst {
            routine: Some(routine),
            params,
            result,
        })
    }

    /// Builds the implementations of abstract methods that had to wait for their surroundings.
    pub(crate) fn pending_methods(&mut self) -> Result<()> {
        for pending in std::mem::take(&mut self.env.pending) {
            let outer = self.env.this.replace(InstRef::Extern(pending.object));
            let object = &self.program.externs[pending.object];
            let name = crate::storage::join(&object.name, &pending.method);
            let built = self.function_routine(pending.function, name, &[]);
            self.env.this = outer;
            let built = built?;
            if let Some(routine) = built.routine {
                self.program.externs[pending.object]
                    .implementations
                    .push((pending.method.clone(), routine));
            }
            self.methods.insert((pending.object, pending.method), built);
        }
        Ok(())
    }

    /// Builds a function's body in place of its call.
    fn inline_function(
        &mut self,
        id: FunctionId,
        types: &[Ty],
        args: &EvalArgs,
        span: Span,
    ) -> Result<Value> {
        let function = &self.module.functions[id];
        let result = {
            let result = crate::types::substitute(
                &function.proto.result,
                &type_map(&function.proto.type_params, types),
            );
            self.result_storage(&function.proto.name, &result, span)?
        };
        let env = Env {
            types: type_map(&function.proto.type_params, types),
            ..Env::default()
        };
        let share = self.shareable(&args.all);
        let returned = result.clone();
        // A read of the packet before an early return decides how the parser continues. This takes states:
        // statements are not enough.
        let reads_packet =
            (args.all.iter()).any(|a| matches!(a, EvalArg::Object(InstRef::PacketIn)));
        let as_states = reads_packet && self.body.graph.is_some() && returns_early(&function.body);
        self.within(env, |elab| {
            let params = elab.make_params(&function.proto.params, &args.all, &share)?;
            let outs = elab.copy_in(&params, args, span)?;
            // Copying in may read the arguments that these parameters share.
            elab.reset_shared_outs(&function.proto.params, &params, span)?;
            if let Some(result) = &returned {
                elab.reset(result, span)?;
            }
            if as_states {
                let name = &function.proto.name;
                return elab.framed_states(outs, returned, name, &function.body, span);
            }
            elab.framed(outs, returned, span, |elab| elab.stmts(&function.body))
        })?;
        Ok(result.map_or(Value::Nothing, Value::Stored))
    }

    /// Builds a body as states of the parser; `return` goes to the state after them.
    fn framed_states(
        &mut self,
        copy_outs: Vec<CopyOut>,
        result: Option<Storage>,
        name: &str,
        body: &hir::Block,
        span: Span,
    ) -> Result<()> {
        let before = self.state_name();
        let after = self.add_state(smol_str::format_smolstr!("{before}.{name}"), span)?;
        self.in_frame(&copy_outs, result, Some(after), |elab| elab.stmts(body))?;
        self.end_state(ir::Transition::To(ir::TransitionTarget::State(after)));
        self.begin_state(after);
        self.copy_out(&copy_outs)
    }

    /// Builds a body in which `return` leaves a frame of its own; returns this frame, too.
    fn in_frame<T>(
        &mut self,
        copy_outs: &[CopyOut],
        result: Option<Storage>,
        after: Option<ir::State>,
        build: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(T, InlineFrame)> {
        let label = self.program.make_label();
        self.body.inlined.push(InlineFrame {
            label,
            returns: 0,
            copy_outs: copy_outs.to_vec(),
            result,
            after,
        });
        let built = build(self);
        let frame = self.body.inlined.pop().expect("pushed above");
        Ok((built?, frame))
    }

    /// Builds a body whose `return` leaves it, then copies its parameters out.
    pub(crate) fn framed(
        &mut self,
        copy_outs: Vec<CopyOut>,
        result: Option<Storage>,
        span: Span,
        build: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let (
            mut block,
            InlineFrame {
                label, mut returns, ..
            },
        ) = self.in_frame(&copy_outs, result, None, |elab| elab.block(build))?;
        if matches!(block.last(), Some(s) if s.kind == StmtKind::Break(label)) {
            block.pop();
            returns -= 1;
        }
        if returns > 0 {
            self.emit(StmtKind::Labeled(label, block), span)?;
        } else {
            self.body.out.extend(block);
        }
        self.copy_out(&copy_outs)
    }

    /// Returns the routine of an action that is called directly.
    pub(crate) fn action_routine(&mut self, id: hir::ActionId) -> Result<RoutineInst> {
        if let Some(known) = self.env.action_routines.get(&id) {
            return Ok(known.clone());
        }
        let action = &self.module.actions[id];
        self.grow(1, action.span)?;
        let params = self.make_params(&action.params, &[], &[])?;
        let ((), block) = self.separate(Body::default(), |elab| elab.stmts(&action.body))?;
        let routine = self.program.routines.push(RoutineData {
            name: self.action_name(id),
            kind: RoutineKind::Action,
            params: self.routine_params(&params),
            body: without_trailing_return(block),
            span: action.span,
        });
        let made = RoutineInst {
            routine: Some(routine),
            params,
            result: None,
        };
        self.env.action_routines.insert(id, made.clone());
        Ok(made)
    }

    /// Returns an action's control-plane name, qualified by the instance that it belongs to, if any.
    pub(crate) fn action_name(&self, id: hir::ActionId) -> SmolStr {
        let action = &self.module.actions[id];
        let path = if self.local_actions.contains(&id) {
            self.env.path.as_str()
        } else {
            ""
        };
        names::control_plane(path, &action.name, &action.annotations)
    }

    /// Builds a control as a block of the pipeline.
    pub(crate) fn build_block(&mut self, inst: ControlInst, bound: Vec<Bound>) -> Result<Routine> {
        let control = self.controls[inst].control;
        let span = self.module.controls[control].span;
        let mut env = self.controls[inst].env.clone();
        for Bound { param, binding } in bound {
            env.locals.insert(param, binding);
        }
        let ((name, block), _) = self.within(env, |elab| {
            elab.declare_control(control)?;
            let ((), block) = elab.separate(Body::default(), |elab| elab.control_body(control))?;
            Ok((elab.env.path.clone(), block))
        })?;
        Ok(self.program.routines.push(RoutineData {
            name,
            kind: RoutineKind::Block,
            params: Vec::new(),
            body: without_trailing_return(block),
            span,
        }))
    }

    /// Makes a control's instances, variables, tables and actions.
    fn declare_control(&mut self, control: hir::ControlId) -> Result<()> {
        let Some(body) = &self.module.controls[control].body else {
            return self.fail(errors::not_an_instance(self.module.controls[control].span));
        };
        self.declare_locals(&body.locals)?;
        self.pending_methods()?;
        let mut failed = false;
        for local in &body.locals {
            if let hir::BodyDecl::Table(table) = local {
                failed |= self.build_table(*table).is_err();
            }
        }
        if failed { Err(crate::Failed) } else { Ok(()) }
    }

    /// Builds the body of a control.
    fn control_body(&mut self, control: hir::ControlId) -> Result<()> {
        match &self.module.controls[control].body {
            Some(body) => {
                self.initialise_locals(&body.locals)?;
                self.stmts(&body.apply)
            }
            None => Ok(()),
        }
    }

    /// Applies a control instance.
    fn apply_control(&mut self, inst: ControlInst, args: &EvalArgs, span: Span) -> Result<()> {
        let control = self.controls[inst].control;
        let callee = match self.controls[inst].built.clone() {
            Some(known) => {
                self.require_same_objects(inst, &known, &args.all, span)?;
                known
            }
            None => self.build_control(inst, &args.all, span)?,
        };
        if callee.routine.is_some() {
            self.call_routine(&callee, args, false, &Ty::Void, span)?;
            return Ok(());
        }
        let params = self.module.controls[control].params.clone();
        let outs = self.copy_in(&callee.params, args, span)?;
        let env = self.controls[inst].env.clone();
        let ((), env) = self.within(env, |elab| {
            elab.reset_shared_outs(&params, &callee.params, span)?;
            elab.framed(outs, None, span, |elab| elab.control_body(control))
        })?;
        self.controls[inst].env = env;
        Ok(())
    }

    /// Refuses extern objects that differ from those of the first application.
    fn require_same_objects(
        &mut self,
        inst: ControlInst,
        made: &RoutineInst,
        args: &[EvalArg],
        span: Span,
    ) -> Result<()> {
        let mut pairs = made.params.iter().zip(args);
        let differ = pairs.any(|pair| match pair {
            (ParamInst::Object(known), EvalArg::Object(given)) => known != given,
            _ => false,
        });
        match differ {
            true => {
                let first = self.controls[inst].applied;
                self.fail(errors::different_objects(span, first))
            }
            false => Ok(()),
        }
    }

    /// Builds a control instance the first time it is applied.
    fn build_control(
        &mut self,
        inst: ControlInst,
        args: &[EvalArg],
        span: Span,
    ) -> Result<RoutineInst> {
        self.grow(1, span)?;
        let data = &self.controls[inst];
        let control = data.control;
        let declared = &self.module.controls[control];
        let once = data.sites == 1 && self.body.unrolled == 0;
        let share = if once {
            self.shareable(args)
        } else {
            Vec::new()
        };
        let in_place = args
            .iter()
            .any(|a| matches!(a, EvalArg::Object(InstRef::PacketOut)));
        let env = data.env.clone();
        let ((params, block, name), env) = self.within(env, |elab| {
            let params = elab.make_params(&declared.params, args, &share)?;
            elab.declare_control(control)?;
            let block = if in_place {
                None
            } else {
                let ((), block) = elab.separate(Body::default(), |elab| {
                    elab.reset_shared_outs(&declared.params, &params, declared.span)?;
                    elab.control_body(control)
                })?;
                Some(block)
            };
            Ok((params, block, elab.env.path.clone()))
        })?;
        let routine = block.map(|block| {
            self.program.routines.push(RoutineData {
                name,
                kind: RoutineKind::Control,
                params: self.routine_params(&params),
                body: without_trailing_return(block),
                span: declared.span,
            })
        });
        let made = RoutineInst {
            routine,
            params,
            result: None,
        };
        let data = &mut self.controls[inst];
        data.env = env;
        data.applied = span;
        data.built = Some(made.clone());
        Ok(made)
    }
}

/// Removes `return` statements at the end of a routine, which have no effect.
pub(crate) fn without_trailing_return(mut block: ir::Block) -> ir::Block {
    while matches!(block.last(), Some(s) if s.kind == StmtKind::Return) {
        block.pop();
    }
    block
}

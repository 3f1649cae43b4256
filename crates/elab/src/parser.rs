//! Parsers: a graph of states, in which sub-parsers are copies of their own states.

use crate::body::Body;
use crate::calls::Bound;
use crate::instances::{Binding, ParserInst};
use crate::storage::join;
use crate::{Elab, Result, errors};
use cranelift_entity::PrimaryMap;
use diag::Span;
use hir::{BodyDecl, Keyset, ParserBody, StateId};
use ir::{BinaryOp, SelectCase, State, StateData, Transition, TransitionTarget, Type};
use smol_str::SmolStr;
use std::collections::HashMap;

/// The states of a parser under construction.
pub(crate) struct Graph {
    pub(crate) states: PrimaryMap<State, StateData>,
    /// The state whose statements are being built.
    pub(crate) current: State,
    /// True if that state has its transition.
    pub(crate) ended: bool,
    /// Prefix of the names of this copy's states.
    pub(crate) prefix: SmolStr,
}

/// Targets of a parser's transitions.
struct Targets {
    states: HashMap<StateId, State>,
    accept: TransitionTarget,
}

impl Elab<'_> {
    /// Makes the instances, value sets and constants of a new parser instance, which all copies of its states
    /// share.
    pub(crate) fn declare_parser(&mut self, inst: ParserInst) -> Result<()> {
        let module = self.module;
        let data = &self.parsers[inst];
        let Some(body) = &module.parsers[data.parser].body else {
            return self.fail(errors::not_an_instance(module.parsers[data.parser].span));
        };
        let env = data.env.clone();
        let ((), env) = self.within(env, |elab| {
            for local in &body.locals {
                match local {
                    BodyDecl::Local(id, init)
                        if module.locals[*id].kind == hir::LocalKind::Const =>
                    {
                        elab.declare(*id, init.as_ref())?;
                    }
                    BodyDecl::Local(..) => {}
                    other => elab.declare_locals(std::slice::from_ref(other))?,
                }
            }
            Ok(())
        })?;
        self.parsers[inst].env = env;
        Ok(())
    }

    /// Builds a parser as a block of the pipeline.
    pub(crate) fn build_parser(
        &mut self,
        inst: ParserInst,
        bound: Vec<Bound>,
    ) -> Result<ir::Parser> {
        let span = self.module.parsers[self.parsers[inst].parser].span;
        let mut states = PrimaryMap::new();
        let start = new_state(&mut states, "start", span);
        let body = Body {
            in_parser: true,
            graph: Some(Graph {
                states,
                current: start,
                ended: false,
                prefix: SmolStr::default(),
            }),
            ..Body::default()
        };
        let outer = std::mem::replace(&mut self.body, body);
        let built =
            self.parser_states(inst, bound, "", TransitionTarget::Accept, Some(start), span);
        let body = std::mem::replace(&mut self.body, outer);
        let start = built?;
        let Some(graph) = body.graph else {
            return self.fail(errors::not_an_instance(span));
        };
        Ok(self.program.parsers.push(ir::ParserData {
            name: self.parsers[inst].env.path.clone(),
            states: graph.states,
            start,
            span,
        }))
    }

    /// Adds a copy of a parser's states; returns its first. `entry` is a state to use for
    /// that.
    pub(crate) fn parser_states(
        &mut self,
        inst: ParserInst,
        bound: Vec<Bound>,
        prefix: &str,
        accept: TransitionTarget,
        entry: Option<State>,
        span: Span,
    ) -> Result<State> {
        let module = self.module;
        let first = self.parsers[inst].copies == 0;
        self.parsers[inst].copies += 1;
        let declared = &module.parsers[self.parsers[inst].parser];
        let Some(body) = &declared.body else {
            return self.fail(errors::not_an_instance(declared.span));
        };
        self.refuse_atomic(&declared.annotations)?;
        let mut env = self.parsers[inst].env.clone();
        for Bound { param, binding } in bound {
            env.locals.insert(param, binding);
        }
        let (state, env) = self.within(env, |elab| {
            for local in &body.locals {
                if let BodyDecl::Local(id, _) = local
                    && module.locals[*id].kind != hir::LocalKind::Const
                {
                    elab.declare(*id, None)?;
                }
            }
            elab.pending_methods()?;
            let outer = elab.set_prefix(prefix);
            let begin = elab.graph_of(body, &declared.params, prefix, accept, entry, span);
            elab.set_prefix(&outer);
            begin
        })?;
        if first {
            // Implementations of abstract methods are built once.
            self.parsers[inst].env.pending = env.pending;
        }
        Ok(state)
    }

    fn graph_of(
        &mut self,
        body: &ParserBody,
        params: &[hir::LocalId],
        prefix: &str,
        accept: TransitionTarget,
        entry: Option<State>,
        span: Span,
    ) -> Result<State> {
        let prologue = self.prologue(body, params, span)?;
        let returns_to_start = body.states.values().any(|state| {
            let to_start =
                |t: &hir::TransitionTarget| *t == hir::TransitionTarget::State(body.start);
            match &state.transition {
                hir::Transition::To(target, _) => to_start(target),
                hir::Transition::Select { cases, .. } => {
                    cases.iter().any(|(_, target, _)| to_start(target))
                }
            }
        });
        let apart = !prologue.is_empty() && returns_to_start;
        let mut entry = entry;
        let mut states = HashMap::new();
        for (id, state) in &body.states {
            let name = join(prefix, &state.name);
            let made = match entry {
                Some(entry) if id == body.start && !apart => {
                    self.rename_state(entry, name, state.span);
                    entry
                }
                _ => self.add_state(name, state.span)?,
            };
            states.insert(id, made);
        }
        let start = states[&body.start];
        let targets = Targets { states, accept };
        let begin = if apart {
            let begin = match entry.take() {
                Some(entry) => entry,
                None => self.add_state(join(prefix, "entry"), span)?,
            };
            self.rename_state(begin, join(prefix, "entry"), span);
            self.begin_state(begin);
            self.body.out = prologue.clone();
            self.end_state(Transition::To(TransitionTarget::State(start)));
            begin
        } else {
            start
        };
        let mut result = Ok(());
        for (id, state) in &body.states {
            self.begin_state(targets.states[&id]);
            if id == body.start && !apart {
                self.body.out = prologue.clone();
            }
            result = self.state_body(state, &targets).and(result);
            if self.exhausted {
                break;
            }
        }
        result.map(|()| begin)
    }

    /// Builds the code before a parser's first state: undefined and initial values.
    fn prologue(
        &mut self,
        body: &ParserBody,
        params: &[hir::LocalId],
        span: Span,
    ) -> Result<ir::Block> {
        let block = self.block(|elab| {
            for &param in params {
                if elab.shared_outs.contains(&param)
                    && let Some(Binding::Storage(storage)) = elab.env.locals.get(&param).cloned()
                {
                    elab.reset(&storage, span)?;
                }
            }
            elab.initialise_locals(&body.locals)
        })?;
        Ok(block)
    }

    fn state_body(&mut self, state: &hir::State, targets: &Targets) -> Result<()> {
        self.refuse_atomic(&state.annotations)?;
        if let Some(graph) = &mut self.body.graph {
            graph.states[graph.current].rare = state.annotations.iter().any(|a| a.name == "rare");
        }
        self.stmts(&state.body)?;
        let transition = self.transition(&state.transition, targets)?;
        self.end_state(transition);
        Ok(())
    }

    /// Refuses `@atomic` in a parser: packets share no state there.
    fn refuse_atomic(&mut self, annotations: &[hir::Annotation]) -> Result<()> {
        match annotations.iter().find(|a| a.name == "atomic") {
            Some(annotation) => self.fail(errors::atomic_parser(annotation.span)),
            None => Ok(()),
        }
    }

    fn transition(
        &mut self,
        transition: &hir::Transition,
        targets: &Targets,
    ) -> Result<Transition> {
        let target = |target: &hir::TransitionTarget| match target {
            hir::TransitionTarget::State(id) => TransitionTarget::State(targets.states[id]),
            hir::TransitionTarget::Accept => targets.accept,
            hir::TransitionTarget::Reject => TransitionTarget::Reject,
        };
        match transition {
            hir::Transition::To(to, _) => Ok(Transition::To(target(to))),
            hir::Transition::Select { keys, cases, .. } => {
                let values = self.operands(&keys.iter().collect::<Vec<_>>())?;
                let mut scalars = Vec::new();
                for (value, key) in values.iter().zip(keys) {
                    scalars.push(self.as_scalar(value, key.span)?);
                }
                let mut built = Vec::new();
                let mut conditions = Vec::new();
                for (keysets, to, span) in cases {
                    let mut all = Vec::new();
                    let mut condition = None;
                    for (keyset, &key) in keysets.iter().zip(&scalars) {
                        let width = self.type_of(key).width();
                        if self.is_fixed(keyset) {
                            all.extend(self.keyset(keyset, width, *span)?);
                            continue;
                        }
                        all.push(ir::Keyset::Any);
                        let holds = self.is_member(key, keyset, *span)?;
                        condition = Some(match condition {
                            Some(others) => self.and(others, holds, *span),
                            None => holds,
                        });
                    }
                    conditions.push(condition);
                    built.push(SelectCase {
                        keysets: all,
                        target: target(to),
                        span: *span,
                    });
                }
                // A comparison at run time is a key of its own, which one case requires to be true.
                for (i, condition) in conditions.into_iter().enumerate() {
                    let Some(condition) = condition else { continue };
                    scalars.push(self.save_scalar(condition, built[i].span)?);
                    for (j, case) in built.iter_mut().enumerate() {
                        case.keysets.push(if i == j {
                            ir::Keyset::Value(ir::Bits::from_bool(true))
                        } else {
                            ir::Keyset::Any
                        });
                    }
                }
                Ok(Transition::Select {
                    keys: scalars,
                    cases: built,
                })
            }
        }
    }

    /// Returns true if all values of a keyset are known.
    fn is_fixed(&self, keyset: &Keyset) -> bool {
        set_values(keyset)
            .all(|e| matches!(e.kind, hir::ExprKind::Default) || self.evaluate(e).is_some())
    }

    /// Condition that a key is in a set whose values are only known at run time.
    fn is_member(&mut self, key: ir::Expr, keyset: &Keyset, span: Span) -> Result<ir::Expr> {
        let ty = self.type_of(key);
        Ok(match keyset {
            Keyset::Any | Keyset::ValueSet(..) => self.bool(true, span),
            Keyset::Value(value) => {
                let value = self.scalar(value)?;
                self.binary(BinaryOp::Eq, key, value, Type::Bool, span)
            }
            Keyset::Mask(value, mask) => {
                let (value, mask) = (self.scalar(value)?, self.scalar(mask)?);
                let key = self.binary(BinaryOp::And, key, mask, ty, span);
                let value = self.binary(BinaryOp::And, value, mask, ty, span);
                self.binary(BinaryOp::Eq, key, value, Type::Bool, span)
            }
            Keyset::Range(lo, hi) => {
                let (lo, hi) = (self.scalar(lo)?, self.scalar(hi)?);
                let above = self.binary(BinaryOp::Le, lo, key, Type::Bool, span);
                let below = self.binary(BinaryOp::Le, key, hi, Type::Bool, span);
                self.and(above, below, span)
            }
        })
    }

    /// Builds a keyset; `None` for further fields of a value set, which its first field covers.
    fn keyset(&mut self, keyset: &Keyset, width: u32, span: Span) -> Result<Option<ir::Keyset>> {
        Ok(Some(match keyset {
            Keyset::Any => ir::Keyset::Any,
            Keyset::Value(value) => ir::Keyset::Value(self.key_bits(value, width)?),
            Keyset::Mask(value, mask) => {
                let value = self.key_bits(value, width)?;
                let mask = self.key_bits(mask, width)?;
                let masked = ir::Bits::new(width, value.value() & mask.value());
                ir::Keyset::Mask(masked, mask)
            }
            Keyset::Range(lo, hi) => {
                ir::Keyset::Range(self.key_bits(lo, width)?, self.key_bits(hi, width)?)
            }
            Keyset::ValueSet(_, field) if *field > 0 => return Ok(None),
            Keyset::ValueSet(id, _) => {
                let own = self.env.value_sets.get(id);
                match own.or_else(|| self.shared_sets.get(id)) {
                    Some(&set) => ir::Keyset::ValueSet(set),
                    None => return self.fail(errors::not_an_instance(span)),
                }
            }
        }))
    }

    /// Evaluates a compile-time value, with a key's width.
    pub(crate) fn key_bits(&mut self, expr: &hir::Expr, width: u32) -> Result<ir::Bits> {
        if let hir::ExprKind::Default = expr.kind {
            return Ok(ir::Bits::zero(width));
        }
        let value = self.must_evaluate(expr)?;
        self.const_bits(&value, width, expr.span)
    }

    /// Adds a state that isn't built yet.
    pub(crate) fn add_state(&mut self, name: SmolStr, span: Span) -> Result<State> {
        self.grow(1, span)?;
        match &mut self.body.graph {
            Some(graph) => Ok(new_state(&mut graph.states, &name, span)),
            None => self.fail(errors::unexpected(span, "a parser's `apply`")),
        }
    }

    fn rename_state(&mut self, state: State, name: SmolStr, span: Span) {
        if let Some(graph) = &mut self.body.graph {
            graph.states[state].name = name;
            graph.states[state].span = span;
        }
    }

    /// Changes the prefix of the names of states; returns the previous prefix.
    fn set_prefix(&mut self, prefix: &str) -> SmolStr {
        match &mut self.body.graph {
            Some(graph) => std::mem::replace(&mut graph.prefix, prefix.into()),
            None => SmolStr::default(),
        }
    }

    /// Continues building in a state.
    pub(crate) fn begin_state(&mut self, state: State) {
        self.body.out.clear();
        if let Some(graph) = &mut self.body.graph {
            graph.current = state;
            graph.ended = false;
        }
    }

    /// Closes the state being built, if it isn't closed.
    pub(crate) fn end_state(&mut self, transition: Transition) {
        let body = std::mem::take(&mut self.body.out);
        if let Some(graph) = &mut self.body.graph
            && !std::mem::replace(&mut graph.ended, true)
        {
            let state = &mut graph.states[graph.current];
            state.body = body;
            state.transition = transition;
        }
    }

    /// The name of the state being built.
    pub(crate) fn state_name(&self) -> SmolStr {
        match &self.body.graph {
            Some(graph) => graph.states[graph.current].name.clone(),
            None => SmolStr::default(),
        }
    }
}

fn new_state(states: &mut PrimaryMap<State, StateData>, name: &str, span: Span) -> State {
    states.push(StateData {
        name: name.into(),
        body: Vec::new(),
        transition: Transition::To(TransitionTarget::Reject),
        rare: false,
        span,
    })
}

/// Returns the values in a keyset.
fn set_values(keyset: &Keyset) -> impl Iterator<Item = &hir::Expr> {
    let (a, b) = match keyset {
        Keyset::Any | Keyset::ValueSet(..) => (None, None),
        Keyset::Value(value) => (Some(value), None),
        Keyset::Mask(a, b) | Keyset::Range(a, b) => (Some(a), Some(b)),
    };
    a.into_iter().chain(b)
}

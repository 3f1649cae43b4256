//! Application of a sub-parser: the state that applies it is split around a copy of the sub-parser's states.

use crate::args::ParamInst;
use crate::calls::Bound;
use crate::effects::{applies_parser, returns};
use crate::instances::{Binding, InstRef};
use crate::{Elab, Result, errors};
use diag::Span;
use hir::{Block, Call, Callee, Direction, Expr, ExprKind, IfArm, Stmt, StmtKind};
use ir::{Bits, Keyset, SelectCase, Transition, TransitionTarget};
use smol_str::format_smolstr;

impl Elab<'_> {
    /// Returns true if a statement of a state continues in another state: it applies a parser, or returns from a
    /// function that became states.
    pub(crate) fn splits_state(&self, stmt: &Stmt) -> bool {
        let in_states = self.body.inlined.last().is_some_and(|f| f.after.is_some());
        applies_parser(std::slice::from_ref(stmt))
            || in_states && !matches!(stmt.kind, StmtKind::Return(_)) && returns(stmt)
    }

    /// Builds such a statement.
    pub(crate) fn splitting_stmt(&mut self, stmt: &Stmt) -> Result<()> {
        match &stmt.kind {
            StmtKind::Call(call) => match &call.callee {
                Callee::Parser(object) => self.apply_parser(object, call),
                _ => self.fail(errors::unexpected(stmt.span, "a parser's `apply`")),
            },
            StmtKind::Block(inner) => self.stmts(inner),
            StmtKind::Atomic(_) => self.fail(errors::atomic_parser(stmt.span)),
            StmtKind::If { arms, otherwise } => self.splitting_if(arms, otherwise, stmt.span),
            _ => self.fail(errors::unexpected(stmt.span, "a parser's `apply`")),
        }
    }

    /// Turns the branches of an `if` into states.
    fn splitting_if(&mut self, arms: &[IfArm], otherwise: &Block, span: Span) -> Result<()> {
        let name = self.state_name();
        let mut after = None;
        for (i, arm) in arms.iter().enumerate() {
            let number = if i == 0 { String::new() } else { i.to_string() };
            let cond = self.scalar(&arm.cond)?;
            let if_true = self.add_state(format_smolstr!("{name}.then{number}"), arm.span)?;
            let if_false = self.add_state(format_smolstr!("{name}.else{number}"), arm.span)?;
            let after = match after {
                Some(after) => after,
                None => *after.insert(self.add_state(format_smolstr!("{name}.after"), span)?),
            };
            let case = |keyset, state| SelectCase {
                keysets: vec![keyset],
                target: TransitionTarget::State(state),
                span: arm.span,
            };
            self.end_state(Transition::Select {
                keys: vec![cond],
                cases: vec![
                    case(Keyset::Value(Bits::from_bool(true)), if_true),
                    case(Keyset::Any, if_false),
                ],
            });
            self.begin_state(if_true);
            self.stmts(&arm.then)?;
            self.end_state(Transition::To(TransitionTarget::State(after)));
            self.begin_state(if_false);
        }
        self.stmts(otherwise)?;
        if let Some(after) = after {
            self.end_state(Transition::To(TransitionTarget::State(after)));
            self.begin_state(after);
        }
        Ok(())
    }

    fn apply_parser(&mut self, object: &Expr, call: &Call) -> Result<()> {
        let span = call.span;
        let InstRef::Parser(inst) = self.must_be_object(object)? else {
            return self.fail(errors::not_an_instance(span));
        };
        self.grow(1, span)?;
        let params = &self.module.parsers[self.parsers[inst].parser].params;
        let args = self.eval_args(&call.args)?;
        let share = self.shareable(&args.all);
        // Parameters of this copy alone; they are bound when its states are built.
        let types = self.parsers[inst].env.types.clone();
        let outer = std::mem::replace(&mut self.env.types, types);
        let made = self.make_params(params, &args.all, &share);
        self.env.types = outer;
        let made = made?;
        let bound = params
            .iter()
            .zip(&made)
            .map(|(&param, inst)| Bound {
                param,
                binding: match inst {
                    ParamInst::Object(object) => Binding::Instance(*object),
                    ParamInst::Shared(storage) | ParamInst::Copied(_, storage) => {
                        Binding::Storage(storage.clone())
                    }
                },
            })
            .collect();
        let shared_outs: Vec<_> = params
            .iter()
            .zip(&made)
            .filter(|(param, inst)| {
                matches!(inst, ParamInst::Shared(_)) && self.direction(**param) == Direction::Out
            })
            .map(|(&param, _)| param)
            .collect();
        let outs = self.copy_in(&made, &args, span)?;
        let before = self.state_name();
        let name = self.copy_name(object, inst);
        let prefix = match &self.body.graph {
            Some(graph) => crate::storage::join(&graph.prefix, &name),
            None => name,
        };
        let after = self.add_state(format_smolstr!("{before}.after"), span)?;
        let current = self.body.graph.as_ref().map(|g| g.current);
        let saved = std::mem::take(&mut self.body.out);
        let outer = std::mem::replace(&mut self.shared_outs, shared_outs);
        let entry = self.parser_states(
            inst,
            bound,
            &prefix,
            TransitionTarget::State(after),
            None,
            span,
        );
        self.shared_outs = outer;
        let entry = entry?;
        if let Some(current) = current {
            self.begin_state(current);
        }
        self.body.out = saved;
        self.end_state(Transition::To(TransitionTarget::State(entry)));
        self.begin_state(after);
        self.copy_out(&outs)
    }

    /// Returns the prefix of the names of a copy's states: the instance, and the number of the copy.
    fn copy_name(&self, object: &Expr, inst: crate::instances::ParserInst) -> smol_str::SmolStr {
        let data = &self.parsers[inst];
        let name = match &object.kind {
            ExprKind::Instance(id) if !self.module.instances[*id].name.is_empty() => {
                self.module.instances[*id].name.clone()
            }
            _ => self.module.parsers[data.parser].name.clone(),
        };
        match data.copies {
            0 => name,
            earlier => format_smolstr!("{name}_{}", earlier + 1),
        }
    }
}

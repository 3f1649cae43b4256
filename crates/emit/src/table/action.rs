//! Actions: emission of their bodies, and loads of their parameters from a value.

use super::value::ActionLayout;
use super::{LoweredTable, Results, Value};
use crate::emitter::Gen;
use crate::locals::LocalKind;
use crate::record::{self, MemberLayout};
use crate::target::Target;
use cgen::lower::limb_count;
use cgen::tree::{Expr as C, Stmt};
use ir::{ActionCall, StmtKind, TableData, Var, visit};

impl<T: Target> Gen<'_, T> {
    /// Emits a switch over the actions that a value may name.
    pub(crate) fn switch_action(
        &mut self,
        data: &TableData,
        made: &LoweredTable<T>,
        entry: &C,
        results: &Results,
        entries_only: bool,
    ) {
        let Some(Value { layout, .. }) = &made.value else {
            return;
        };
        let mut cases = Vec::new();
        for (i, action) in data.actions.iter().enumerate() {
            let default_here = !entries_only && i as u32 == data.default_action.action;
            let possible = if entries_only {
                !action.default_only
            } else {
                default_here || !action.default_only || !action.table_only
            };
            if !possible {
                continue;
            }
            let ActionLayout { member, params, .. } = &layout.actions[i];
            let block = self.block(|g| {
                if let Some(var) = &results.action {
                    g.set(var.clone(), C::int(i as u64));
                }
                let vars = &g.p.actions[action.action].params;
                for (&var, param) in vars.iter().zip(params) {
                    let place = entry
                        .clone()
                        .arrow(member.clone())
                        .member(param.member.clone());
                    g.load_param(var, param.form, place);
                }
                g.run_action(i, data);
            });
            cases.push((vec![C::int(i as u64 + 1)], block));
        }
        // Every value names one of these actions, so the last needs no comparison.
        let single = cases.len() == 1;
        if single {
            if let Some((_, block)) = cases.pop() {
                self.out.extend(block);
            }
            return;
        }
        let empty = |b: &cgen::tree::Block| b.iter().all(|s| matches!(s, Stmt::Line { .. }));
        let all = cases.len();
        cases.retain(|(_, b)| !empty(b));
        let default = if cases.len() == all {
            cases.pop().map(|(_, b)| b).unwrap_or_default()
        } else {
            Vec::new()
        };
        self.push(Stmt::Switch {
            on: entry.clone().arrow("action"),
            cases,
            default,
        });
    }

    fn load_param(&mut self, var: Var, form: MemberLayout, member: C) {
        let var = self.local(LocalKind::Var(var));
        if form.width == 0 {
            return;
        }
        if form.width <= 64 {
            self.set(var, record::load(member, form));
            return;
        }
        let n = limb_count(form.width);
        for i in 0..n {
            let word = member.clone().index(C::int((n - 1 - i).into()));
            let value = C::pure("load_be64", vec![word.addr()]);
            self.set(var.clone().index(C::int(i.into())), value);
        }
    }

    /// Runs an action with constant arguments.
    pub(crate) fn run_action_call(
        &mut self,
        data: &TableData,
        call: &ActionCall,
        results: &Results,
    ) {
        if let Some(var) = &results.action {
            self.set(var.clone(), C::int(call.action.into()));
        }
        let action = &self.p.actions[data.actions[call.action as usize].action];
        for (&var, value) in action.params.iter().zip(&call.args) {
            let local = self.local(LocalKind::Var(var));
            let width = value.width();
            if width == 0 {
                continue;
            }
            if width <= 64 {
                self.set(local, C::int(value.to_u64().unwrap_or(0)));
                continue;
            }
            let digits: Vec<u64> = value.value().iter_u64_digits().collect();
            for i in 0..limb_count(width) {
                let digit = digits.get(i as usize).copied().unwrap_or(0);
                self.set(local.clone().index(C::int(i.into())), C::int(digit));
            }
        }
        self.run_action(call.action as usize, data);
    }

    fn run_action(&mut self, index: usize, data: &TableData) {
        let body = &self.p.actions[data.actions[index].action].body;
        let mut returns = false;
        visit::walk_block(body, &mut |s| returns |= matches!(s.kind, StmtKind::Return));
        if !returns {
            self.run(body);
            return;
        }
        let label = self.file.names.fresh("action_done");
        self.scope.returns.push(label.clone());
        self.run(body);
        self.scope.returns.pop();
        self.push(Stmt::Label(label));
    }
}

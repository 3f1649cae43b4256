//! Tables and their actions.

use crate::args::ParamInst;
use crate::body::Body;
use crate::effects::{calls_exiting, has_effects, takes_statements};
use crate::instances::InstRef;
use crate::storage::{HeaderLoc, Storage, join};
use crate::value::Value;
use crate::{Elab, Result, errors, names};
use diag::Span;
use hir::{ActionId, Direction, ExprKind, LocalId, TableId, Ty};
use ir::{
    ActionData, CtorValue, HeaderRef, Key, MatchKind, Place, StmtKind, Table, TableAction,
    TableData, Type, Var,
};
use num_traits::ToPrimitive;
use smol_str::SmolStr;

/// Keys whose values take statements, by index, with the variables that are set before each use.
type Computed = Vec<(usize, Var)>;

/// A table of this control instance.
#[derive(Clone)]
pub(crate) struct TableInst {
    pub(crate) table: Table,
    pub(crate) computed: Computed,
    /// Declared action of each action in the table's list.
    pub(crate) actions: Vec<ActionId>,
}

/// Data that the control plane gives an action.
#[derive(Default)]
struct DataParams {
    /// Each scalar, in order.
    params: Vec<Var>,
    /// Headers and stacks, with their values when the action begins.
    headers: Vec<(Storage, Value)>,
}

/// Returns true if a value contains a header that is not valid.
fn has_invalid(value: &Value) -> bool {
    match value {
        Value::Invalid(_) => true,
        Value::Struct(parts) | Value::Stack(parts) => parts.iter().any(has_invalid),
        _ => false,
    }
}

/// Rule for the priorities of a table's entries.
pub(crate) struct PriorityRule {
    pub(crate) largest_wins: bool,
    pub(crate) delta: u64,
}

impl Elab<'_> {
    /// Builds a table, its actions and entries.
    pub(crate) fn build_table(&mut self, id: TableId) -> Result<()> {
        let module = self.module;
        let declared = &module.tables[id];
        let name = names::control_plane(&self.env.path, &declared.name, &declared.annotations);
        self.claim_name(
            names::NamedKind::Table,
            &name,
            &declared.annotations,
            declared.span,
        );
        let mut ids: Vec<ActionId> = Vec::new();
        let mut actions = Vec::new();
        for action in &declared.actions {
            ids.push(action.action);
            actions.push(TableAction {
                action: self.table_action(action)?,
                default_only: names::has(&action.annotations, "defaultonly"),
                table_only: names::has(&action.annotations, "tableonly"),
            });
        }
        let default_action = match &declared.default_action {
            Some(call) => self.action_call(call, &actions)?,
            None => self.no_action(&mut ids, &mut actions, declared.span)?,
        };
        let (keys, computed) = self.keys(declared)?;
        let mut rule = PriorityRule {
            largest_wins: true,
            delta: 1,
        };
        let properties = self.properties(declared, &name, &mut rule)?;
        let entries = self.entries(declared, &keys, &actions, &rule)?;
        let size = match &declared.size {
            // 0 leaves the size to the target, as an omitted size does.
            Some(size) if self.must_be_int(size)?.sign() != num_bigint::Sign::NoSign => {
                let most = self.must_be_size(size, "the size of a table")?;
                if entries.len() as u64 > most {
                    self.diagnostics.push(errors::entries_beyond_size(
                        size.span,
                        &name,
                        entries.len(),
                        most,
                    ));
                }
                Some(most)
            }
            _ => None,
        };
        let table = self.program.tables.push(TableData {
            name,
            keys,
            actions,
            default_action,
            const_default: declared.const_default,
            entries,
            const_entries: declared.const_entries,
            size,
            properties,
            annotations: names::keep(&declared.annotations),
            span: declared.span,
        });
        self.env.tables.insert(
            id,
            TableInst {
                table,
                computed,
                actions: ids,
            },
        );
        Ok(())
    }

    fn keys(&mut self, declared: &hir::Table) -> Result<(Vec<Key>, Computed)> {
        self.check_sibling_ids(declared.keys.iter().map(|key| &*key.annotations));
        let (mut keys, mut computed) = (Vec::new(), Vec::new());
        for (i, key) in declared.keys.iter().enumerate() {
            // This key must not see what a later key changes.
            let changes = declared.keys[i + 1..].iter().any(|k| has_effects(&k.expr));
            let mut expr = None;
            if !takes_statements(&key.expr) && !changes {
                // An element of an array that is selected at run time takes statements for its index.
                let statements = self.block(|elab| {
                    expr = Some(elab.scalar(&key.expr)?);
                    Ok(())
                })?;
                expr = expr.filter(|_| statements.is_empty());
            }
            let expr = match expr {
                Some(expr) => expr,
                None => {
                    let Some(ty) = self.scalar_type(&key.expr.ty) else {
                        return self.fail(errors::not_storable(key.span));
                    };
                    let var = self.new_var(key.name.clone(), ty, key.span);
                    computed.push((i, var));
                    self.read(Place::Var(var), key.span)
                }
            };
            let kind = self
                .module
                .match_kinds
                .get(key.match_kind as usize)
                .cloned()
                .unwrap_or_default();
            let kind = self.match_kind(&kind, key.span)?;
            if matches!(self.type_of(expr), Type::Varbit(_)) {
                return self.fail(errors::varbit_key(key.span));
            }
            let signed = matches!(self.type_of(expr), Type::Bits { signed: true, .. });
            if kind == MatchKind::Lpm && signed {
                return self.fail(errors::signed_prefix(key.span));
            }
            let is_prefix = |key: &Key| key.kind == MatchKind::Lpm;
            if kind == MatchKind::Lpm && keys.iter().any(is_prefix) {
                return self.fail(errors::several_prefixes(key.span));
            }
            keys.push(Key {
                name: key.name.clone(),
                expr,
                kind,
                declared: self.declared_key(key),
            });
        }
        Ok((keys, computed))
    }

    /// Adds `NoAction` as the default of a table that declares none.
    fn no_action(
        &mut self,
        ids: &mut Vec<ActionId>,
        actions: &mut Vec<TableAction>,
        span: Span,
    ) -> Result<ir::ActionCall> {
        let module = self.module;
        let declared = module.actions.iter().find(|(id, action)| {
            action.name == "NoAction"
                && action.params.is_empty()
                && !self.local_actions.contains(id)
        });
        let call = |index: usize| ir::ActionCall {
            action: index as u32,
            args: Vec::new(),
        };
        let Some((id, _)) = declared else {
            return self.fail(errors::no_default_action(span));
        };
        if let Some(known) = ids.iter().position(|&known| known == id) {
            return Ok(call(known));
        }
        let action = self.plain_action(id)?;
        ids.push(id);
        actions.push(TableAction {
            action,
            default_only: true,
            table_only: false,
        });
        Ok(call(actions.len() - 1))
    }

    /// Returns an action as a table lists it.
    fn table_action(&mut self, listed: &hir::ActionRef) -> Result<ir::Action> {
        let action = &self.module.actions[listed.action];
        let directional = action
            .params
            .iter()
            .any(|&p| self.direction(p) != Direction::None);
        if directional {
            self.build_action(listed.action, &listed.args, listed.span)
        } else {
            self.plain_action(listed.action)
        }
    }

    /// Returns an action without directional parameters, which all tables of the instance share.
    fn plain_action(&mut self, id: ActionId) -> Result<ir::Action> {
        let local = self.local_actions.contains(&id);
        let known = if local {
            self.env.actions.get(&id)
        } else {
            self.global_actions.get(&id)
        };
        if let Some(&known) = known {
            return Ok(known);
        }
        let made = self.build_action(id, &hir::Args::default(), self.module.actions[id].span)?;
        if local {
            self.env.actions.insert(id, made);
        } else {
            self.global_actions.insert(id, made);
        }
        Ok(made)
    }

    /// Builds an action; arguments of its directional parameters are evaluated when it runs.
    fn build_action(&mut self, id: ActionId, args: &hir::Args, span: Span) -> Result<ir::Action> {
        self.grow(1, span)?;
        let action = &self.module.actions[id];
        let (bound, data): (Vec<LocalId>, Vec<LocalId>) = action
            .params
            .iter()
            .partition(|&&p| self.direction(p) != Direction::None);
        let (mut given, mut declared) = (Vec::new(), Vec::new());
        let mut data_params = DataParams::default();
        let module = self.module;
        let annotations = data.iter().map(|&param| &*module.locals[param].annotations);
        self.check_sibling_ids(annotations);
        // Action data consists of variables, even in arrays.
        let outer = std::mem::replace(&mut self.apart, true);
        let made = self.make_params(&data, &[], &[]);
        self.apart = outer;
        for (made, &param) in made?.into_iter().zip(&data) {
            let ParamInst::Copied(_, storage) = made else {
                continue;
            };
            let local = &self.module.locals[param];
            self.declared_leaves(&local.ty, &local.annotations, &mut declared);
            if !self.data_params(&storage, &mut data_params, local.span) {
                return self.fail(errors::action_data(action.span, &action.name, &local.name));
            }
            given.push(storage);
        }
        // If a callee exits, a body built here would not copy its parameters back; a call of a routine does.
        let routine = match !bound.is_empty() && calls_exiting(module, &action.body) {
            true => Some(self.action_routine(id)?),
            false => None,
        };
        let DataParams { params, headers } = data_params;
        let ((), body) = self.separate(Body::default(), |elab| {
            for (storage, value) in headers {
                elab.assign(&storage, value, span)?;
            }
            let args = elab.eval_args(args)?;
            if let Some(routine) = &routine {
                let args = args.with(given.into_iter().map(Value::Stored));
                elab.call_routine(routine, &args, false, &Ty::Void, span)?;
                return Ok(());
            }
            // Nothing is shared: the body may use the control's variables by name as well.
            let made = elab.make_params(&bound, &args.all, &[])?;
            let outs = elab.copy_in(&made, &args, span)?;
            elab.framed(outs, None, span, |elab| elab.stmts(&action.body))
        })?;
        let name = self.action_name(id);
        self.claim_name(
            names::NamedKind::Action,
            &name,
            &action.annotations,
            action.span,
        );
        Ok(self.program.actions.push(ActionData {
            name,
            params,
            declared,
            body,
            annotations: names::keep(&action.annotations),
            span: action.span,
        }))
    }

    /// Adds a variable to `into` for each scalar that the control plane gives for a parameter, including those of
    /// headers. Returns false if the control plane cannot give a part of it.
    fn data_params(&mut self, storage: &Storage, into: &mut DataParams, span: Span) -> bool {
        match storage {
            Storage::Scalar(Place::Var(var)) => {
                into.params.push(*var);
                !matches!(self.program.vars[*var].ty, Type::Varbit(_))
            }
            Storage::Struct(parts) => (parts.iter()).all(|part| self.data_params(part, into, span)),
            Storage::Header(header) => match self.header_param(header, into, span) {
                Some(value) => {
                    into.headers.push((storage.clone(), value));
                    true
                }
                None => false,
            },
            Storage::Stack(stack) if !stack.of_unions => {
                let mut values = Vec::new();
                for elem in self.elements(stack) {
                    let Storage::Header(header) = elem else {
                        return false;
                    };
                    values.extend(self.header_param(&header, into, span));
                }
                let are_all = values.len() == stack.size as usize;
                into.headers.push((storage.clone(), Value::Stack(values)));
                are_all
            }
            _ => false,
        }
    }

    /// Returns a valid header whose fields the control plane gives.
    fn header_param(
        &mut self,
        header: &HeaderLoc,
        into: &mut DataParams,
        span: Span,
    ) -> Option<Value> {
        let HeaderRef::Header(at) = header.at else {
            return None;
        };
        let name = self.program.headers[at].name.clone();
        let fields = self.program.header_types[header.ty].fields.clone();
        let mut values = Vec::new();
        for field in fields {
            if matches!(field.ty, Type::Varbit(_)) {
                return None;
            }
            let var = self.new_var(join(&name, &field.name), field.ty, span);
            into.params.push(var);
            values.push(self.read(Place::Var(var), span));
        }
        Some(Value::Header(header.ty, values))
    }

    /// Builds a call of an action with its control-plane arguments.
    pub(crate) fn action_call(
        &mut self,
        call: &hir::ActionCall,
        actions: &[TableAction],
    ) -> Result<ir::ActionCall> {
        let Some(action) = actions.get(call.action as usize) else {
            return self.fail(errors::not_constant(call.span));
        };
        let widths: Vec<u32> = self.program.actions[action.action]
            .params
            .iter()
            .map(|&v| self.program.vars[v].ty.width())
            .collect();
        let mut values = Vec::new();
        for arg in &call.args {
            let value = match &arg.kind {
                ExprKind::Default => None,
                _ => Some(self.must_evaluate(arg)?),
            };
            let value = match value {
                Some(value) => self.constant(&value, &arg.ty, arg.span)?,
                None => self.default_value(&arg.ty, arg.span)?,
            };
            if has_invalid(&value) {
                return self.fail(errors::invalid_action_data(arg.span));
            }
            let mut scalars = Vec::new();
            self.scalars(&value, arg.span, &mut scalars)?;
            for scalar in scalars {
                let width = widths.get(values.len()).copied().unwrap_or(0);
                values.push(match &self.program.exprs[scalar].kind {
                    ir::ExprKind::Const(bits) => bits.clone(),
                    ir::ExprKind::Bool(value) => ir::Bits::from_bool(*value),
                    ir::ExprKind::Member(index) => ir::Bits::new(width, *index),
                    _ => return self.fail(errors::not_constant(arg.span)),
                });
            }
        }
        Ok(ir::ActionCall {
            action: call.action,
            args: values,
        })
    }

    /// Returns the extern objects among a table's properties. Properties of the language itself go to `rule`; all
    /// others have no meaning for any target.
    fn properties(
        &mut self,
        declared: &hir::Table,
        table: &str,
        rule: &mut PriorityRule,
    ) -> Result<Vec<(SmolStr, CtorValue)>> {
        let mut kept = Vec::new();
        for (name, value, _) in &declared.properties {
            match name.as_str() {
                "largest_priority_wins" => match self.must_evaluate(value)? {
                    hir::ConstValue::Bool(largest) => rule.largest_wins = largest,
                    _ => return self.fail(errors::not_constant(value.span)),
                },
                "priority_delta" => {
                    let delta = self.must_be_int(value)?;
                    match delta.to_u64().filter(|d| *d > 0) {
                        Some(delta) => rule.delta = delta,
                        None => {
                            return self.fail(errors::bad_size(
                                value.span,
                                "`priority_delta`",
                                &delta,
                            ));
                        }
                    }
                }
                // The target decides which objects these may be.
                "implementation" | "counters" | "meters" => {
                    kept.push((name.clone(), self.property_object(name, value, table)?));
                }
                // A control that is instantiated twice reaches this twice.
                _ => {
                    let ignored = errors::property_ignored(value.span, name);
                    if !self.diagnostics.iter().any(|known| *known == ignored) {
                        self.diagnostics.push(ignored);
                    }
                }
            }
        }
        Ok(kept)
    }

    /// Returns the extern object that a property must be.
    fn property_object(&mut self, name: &str, value: &hir::Expr, table: &str) -> Result<CtorValue> {
        let object = if let ExprKind::Instance(id) = value.kind
            && self.module.instances[id].name.is_empty()
            && matches!(self.resolve(&value.ty), Ty::Extern(..))
        {
            // An unnamed object of a table is named after the table and the property.
            let own = table
                .strip_prefix(self.env.path.as_str())
                .map_or(table, |rest| rest.trim_start_matches('.'));
            Some(self.instantiate(id, &format!("{own}.{name}"))?)
        } else {
            self.object(value)?
        };
        match object {
            Some(InstRef::Extern(object)) => Ok(CtorValue::Extern(object)),
            _ => self.fail(errors::property_not_an_object(value.span, name)),
        }
    }

    /// Applies a table; returns its instance.
    pub(crate) fn apply_table(
        &mut self,
        id: TableId,
        hit: Option<Var>,
        action: Option<Var>,
        span: Span,
    ) -> Result<TableInst> {
        let Some(inst) = self.env.tables.get(&id).cloned() else {
            return self.fail(errors::not_an_instance(span));
        };
        let declared = &self.module.tables[id];
        for &(key, var) in &inst.computed {
            let expr = &declared.keys[key].expr;
            let value = self.scalar(expr)?;
            self.set(Place::Var(var), value, expr.span)?;
        }
        self.emit(
            StmtKind::Apply {
                table: inst.table,
                hit,
                action,
            },
            span,
        )?;
        Ok(inst)
    }

    /// Applies a table; returns whether it was hit.
    pub(crate) fn apply_for_hit(&mut self, id: TableId, span: Span) -> Result<ir::Expr> {
        let hit = self.new_var("hit", Type::Bool, span);
        self.apply_table(id, Some(hit), None, span)?;
        Ok(self.read(Place::Var(hit), span))
    }
}

//! Tables: one look-up, one value with the action and its parameters.

mod action;
mod compiled;
mod key;
mod lookup;
mod value_set;

pub(super) use compiled::{between, masked_equals, wide_between, wide_masked_equals};
pub(super) use value_set::MadeSet;

use super::Gen;
use super::locals::Role;
use crate::abi::{DefaultAbi, LookupAbi, TableAbi, ValueAbi};
use crate::errors;
use crate::maps::GLOBALS;
use crate::plan::flow::Flow;
use cgen::tree::{BinOp, Expr as C, Stmt, Type};
use diag::Span;
use ir::{CtorValue, MatchKind, Table, TableData, Var};
use smol_str::SmolStr;

/// How many entries a table has that does not say.
const DEFAULT_SIZE: u64 = 1024;

/// A table's C side, made when it is first applied. The functions of a file share it although the programs that they
/// are made from number variables and expressions each in their way: so there are none in it.
#[derive(Clone, Debug)]
pub(super) struct Made {
    /// Its struct of action and parameters, if it has a map or a default action in the globals.
    pub value: Option<SmolStr>,
    /// The layout of that.
    pub layout: Option<action::Layout>,
    /// How entries are found.
    pub lookup: lookup::Lookup,
    /// The globals' members for the default action: values, and the selector if there are two.
    pub default: Option<(SmolStr, Option<SmolStr>)>,
}

impl Gen<'_> {
    /// Applies a table.
    pub(super) fn apply(
        &mut self,
        table: Table,
        hit: Option<Var>,
        action: Option<Var>,
        span: Span,
    ) {
        let data = &self.p.tables[table];
        let made = self.table(table, span);
        let hit_var = hit.map(|v| self.local(Role::Var(v)));
        let action_var = action.map(|v| self.local(Role::Var(v)));
        let results = Results {
            hit: hit_var,
            action: action_var,
        };
        if let lookup::Lookup::Compiled = made.lookup {
            return self.apply_compiled(data, &data.keys, &results, &made);
        }
        let outer = std::mem::take(&mut self.out);
        let Some(entry) = self.find(data, &made, span) else {
            self.out = outer;
            return;
        };
        // Opaque, or clang would ask for two entries at once by joining their pointers, which the
        // verifier forbids.
        let found = C::pure("flag_set", Vec::new());
        let before = self.flow.clone();
        if made.default.is_some() {
            // One switch for entries and default alike.
            let default = self.default_value(&made);
            // The barrier keeps clang from finding the default on the way to every entry.
            let mut fallback = vec![
                Stmt::Assign(entry.clone(), default),
                Stmt::Hint {
                    name: "barrier_var".into(),
                    on: entry.clone(),
                },
            ];
            match &results.hit {
                None => self.push(Stmt::If(C::not(entry.clone()), fallback, Vec::new())),
                Some(hit) => {
                    let on_hit = self.block(|g| g.set(hit.clone(), found));
                    fallback.extend(self.block(|g| g.set(hit.clone(), C::int(0))));
                    self.push(Stmt::If(entry.clone(), on_hit, fallback));
                }
            }
            self.switch_action(data, &made, &entry, &results, false);
        } else {
            let on_hit = self.block(|g| {
                if let Some(hit) = &results.hit {
                    g.set(hit.clone(), found);
                }
                g.switch_action(data, &made, &entry, &results, true);
            });
            let after = std::mem::replace(&mut self.flow, before);
            let on_miss = self.block(|g| g.run_default(data, &results));
            self.flow.join(&after);
            self.push(Stmt::If(entry, on_hit, on_miss));
        }
        let block = std::mem::replace(&mut self.out, outer);
        self.push(Stmt::Block(block));
    }

    /// The value that the default action is in.
    fn default_value(&self, made: &Made) -> C {
        let Some((values, selector)) = &made.default else {
            return C::id("NULL");
        };
        let all = C::id(GLOBALS).member(values.clone());
        match selector {
            None => all.addr(),
            Some(selector) => {
                let which = C::id(GLOBALS).member(selector.clone());
                all.index(C::bin(BinOp::And, which, C::int(1))).addr()
            }
        }
    }

    /// Runs the action that the program says runs when nothing matches.
    fn run_default(&mut self, data: &TableData, results: &Results) {
        if let Some(hit) = &results.hit {
            self.set(hit.clone(), C::int(0));
        }
        self.run_action_call(data, &data.default_action, results);
    }

    /// The C side of a table.
    fn table(&mut self, table: Table, span: Span) -> Made {
        if let Some(made) = self.tables.get(&table) {
            return made.clone();
        }
        let made = self.make_table(table, span);
        self.tables.insert(table, made.clone());
        made
    }

    fn make_table(&mut self, table: Table, span: Span) -> Made {
        let data = &self.p.tables[table];
        self.check_properties(data);
        self.check_keys(data);
        let size = table_size(self.p, data).clamp(1, u64::from(u32::MAX));
        let fixed = data.keys.is_empty()
            || (data.const_entries
                && compiled::few(data)
                && data.entries.iter().all(|e| e.is_const));
        let default_fixed =
            data.const_default || default_choices(data).len() <= 1 && !has_params(self.p, data);
        if fixed && default_fixed {
            self.maps.tables.push(TableAbi {
                index: table.as_u32(),
                name: data.name.to_string(),
                capacity: data.entries.len() as u64,
                lookup: LookupAbi::Compiled,
                default: DefaultAbi::Const,
                preload: false,
            });
            return Made {
                value: None,
                layout: None,
                lookup: lookup::Lookup::Compiled,
                default: None,
            };
        }
        let ternary = !fixed && lookup::needs_tuple_space(data);
        let short = data
            .name
            .rsplit('.')
            .next()
            .unwrap_or(&data.name)
            .to_string();
        let (layout, members) = self.value_layout(data, ternary);
        let value = self.names.fresh(&format!("{short}_value"));
        self.maps.declare_struct(&value, members);
        let (default, default_abi) = if default_fixed {
            (None, DefaultAbi::Const)
        } else {
            let (names, abi) = self.make_default(data, &short, &value, &layout);
            (Some(names), abi)
        };
        let (lookup, lookup_abi) = if fixed {
            (lookup::Lookup::Compiled, LookupAbi::Compiled)
        } else {
            self.make_lookup(data, &short, &value, &layout, size, ternary, span)
        };
        self.maps.tables.push(TableAbi {
            index: table.as_u32(),
            name: data.name.to_string(),
            capacity: if fixed {
                data.entries.len() as u64
            } else {
                size
            },
            lookup: lookup_abi,
            default: default_abi,
            preload: !fixed && !data.entries.is_empty(),
        });
        Made {
            value: Some(value),
            layout: Some(layout),
            lookup,
            default,
        }
    }

    /// Entries have no value for a selector's input, so it cannot pass for an exact key.
    fn check_keys(&mut self, data: &TableData) {
        for key in &data.keys {
            if key.kind == MatchKind::Selector {
                self.refuse(errors::selector_key(
                    self.options.hook,
                    &data.name,
                    &key.name,
                    data.span,
                ));
            }
        }
    }

    fn check_properties(&mut self, data: &TableData) {
        for (name, value) in &data.properties {
            let known = match value {
                CtorValue::Extern(inst) => {
                    matches!(
                        self.p.externs[*inst].ty.as_str(),
                        "hash_table" | "array_table"
                    )
                }
                CtorValue::Absent => true,
                _ => !matches!(name.as_str(), "counters" | "meters" | "implementation"),
            };
            if !known {
                self.refuse(errors::table_property(
                    self.options.hook,
                    &data.name,
                    name,
                    data.span,
                ));
            }
        }
    }

    /// Puts a table's default action into the globals.
    fn make_default(
        &mut self,
        data: &TableData,
        short: &str,
        value: &SmolStr,
        layout: &action::Layout,
    ) -> ((SmolStr, Option<SmolStr>), DefaultAbi) {
        let name = self.names.fresh(&format!("{short}_default"));
        let (init, bytes) = layout.initial(data);
        let two = default_choices(data)
            .iter()
            .any(|&i| !self.p.actions[data.actions[i].action].params.is_empty());
        let align = layout.align.max(4);
        let abi = layout.abi.clone();
        let ty = Type::Struct(value.clone());
        if !two {
            let offset = self.maps.add_global(ty, &name, align, Some(init), bytes);
            let abi = default_abi(vec![offset], None, abi);
            return ((name, None), abi);
        }
        let both = C::Init(vec![(None, init.clone()), (None, init)]);
        let size = bytes.len() as u32;
        let twice = [bytes.clone(), bytes].concat();
        let offset = self
            .maps
            .add_global(ty.array(2), &name, align, Some(both), twice);
        let selector = self.names.fresh(&format!("{short}_default_slot"));
        let at = self
            .maps
            .add_global(Type::U32, &selector, 4, None, vec![0; 4]);
        let abi = default_abi(vec![offset, offset + size], Some(at), abi);
        ((name, Some(selector)), abi)
    }
}

fn default_abi(slots: Vec<u32>, selector: Option<u32>, value: ValueAbi) -> DefaultAbi {
    DefaultAbi::Global {
        slots,
        selector,
        value,
    }
}

/// Where an application's results go.
pub(super) struct Results {
    hit: Option<C>,
    action: Option<C>,
}

/// The actions that may be the default one.
fn default_choices(data: &TableData) -> Vec<usize> {
    (0..data.actions.len())
        .filter(|&i| !data.actions[i].table_only || i as u32 == data.default_action.action)
        .collect()
}

/// Whether one of the actions that may be the default has parameters.
fn has_params(p: &ir::Program, data: &TableData) -> bool {
    default_choices(data)
        .iter()
        .any(|&i| !p.actions[data.actions[i].action].params.is_empty())
}

/// How many entries a table is to hold.
fn table_size(p: &ir::Program, data: &TableData) -> u64 {
    let from_property = data.properties.iter().find_map(|(_, value)| match value {
        CtorValue::Extern(inst) => p.externs[*inst]
            .int_arg("size")
            .and_then(|n| u64::try_from(n).ok()),
        _ => None,
    });
    from_property
        .or(data.size)
        .unwrap_or(DEFAULT_SIZE)
        .max(data.entries.len() as u64)
}

/// A flow that nothing has reached.
fn unreached(p: &ir::Program) -> Flow {
    Flow::unreached(p)
}

//! Tables: one look-up, one value with the action and its parameters.
//!
//! A table is compiled in where that is all it takes: it has no key, or few constant entries. For
//! any other the target defines how entries are stored and found ([`Target::table`], [`Target::look_up`]).

mod action;
mod compiled;
pub mod key;
pub mod value;
mod value_set;

pub(crate) use compiled::{between, masked_equals, wide_between, wide_masked_equals};
pub(crate) use value_set::LoweredSet;

use crate::emitter::Gen;
use crate::errors;
use crate::hints::Event;
use crate::locals::LocalKind;
use crate::target::{Lookups, Target};
use cgen::tree::{Expr as C, Stmt, Type};
use diag::Span;
use ir::{CtorValue, Expr, ExternInst, MatchKind, Program, Table, TableData, Var};
use smol_str::SmolStr;
use value::Layout;

/// A struct of a table's values: action and parameters.
#[derive(Clone, Debug)]
pub struct Value {
    /// The struct's name.
    pub name: SmolStr,
    /// What is in it.
    pub layout: Layout,
}

/// What a target is to store of a table.
#[derive(Clone, Copy, Debug)]
pub enum Stored<'a> {
    /// Nothing: entries, if any, and default action are compiled in.
    Nothing,
    /// The default action; entries, if any, are compiled in.
    Default(&'a Value),
    /// Entries; the default action is compiled in.
    Entries(&'a Value),
    /// Entries and default action.
    Both(&'a Value),
}

impl<'a> Stored<'a> {
    /// The values that are stored, if entries are.
    pub fn entries(self) -> Option<&'a Value> {
        match self {
            Stored::Entries(value) | Stored::Both(value) => Some(value),
            Stored::Nothing | Stored::Default(_) => None,
        }
    }

    /// The value that is stored, if the default action is.
    pub fn default(self) -> Option<&'a Value> {
        match self {
            Stored::Default(value) | Stored::Both(value) => Some(value),
            Stored::Nothing | Stored::Entries(_) => None,
        }
    }
}

/// A table that a target is asked to lay out.
#[derive(Clone, Copy, Debug)]
pub struct TableShape<'a> {
    /// Which one.
    pub table: Table,
    /// Its declaration in the program.
    pub data: &'a TableData,
    /// What names of its own begin with.
    pub short: &'a str,
    /// What is to be stored.
    pub stored: Stored<'a>,
    /// Where the program applies it first.
    pub span: Span,
}

/// A table's C side, made when it is first applied. The functions of a file share it although the programs that they
/// are made from number variables and expressions each in their own way: so there are none in it.
pub(crate) struct LoweredTable<T: Target> {
    /// Its values, if it has any outside of the program.
    value: Option<Value>,
    keeps_entries: bool,
    keeps_default: bool,
    of: <T::Lookups as Lookups<T>>::Table,
}

impl<T: Target> Clone for LoweredTable<T> {
    fn clone(&self) -> LoweredTable<T> {
        LoweredTable {
            value: self.value.clone(),
            of: self.of.clone(),
            ..*self
        }
    }
}

/// Where an application's results go.
pub(crate) struct Results {
    hit: Option<C>,
    action: Option<C>,
}

/// Whether a table's entries overlap so that only priorities decide.
pub fn has_priorities(data: &TableData) -> bool {
    data.keys.iter().any(|key| key.kind.needs_priority())
}

impl<T: Target> Gen<'_, T> {
    /// Applies a table.
    pub(crate) fn apply(
        &mut self,
        table: Table,
        hit: Option<Var>,
        action: Option<Var>,
        span: Span,
    ) {
        let data = &self.p.tables[table];
        let made = self.lowered_table(table, span);
        let hit_var = hit.map(|v| self.local(LocalKind::Var(v)));
        let action_var = action.map(|v| self.local(LocalKind::Var(v)));
        let results = Results {
            hit: hit_var,
            action: action_var,
        };
        match &made.value {
            Some(value) if made.keeps_entries => {
                let entry = Type::Struct(value.name.clone()).ptr();
                self.braces(|g| g.apply_stored(data, &made, entry, &results));
            }
            _ => self.apply_compiled(data, &data.keys, &results, &made),
        }
    }

    /// Applies a table whose entries the target keeps.
    fn apply_stored(
        &mut self,
        data: &TableData,
        made: &LoweredTable<T>,
        entry: Type,
        results: &Results,
    ) {
        let keys: Vec<Expr> = key::matched(&data.keys).map(|k| k.expr).collect();
        let entry = T::Lookups::look_up(self, &made.of, &keys, entry);
        // Opaque, or a compiler would ask for two entries at once by joining their pointers, of which neither
        // would be checked by itself.
        let found = self.flag();
        if made.keeps_default {
            // One switch for entries and default alike.
            let default = T::Lookups::default_action(self, &made.of);
            // The barrier keeps the compiler from finding the default on the path to every entry.
            let mut fallback = vec![Stmt::Assign(entry.clone(), default)];
            fallback.extend(self.target.on(Event::Computed(&entry)));
            match &results.hit {
                None => self.push(Stmt::If(C::not(entry.clone()), fallback, Vec::new())),
                Some(hit) => {
                    let on_hit = self.block(|g| g.set(hit.clone(), found));
                    fallback.extend(self.block(|g| g.set(hit.clone(), C::int(0))));
                    self.push(Stmt::If(entry.clone(), on_hit, fallback));
                }
            }
            self.run_entry(data, made, &entry, results, false);
        } else {
            let on_hit = self.block(|g| {
                if let Some(hit) = &results.hit {
                    g.set(hit.clone(), found);
                }
                g.run_entry(data, made, &entry, results, true);
            });
            let on_miss = self.block(|g| g.run_default(data, results));
            self.push(Stmt::If(entry, on_hit, on_miss));
        }
    }

    /// Runs the action of an entry, or the default one, between what the target does for the entry it keeps something for.
    fn run_entry(
        &mut self,
        data: &TableData,
        made: &LoweredTable<T>,
        entry: &C,
        results: &Results,
        entries_only: bool,
    ) {
        let numbered = has_direct_objects(self.p, data);
        if numbered {
            T::Lookups::enter_entry(self, &made.of, entry.clone().arrow(value::NUMBER));
        }
        if profile_of(self.p, data).is_some() {
            T::Lookups::follow(self, &made.of, data, entry);
            let leads = self.block(|g| g.switch_action(data, made, entry, results, entries_only));
            self.push(Stmt::If(entry.clone(), leads, Vec::new()));
        } else {
            self.switch_action(data, made, entry, results, entries_only);
        }
        if numbered {
            T::Lookups::leave_entry(self);
        }
    }

    /// Runs the program's default action.
    fn run_default(&mut self, data: &TableData, results: &Results) {
        if let Some(hit) = &results.hit {
            self.set(hit.clone(), C::int(0));
        }
        self.run_action_call(data, &data.default_action, results);
    }

    /// The C side of a table.
    fn lowered_table(&mut self, table: Table, span: Span) -> LoweredTable<T> {
        if let Some(made) = self.file.tables.get(&table) {
            return made.clone();
        }
        let made = self.lower_table(table, span);
        self.file.tables.insert(table, made.clone());
        made
    }

    fn lower_table(&mut self, table: Table, span: Span) -> LoweredTable<T> {
        let data = &self.p.tables[table];
        self.check_keys(data);
        let fixed = data.keys.is_empty()
            || (data.const_entries
                && compiled::few(data)
                && data.entries.iter().all(|e| e.is_const));
        let default_fixed =
            data.const_default || default_choices(data).len() <= 1 && !has_params(self.p, data);
        let short = data.name.rsplit('.').next().unwrap_or(&data.name);
        let value = (!fixed || !default_fixed).then(|| {
            let (layout, members) = self.value_layout(data, !fixed && has_priorities(data));
            let name = self.file.names.fresh(&format!("{short}_value"));
            self.file.declare_struct(&name, members);
            Value { name, layout }
        });
        let stored = match (&value, fixed, default_fixed) {
            (None, ..) | (_, true, true) => Stored::Nothing,
            (Some(value), true, false) => Stored::Default(value),
            (Some(value), false, true) => Stored::Entries(value),
            (Some(value), false, false) => Stored::Both(value),
        };
        let shape = TableShape {
            table,
            data,
            short,
            stored,
            span,
        };
        LoweredTable {
            of: T::Lookups::table(self, &shape),
            keeps_entries: !fixed,
            keeps_default: !default_fixed,
            value,
        }
    }

    /// Entries have no value for a selector's input, so it cannot pass for an exact key.
    fn check_keys(&mut self, data: &TableData) {
        let target = self.target.name();
        if T::Lookups::HAS_PROFILES && property(self.p, data, ACTION_SELECTOR).is_some() {
            if !data.keys.is_empty() && key::matched(&data.keys).next().is_none() {
                self.refuse(errors::only_selectors(target, &data.name, data.span));
            }
            return;
        }
        for key in &data.keys {
            if key.kind == MatchKind::Selector {
                self.refuse(errors::selector_key(
                    target, &data.name, &key.name, data.span,
                ));
            }
        }
    }
}

/// The externs whose objects keep something for each entry of a table.
pub const DIRECT_COUNTER: &str = "direct_counter";
/// See [`DIRECT_COUNTER`].
pub const DIRECT_METER: &str = "direct_meter";

/// The externs of a table whose entries may name members, and groups of them.
pub const ACTION_PROFILE: &str = "action_profile";
/// See [`ACTION_PROFILE`].
pub const ACTION_SELECTOR: &str = "action_selector";

/// The action profile or selector of a table.
pub fn profile_of(p: &Program, data: &TableData) -> Option<ExternInst> {
    let mut profiles = [ACTION_PROFILE, ACTION_SELECTOR].into_iter();
    profiles.find_map(|ty| property(p, data, ty))
}

/// The object of an extern among a table's properties.
pub fn property(p: &Program, data: &TableData, ty: &str) -> Option<ExternInst> {
    data.properties.iter().find_map(|(_, value)| match value {
        CtorValue::Extern(object) => Some(*object).filter(|object| p.externs[*object].ty == ty),
        _ => None,
    })
}

/// Whether something is kept for each entry of a table.
pub fn has_direct_objects(p: &Program, data: &TableData) -> bool {
    let mut direct = [DIRECT_COUNTER, DIRECT_METER].into_iter();
    direct.any(|ty| property(p, data, ty).is_some())
}

/// The actions that may be the default one.
pub fn default_choices(data: &TableData) -> Vec<usize> {
    (0..data.actions.len())
        .filter(|&i| !data.actions[i].table_only || i as u32 == data.default_action.action)
        .collect()
}

/// Whether one of the actions that may be the default has parameters.
pub fn has_params(p: &ir::Program, data: &TableData) -> bool {
    default_choices(data)
        .iter()
        .any(|&i| !p.actions[data.actions[i].action].params.is_empty())
}

//! Tables: one look-up, which yields a value with the action and its parameters.
//!
//! A table is compiled in if it has no key, or few constant entries. For any other table, the target defines how
//! entries are stored and found ([`Target::table`], [`Target::look_up`]).

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
use value::ValueLayout;

/// Struct of a table's values: action and parameters.
#[derive(Clone, Debug)]
pub struct Value {
    /// The struct's name.
    pub name: SmolStr,
    /// Layout of its members.
    pub layout: ValueLayout,
}

/// Parts of a table that a target must store.
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
    /// Returns the struct of the stored values, if entries are stored.
    pub fn entries(self) -> Option<&'a Value> {
        match self {
            Stored::Entries(value) | Stored::Both(value) => Some(value),
            Stored::Nothing | Stored::Default(_) => None,
        }
    }

    /// Returns the struct of the stored value, if the default action is stored.
    pub fn default(self) -> Option<&'a Value> {
        match self {
            Stored::Default(value) | Stored::Both(value) => Some(value),
            Stored::Nothing | Stored::Entries(_) => None,
        }
    }
}

/// Description of a table that a target is asked to lay out.
#[derive(Clone, Copy, Debug)]
pub struct TableShape<'a> {
    /// The table.
    pub table: Table,
    /// Its declaration in the program.
    pub data: &'a TableData,
    /// Prefix of the names that are made for it.
    pub short: &'a str,
    /// Parts that must be stored.
    pub stored: Stored<'a>,
    /// First application in the program.
    pub span: Span,
}

/// C side of a table, made at its first application. The functions of a file share it. The programs that these are
/// made from number variables and expressions differently, so it contains none of them.
pub(crate) struct LoweredTable<T: Target> {
    /// Its values, if any are stored outside of the program.
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

/// Destinations of an application's results.
pub(crate) struct Results {
    hit: Option<C>,
    action: Option<C>,
}

/// Returns true if a table's entries may overlap, so that only priorities decide.
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
        // Opaque: otherwise a compiler may load from two entries at once by joining their pointers, and neither
        // pointer would be checked by itself.
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

    /// Runs the action of an entry, or the default action. If the target keeps objects for each entry, its code for
    /// them comes before and after the action.
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

    /// Returns the C side of a table.
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

    /// Refuses selector keys that the target does not support. Entries have no value for a selector's input, so it
    /// cannot be treated as an exact key.
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

/// Extern with a counter for each entry of a table.
pub const DIRECT_COUNTER: &str = "direct_counter";
/// Extern with a meter for each entry of a table.
pub const DIRECT_METER: &str = "direct_meter";

/// Extern that lets a table's entries name members in place of actions.
pub const ACTION_PROFILE: &str = "action_profile";
/// Extern that lets a table's entries name members, and groups of them, in place of actions.
pub const ACTION_SELECTOR: &str = "action_selector";

/// Returns the action profile or selector of a table.
pub fn profile_of(p: &Program, data: &TableData) -> Option<ExternInst> {
    let mut profiles = [ACTION_PROFILE, ACTION_SELECTOR].into_iter();
    profiles.find_map(|ty| property(p, data, ty))
}

/// Returns the object of an extern type among a table's properties.
pub fn property(p: &Program, data: &TableData, ty: &str) -> Option<ExternInst> {
    data.properties.iter().find_map(|(_, value)| match value {
        CtorValue::Extern(object) => Some(*object).filter(|object| p.externs[*object].ty == ty),
        _ => None,
    })
}

/// Returns true if objects are kept for each entry of a table.
pub fn has_direct_objects(p: &Program, data: &TableData) -> bool {
    let mut direct = [DIRECT_COUNTER, DIRECT_METER].into_iter();
    direct.any(|ty| property(p, data, ty).is_some())
}

/// Returns the indices of the actions that may be the default action.
pub fn default_choices(data: &TableData) -> Vec<usize> {
    (0..data.actions.len())
        .filter(|&i| !data.actions[i].table_only || i as u32 == data.default_action.action)
        .collect()
}

/// Returns true if one of the actions that may be the default action has parameters.
pub fn has_params(p: &ir::Program, data: &TableData) -> bool {
    default_choices(data)
        .iter()
        .any(|&i| !p.actions[data.actions[i].action].params.is_empty())
}

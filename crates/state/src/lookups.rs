//! Tables and value sets in a target's memory, with direct counters and meters.

use crate::direct::Direct;
use crate::target::StateTarget;
use cgen::tree::{Expr as C, Type as CType};
use emit::table::TableShape;
use emit::{Gen, Lookups};
use ir::{Expr, TableData, ValueSet, ValueSetData};
use tables::{Tables, value_set};

/// Table: its entries, its default action, and its direct counters and meters.
#[derive(Clone, Debug)]
pub struct Table {
    entries: tables::Table,
    direct: Option<Direct>,
}

/// Tables and value sets in a target's memory.
#[derive(Clone, Copy, Debug)]
pub struct InMemory;

impl<T: StateTarget + Tables> Lookups<T> for InMemory {
    type Table = Table;
    type ValueSet = value_set::Set;

    fn table(g: &mut Gen<'_, T>, shape: &TableShape<'_>) -> Table {
        let mut direct = None;
        let entries = tables::declare(g, shape, |g, entries| {
            let (kept, described) = Direct::declare(g, shape, entries)?;
            direct = Some(kept);
            Some(described)
        });
        Table { entries, direct }
    }

    fn look_up(g: &mut Gen<'_, T>, table: &Table, keys: &[Expr], entry: CType) -> C {
        table.entries.look_up(g, keys, entry)
    }

    fn default_action(_g: &Gen<'_, T>, table: &Table) -> C {
        table.entries.default_action::<T>()
    }

    const HAS_PROFILES: bool = true;

    fn follow(g: &mut Gen<'_, T>, table: &Table, data: &TableData, entry: &C) {
        table.entries.follow(g, data, entry);
    }

    fn enter_entry(g: &mut Gen<'_, T>, table: &Table, number: C) {
        if let Some(direct) = &table.direct {
            direct.enter(g, number);
        }
    }

    fn leave_entry(g: &mut Gen<'_, T>) {
        g.target.held().entry_color = None;
    }

    fn value_set(g: &mut Gen<'_, T>, set: ValueSet, data: &ValueSetData) -> value_set::Set {
        value_set::declare(g, set, data)
    }

    fn member(g: &mut Gen<'_, T>, set: &value_set::Set, keys: &[Expr]) -> C {
        value_set::member(g, set, keys)
    }
}

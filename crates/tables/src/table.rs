//! Tables: storage of their entries and default actions.

use crate::default_action::{self, DefaultAction};
use crate::describe;
use crate::entries::{Entries, Values};
use crate::errors;
use crate::lookup::Lookup;
use crate::perfect_hash;
use crate::profile::{self, Profile};
use crate::structure::{self, Chosen, HASH_TABLE};
use crate::target::Tables;
use cgen::tree::{Expr as C, Type};
use emit::Gen;
use emit::table::key;
use emit::table::{
    ACTION_PROFILE, ACTION_SELECTOR, DIRECT_COUNTER, DIRECT_METER, TableShape, Value, property,
};
use ir::{CtorValue, Expr, Program, TableData};
use layout::{DefaultAbi, DirectAbi, LookupAbi, TableAbi};

/// Size of a table that declares none.
const DEFAULT_SIZE: u64 = 1024;

/// Extern that, as a property of a table, requests an array.
const ARRAY_TABLE: &str = "array_table";

/// Storage of a table's entries and its default action.
#[derive(Clone, Debug)]
pub struct Table {
    /// `None` if entries are compiled in.
    lookup: Option<Lookup>,
    /// `None` if the default action is compiled in.
    default: Option<DefaultAction>,
    /// Members that entries may refer to.
    profile: Option<Profile>,
}

impl Table {
    /// Emits the look-up. Returns a pointer to the entry, which may be null.
    pub fn look_up<T: Tables>(&self, g: &mut Gen<'_, T>, keys: &[Expr], entry: Type) -> C {
        match &self.lookup {
            None => C::id("NULL"),
            Some(lookup) => lookup.search(g, keys, entry),
        }
    }

    /// Emits the resolution of a reference: replaces an entry that refers to a member or group by that member.
    pub fn follow<T: Tables>(&self, g: &mut Gen<'_, T>, data: &TableData, entry: &C) {
        if let Some(profile) = &self.profile {
            profile::follow(g, profile, data, entry);
        }
    }

    /// Returns the address of the default action's value.
    pub fn default_action<T: Tables>(&self) -> C {
        match &self.default {
            None => C::id("NULL"),
            Some(default) => default.address::<T>(),
        }
    }
}

/// Declares the storage of a table. `keep` declares the direct objects for a number of entries.
pub fn declare<T: Tables>(
    g: &mut Gen<'_, T>,
    shape: &TableShape<'_>,
    keep: impl FnOnce(&mut Gen<'_, T>, u64) -> Option<DirectAbi>,
) -> Table {
    let TableShape {
        data,
        short,
        stored,
        ..
    } = *shape;
    check_properties(g, data);
    let size = table_size(g.p, data).clamp(1, u64::from(u32::MAX));
    let values = |g: &Gen<'_, T>, value: &Value| Values {
        ty: Type::Struct(value.name.clone()),
        abi: describe::value(g.p, data, &value.layout),
    };
    let (default, default_abi) = match stored.default() {
        None => (None, DefaultAbi::Const),
        Some(value) => {
            let values = values(g, value);
            let (default, abi) = default_action::declare(g, data, short, value, values);
            (Some(default), abi)
        }
    };
    let wanted = structure::wanted(g, &Chosen::table(data));
    let (lookup, lookup_abi) = match stored.entries() {
        None => (None, LookupAbi::Compiled),
        Some(value) => {
            let entries = Entries {
                name: &data.name,
                short,
                values: values(g, value),
                size,
                span: data.span,
            };
            let parts = key::parts(g.p, &data.keys);
            match perfect_hash::declare(g, data, &value.layout, &parts, &entries) {
                Some(table) => (Some(Lookup::PerfectHash(table)), LookupAbi::Compiled),
                None => {
                    let (lookup, abi) = structure::declare(g, data, wanted, &entries);
                    (Some(lookup), abi)
                }
            }
        }
    };
    let fixed = data.entries.len() as u64;
    let is_kept = lookup_abi != LookupAbi::Compiled;
    let capacity = if is_kept { size } else { fixed };
    let direct = keep(g, capacity);
    let entries = stored.entries().filter(|_| is_kept);
    let profile = entries.and_then(|value| profile::declare(g, data, short, value));
    let (profile, members) = profile.unzip();
    T::kept(&mut g.file.own).contents.tables.push(TableAbi {
        index: shape.table.as_u32(),
        name: data.name.to_string(),
        capacity,
        preload: is_kept && fixed > 0,
        lookup: lookup_abi,
        default: default_abi,
        direct,
        members,
    });
    Table {
        lookup,
        default,
        profile,
    }
}

fn check_properties<T: Tables>(g: &mut Gen<'_, T>, data: &TableData) {
    for (name, value) in &data.properties {
        let known = match value {
            CtorValue::Extern(inst) => {
                matches!(
                    g.p.externs[*inst].ty.as_str(),
                    HASH_TABLE
                        | ARRAY_TABLE
                        | DIRECT_COUNTER
                        | DIRECT_METER
                        | ACTION_PROFILE
                        | ACTION_SELECTOR
                )
            }
            CtorValue::Absent => true,
            _ => !matches!(name.as_str(), "counters" | "meters" | "implementation"),
        };
        if !known {
            let target = g.target.name();
            g.refuse(errors::table_property(target, &data.name, name, data.span));
        }
    }
}

/// Returns the capacity of a table, in entries.
fn table_size(p: &Program, data: &TableData) -> u64 {
    let structures = [HASH_TABLE, ARRAY_TABLE].into_iter();
    let mut structures = structures.filter_map(|ty| property(p, data, ty));
    let from_property = structures.find_map(|object| {
        let size = p.externs[object].int_arg("size");
        size.and_then(|n| u64::try_from(n).ok())
    });
    from_property
        .or(data.size)
        .unwrap_or(DEFAULT_SIZE)
        .max(data.entries.len() as u64)
}

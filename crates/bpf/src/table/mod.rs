//! Tables and value sets as maps, and default actions in the globals.

mod bit_vectors;
mod buckets;
pub(crate) mod describe;
mod lookup;
mod multibit_trie;
mod perfect_hash;
mod structure;
mod tuple_space;
pub(crate) mod value_set;

use crate::abi::{MapAbi, MapKind};
use crate::errors;
use crate::externs::direct::{self, Direct};
use crate::externs::profile::{self, Profile};
use crate::maps::GLOBALS;
use crate::target::Gen;
use cgen::tree::{BinOp, Expr as C, Stmt, Type};
use diag::Span;
use emit::table::key::{self, KeyPart};
use emit::table::{
    ACTION_PROFILE, ACTION_SELECTOR, DIRECT_COUNTER, DIRECT_METER, TableShape, Value,
    default_choices, property,
};
use ir::{CtorValue, Expr, Program, TableData};
use layout::{DefaultAbi, LookupAbi, TableAbi, ValueAbi};
use lookup::Lookup;
use smol_str::SmolStr;

/// The size of a table that declares none.
const DEFAULT_SIZE: u64 = 1024;

/// Where a table's entries and its default action are.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// None if entries are compiled in.
    lookup: Option<Lookup>,
    /// None if the default action is compiled in.
    default: Option<DefaultAction>,
    /// What is kept for each entry.
    direct: Option<Direct>,
    /// The members that entries may name.
    profile: Option<Profile>,
}

/// The globals' members for a default action.
#[derive(Clone, Debug)]
struct DefaultAction {
    /// Its value, or an array of two.
    values: SmolStr,
    /// Which of two is in use.
    selector: Option<SmolStr>,
}

impl Table {
    /// Has an entry that names a member or a group be what that leads to.
    pub(crate) fn follow(&self, g: &mut Gen<'_>, data: &TableData, entry: &C) {
        if let Some(profile) = &self.profile {
            profile::follow(g, profile, data, entry);
        }
    }

    /// A packet has found the entry of this number.
    pub(crate) fn enter_entry(&self, g: &mut Gen<'_>, number: C) {
        if let Some(direct) = &self.direct {
            direct::enter(g, direct, number);
        }
    }

    /// The address of the default action's value.
    pub(crate) fn default_action(&self) -> C {
        let Some(DefaultAction { values, selector }) = &self.default else {
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
}

/// Values that entries share, in C and in the description for user space.
#[derive(Clone)]
struct Values {
    ty: Type,
    abi: ValueAbi,
}

/// Entries that are to be stored.
struct Entries<'a> {
    /// What names begin with.
    short: &'a str,
    values: Values,
    /// How many there may be.
    size: u64,
    span: Span,
}

/// Declares what a table needs.
pub(crate) fn declare(g: &mut Gen<'_>, shape: &TableShape<'_>) -> Table {
    let TableShape {
        data,
        short,
        stored,
        ..
    } = *shape;
    check_properties(g, data);
    let size = table_size(g.p, data).clamp(1, u64::from(u32::MAX));
    let values = |g: &Gen<'_>, value: &Value| Values {
        ty: Type::Struct(value.name.clone()),
        abi: describe::value(g.p, data, &value.layout),
    };
    let (default, default_abi) = match stored.default() {
        None => (None, DefaultAbi::Const),
        Some(value) => {
            let values = values(g, value);
            let (default, abi) = declare_default(g, data, short, value, values);
            (Some(default), abi)
        }
    };
    let wanted = structure::wanted(g, &structure::Chosen::table(data));
    let (lookup, lookup_abi) = match stored.entries() {
        None => (None, LookupAbi::Compiled),
        Some(value) => {
            let entries = Entries {
                short,
                values: values(g, value),
                size,
                span: data.span,
            };
            let parts = key::parts(g.p, &data.keys);
            match perfect_hash::declare(g, data, &value.layout, &parts, &entries) {
                Some(table) => (Some(Lookup::PerfectHash(table)), LookupAbi::Compiled),
                None => {
                    let (lookup, abi) = lookup::declare(g, data, wanted, &entries);
                    (Some(lookup), abi)
                }
            }
        }
    };
    let fixed = data.entries.len() as u64;
    let is_kept = lookup_abi != LookupAbi::Compiled;
    let capacity = if is_kept { size } else { fixed };
    let direct = direct::declare(g, data, short, capacity).unzip();
    let entries = stored.entries().filter(|_| is_kept);
    let profile = entries.and_then(|value| profile::declare(g, data, short, value));
    let (profile, members) = profile.unzip();
    g.file.own.maps.kept.contents.tables.push(TableAbi {
        index: shape.table.as_u32(),
        name: data.name.to_string(),
        capacity,
        preload: is_kept && fixed > 0,
        lookup: lookup_abi,
        default: default_abi,
        direct: direct.1,
        members,
    });
    Table {
        lookup,
        default,
        direct: direct.0,
        profile,
    }
}

/// Emits the look-up; gives the entry found, or a null pointer.
pub(crate) fn look_up(g: &mut Gen<'_>, table: &Table, keys: &[Expr], entry: Type) -> C {
    match &table.lookup {
        None => C::id("NULL"),
        Some(lookup) => lookup::look_up(g, lookup, keys, entry),
    }
}

/// The value of a map at a key, as a variable of its own.
fn element(g: &mut Gen<'_>, map: &SmolStr, key: C, entry: Type) -> C {
    let found = g.file.names.fresh("entry");
    let value = map_element(map, key);
    g.push(Stmt::decl(entry, found.clone(), value));
    C::Ident(found)
}

/// The address of a map's value at a key.
fn map_element(map: &SmolStr, key: C) -> C {
    let map = C::Ident(map.clone()).addr();
    C::call("bpf_map_lookup_elem", vec![map, key.addr()])
}

/// The map of shadow entries, which only user space uses: entries as they were given.
fn shadow_map(name: &SmolStr, parts: &[KeyPart], entries: &Entries<'_>) -> MapAbi {
    let keys: u32 = parts
        .iter()
        .map(|p| 1 + 2 * p.width.div_ceil(8).max(2))
        .sum();
    let written = (4 + entries.values.abi.size + keys).next_multiple_of(4);
    let mut shadow = lookup::map(name, MapKind::Hash, 4, written, entries.size);
    shadow.no_prealloc = true;
    shadow
}

fn check_properties(g: &mut Gen<'_>, data: &TableData) {
    for (name, value) in &data.properties {
        let known = match value {
            CtorValue::Extern(inst) => {
                matches!(
                    g.p.externs[*inst].ty.as_str(),
                    "hash_table"
                        | "array_table"
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
            let hook = g.target.options.hook;
            g.refuse(errors::table_property(hook, &data.name, name, data.span));
        }
    }
}

/// Puts a table's default action into the globals.
fn declare_default(
    g: &mut Gen<'_>,
    data: &TableData,
    short: &str,
    value: &Value,
    values: Values,
) -> (DefaultAction, DefaultAbi) {
    let name = g.file.names.fresh(&format!("{short}_default"));
    let (init, bytes) = value.layout.value(&data.default_action, None);
    let two = default_choices(data)
        .iter()
        .any(|&i| !g.p.actions[data.actions[i].action].params.is_empty());
    let align = value.layout.align.max(4);
    let maps = &mut g.file.own.maps;
    if !two {
        let offset = maps
            .kept
            .add_global(values.ty, &name, align, Some(init), bytes);
        let abi = DefaultAbi::Global {
            slots: vec![offset],
            selector: None,
            value: values.abi,
        };
        let default = DefaultAction {
            values: name,
            selector: None,
        };
        return (default, abi);
    }
    let both = C::Init(vec![(None, init.clone()), (None, init)]);
    let size = bytes.len() as u32;
    let twice = [bytes.clone(), bytes].concat();
    let offset = maps
        .kept
        .add_global(values.ty.array(2), &name, align, Some(both), twice);
    let selector = g.file.names.fresh(&format!("{short}_default_slot"));
    let at = maps
        .kept
        .add_global(Type::U32, &selector, 4, None, vec![0; 4]);
    let abi = DefaultAbi::Global {
        slots: vec![offset, offset + size],
        selector: Some(at),
        value: values.abi,
    };
    let default = DefaultAction {
        values: name,
        selector: Some(selector),
    };
    (default, abi)
}

/// How many entries a table is to hold.
fn table_size(p: &Program, data: &TableData) -> u64 {
    let structures = ["hash_table", "array_table"].into_iter();
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

//! The control plane's view of a loaded program: tables, defaults, counters and value sets, kept in
//! the maps that the program reads.

mod exact;
mod flow_state;
mod globals;
mod layout;
mod lpm;
mod ranges;
mod tuple_space;

pub use bpf::abi::SEED_SECTION;
pub use globals::Globals;

use crate::sys::{Map, monotonic_now};
use bpf::abi::{Abi, DefaultAbi, LookupAbi, TableAbi};
use control::{Count, Flow, Store, StoreError};
use exact::{Array, Hash};
use flow_state::Flows;
use ir::{
    ActionCall, Bits, Entry, ExternInst, KeyMatch, MatchKind, Program, Table, Type, ValueSet,
};
use lpm::Lpm;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use tuple_space::TupleSpace;

/// Turns what the system said into a store's error.
fn refused(what: &'static str) -> impl Fn(io::Error) -> StoreError {
    move |error| match error.raw_os_error() {
        Some(libc::EEXIST) => StoreError::Duplicate,
        Some(libc::ENOENT) => StoreError::Missing,
        // The capacity that the user was promised is filled in by the caller.
        Some(libc::E2BIG | libc::ENOSPC) => StoreError::Full { capacity: 0 },
        Some(libc::EPERM) => StoreError::System {
            what: format!("could not {what}: not permitted; it takes CAP_BPF (or root)"),
        },
        _ => StoreError::System {
            what: format!("could not {what}: {error}"),
        },
    }
}

/// The state of a loaded program.
#[derive(Debug)]
pub struct KernelStore {
    /// What is where.
    pub abi: Arc<Abi>,
    /// The program's tables, actions and externs.
    pub program: Arc<Program>,
    /// The maps by name.
    pub maps: BTreeMap<String, Map>,
    /// Data that the program reads; absent if it has none.
    pub globals: Option<Globals>,
    /// Whether packets may be on their way through the program while it is changed.
    pub live: bool,
}

/// What is needed to find an entry, for tables and value sets alike.
struct Shape<'a> {
    lookup: &'a LookupAbi,
    types: Vec<Type>,
    capacity: u64,
    priorities: bool,
}

/// A shape with its maps.
enum Opened<'a> {
    Array(Array<'a>),
    Hash(Hash<'a>),
    Lpm(Lpm<'a>),
    Tuples(TupleSpace<'a>),
}

impl KernelStore {
    fn table_abi(&self, table: Table) -> Result<&TableAbi, StoreError> {
        self.abi
            .tables
            .iter()
            .find(|t| t.index == table.as_u32())
            .ok_or_else(|| unsupported("the object has no such table"))
    }

    fn map(&self, name: &str) -> Result<&Map, StoreError> {
        self.maps.get(name).ok_or_else(|| StoreError::System {
            what: format!("the program's map `{name}` is gone"),
        })
    }

    /// A flow state's map; `None` if the program never uses the state.
    fn flow_state(&self, state: ExternInst) -> Result<Option<Flows<'_>>, StoreError> {
        if self.program.externs[state].ty != ir::atomic::FLOW_STATE {
            return Err(unsupported("this extern object keeps no flows"));
        }
        let mut all = self.abi.flow_states.iter();
        let Some(abi) = all.find(|f| f.index == state.as_u32()) else {
            return Ok(None);
        };
        let first = 0u32.to_ne_bytes();
        let seed = self.map(SEED_SECTION)?.get(&first);
        let seed = seed.map_err(refused("read the hash's seed"))?;
        let seed = seed.and_then(|s| s.first_chunk().copied());
        Ok(Some(Flows {
            abi,
            map: self.map(&abi.map)?,
            seed: seed.map_or(0, u64::from_ne_bytes),
            now: crate::test_run::observed_now(self)?.unwrap_or_else(monotonic_now),
        }))
    }

    fn globals(&self) -> Result<&Globals, StoreError> {
        self.globals.as_ref().ok_or_else(|| StoreError::System {
            what: "the program's data section is gone".into(),
        })
    }

    fn table_shape(&self, table: Table) -> Result<Shape<'_>, StoreError> {
        let abi = self.table_abi(table)?;
        let keys = self.program.tables[table].keys.iter();
        let keys: Vec<_> = keys.filter(|k| k.kind != MatchKind::Selector).collect();
        Ok(Shape {
            lookup: &abi.lookup,
            types: keys.iter().map(|k| self.program.exprs[k.expr].ty).collect(),
            capacity: abi.capacity,
            priorities: keys.iter().any(|k| has_priority(k.kind)),
        })
    }

    fn value_set_shape(&self, set: ValueSet) -> Result<Shape<'_>, StoreError> {
        let abi = self
            .abi
            .value_sets
            .iter()
            .find(|s| s.index == set.as_u32())
            .ok_or_else(|| unsupported("the object has no such value set"))?;
        let fields = self.program.value_sets[set].fields.iter();
        Ok(Shape {
            lookup: &abi.lookup,
            types: fields.map(|(_, ty, _)| *ty).collect(),
            capacity: abi.capacity,
            priorities: false,
        })
    }

    fn open<'a>(&'a self, shape: &'a Shape<'a>) -> Result<Opened<'a>, StoreError> {
        Ok(match shape.lookup {
            LookupAbi::Compiled => {
                return Err(unsupported(
                    "the program's entries are compiled in, or it never applies the table",
                ));
            }
            LookupAbi::Array {
                map,
                key_width,
                value,
            } => Opened::Array(Array {
                map: self.map(map)?,
                key_width: *key_width,
                value,
                capacity: shape.capacity,
            }),
            LookupAbi::Hash { map, key, value } => Opened::Hash(Hash {
                map: self.map(map)?,
                key,
                value,
            }),
            LookupAbi::Lpm {
                map,
                key,
                lpm_key,
                prefix_base,
                value,
            } => Opened::Lpm(Lpm {
                map: self.map(map)?,
                key,
                lpm_key: *lpm_key as usize,
                prefix_base: *prefix_base,
                value,
            }),
            LookupAbi::TupleSpace(abi) => Opened::Tuples(TupleSpace {
                abi,
                masks: self.map(&abi.masks)?,
                entries: self.map(&abi.entries)?,
                book: self.map(&abi.book)?,
                globals: self.globals()?,
                types: &shape.types,
                capacity: shape.capacity,
                priorities: shape.priorities,
                live: self.live,
            }),
        })
    }

    /// Puts in the entries that the program itself has, where they are not compiled in.
    pub fn preload(&mut self) -> Result<(), (Table, StoreError)> {
        let program = Arc::clone(&self.program);
        for (table, data) in program.tables.iter() {
            let wanted = self.table_abi(table).is_ok_and(|abi| abi.preload);
            for entry in data.entries.iter().filter(|_| wanted) {
                self.put(table, entry, Change::Insert)
                    .map_err(|e| (table, e))?;
            }
        }
        Ok(())
    }

    /// The program's own entry with these keys.
    fn own(&self, table: Table, keys: &[KeyMatch], priority: u32) -> Option<&Entry> {
        let data = &self.program.tables[table];
        let ordered = data.keys.iter().any(|k| has_priority(k.kind));
        data.entries
            .iter()
            .find(|e| same_keys(&e.keys, keys) && (!ordered || e.priority == priority))
    }

    fn check_changeable(
        &self,
        table: Table,
        keys: &[KeyMatch],
        priority: u32,
    ) -> Result<(), StoreError> {
        let data = &self.program.tables[table];
        if data.const_entries || self.own(table, keys, priority).is_some_and(|e| e.is_const) {
            return Err(StoreError::Const);
        }
        Ok(())
    }

    fn put(&self, table: Table, entry: &Entry, change: Change) -> Result<(), StoreError> {
        let shape = self.table_shape(table)?;
        let (keys, action) = (&entry.keys[..], &entry.action);
        let done = match (self.open(&shape)?, change) {
            (Opened::Array(array), Change::Insert) => array.insert(keys, action),
            (Opened::Array(array), Change::Modify) => array.modify(keys, action),
            (Opened::Hash(hash), Change::Insert) => hash.insert(keys, action),
            (Opened::Hash(hash), Change::Modify) => hash.modify(keys, action),
            (Opened::Lpm(lpm), Change::Insert) => lpm.insert(keys, action),
            (Opened::Lpm(lpm), Change::Modify) => lpm.modify(keys, action),
            (Opened::Tuples(tuples), Change::Insert) => tuples.insert(entry),
            (Opened::Tuples(tuples), Change::Modify) => tuples.modify(entry),
        };
        done.map_err(|e| with_capacity(e, shape.capacity))
    }

    /// Fills in what the maps do not keep: priority and constness of the program's own entries.
    fn as_given(&self, table: Table, keys: Vec<KeyMatch>, action: ActionCall) -> Entry {
        let own = self.own(table, &keys, 0);
        Entry {
            priority: own.map_or(0, |e| e.priority),
            is_const: own.is_some_and(|e| e.is_const),
            keys,
            action,
        }
    }
}

#[derive(Clone, Copy)]
enum Change {
    Insert,
    Modify,
}

/// Says how many entries a full table was to hold.
fn with_capacity(error: StoreError, capacity: u64) -> StoreError {
    match error {
        StoreError::Full { .. } => StoreError::Full { capacity },
        other => other,
    }
}

fn unsupported(what: &str) -> StoreError {
    StoreError::Unsupported { what: what.into() }
}

/// Whether keys of this kind can overlap without one being longer.
fn has_priority(kind: MatchKind) -> bool {
    matches!(
        kind,
        MatchKind::Ternary | MatchKind::Range | MatchKind::Optional
    )
}

/// Whether two entries ask the same, however it was written.
fn same_keys(a: &[KeyMatch], b: &[KeyMatch]) -> bool {
    let canonical = |key: &KeyMatch| match key {
        KeyMatch::Lpm(_, 0) => KeyMatch::Any,
        KeyMatch::Lpm(value, length) if *length == value.width() => KeyMatch::Exact(value.clone()),
        KeyMatch::Ternary(_, mask) if mask.is_zero() => KeyMatch::Any,
        KeyMatch::Ternary(value, mask) if *mask == Bits::ones(mask.width()) => {
            KeyMatch::Exact(value.clone())
        }
        KeyMatch::Range(low, high) if low == high => KeyMatch::Exact(low.clone()),
        KeyMatch::Range(low, high) if low.is_zero() && *high == Bits::ones(high.width()) => {
            KeyMatch::Any
        }
        other => other.clone(),
    };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| canonical(a) == canonical(b))
}

impl Store for KernelStore {
    fn insert(&mut self, table: Table, entry: &Entry) -> Result<(), StoreError> {
        if self.program.tables[table].const_entries {
            return Err(StoreError::Const);
        }
        self.put(table, entry, Change::Insert)
    }

    fn modify(&mut self, table: Table, entry: &Entry) -> Result<(), StoreError> {
        self.check_changeable(table, &entry.keys, entry.priority)?;
        self.put(table, entry, Change::Modify)
    }

    fn remove(&mut self, table: Table, keys: &[KeyMatch], priority: u32) -> Result<(), StoreError> {
        self.check_changeable(table, keys, priority)?;
        let shape = self.table_shape(table)?;
        match self.open(&shape)? {
            Opened::Array(array) => array.remove(keys),
            Opened::Hash(hash) => hash.remove(keys),
            Opened::Lpm(lpm) => lpm.remove(keys),
            Opened::Tuples(tuples) => tuples.remove(keys, priority),
        }
    }

    fn entries(&self, table: Table) -> Result<Vec<Entry>, StoreError> {
        let shape = self.table_shape(table)?;
        if let LookupAbi::Compiled = shape.lookup {
            return Ok(self.program.tables[table].entries.clone());
        }
        let with_own = |all: Vec<(Vec<KeyMatch>, ActionCall)>| {
            all.into_iter()
                .map(|(keys, action)| self.as_given(table, keys, action))
                .collect()
        };
        let mut entries: Vec<Entry> = match self.open(&shape)? {
            Opened::Array(array) => with_own(array.entries()?),
            Opened::Hash(hash) => with_own(hash.entries()?),
            Opened::Lpm(lpm) => with_own(lpm.entries()?),
            Opened::Tuples(tuples) => {
                let mut entries = tuples.entries()?;
                for entry in &mut entries {
                    let own = self.own(table, &entry.keys, entry.priority);
                    entry.is_const = own.is_some_and(|e| e.is_const);
                }
                entries
            }
        };
        // The program's own first, in their order.
        let place = |e: &Entry| {
            let own = &self.program.tables[table].entries;
            own.iter()
                .position(|o| same_keys(&o.keys, &e.keys) && o.priority == e.priority)
                .unwrap_or(own.len())
        };
        entries.sort_by_key(place);
        Ok(entries)
    }

    fn set_default(&mut self, table: Table, action: &ActionCall) -> Result<(), StoreError> {
        let abi = self.table_abi(table)?;
        let DefaultAbi::Global {
            slots,
            selector,
            value,
        } = &abi.default
        else {
            let is_const = self.program.tables[table].const_default;
            return Err(if is_const {
                StoreError::Const
            } else {
                unsupported("the program never applies the table")
            });
        };
        let globals = self.globals()?;
        let failed = refused("write the default action");
        let bytes = layout::put_value(value, action, 0);
        match (selector, slots.as_slice()) {
            (Some(selector), [first, second]) => {
                let used = globals.u32(*selector).map_err(&failed)?;
                let other = u32::from(used == 0);
                let slot = if other == 0 { first } else { second };
                globals.set_bytes(*slot, &bytes).map_err(&failed)?;
                globals.set_u32(*selector, other).map_err(&failed)
            }
            (_, [slot, ..]) => {
                let word = layout::get_u32(&bytes, value.action_offset as usize);
                globals
                    .set_u32(slot + value.action_offset, word)
                    .map_err(&failed)
            }
            (_, []) => Err(unsupported("the object keeps no default action")),
        }
    }

    fn default_action(&self, table: Table) -> Result<ActionCall, StoreError> {
        let abi = self.table_abi(table)?;
        let initial = || self.program.tables[table].default_action.clone();
        let DefaultAbi::Global {
            slots,
            selector,
            value,
        } = &abi.default
        else {
            return Ok(initial());
        };
        let globals = self.globals()?;
        let failed = refused("read the default action");
        let used = selector
            .map_or(Ok(0), |s| globals.u32(s))
            .map_err(&failed)?;
        let Some(slot) = slots.get(used as usize) else {
            return Ok(initial());
        };
        let bytes = globals.bytes(*slot, value.size).map_err(&failed)?;
        Ok(layout::get_value(value, &bytes).unwrap_or_else(initial))
    }

    fn counter(&self, counter: ExternInst, index: u64) -> Result<Count, StoreError> {
        let mut counters = self.abi.counters.iter();
        let Some(abi) = counters.find(|c| c.index == counter.as_u32()) else {
            // The program never raises it, so that it has no map.
            let size = self.program.externs[counter].int_arg("max_index");
            return match size.and_then(|n| u64::try_from(n).ok()) {
                Some(size) if index >= size => Err(StoreError::OutOfRange { size }),
                _ => Ok(Count {
                    packets: 0,
                    bytes: 0,
                }),
            };
        };
        if index >= abi.size {
            return Err(StoreError::OutOfRange { size: abi.size });
        }
        let key = (index as u32).to_ne_bytes();
        let copies = self
            .map(&abi.map)?
            .per_cpu(&key)
            .map_err(refused("read the counter"))?
            .unwrap_or_default();
        let sum = copies
            .iter()
            .filter_map(|c| c.get(..8)?.try_into().ok().map(u64::from_ne_bytes))
            .fold(0, u64::wrapping_add);
        Ok(Count {
            packets: sum,
            bytes: 0,
        })
    }

    fn direct_counter(&self, _: Table, _: &Entry) -> Result<Count, StoreError> {
        Err(unsupported(
            "programs for XDP have no direct counters; count in a CounterArray",
        ))
    }

    fn register(&self, _: ExternInst, _: u64) -> Result<Vec<Bits>, StoreError> {
        Err(unsupported("programs for XDP have no registers"))
    }

    fn set_register(&mut self, _: ExternInst, _: u64, _: &[Bits]) -> Result<(), StoreError> {
        Err(unsupported("programs for XDP have no registers"))
    }

    fn set_meter(&mut self, _: ExternInst, _: u64, _: [(u64, u64); 2]) -> Result<(), StoreError> {
        Err(unsupported("programs for XDP have no meters"))
    }

    fn value_set_insert(&mut self, set: ValueSet, member: &[KeyMatch]) -> Result<(), StoreError> {
        let shape = self.value_set_shape(set)?;
        let action = present();
        let done = match self.open(&shape)? {
            Opened::Array(array) => array.insert(member, &action),
            Opened::Hash(hash) => hash.insert(member, &action),
            Opened::Lpm(lpm) => lpm.insert(member, &action),
            Opened::Tuples(tuples) => tuples.insert(&Entry {
                keys: member.to_vec(),
                priority: 0,
                action,
                is_const: false,
            }),
        };
        done.map_err(|e| with_capacity(e, shape.capacity))
    }

    fn value_set_remove(&mut self, set: ValueSet, member: &[KeyMatch]) -> Result<(), StoreError> {
        let shape = self.value_set_shape(set)?;
        match self.open(&shape)? {
            Opened::Array(array) => array.remove(member),
            Opened::Hash(hash) => hash.remove(member),
            Opened::Lpm(lpm) => lpm.remove(member),
            Opened::Tuples(tuples) => tuples.remove(member, 0),
        }
    }

    fn flows(&self, state: ExternInst) -> Result<Vec<Flow>, StoreError> {
        self.flow_state(state)?
            .map_or(Ok(Vec::new()), |flows| flows.all())
    }

    fn flow(&self, state: ExternInst, key: &[Bits]) -> Result<Option<Vec<Bits>>, StoreError> {
        self.flow_state(state)?
            .map_or(Ok(None), |flows| flows.one(key))
    }

    fn remove_flow(&mut self, state: ExternInst, key: &[Bits]) -> Result<(), StoreError> {
        match self.flow_state(state)? {
            Some(flows) => flows.remove(key),
            None => Err(StoreError::Missing),
        }
    }

    fn clear_flows(&mut self, state: ExternInst) -> Result<(), StoreError> {
        self.flow_state(state)?
            .map_or(Ok(()), |flows| flows.clear())
    }

    fn set_multicast_group(&mut self, group: u16, ports: &[u32]) -> Result<(), StoreError> {
        crate::ports::set_group(&self.abi.ports, &self.maps, group, ports)
    }
}

/// What a member of a value set has for an action: its number is 1.
fn present() -> ActionCall {
    ActionCall {
        action: 0,
        args: Vec::new(),
    }
}

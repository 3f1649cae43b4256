//! Tables: entries, found by match.

mod index;
mod matches;
mod profile;

pub(crate) use matches::member_matches;
pub(crate) use profile::Chosen;

use control::{Count, StoreError};
use externs::meter::{Color, Meter};
use externs::{Counted, ExternState};
use index::Index;
use ir::{ActionCall, Bits, CtorValue, Entry, KeyMatch, MatchKind, Program, Table, TableData};
use profile::TableProfile;
use schema::Schema;
use std::collections::{BTreeMap, HashMap};

/// Capacity of a table for which the program declares no size, as in the kernel's maps.
pub const DEFAULT_CAPACITY: u64 = 1024;

/// Id of an entry in one table. Later entries have larger ids.
pub(crate) type EntryId = u64;

/// Entry with its direct counter and meter.
#[derive(Debug)]
pub(crate) struct EntryState {
    /// Entry as it was given, with its match in canonical form.
    pub entry: Entry,
    /// Direct counter.
    pub count: Count,
    /// Direct meter.
    pub meter: Meter,
}

/// State of a table.
#[derive(Debug)]
pub(crate) struct TableState {
    /// Action that runs if no entry matches.
    default: ActionCall,
    entries: BTreeMap<EntryId, EntryState>,
    identities: HashMap<(Vec<KeyMatch>, u32), EntryId>,
    index: Index,
    next_id: EntryId,
    /// Number of changes.
    generation: u64,
    capacity: u64,
    /// Limit of the key's value: the size of an `array_table`.
    key_limit: Option<u64>,
    const_entries: bool,
    const_default: bool,
    prioritized: bool,
    keys: Vec<(MatchKind, ir::Type)>,
    profile: Option<TableProfile>,
    /// Unit of its direct counter, if it has one.
    counted: Option<Counted>,
    meters_bytes: bool,
}

impl TableState {
    /// Creates a table with the program's own entries.
    pub(crate) fn new(program: &Program, schema: &Schema, table: Table) -> TableState {
        let data = &program.tables[table];
        let keys: Vec<_> = data
            .keys
            .iter()
            .map(|k| (k.kind, program.ty(k.expr)))
            .collect();
        let (array, size) = declared_size(program, data);
        let mut state = TableState {
            default: data.default_action.clone(),
            entries: BTreeMap::new(),
            identities: HashMap::new(),
            index: Index::new(&keys),
            next_id: 0,
            generation: 0,
            capacity: size
                .unwrap_or(DEFAULT_CAPACITY)
                .max(data.entries.len() as u64),
            key_limit: array.then_some(size).flatten(),
            const_entries: data.const_entries,
            const_default: data.const_default,
            prioritized: keys.iter().any(|&(kind, _)| kind.needs_priority()),
            profile: profile::of_table(program, schema, table),
            counted: property_extern(program, data, "direct_counter").map(Counted::of),
            meters_bytes: property_extern(program, data, "direct_meter")
                .is_some_and(externs::meter::counts_bytes),
            keys,
        };
        for entry in &data.entries {
            // The checker refuses duplicates; here the first entry wins.
            let _ = state.put(schema::without_selectors(data, entry));
        }
        state
    }

    /// Returns the entry that a key matches.
    pub(crate) fn lookup(&self, key: &[Bits]) -> Option<EntryId> {
        self.index.lookup(key, &self.entries)
    }

    /// Returns the action that runs for a packet with this key: that of the entry found, or the default action.
    /// `externs` holds the table's action profile.
    pub(crate) fn chosen<'a>(
        &'a self,
        found: Option<EntryId>,
        key: &[Bits],
        externs: &'a [ExternState],
    ) -> Chosen<'a> {
        let Some(call) = found.map(|id| &self.entries[&id].entry.action) else {
            return Chosen::own(&self.default);
        };
        let through = self.profile.as_ref();
        let through = through.and_then(|profile| profile.follow(call, &self.keys, key, externs));
        through.unwrap_or_else(|| Chosen::own(call))
    }

    pub(crate) fn entry(&self, id: EntryId) -> &EntryState {
        &self.entries[&id]
    }

    /// Updates the direct counter and meter of an entry for a packet of `bytes` bytes. Returns the meter's colour.
    pub(crate) fn hit(&mut self, id: EntryId, now: u64, bytes: u64) -> Option<Color> {
        let (packets, more) = self.counted.map_or((0, 0), |unit| unit.by_packet(bytes));
        let EntryState { count, meter, .. } = self.entries.get_mut(&id)?;
        count.packets = count.packets.wrapping_add(packets);
        count.bytes = count.bytes.wrapping_add(more);
        Some(meter.execute(now, bytes))
    }

    /// Zeroes the counters of all entries.
    pub(crate) fn reset_counts(&mut self) {
        for entry in self.entries.values_mut() {
            entry.count = Count::default();
        }
    }

    /// Returns true if entries have direct counters.
    pub(crate) fn counts(&self) -> bool {
        self.counted.is_some()
    }

    pub(crate) fn entry_mut(&mut self, id: EntryId) -> Option<&mut EntryState> {
        self.entries.get_mut(&id)
    }

    /// Returns the number of changes of the entries and the default action.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    pub(crate) fn default_action(&self) -> &ActionCall {
        &self.default
    }

    pub(crate) fn set_default(&mut self, action: &ActionCall) -> Result<(), StoreError> {
        if self.const_default {
            return Err(StoreError::Const);
        }
        self.default = action.clone();
        self.generation += 1;
        Ok(())
    }

    /// Returns every entry, the program's own first.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &EntryState> {
        self.entries.values()
    }

    pub(crate) fn insert(&mut self, entry: &Entry) -> Result<(), StoreError> {
        if self.const_entries {
            return Err(StoreError::Const);
        }
        self.put(entry.clone())?;
        self.generation += 1;
        Ok(())
    }

    /// Replaces the action of the entry with this match.
    pub(crate) fn modify(
        &mut self,
        keys: &[KeyMatch],
        priority: u32,
        action: &ActionCall,
    ) -> Result<(), StoreError> {
        let id = self.find(keys, priority)?;
        let state = self.changeable(id)?;
        state.entry.action = action.clone();
        self.generation += 1;
        Ok(())
    }

    pub(crate) fn remove(&mut self, keys: &[KeyMatch], priority: u32) -> Result<(), StoreError> {
        let id = self.find(keys, priority)?;
        self.changeable(id)?;
        let identity = self.identity(keys, priority);
        self.identities.remove(&identity);
        if let Some(state) = self.entries.remove(&id) {
            self.index.remove(id, &state.entry);
        }
        self.generation += 1;
        Ok(())
    }

    /// Finds the entry with a match and priority.
    pub(crate) fn find(&self, keys: &[KeyMatch], priority: u32) -> Result<EntryId, StoreError> {
        self.identities
            .get(&self.identity(keys, priority))
            .copied()
            .ok_or(StoreError::Missing)
    }

    fn changeable(&mut self, id: EntryId) -> Result<&mut EntryState, StoreError> {
        let fixed = self.const_entries;
        match self.entries.get_mut(&id) {
            Some(state) if fixed || state.entry.is_const => Err(StoreError::Const),
            Some(state) => Ok(state),
            None => Err(StoreError::Missing),
        }
    }

    fn put(&mut self, mut entry: Entry) -> Result<EntryId, StoreError> {
        let identity = self.identity(&entry.keys, entry.priority);
        if self.identities.contains_key(&identity) {
            return Err(StoreError::Duplicate);
        }
        if let Some(size) = self.key_limit
            && let Some(KeyMatch::Exact(value)) = entry.keys.first()
            && value.to_u64().is_none_or(|v| v >= size)
        {
            return Err(StoreError::OutOfRange { size });
        }
        if self.entries.len() as u64 >= self.capacity {
            return Err(StoreError::Full {
                capacity: self.capacity,
            });
        }
        let id = self.next_id;
        self.next_id += 1;
        entry.keys.clone_from(&identity.0);
        self.index.insert(id, &entry);
        self.identities.insert(identity, id);
        self.entries.insert(
            id,
            EntryState {
                entry,
                count: Count::default(),
                meter: Meter::new(self.meters_bytes),
            },
        );
        Ok(id)
    }

    /// Returns the identity of an entry: its match in canonical form, and its priority if the table has priorities.
    fn identity(&self, keys: &[KeyMatch], priority: u32) -> (Vec<KeyMatch>, u32) {
        let matched = self.keys.iter();
        let matched = matched.filter(|(kind, _)| *kind != MatchKind::Selector);
        let keys = keys
            .iter()
            .zip(matched)
            .map(|(found, &(kind, ty))| schema::canonical(found.clone(), kind, ty))
            .collect();
        (keys, if self.prioritized { priority } else { 0 })
    }
}

/// Returns true if the table is an array, and the size that it declares.
fn declared_size(program: &Program, data: &TableData) -> (bool, Option<u64>) {
    let implementation = data.properties.iter().find_map(|(_, value)| match value {
        CtorValue::Extern(object) => Some(&program.externs[*object])
            .filter(|e| e.ty == "array_table" || e.ty == "hash_table"),
        _ => None,
    });
    let size = implementation
        .and_then(|e| e.int_arg("size"))
        .and_then(|n| u64::try_from(n).ok());
    (
        implementation.is_some_and(|e| e.ty == "array_table"),
        // The implementation is what keeps the entries.
        size.or(data.size),
    )
}

/// Returns the extern object of a type among a table's properties.
fn property_extern<'p>(
    program: &'p Program,
    data: &TableData,
    ty: &str,
) -> Option<&'p ir::ExternData> {
    data.properties.iter().find_map(|(_, value)| match value {
        CtorValue::Extern(object) => Some(&program.externs[*object]).filter(|e| e.ty == ty),
        _ => None,
    })
}

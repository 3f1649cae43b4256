//! Tables: their entries, found by match.

mod index;
mod matches;
mod profile;

pub(crate) use matches::member_matches;
pub(crate) use profile::Chosen;

use control::{Count, StoreError};
use externs::meter::{Color, Meter};
use externs::{Counted, State};
use index::Index;
use ir::{ActionCall, Bits, CtorValue, Entry, KeyMatch, MatchKind, Program, Table, TableData};
use profile::TableProfile;
use schema::Schema;
use std::collections::{BTreeMap, HashMap};

/// Entries a table holds if the program gives no size: what the kernel's maps are built with.
pub const DEFAULT_CAPACITY: u64 = 1024;

/// Names an entry of one table; later entries have larger ones.
pub(crate) type EntryId = u64;

/// An entry and what belongs to it.
#[derive(Debug)]
pub(crate) struct EntryState {
    /// The entry as it was given, its match in canonical form.
    pub entry: Entry,
    /// Its direct counter.
    pub count: Count,
    /// Its direct meter.
    pub meter: Meter,
}

/// A table's state.
#[derive(Debug)]
pub(crate) struct TableState {
    /// What runs when nothing matches.
    default: ActionCall,
    entries: BTreeMap<EntryId, EntryState>,
    identities: HashMap<(Vec<KeyMatch>, u32), EntryId>,
    index: Index,
    next_id: EntryId,
    /// How many changes there were.
    generation: u64,
    capacity: u64,
    /// Keys must be below this: the size of an `array_table`.
    key_limit: Option<u64>,
    const_entries: bool,
    const_default: bool,
    prioritized: bool,
    keys: Vec<(MatchKind, ir::Type)>,
    profile: Option<TableProfile>,
    /// What its direct counter counts, if it has one.
    counted: Option<Counted>,
    meters_bytes: bool,
}

impl TableState {
    /// A table with the program's own entries.
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
            // Duplicates are the checker's to refuse; the first stands.
            let _ = state.put(schema::without_selectors(data, entry));
        }
        state
    }

    /// The entry that a key finds.
    pub(crate) fn lookup(&self, key: &[Bits]) -> Option<EntryId> {
        self.index.lookup(key, &self.entries)
    }

    /// What runs for a packet with this key: what the entry that it finds says, or the default action. `externs` has the
    /// table's action profile.
    pub(crate) fn chosen<'a>(
        &'a self,
        found: Option<EntryId>,
        key: &[Bits],
        externs: &'a [State],
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

    /// What a packet of so many bytes does to what is kept for the entry that it finds: the colour that the direct meter gives it.
    pub(crate) fn hit(&mut self, id: EntryId, now: u64, bytes: u64) -> Option<Color> {
        let (packets, more) = self.counted.map_or((0, 0), |unit| unit.by_packet(bytes));
        let EntryState { count, meter, .. } = self.entries.get_mut(&id)?;
        count.packets = count.packets.wrapping_add(packets);
        count.bytes = count.bytes.wrapping_add(more);
        Some(meter.execute(now, bytes))
    }

    /// Sets the counters of all entries to zero.
    pub(crate) fn reset_counts(&mut self) {
        for entry in self.entries.values_mut() {
            entry.count = Count::default();
        }
    }

    /// Whether entries have counters.
    pub(crate) fn counts(&self) -> bool {
        self.counted.is_some()
    }

    pub(crate) fn entry_mut(&mut self, id: EntryId) -> Option<&mut EntryState> {
        self.entries.get_mut(&id)
    }

    /// How many changes of the entries and the default action there were.
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

    /// Every entry, the program's own first.
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

    /// Gives the entry with this match another action.
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

    /// The entry with a match and priority.
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

    /// What makes an entry the same as another.
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

/// Whether the table is an array, and the size it declares.
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
        data.size.or(size),
    )
}

/// The extern object of a type among a table's properties.
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

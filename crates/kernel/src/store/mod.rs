//! The control plane's view of a loaded program: tables, defaults, counters and value sets, kept in
//! the maps that the program reads.

mod buckets;
mod changes;
mod copies;
mod counters;
mod digests;
mod direct;
mod drops;
mod encoding;
mod exact;
mod figures;
mod flat;
mod flow_state;
mod globals;
mod guard;
mod in_memory;
mod logs;
mod lpm;
mod maps;
mod meters;
mod multibit_trie;
mod own;
mod prioritized;
mod profiles;
mod ranges;
mod records;
mod registers;
mod replicas;
mod specialized;
mod steps;
mod successor;
mod transaction;

pub use bpf::abi::SEED_SECTION;
pub use changes::Changes;
pub use copies::check_copies;
pub use globals::Globals;
pub use guard::Guard;
pub(crate) use guard::HeldLock;
pub use maps::Maps;
pub use specialized::{Specialized, SpecializedTable};

use crate::load::open_globals;
use crate::sys::{Map, monotonic_now};
use bpf::abi::Abi;
use buckets::Buckets;
use control::{
    CloneSession, Contents, Count, Digests, DropReason, EntryKey, Flow, FlowRoom, Groups, Logs,
    Next, Rates, Rejected, Replica, Store, StoreError,
};
use diag::system_message;
use exact::{Array, Hash};
use figures::Figures;
use flat::Codec;
use flow_state::Flows;
use layout::{DefaultAbi, HashSeeds, KeyAbi, LookupAbi, TableAbi, ValueAbi};
use lpm::{Lpm, Prefixes};
use multibit_trie::MultibitTrie;
use own::Own;
use prioritized::{BitVectors, Shadow, Structure, TupleSpace};
use schema::{ActionCall, Bits, Entry, Object, ObjectKind, Schema, Table, Type, ValueSet};
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use transaction::{Subject, Transaction};

/// Turns the system's error into a store's error.
fn refused(what: &'static str) -> impl Fn(io::Error) -> StoreError {
    move |error| match error.raw_os_error() {
        Some(libc::EEXIST) => StoreError::Duplicate,
        Some(libc::ENOENT) => StoreError::Missing,
        // The capacity that the user was promised is filled in by the caller.
        Some(libc::E2BIG | libc::ENOSPC) => StoreError::Full { capacity: 0 },
        _ => system(what)(error),
    }
}

/// A map that cannot be opened. Where its pin is gone, so is the program.
pub(crate) fn unopened(error: io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::NotFound => StoreError::Unloaded,
        _ => system("open a map")(error),
    }
}

/// The same where no entry is to blame.
fn system(what: &'static str) -> impl Fn(io::Error) -> StoreError {
    move |error| StoreError::System {
        what: match error.raw_os_error() {
            Some(libc::EPERM) => {
                format!("could not {what}: not permitted; it takes CAP_BPF (or root)")
            }
            _ => format!("could not {what}: {}", system_message(&error)),
        },
    }
}

/// The state of a loaded program.
#[derive(Debug)]
pub struct KernelStore {
    /// What is where.
    pub abi: Arc<Abi>,
    /// What the program offers the control plane.
    pub schema: Arc<Schema>,
    /// The maps by name.
    pub maps: Maps,
    /// Data that the program reads, once it was needed.
    pub globals: OnceLock<Globals>,
    /// Whether packets may be in the program while it is changed.
    pub live: bool,
    /// Bytes that its maps may take, if it was loaded with an allowance; else as many as are free.
    pub memory: Option<u64>,
    /// What keeps writers in other processes away; absent as long as no other process knows the program.
    pub guard: Option<Guard>,
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
    Flat(Box<dyn Codec + 'a>),
    Prioritized(Structure<'a>),
}

impl KernelStore {
    fn table_abi(&self, table: Table) -> Result<&TableAbi, StoreError> {
        self.abi
            .contents
            .tables
            .iter()
            .find(|t| t.index == table.as_u32())
            .ok_or_else(|| unsupported("the object has no such table"))
    }

    pub(crate) fn map(&self, name: &str) -> Result<&Map, StoreError> {
        let found = self.maps.get(name).map_err(unopened)?;
        found.ok_or_else(|| StoreError::System {
            what: format!("the program's map `{name}` is gone"),
        })
    }

    /// The elements of an array, in memory.
    fn shared(&self, name: &str) -> Result<&Globals, StoreError> {
        let found = self.maps.shared(name).map_err(unopened)?;
        found.ok_or_else(|| StoreError::System {
            what: format!("the program's map `{name}` is gone"),
        })
    }

    /// A flow state's map; `None` if the program never uses the state.
    fn flow_state(&self, state: Object) -> Result<Option<Flows<'_>>, StoreError> {
        let kind = &self.schema.objects[state].kind;
        if !matches!(kind, ObjectKind::FlowState { .. }) {
            return Err(unsupported("this extern object keeps no flows"));
        }
        let mut all = self.abi.contents.flow_states.iter();
        let Some(abi) = all.find(|f| f.index == state.as_u32()) else {
            return Ok(None);
        };
        Ok(Some(Flows {
            abi,
            map: self.map(&abi.map)?,
            key: self.seeds()?.key,
            now: crate::test_run::observed_now(self)?.unwrap_or_else(monotonic_now),
        }))
    }

    /// The secrets of the hashes of flows and keys.
    fn seeds(&self) -> Result<HashSeeds, StoreError> {
        let first = 0u32.to_ne_bytes();
        let bytes = self.map(SEED_SECTION)?.get(&first);
        let bytes = bytes.map_err(refused("read the hashes' secrets"))?;
        let seeds = bytes.and_then(|bytes| HashSeeds::from_bytes(&bytes));
        seeds.ok_or_else(|| StoreError::System {
            what: "the program was loaded by another version of Onpath, which hashed otherwise"
                .into(),
        })
    }

    /// The figures of an object; `None` if the program never adds to them.
    fn figures_of(&self, object: Object) -> Result<Option<Figures<'_>>, StoreError> {
        let ObjectKind::Figures { kind, .. } = self.schema.objects[object].kind else {
            return Err(unsupported("this extern object has no figures"));
        };
        let mut all = self.abi.contents.figures.iter();
        let Some(abi) = all.find(|f| f.index == object.as_u32()) else {
            return Ok(None);
        };
        let info = self.map(&abi.map)?.info();
        Ok(Some(Figures {
            abi,
            kind,
            processors: info.max_entries / abi.sets,
            set_size: info.value_size.next_multiple_of(8) as u32,
            memory: self.shared(&abi.map)?,
        }))
    }

    pub(crate) fn globals(&self) -> Result<&Globals, StoreError> {
        if self.globals.get().is_none() {
            if let Some(section) = &self.abi.contents.globals {
                // So that a program that is gone is reported as such.
                self.map(&section.section)?;
            }
            let opened = open_globals(&self.abi, &self.maps).map_err(|why| StoreError::System {
                what: why.message.clone(),
            })?;
            if let Some(opened) = opened {
                // Another thread has mapped the same section first.
                let _ = self.globals.set(opened);
            }
        }
        self.globals.get().ok_or_else(|| StoreError::System {
            what: "the program's data section is gone".into(),
        })
    }

    fn table_shape(&self, table: Table) -> Result<Shape<'_>, StoreError> {
        let abi = self.table_abi(table)?;
        let data = &self.schema.tables[table];
        Ok(Shape {
            lookup: &abi.lookup,
            types: data.match_keys().map(|k| k.field.ty).collect(),
            capacity: abi.capacity,
            priorities: data.has_priorities(),
        })
    }

    fn value_set_shape(&self, set: ValueSet) -> Result<Shape<'_>, StoreError> {
        let abi = self
            .abi
            .contents
            .value_sets
            .iter()
            .find(|s| s.index == set.as_u32())
            .ok_or_else(|| unsupported("the object has no such value set"))?;
        let fields = self.schema.value_sets[set].fields.iter();
        Ok(Shape {
            lookup: &abi.lookup,
            types: fields.map(|f| f.field.ty).collect(),
            capacity: abi.capacity,
            priorities: false,
        })
    }

    /// What is needed to find what a batch concerns.
    fn shape(&self, subject: Subject) -> Result<Shape<'_>, StoreError> {
        match subject {
            Subject::Members(table) => self.members_shape(Table::from_u32(table)),
            Subject::MemberGroups(selector) => self.groups_shape(Object::from_u32(selector)),
            Subject::Table(index) => self.table_shape(Table::from_u32(index)),
            Subject::ValueSet(index) => self.value_set_shape(ValueSet::from_u32(index)),
        }
    }

    fn open<'a>(&'a self, shape: Shape<'a>) -> Result<Opened<'a>, StoreError> {
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
            } => Opened::Flat(Box::new(Array {
                map: self.map(map)?,
                key_width: *key_width,
                value,
            })),
            LookupAbi::Hash { map, key, value } => Opened::Flat(Box::new(Hash {
                map: self.map(map)?,
                key,
                value,
            })),
            LookupAbi::Lpm {
                map,
                key,
                lpm_key,
                prefix_base,
                value,
            } => Opened::Flat(Box::new(Lpm {
                map: self.map(map)?,
                prefixes: Prefixes {
                    key,
                    lpm_key: *lpm_key as usize,
                    prefix_base: *prefix_base,
                },
                value,
                flags_are_heeded: lpm::flags_are_heeded(),
            })),
            LookupAbi::MultibitTrie(abi) => Opened::Flat(Box::new(multibit_trie::Entries {
                trie: MultibitTrie::open(self, abi)?,
            })),
            LookupAbi::Buckets(abi) => Opened::Flat(Box::new(buckets::Entries {
                table: Buckets::open(self, abi)?,
            })),
            LookupAbi::TupleSpace(abi) => Opened::Prioritized(Structure::TupleSpace(TupleSpace {
                abi,
                masks: self.map(&abi.masks)?,
                entries: self.map(&abi.entries)?,
                shadow: self.shadow(&abi.shadow, &abi.key, &abi.value, shape)?,
                globals: self.globals()?,
            })),
            LookupAbi::BitVectors(abi) => Opened::Prioritized(Structure::BitVectors(BitVectors {
                abi,
                shadow: self.shadow(&abi.shadow, &abi.key, &abi.value, shape)?,
                rows: self.shared(&abi.rows)?,
                places: self.shared(&abi.places)?,
                globals: self.globals()?,
            })),
        })
    }

    /// The shadow entries of a table.
    fn shadow<'a>(
        &'a self,
        name: &'a str,
        key: &'a KeyAbi,
        value: &'a ValueAbi,
        shape: Shape<'a>,
    ) -> Result<Shadow<'a>, StoreError> {
        Ok(Shadow {
            name,
            map: self.map(name)?,
            key,
            value,
            types: shape.types,
            capacity: shape.capacity,
            priorities: shape.priorities,
        })
    }

    /// The program's state as it is now, for somebody who holds its lock: no map is open yet.
    fn anew(&self) -> KernelStore {
        KernelStore {
            abi: Arc::clone(&self.abi),
            schema: Arc::clone(&self.schema),
            maps: self.maps.anew(),
            globals: OnceLock::new(),
            live: self.live,
            memory: self.memory,
            guard: None,
        }
    }

    /// Works while no other process reads or writes the program's state, and nothing is half done. What was opened
    /// before the lock was taken may be another writer's past, so the work gets the state of now.
    fn exclusively<T>(
        &self,
        work: impl FnOnce(&KernelStore) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.exclusively_within(guard::PATIENCE, work)
    }

    /// The same, for who waits for others only so long.
    pub(crate) fn exclusively_within<T>(
        &self,
        patience: Duration,
        work: impl FnOnce(&KernelStore) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let Some(guard) = &self.guard else {
            return work(self);
        };
        let _held = guard.write(patience)?;
        guard.recover(&self.anew())?;
        work(&self.anew())
    }

    /// Undoes or finishes what a killed writer has begun.
    pub(crate) fn recover(&self, patience: Duration) -> Result<(), StoreError> {
        self.exclusively_within(patience, |_| Ok(()))
    }

    /// Works while no other process writes the program's state, and nothing is half done.
    fn consistently<T>(
        &self,
        work: impl FnOnce(&KernelStore) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let Some(guard) = &self.guard else {
            return work(self);
        };
        let held = guard.read()?;
        if guard.is_unfinished() {
            drop(held);
            return self.exclusively(work);
        }
        work(&self.anew())
    }

    /// Puts in the entries that the program itself has, where they are not compiled in.
    pub fn preload(&mut self) -> Result<(), (Table, StoreError)> {
        for (table, data) in self.schema.tables.iter() {
            if !self.table_abi(table).is_ok_and(|abi| abi.preload) {
                continue;
            }
            let filled = self.exclusively(|now| {
                let mut transaction = Transaction::new(now, self.guard.as_ref());
                let mut entries = data.entries.iter();
                entries.try_for_each(|entry| transaction.insert_own(table, entry, 0))?;
                let committed = transaction.commit();
                committed.map_err(|not_done| not_done.rejected(0).into_error())
            });
            filled.map_err(|e| (table, e))?;
        }
        Ok(())
    }

    fn read_entries(&self, table: Table) -> Result<Vec<Entry>, StoreError> {
        let shape = self.table_shape(table)?;
        let data = &self.schema.tables[table];
        if let LookupAbi::Compiled = shape.lookup {
            return Ok(data.entries.clone());
        }
        let own = Own::of(data);
        let mut entries: Vec<Entry> = match self.open(shape)? {
            Opened::Flat(codec) => flat::entries(&*codec)?
                .into_iter()
                .map(|(keys, action)| Entry {
                    // The maps do not keep the priority of the program's own entries.
                    priority: own.entry(&keys, 0).map_or(0, |e| e.priority),
                    is_const: false,
                    keys,
                    action,
                })
                .collect(),
            Opened::Prioritized(structure) => structure.shadow().entries()?,
        };
        // The program's own first, in their order.
        let position = |e: &Entry| own.position(&e.keys, e.priority);
        for entry in &mut entries {
            let own = own.entry(&entry.keys, entry.priority);
            entry.is_const = own.is_some_and(|e| e.is_const);
        }
        if !data.entries.is_empty() {
            entries.sort_by_cached_key(|e| position(e).unwrap_or(data.entries.len()));
        }
        Ok(entries)
    }

    fn read_default(&self, table: Table) -> Result<ActionCall, StoreError> {
        let abi = self.table_abi(table)?;
        let initial = || self.schema.tables[table].default_action.clone();
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
        Ok(encoding::get_value(value, &bytes).unwrap_or_else(initial))
    }
}

/// Reports how many entries a full table was to hold.
fn with_capacity(error: StoreError, capacity: u64) -> StoreError {
    match error {
        StoreError::Full { .. } => StoreError::Full { capacity },
        other => other,
    }
}

fn unsupported(what: &str) -> StoreError {
    StoreError::Unsupported { what: what.into() }
}

impl Store for KernelStore {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn entries(&self, table: Table) -> Result<Vec<Entry>, StoreError> {
        self.consistently(|now| now.read_entries(table))
    }

    fn contents(&self, tables: &[Table]) -> Result<Vec<Contents>, (Table, StoreError)> {
        let read = |now: &KernelStore, table| {
            Ok(Contents {
                entries: now.read_entries(table)?,
                default_action: now.read_default(table)?,
            })
        };
        let done = self.consistently(|now| {
            let all = tables.iter();
            Ok(all
                .map(|table| read(now, *table).map_err(|error| (*table, error)))
                .collect())
        });
        match (done, tables) {
            (Ok(contents), _) => contents,
            (Err(error), [first, ..]) => Err((*first, error)),
            (Err(_), []) => Ok(Vec::new()),
        }
    }

    fn apply_from(&mut self, next: &mut dyn FnMut() -> Next) -> Result<usize, Rejected> {
        let rejected = |at: usize, error: StoreError| Rejected {
            at,
            error,
            not_undone: None,
        };
        let done = self.exclusively(|now| {
            let mut transaction = Transaction::new(now, self.guard.as_ref());
            let mut count = 0;
            loop {
                match next() {
                    Next::Change(change) => {
                        if let Err(error) = transaction.change(&change, count as u32) {
                            return Ok(Err(rejected(count, error)));
                        }
                        count += 1;
                    }
                    Next::Abandon => return Ok(Ok(0)),
                    Next::End => break,
                }
            }
            let committed = transaction.commit().map(|()| count);
            Ok(committed.map_err(|not_done| not_done.rejected(count.saturating_sub(1))))
        });
        done.unwrap_or_else(|error| Err(rejected(0, error)))
    }

    fn default_action(&self, table: Table) -> Result<ActionCall, StoreError> {
        self.consistently(|now| now.read_default(table))
    }

    fn counter(&self, counter: Object, index: u64) -> Result<Count, StoreError> {
        self.consistently(|now| now.read_counter(counter, index))
    }

    fn counters(&self, counter: Object) -> Result<Vec<(u64, Count)>, StoreError> {
        self.consistently(|now| now.read_counters(counter))
    }

    fn reset_counter(&mut self, counter: Object, index: Option<u64>) -> Result<(), StoreError> {
        self.exclusively(|now| now.zero_counter(counter, index))
    }

    fn direct_counter(&self, table: Table, entry: &Entry) -> Result<Count, StoreError> {
        self.consistently(|now| now.read_direct_counter(table, entry))
    }

    fn direct_counters(&self, table: Table) -> Result<Vec<(Entry, Count)>, StoreError> {
        self.consistently(|now| now.read_direct_counters(table))
    }

    fn register(&self, register: Object, index: u64) -> Result<Vec<Bits>, StoreError> {
        self.consistently(|now| now.read_register(register, index))
    }

    fn set_register(
        &mut self,
        register: Object,
        index: u64,
        value: &[Bits],
    ) -> Result<(), StoreError> {
        self.exclusively(|now| now.write_register(register, index, value))
    }

    fn registers(&self, register: Object) -> Result<Vec<(u64, Vec<Bits>)>, StoreError> {
        self.consistently(|now| now.read_registers(register))
    }

    fn reset_register(&mut self, register: Object, index: Option<u64>) -> Result<(), StoreError> {
        self.exclusively(|now| now.zero_register(register, index))
    }

    fn meter(&self, meter: Object, index: u64) -> Result<Option<Rates>, StoreError> {
        self.consistently(|now| now.read_meter(meter, index))
    }

    fn meters(&self, meter: Object) -> Result<Vec<(u64, Rates)>, StoreError> {
        self.consistently(|now| now.read_meters(meter))
    }

    fn direct_meter(&self, table: Table, key: &EntryKey) -> Result<Option<Rates>, StoreError> {
        self.consistently(|now| now.read_direct_meter(table, key))
    }

    fn digests(&mut self, most: u64, patience: Duration) -> Result<Digests, StoreError> {
        self.read_digests(most, patience)
    }

    fn logs(&mut self, most: u64, patience: Duration) -> Result<Logs, StoreError> {
        self.read_logs(most, patience)
    }

    fn figures(&self, object: Object) -> Result<Groups, StoreError> {
        let figures = self.figures_of(object)?;
        figures.map_or_else(|| Ok(Groups::default()), |figures| figures.all())
    }

    fn flows(&self, state: Object) -> Result<Vec<Flow>, StoreError> {
        self.consistently(|now| {
            let state = now.flow_state(state)?;
            state.map_or(Ok(Vec::new()), |flows| flows.all())
        })
    }

    fn flow_room(&self, state: Object) -> Result<FlowRoom, StoreError> {
        self.consistently(|now| {
            let state = now.flow_state(state)?;
            let none = FlowRoom {
                capacity: 0,
                evicted: None,
            };
            state.map_or(Ok(none), |flows| flows.room())
        })
    }

    fn flow(&self, state: Object, key: &[Bits]) -> Result<Option<Vec<Bits>>, StoreError> {
        self.consistently(|now| {
            let state = now.flow_state(state)?;
            state.map_or(Ok(None), |flows| flows.one(key))
        })
    }

    fn remove_flow(&mut self, state: Object, key: &[Bits]) -> Result<(), StoreError> {
        self.exclusively(|now| match now.flow_state(state)? {
            Some(flows) => flows.remove(key),
            None => Err(StoreError::Missing),
        })
    }

    fn clear_flows(&mut self, state: Object) -> Result<(), StoreError> {
        self.exclusively(|now| now.flow_state(state)?.map_or(Ok(()), |flows| flows.clear()))
    }

    fn members(&self, profile: Object) -> Result<Vec<(u32, ActionCall)>, StoreError> {
        self.consistently(|now| now.read_members(profile))
    }

    fn member_groups(&self, selector: Object) -> Result<Vec<(u32, Vec<u32>)>, StoreError> {
        self.consistently(|now| now.read_member_groups(selector))
    }

    fn multicast_groups(&self) -> Result<Vec<(u16, Vec<Replica>)>, StoreError> {
        self.consistently(|now| now.read_groups())
    }

    fn clone_sessions(&self) -> Result<Vec<(u32, CloneSession)>, StoreError> {
        self.consistently(|now| now.read_sessions())
    }

    fn drops(&self) -> Result<Vec<(DropReason, u64)>, StoreError> {
        self.consistently(|now| now.read_drops())
    }
}

/// What a member of a value set has for an action: its number is 1.
fn present() -> ActionCall {
    ActionCall {
        action: 0,
        args: Vec::new(),
    }
}

//! State of a program in its memory, for a caller that may read or write it now.

use crate::buckets::{self, Buckets};
use crate::encoding;
use crate::errors::{refused, unopened, unsupported};
use crate::exact::{Array, Hash};
use crate::flat::{self, Codec};
use crate::flow_state::Flows;
use crate::lpm::{Lpm, Prefixes};
use crate::memory::{Map, Memory};
use crate::metrics::Metrics;
use crate::multibit_trie::{self, MultibitTrie};
use crate::name_set::NameSet;
use crate::own::Own;
use crate::pattern_set::PatternSet;
use crate::prioritized::{BitVectors, Shadow, Structure, TupleSpace};
use crate::rule_set::{Contents, RuleSet};
use crate::transaction::Subject;
use control::StoreError;
use host::words::Words;
use layout::{DefaultAbi, KeyAbi, LookupAbi, TableAbi, ValueAbi};
use schema::{ActionCall, Entry, NameRule, Object, ObjectKind, Schema, Table, Type, ValueSet};

/// State of a program. As long as it exists nobody else writes the program's memory, which holds no partial change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgramState<'a> {
    /// Memory that holds the state.
    pub memory: &'a dyn Memory,
    /// Schema: the program's interface to the control plane.
    pub schema: &'a Schema,
    /// True if packets may run in the program while it is changed.
    pub live: bool,
}

/// Grace period of a program. `None` inside means that no packets can be running.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grace<'a>(pub Option<&'a dyn Memory>);

impl Grace<'_> {
    /// Waits until all packets that began before have ended.
    pub(crate) fn wait(self) {
        if let Some(memory) = self.0 {
            memory.wait_for_packets();
        }
    }
}

/// Properties by which entries are found, for tables and value sets alike.
pub(crate) struct LookupShape<'a> {
    pub lookup: &'a LookupAbi,
    pub types: Vec<Type>,
    pub capacity: u64,
    pub priorities: bool,
}

/// Opened maps of a shape.
pub(crate) enum Opened<'a> {
    Flat(Box<dyn Codec + 'a>),
    Prioritized(Structure<'a>),
}

impl<'a> ProgramState<'a> {
    /// Returns the state in a memory. Packets may run in the program if it is `live`.
    pub(crate) fn of(memory: &'a dyn Memory, live: bool) -> ProgramState<'a> {
        ProgramState {
            memory,
            schema: memory.schema(),
            live,
        }
    }

    pub(crate) fn table_abi(&self, table: Table) -> Result<&'a TableAbi, StoreError> {
        let mut all = self.memory.contents().tables.iter();
        all.find(|t| t.index == table.as_u32())
            .ok_or_else(|| unsupported("the object has no such table"))
    }

    /// Returns the grace period of packets that may have seen the previous state.
    pub(crate) fn grace(&self) -> Grace<'a> {
        Grace(self.live.then_some(self.memory))
    }

    /// Returns the map with this name. Fails if the program has none.
    pub(crate) fn map(&self, name: &str) -> Result<&'a dyn Map, StoreError> {
        let found = self.memory.map(name).map_err(unopened)?;
        found.ok_or_else(|| StoreError::System {
            what: format!("the program's map `{name}` is gone"),
        })
    }

    /// Returns the elements of an array, in memory.
    pub(crate) fn shared(&self, name: &str) -> Result<&'a Words, StoreError> {
        let found = self.memory.words(name).map_err(unopened)?;
        found.ok_or_else(|| StoreError::System {
            what: format!("the program's map `{name}` is gone"),
        })
    }

    /// Opens a flow state. `None` if the program never uses it.
    pub(crate) fn flow_state(&self, state: Object) -> Result<Option<Flows<'a>>, StoreError> {
        let kind = &self.schema.objects[state].kind;
        if !matches!(kind, ObjectKind::FlowState { .. }) {
            return Err(unsupported("this extern object keeps no flows"));
        }
        let mut all = self.memory.contents().flow_states.iter();
        let Some(abi) = all.find(|f| f.index == state.as_u32()) else {
            return Ok(None);
        };
        Ok(Some(Flows {
            abi,
            map: self.map(&abi.map)?,
            key: self.memory.seeds()?.key,
            now: self.memory.now()?,
        }))
    }

    /// Opens the metrics of an object. `None` if the program never updates them.
    pub(crate) fn metrics_of(&self, object: Object) -> Result<Option<Metrics<'a>>, StoreError> {
        let ObjectKind::Metrics { kind, .. } = self.schema.objects[object].kind else {
            return Err(unsupported("this extern object has no metrics"));
        };
        let mut all = self.memory.contents().metrics.iter();
        let Some(abi) = all.find(|f| f.index == object.as_u32()) else {
            return Ok(None);
        };
        let info = self.map(&abi.map)?.info();
        Ok(Some(Metrics {
            abi,
            kind,
            processors: info.max_entries / abi.sets,
            set_size: info.value_size.next_multiple_of(8) as u32,
            memory: self.shared(&abi.map)?,
        }))
    }

    /// Returns the maps of a name set or a pattern set. `None` if packets never look anything up in it.
    pub(crate) fn rule_set(&self, set: Object) -> Result<Option<RuleSet<'a>>, StoreError> {
        let mut all = self.memory.contents().pattern_sets.iter();
        if let Some(abi) = all.find(|abi| abi.index == set.as_u32()) {
            let blocks = self.shared(&abi.map)?;
            return Ok(Some(RuleSet::Patterns(PatternSet { abi, blocks })));
        }
        let mut all = self.memory.contents().name_sets.iter();
        let Some(abi) = all.find(|abi| abi.index == set.as_u32()) else {
            return Ok(None);
        };
        Ok(Some(RuleSet::Names(NameSet {
            abi,
            buckets: self.shared(&abi.buckets)?,
            records: self.shared(&abi.records)?,
            seed: self.memory.seeds()?.buckets,
        })))
    }

    /// Returns the rules of a name set or a pattern set.
    pub(crate) fn read_names(&self, set: Object) -> Result<Vec<NameRule>, StoreError> {
        match self.rule_set(set)? {
            Some(set) => Ok(Contents::read(set)?.rules()),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the program's global data.
    pub(crate) fn globals(&self) -> Result<&'a Words, StoreError> {
        let gone = || StoreError::System {
            what: "the program's data section is gone".into(),
        };
        let data = self.memory.contents().globals.as_ref().ok_or_else(gone)?;
        let words = self.shared(&data.section)?;
        match words.length() < data.size as usize {
            true => Err(gone()),
            false => Ok(words),
        }
    }

    pub(crate) fn table_shape(&self, table: Table) -> Result<LookupShape<'a>, StoreError> {
        let abi = self.table_abi(table)?;
        let data = &self.schema.tables[table];
        Ok(LookupShape {
            lookup: &abi.lookup,
            types: data.match_keys().map(|k| k.field.ty).collect(),
            capacity: abi.capacity,
            priorities: data.has_priorities(),
        })
    }

    fn value_set_shape(&self, set: ValueSet) -> Result<LookupShape<'a>, StoreError> {
        let mut all = self.memory.contents().value_sets.iter();
        let abi = all.find(|s| s.index == set.as_u32());
        let abi = abi.ok_or_else(|| unsupported("the object has no such value set"))?;
        let fields = self.schema.value_sets[set].fields.iter();
        Ok(LookupShape {
            lookup: &abi.lookup,
            types: fields.map(|f| f.field.ty).collect(),
            capacity: abi.capacity,
            priorities: false,
        })
    }

    /// Returns the shape of a batch's subject.
    pub(crate) fn shape(&self, subject: Subject) -> Result<LookupShape<'a>, StoreError> {
        match subject {
            Subject::Members(table) => self.members_shape(Table::from_u32(table)),
            Subject::MemberGroups(selector) => self.groups_shape(Object::from_u32(selector)),
            Subject::Table(index) => self.table_shape(Table::from_u32(index)),
            Subject::ValueSet(index) => self.value_set_shape(ValueSet::from_u32(index)),
        }
    }

    pub(crate) fn open(&self, shape: LookupShape<'a>) -> Result<Opened<'a>, StoreError> {
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
            })),
            LookupAbi::MultibitTrie(abi) => Opened::Flat(Box::new(multibit_trie::Entries {
                trie: MultibitTrie::open(*self, abi)?,
            })),
            LookupAbi::Buckets(abi) => Opened::Flat(Box::new(buckets::Entries {
                table: Buckets::open(*self, abi)?,
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

    /// Returns the shadow entries of a table.
    fn shadow(
        &self,
        name: &'a str,
        key: &'a KeyAbi,
        value: &'a ValueAbi,
        shape: LookupShape<'a>,
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

    pub(crate) fn read_entries(&self, table: Table) -> Result<Vec<Entry>, StoreError> {
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
        // The program's own entries come first, in their order.
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

    pub(crate) fn read_default(&self, table: Table) -> Result<ActionCall, StoreError> {
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

/// Returns the action stored for a member of a value set. Its encoded number is 1.
pub(crate) fn present() -> ActionCall {
    ActionCall {
        action: 0,
        args: Vec::new(),
    }
}

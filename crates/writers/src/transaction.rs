//! Batch of changes: checked and planned first, then written atomically.

use crate::copies::Copies;
use crate::errors::{system, unsupported};
use crate::flat;
use crate::guard::Guard;
use crate::in_memory;
use crate::meters::DirectMeter;
use crate::own::Own;
use crate::rule_set::{self, Contents, RuleSet};
use crate::state::{LookupShape, Opened, ProgramState, present};
use crate::steps::{ChangeStep, StepFailed, Undo, Word};
use crate::{direct, encoding, prioritized};
use control::{Change, CloneSession, EntryKey, Rates, Rejected, Replica, StoreError};
use layout::{DefaultAbi, LookupAbi};
use schema::{ActionCall, Entry, KeyMatch, Object, Table, ValueSet};
use std::collections::{BTreeMap, BTreeSet};

/// Subject of changes. Subjects that entries refer to come before those of the entries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Subject {
    /// Members of this table's action profile.
    Members(u32),
    /// Groups of an action selector.
    MemberGroups(u32),
    Table(u32),
    ValueSet(u32),
}

impl Subject {
    /// Returns true if entries refer to the subject.
    fn is_referred_to(self) -> bool {
        matches!(self, Subject::Members(_) | Subject::MemberGroups(_))
    }
}

/// Staged changes of one subject.
pub(super) enum Staged<'a> {
    Flat(flat::Staged<'a>, &'a LookupAbi),
    Prioritized(prioritized::Staged<'a>),
}

/// Batch of changes, checked against the tables and each other. Nothing is written before [`Transaction::commit`].
pub(super) struct Transaction<'a> {
    pub(super) store: ProgramState<'a>,
    staged: BTreeMap<Subject, Staged<'a>>,
    own: BTreeMap<Table, Own<'a>>,
    defaults: BTreeMap<Table, ActionCall>,
    /// New contents of name sets and pattern sets.
    names: BTreeMap<Object, Contents<'a>>,
    /// Multicast groups and clone sessions.
    copies: Copies,
    /// Subjects whose change must become visible to packets at once.
    replaced: BTreeSet<Subject>,
    /// Rates of meters, `None` to remove them, each with the change that it belongs to.
    pub(super) meters: BTreeMap<(Object, u64), (Option<Rates>, u32)>,
    pub(super) direct_meters: Vec<DirectMeter>,
}

impl<'a> Transaction<'a> {
    /// Begins a batch. The caller holds the lock of the program's guard, if it has one, for writing until the end.
    pub(crate) fn new(store: ProgramState<'a>) -> Transaction<'a> {
        Transaction {
            store,
            staged: BTreeMap::new(),
            own: BTreeMap::new(),
            defaults: BTreeMap::new(),
            names: BTreeMap::new(),
            copies: Copies::default(),
            replaced: BTreeSet::new(),
            meters: BTreeMap::new(),
            direct_meters: Vec::new(),
        }
    }

    pub(super) fn stage(&mut self, subject: Subject) -> Result<&mut Staged<'a>, StoreError> {
        if !self.staged.contains_key(&subject) {
            let shape = self.store.shape(subject)?;
            let LookupShape {
                capacity, lookup, ..
            } = shape;
            let staged = match self.store.open(shape)? {
                Opened::Flat(codec) => Staged::Flat(flat::Staged::new(codec, capacity)?, lookup),
                Opened::Prioritized(structure) => {
                    Staged::Prioritized(prioritized::Staged::new(structure)?)
                }
            };
            self.staged.insert(subject, staged);
        }
        self.staged
            .get_mut(&subject)
            .ok_or_else(|| unsupported("the object has no such table"))
    }

    fn own(&mut self, table: Table) -> &Own<'a> {
        let data = &self.store.schema.tables[table];
        self.own.entry(table).or_insert_with(|| Own::of(data))
    }

    fn check_changeable(
        &mut self,
        table: Table,
        keys: &[KeyMatch],
        priority: u32,
    ) -> Result<(), StoreError> {
        match self.own(table).is_const(keys, priority) {
            true => Err(StoreError::Const),
            false => Ok(()),
        }
    }

    /// Adds a change to the batch. `origin` is its index.
    pub(crate) fn change(&mut self, change: &Change, origin: u32) -> Result<(), StoreError> {
        match change {
            Change::Insert(table, entry) => self.insert(*table, entry, origin),
            Change::Modify(table, entry) => self.modify(*table, entry, origin),
            Change::Remove(table, key) => self.remove(*table, &key.keys, key.priority, origin),
            Change::SetDefault(table, call) => self.set_default(*table, call),
            Change::Clear(table) => self.clear(*table, origin),
            Change::Replace(table) => {
                self.clear(*table, origin)?;
                self.replaced.insert(Subject::Table(table.as_u32()));
                Ok(())
            }
            Change::InsertMember(set, member) => self.insert_member(*set, member, origin),
            Change::RemoveMember(set, member) => self.remove_member(*set, member, origin),
            Change::InsertName(set, rule) => self.contents(*set)?.insert(rule),
            Change::RemoveName(set, name) => self.contents(*set)?.remove(name),
            Change::ClearNames(set) => {
                let empty = self.rule_set(*set).map(Contents::empty)?;
                self.names.insert(*set, empty);
                Ok(())
            }
            Change::Group(group, replicas) => self.set_group(*group, replicas, origin),
            Change::Session(session, to) => self.set_session(*session, to.as_ref(), origin),
            Change::Member(profile, member, to) => {
                self.set_member(*profile, *member, to.as_ref(), origin)
            }
            Change::MemberGroup(selector, group, members) => {
                self.set_member_group(*selector, *group, members, origin)
            }
            Change::Meter(meter, rates) => self.set_meter(meter, *rates, origin),
        }
    }

    /// Returns the new contents of a set: at first those that it has.
    fn contents(&mut self, set: Object) -> Result<&mut Contents<'a>, StoreError> {
        if !self.names.contains_key(&set) {
            let contents = self.rule_set(set).and_then(Contents::read)?;
            self.names.insert(set, contents);
        }
        self.names.get_mut(&set).ok_or_else(rule_set::unused)
    }

    fn rule_set(&self, set: Object) -> Result<RuleSet<'a>, StoreError> {
        self.store.rule_set(set)?.ok_or_else(rule_set::unused)
    }

    /// Adds an entry, for the change `origin`.
    fn insert(&mut self, table: Table, entry: &Entry, origin: u32) -> Result<(), StoreError> {
        if self.store.schema.tables[table].const_entries {
            return Err(StoreError::Const);
        }
        self.check_reference(table, &entry.action)?;
        self.insert_own(table, entry, origin)
    }

    /// Adds an entry like [`Transaction::insert`], also one of the program's own entries.
    pub(crate) fn insert_own(
        &mut self,
        table: Table,
        entry: &Entry,
        origin: u32,
    ) -> Result<(), StoreError> {
        match self.stage(Subject::Table(table.as_u32()))? {
            Staged::Flat(flat, _) => flat.insert(&entry.keys, &entry.action, origin),
            Staged::Prioritized(entries) => entries.insert(entry, origin),
        }
    }

    /// Replaces the action of an entry.
    fn modify(&mut self, table: Table, entry: &Entry, origin: u32) -> Result<(), StoreError> {
        self.check_changeable(table, &entry.keys, entry.priority)?;
        self.check_reference(table, &entry.action)?;
        match self.stage(Subject::Table(table.as_u32()))? {
            Staged::Flat(flat, _) => flat.modify(&entry.keys, &entry.action, origin),
            Staged::Prioritized(entries) => entries.modify(entry, origin),
        }
    }

    /// Removes an entry.
    fn remove(
        &mut self,
        table: Table,
        keys: &[KeyMatch],
        priority: u32,
        origin: u32,
    ) -> Result<(), StoreError> {
        self.check_changeable(table, keys, priority)?;
        match self.stage(Subject::Table(table.as_u32()))? {
            Staged::Flat(flat, _) => flat.remove(keys, origin)?,
            Staged::Prioritized(entries) => entries.remove(keys, priority, origin)?,
        }
        // The rates of its meter are removed with it.
        let data = &self.store.schema.tables[table];
        let (keys, ordered) = (data.canonical(keys), data.has_priorities());
        self.direct_meters.retain(|meter| {
            let key = &meter.key;
            meter.table != table || key.keys != keys || ordered && key.priority != priority
        });
        Ok(())
    }

    /// Returns the number of an entry after the changes. 0 if it has none yet; `None` if the entry will not exist.
    pub(super) fn entry_number(
        &mut self,
        table: Table,
        key: &EntryKey,
    ) -> Result<Option<u32>, StoreError> {
        let store = self.store;
        if store.table_abi(table)?.lookup == LookupAbi::Compiled {
            return match store.number_of(table, &key.keys, key.priority) {
                Err(StoreError::Missing) => Ok(None),
                found => found.map(Some),
            };
        }
        match self.stage(Subject::Table(table.as_u32()))? {
            Staged::Flat(flat, _) => flat.number_of(&key.keys),
            Staged::Prioritized(entries) => entries.number_of(&key.keys, key.priority),
        }
    }

    /// Removes all entries but those that the program declares `const`.
    fn clear(&mut self, table: Table, origin: u32) -> Result<(), StoreError> {
        if self.store.schema.tables[table].const_entries {
            return Err(StoreError::Const);
        }
        let compiled = matches!(self.store.table_abi(table)?.lookup, LookupAbi::Compiled);
        if compiled
            && self.store.schema.tables[table]
                .entries
                .iter()
                .all(|e| e.is_const)
        {
            return Ok(());
        }
        self.direct_meters.retain(|meter| meter.table != table);
        let own = Own::of(&self.store.schema.tables[table]);
        match self.stage(Subject::Table(table.as_u32()))? {
            Staged::Flat(flat, _) => flat.clear(|keys| own.is_const(keys, 0), origin),
            Staged::Prioritized(entries) => {
                entries.clear(|keys, priority| own.is_const(keys, priority), origin)
            }
        }
    }

    /// Adds a member to a value set.
    fn insert_member(
        &mut self,
        set: ValueSet,
        member: &[KeyMatch],
        origin: u32,
    ) -> Result<(), StoreError> {
        match self.stage(Subject::ValueSet(set.as_u32()))? {
            Staged::Flat(flat, _) => flat.insert(member, &present(), origin),
            Staged::Prioritized(entries) => {
                let entry = Entry {
                    keys: member.to_vec(),
                    priority: 0,
                    action: present(),
                    is_const: false,
                };
                entries.insert(&entry, origin)
            }
        }
    }

    /// Removes a member of a value set.
    fn remove_member(
        &mut self,
        set: ValueSet,
        member: &[KeyMatch],
        origin: u32,
    ) -> Result<(), StoreError> {
        match self.stage(Subject::ValueSet(set.as_u32()))? {
            Staged::Flat(flat, _) => flat.remove(member, origin),
            Staged::Prioritized(entries) => entries.remove(member, 0, origin),
        }
    }

    /// Changes a default action.
    fn set_default(&mut self, table: Table, action: &ActionCall) -> Result<(), StoreError> {
        let DefaultAbi::Global { slots, .. } = &self.store.table_abi(table)?.default else {
            return Err(match self.store.schema.tables[table].const_default {
                true => StoreError::Const,
                // This allows a dump of all tables to be loaded again.
                false if *action == self.store.schema.tables[table].default_action => return Ok(()),
                false => unsupported("the program never applies the table"),
            });
        };
        if slots.is_empty() {
            return Err(unsupported("the object keeps no default action"));
        }
        self.defaults.insert(table, action.clone());
        Ok(())
    }

    /// Sets the replicas of a multicast group. Without replicas the group is removed.
    fn set_group(
        &mut self,
        group: u16,
        replicas: &[Replica],
        origin: u32,
    ) -> Result<(), StoreError> {
        self.copies.set_group(&self.store, group, replicas, origin)
    }

    /// Sets a clone session, or removes it.
    fn set_session(
        &mut self,
        session: u32,
        to: Option<&CloneSession>,
        origin: u32,
    ) -> Result<(), StoreError> {
        self.copies.set_session(&self.store, session, to, origin)
    }

    /// Returns true if only this subject changes.
    fn is_alone(&self, subject: &Subject) -> bool {
        let mut others = self.staged.iter().filter(|(other, _)| *other != subject);
        let differs = |staged: &Staged<'_>| match staged {
            Staged::Flat(flat, _) => flat.differs(),
            Staged::Prioritized(entries) => entries.differs(),
        };
        self.defaults.is_empty()
            && self.copies.is_empty()
            && !others.any(|(_, staged)| differs(staged))
    }

    /// Plans the steps that change the existing maps. `None` if a packet might then meet a partial change.
    fn plan(&mut self, may_tear: bool) -> Result<Option<Vec<ChangeStep>>, StepFailed> {
        let one_by_one = |(subject, staged): (&Subject, &Staged<'_>)| match staged {
            Staged::Flat(flat, _) if self.replaced.contains(subject) => !flat.differs(),
            Staged::Prioritized(entries) if self.replaced.contains(subject) => {
                !entries.differs() || entries.is_one_switch() && self.is_alone(subject)
            }
            // Packets may have met an entry that refers to it.
            Staged::Flat(flat, _) if subject.is_referred_to() => {
                !flat.tears() && (!flat.removes() || self.is_alone(subject))
            }
            // A member of a value set has no parts that could be mixed.
            Staged::Flat(flat, _) => matches!(subject, Subject::ValueSet(_)) || !flat.tears(),
            Staged::Prioritized(_) => true,
        };
        let in_place = self.names.is_empty() && self.staged.iter().all(one_by_one);
        if !may_tear && !in_place {
            return Ok(None);
        }
        let mut prioritized = Vec::new();
        for staged in self.staged.values() {
            if let Staged::Prioritized(entries) = staged {
                let planned = entries.plan()?;
                if !may_tear && entries.tears(&planned) {
                    return Ok(None);
                }
                prioritized.extend(planned);
            }
        }
        let (mut steps, mut flats) = (Vec::new(), Vec::new());
        for (subject, staged) in std::mem::take(&mut self.staged) {
            if let Staged::Flat(flat, lookup) = staged {
                let referred_to = subject.is_referred_to();
                // A packet may have found an entry that referred to it before.
                let settle = referred_to && flat.removes();
                let planned = settle
                    .then_some(ChangeStep::Settle)
                    .into_iter()
                    .chain(flat.plan(main_map(lookup)));
                match referred_to {
                    true => steps.extend(planned),
                    false => flats.extend(planned),
                }
            }
        }
        steps.extend(prioritized);
        steps.extend(flats);
        for (table, action) in &self.defaults {
            steps.extend(default_steps(&self.store, *table, action)?);
        }
        steps.extend(self.copies.steps(&self.store)?);
        Ok(Some(steps))
    }

    /// Returns the tables whose entries or default actions change.
    fn changed_tables(&self) -> BTreeSet<Table> {
        let staged = self.staged.keys().filter_map(|subject| match subject {
            Subject::Table(index) => Some(Table::from_u32(*index)),
            Subject::ValueSet(_) | Subject::Members(_) | Subject::MemberGroups(_) => None,
        });
        // Names take a successor of the program, which is not specialized to any table.
        let all = self.store.schema.tables.keys();
        let all = all.filter(|_| !self.names.is_empty());
        let changed = staged.chain(self.defaults.keys().copied());
        changed.chain(all).collect()
    }

    /// Writes all changes. If that fails, nothing is changed, unless [`NotDone::left`] gives the reason why some
    /// changes are left.
    pub(crate) fn commit(mut self) -> Result<(), NotDone> {
        let (store, guard) = (self.store, self.store.memory.guard());
        // Without packets nobody can meet a partial change. A name set is written as a whole, which no journal undoes.
        let switch = guard.filter(|_| store.live || !self.names.is_empty());
        let changed = self.changed_tables();
        let mut sets = self.names.values_mut();
        let prepared = sets.try_for_each(Contents::prepare);
        let begun = prepared.and_then(|()| self.number()).and_then(|mut begun| {
            begun.extend(self.meter_steps()?);
            Ok(begun)
        });
        let mut begun = begun.map_err(|e| NotDone::before(e.into()))?;
        let steps = self.plan(switch.is_none()).map_err(NotDone::before)?;
        let noted = store.note_changes(changed);
        noted.map_err(|error| NotDone::before(StepFailed::from(error)))?;
        match (steps, switch) {
            (Some(steps), _) => {
                begun.extend(steps);
                run(&store, guard, &begun)?;
                // Where there are any, nobody else knows the program.
                write_names(self.names, &store).map_err(|error| NotDone {
                    left: Some(error.clone()),
                    ..NotDone::before(StepFailed::from(error))
                })
            }
            (None, Some(_)) => self.switch(begun),
            (None, None) => Ok(()),
        }
    }

    /// Assigns numbers to new entries that have direct counters or meters. Returns the steps that zero these.
    fn number(&mut self) -> Result<Vec<ChangeStep>, StoreError> {
        let mut steps = Vec::new();
        for (subject, staged) in &mut self.staged {
            let given = match staged {
                Staged::Flat(flat, _) => flat.number()?,
                Staged::Prioritized(entries) => entries.number()?,
            };
            if let Subject::Table(index) = subject
                && !given.is_empty()
            {
                let abi = self.store.table_abi(Table::from_u32(*index))?;
                steps.extend(direct::begin(abi, &given));
            }
        }
        Ok(steps)
    }

    /// Makes all changes in new maps that no packet uses yet, then switches packets to them. The steps `begun` run
    /// first.
    fn switch(self, begun: Vec<ChangeStep>) -> Result<(), NotDone> {
        let failed = |error: StoreError| NotDone::before(StepFailed::from(error));
        let mut fresh = BTreeSet::new();
        for staged in self.staged.values() {
            match staged {
                Staged::Flat(_, lookup) => fresh.extend(lookup.maps()),
                Staged::Prioritized(entries) => fresh.extend(entries.maps()),
            }
        }
        fresh.extend(self.names.values().flat_map(Contents::maps));
        // Packets meet new groups and sessions together with the new tables.
        fresh.extend(self.copies.maps(self.store.memory.traffic()));
        let successor = self.store.memory.successor(&fresh).map_err(failed)?;
        let store = ProgramState::of(successor.memory(), false);
        let copies = self.copies.steps_anew(&self.store, &store);
        let mut steps = begun;
        for (subject, staged) in self.staged {
            match staged {
                Staged::Flat(flat, lookup) => {
                    if let Some(entries) = in_memory::open(store, lookup).map_err(failed)? {
                        entries.start_empty().map_err(failed)?;
                    }
                    steps.extend(flat.plan_anew(main_map(lookup)).map_err(failed)?);
                }
                Staged::Prioritized(entries) => {
                    let shape = store.shape(subject);
                    if let Opened::Prioritized(structure) =
                        shape.and_then(|s| store.open(s)).map_err(failed)?
                    {
                        structure.start_empty().map_err(failed)?;
                        let entries = entries.onto(structure).map_err(failed)?;
                        steps.extend(entries.plan().map_err(NotDone::before)?);
                    }
                }
            }
        }
        for (table, action) in &self.defaults {
            steps.extend(default_steps(&store, *table, action).map_err(failed)?);
        }
        steps.extend(copies.map_err(failed)?);
        write_names(self.names, &store).map_err(failed)?;
        run(&store, None, &steps)?;
        successor.take_over().map_err(|not_switched| NotDone {
            left: not_switched.left(),
            ..failed(not_switched.error())
        })
    }
}

/// Writes the contents of name sets and pattern sets that no packet reads.
fn write_names(
    names: BTreeMap<Object, Contents<'_>>,
    store: &ProgramState<'_>,
) -> Result<(), StoreError> {
    names.into_iter().try_for_each(|(set, contents)| {
        let maps = store.rule_set(set)?.ok_or_else(rule_set::unused)?;
        contents.write(maps)
    })
}

/// Returns the main map of a look-up, which holds the entries.
fn main_map(lookup: &LookupAbi) -> &str {
    lookup.maps().first().copied().unwrap_or_default()
}

/// Failure of a batch.
pub(super) struct NotDone {
    /// Change that failed, if one is to blame.
    pub origin: Option<u32>,
    /// Error that occurred.
    pub error: StoreError,
    /// Error because of which some changes stay in force, until the next writer undoes them.
    pub left: Option<StoreError>,
}

impl NotDone {
    /// Converts the failure for the caller, where `last` is the index of the batch's last change.
    pub(super) fn rejected(self, last: usize) -> Rejected {
        Rejected {
            at: self.origin.map_or(last, |origin| origin as usize),
            error: self.error,
            not_undone: self.left,
        }
    }

    fn before(failed: StepFailed) -> NotDone {
        NotDone {
            origin: failed.origin,
            error: failed.error,
            left: None,
        }
    }
}

/// Runs all steps, or undoes them if one fails. If other processes know the program, a journal is written first. After
/// a crash the next process that takes the lock undoes the steps.
pub(super) fn run(
    store: &ProgramState<'_>,
    guard: Option<&dyn Guard>,
    steps: &[ChangeStep],
) -> Result<(), NotDone> {
    let undo: Vec<Undo<'_>> = steps.iter().rev().filter_map(ChangeStep::undo).collect();
    let weight: usize = steps.iter().map(|step| step.weight(store)).sum();
    // A single element is written atomically.
    let journal = guard.filter(|_| weight > 1);
    if let Some(guard) = journal {
        guard
            .begin(&undo)
            .map_err(|e| NotDone::before(StepFailed::from(e)))?;
    }
    let done = steps.iter().try_for_each(|step| step.run(store));
    let left = match &done {
        Ok(()) => Ok(()),
        Err(_) => undo.iter().try_for_each(|step| step.run(store)),
    };
    let left = match (left, journal) {
        (Ok(()), Some(guard)) => guard.end(),
        (left, _) => left,
    };
    match (done, left) {
        (Ok(()), Ok(())) => Ok(()),
        (Ok(()), Err(error)) => Err(NotDone {
            left: Some(error.clone()),
            ..NotDone::before(StepFailed::from(error))
        }),
        (Err(failed), left) => Err(NotDone {
            left: left.err(),
            ..NotDone::before(failed)
        }),
    }
}

fn default_steps(
    store: &ProgramState<'_>,
    table: Table,
    action: &ActionCall,
) -> Result<Vec<ChangeStep>, StoreError> {
    let DefaultAbi::Global {
        slots,
        selector,
        value,
    } = &store.table_abi(table)?.default
    else {
        return Ok(Vec::new());
    };
    let globals = store.globals()?;
    let failed = system("read the default action");
    let bytes = encoding::put_value(value, action, 0);
    Ok(match (selector, slots.as_slice()) {
        (Some(selector), [first, second]) => {
            let used = globals.u32(*selector).map_err(&failed)?;
            let other = u32::from(used == 0);
            vec![
                // A packet may still read the slot that the previous change replaced.
                ChangeStep::Settle,
                ChangeStep::PrepareGlobal {
                    offset: if other == 0 { *first } else { *second },
                    bytes,
                },
                ChangeStep::Switch {
                    offset: *selector,
                    old: Word::Four(used),
                    new: Word::Four(other),
                },
            ]
        }
        (_, [slot, ..]) => {
            let offset = slot + value.action_offset;
            vec![ChangeStep::Switch {
                offset,
                old: Word::Four(globals.u32(offset).map_err(&failed)?),
                new: Word::Four(encoding::get_u32(&bytes, value.action_offset as usize)),
            }]
        }
        (_, []) => Vec::new(),
    })
}

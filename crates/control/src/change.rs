//! Changes to tables and to all other state that the control plane sets, as data. A batch is planned first, then
//! applied atomically.

use crate::name_set::is_missing;
use crate::{
    CloneSession, MeterRef, Rates, Replica, Store, StoreError, check_group, check_member_group,
    check_session,
};
use schema::{ActionCall, Entry, KeyMatch, NameRule, Object, ScopedName, Table, ValueSet};
use std::fmt;

/// Match and priority, which identify an entry.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct EntryKey {
    /// One match for each key.
    pub keys: Vec<KeyMatch>,
    /// Priority; ignored in tables whose matches cannot overlap.
    pub priority: u32,
}

impl EntryKey {
    /// Returns the key that identifies an entry.
    pub fn of(entry: &Entry) -> EntryKey {
        EntryKey {
            keys: entry.keys.clone(),
            priority: entry.priority,
        }
    }
}

/// One change.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// Adds an entry. Two entries are duplicates if they have the same match and, in a table with ternary, range or
    /// optional keys, the same priority. [`StoreError::Duplicate`], [`StoreError::Full`], [`StoreError::Reference`] for
    /// a member or a group that does not exist, [`StoreError::Const`].
    Insert(Table, Entry),
    /// Gives an entry another action. [`StoreError::Missing`], [`StoreError::Reference`], [`StoreError::Const`].
    Modify(Table, Entry),
    /// Removes an entry. [`StoreError::Missing`], [`StoreError::Const`].
    Remove(Table, EntryKey),
    /// Changes the default action, which runs if nothing matches.
    SetDefault(Table, ActionCall),
    /// Removes all entries except those that the program made `const`.
    Clear(Table),
    /// Removes entries as [`Change::Clear`] does. Packets see the old entries until the whole batch is applied, and
    /// then all of the new ones at once.
    Replace(Table),
    /// Adds a member to a parser value set.
    InsertMember(ValueSet, Vec<KeyMatch>),
    /// Removes a member of a parser value set.
    RemoveMember(ValueSet, Vec<KeyMatch>),
    /// Adds a rule to a name set or a pattern set. [`StoreError::Name`] if another rule of the same name covers some of its
    /// names, or has the same pattern; [`StoreError::Full`]. Packets meet all changes of a batch to name sets at once.
    InsertName(Object, NameRule),
    /// Removes a rule of a name set or a pattern set. [`StoreError::Name`] if it is not there.
    RemoveName(Object, ScopedName),
    /// Removes all rules of a name set or a pattern set.
    ClearNames(Object),
    /// Makes a multicast group of these copies, in the order in which they are sent. An empty list removes the group. A
    /// program that never sends to a group accepts any. [`StoreError::Invalid`] for group 0, which means no group, and
    /// for more copies than [`MOST_REPLICAS`](crate::MOST_REPLICAS); [`StoreError::Unsupported`] on a target without
    /// groups, or without replication ids.
    Group(u16, Vec<Replica>),
    /// Makes or changes a clone session; `None` removes it. [`StoreError::Invalid`] if [`check_session`] rejects it;
    /// [`StoreError::Unsupported`] on a target without sessions.
    Session(u32, Option<CloneSession>),
    /// Makes or changes a member of an action profile or selector; packets see either the old action or the new one.
    /// `None` removes it. [`StoreError::Full`]; [`StoreError::Reference`] if a member is removed that does not exist,
    /// or that an entry or a group refers to.
    Member(Object, u32, Option<ActionCall>),
    /// Makes a group of an action selector of these members, or changes it; packets see either the old group or the new
    /// one. A member that is named twice gets twice the packets. An empty list removes the group.
    /// [`StoreError::Reference`] for a member that does not exist, and if a group is removed that does not exist or
    /// that an entry refers to; [`StoreError::Invalid`] for more members than
    /// [`MOST_MEMBERS_OF_A_GROUP`](crate::MOST_MEMBERS_OF_A_GROUP).
    MemberGroup(Object, u32, Vec<u32>),
    /// Sets a meter's rates and fills its buckets; `None` removes the rates. The meter of an entry is removed with the
    /// entry. [`StoreError::OutOfRange`] or [`StoreError::Missing`] for a meter that does not exist,
    /// [`StoreError::Invalid`] if [`Rates::check`](crate::Rates::check) rejects the rates.
    Meter(MeterRef, Option<Rates>),
}

impl Change {
    /// Checks the limits that hold on every target.
    ///
    /// # Errors [`StoreError::Invalid`]
    pub fn check(&self) -> Result<(), StoreError> {
        match self {
            Change::Group(group, replicas) => check_group(*group, replicas),
            Change::Session(_, Some(to)) => check_session(to),
            Change::MemberGroup(.., members) => check_member_group(members),
            Change::Meter(_, Some(rates)) => rates.check(),
            _ => Ok(()),
        }
    }

    /// Returns the ports to which the change sends copies.
    pub fn ports(&self) -> impl Iterator<Item = u32> + '_ {
        let replicas = match self {
            Change::Group(_, replicas) => replicas.as_slice(),
            Change::Session(_, Some(to)) => to.replicas.as_slice(),
            _ => &[],
        };
        replicas.iter().map(|replica| replica.port)
    }
}

/// Rejection of a batch of changes. The store is as it was before, unless `not_undone` is set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejected {
    /// Index of the change that failed.
    pub at: usize,
    /// Reason of the failure.
    pub error: StoreError,
    /// Reason why undoing failed: then some of the changes before the failed one are still in force.
    pub not_undone: Option<StoreError>,
}

impl Rejected {
    /// Converts it to one error, for a batch of one change.
    pub fn into_error(self) -> StoreError {
        match self.not_undone {
            Some(left) => StoreError::System {
                what: format!("{}; what was done is not undone ({left})", self.error),
            },
            None => self.error,
        }
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "change {}: {}", self.at, self.error)?;
        match &self.not_undone {
            Some(left) => write!(f, "; some changes before it stay in force ({left})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Rejected {}

/// Next item of a batch that is read while it is applied.
#[derive(Clone, PartialEq, Debug)]
pub enum Next {
    /// A change.
    Change(Change),
    /// End of the batch: all changes are to be made.
    End,
    /// Abort: no change is to be made.
    Abandon,
}

/// Makes changes one after the other by `make`, and undoes them if one fails. It implements [`Store::apply_from`] for a
/// store that has nothing faster. Readers see the changes one by one. Instead of [`Change::Clear`] and
/// [`Change::Replace`], `make` gets the removals that they amount to.
///
/// # Errors As for [`Store::apply_from`].
pub fn one_by_one<S: Store>(
    store: &mut S,
    next: &mut dyn FnMut() -> Next,
    make: impl Fn(&mut S, &Change) -> Result<(), StoreError>,
) -> Result<usize, Rejected> {
    let mut changes = Vec::new();
    loop {
        match next() {
            Next::Change(change) => changes.push(change),
            Next::Abandon => return Ok(0),
            Next::End => break,
        }
    }
    let mut undo: Vec<Change> = Vec::new();
    for (at, change) in changes.iter().enumerate() {
        let mut step = |store: &mut S, step: &Change| {
            let back = undoing(store, step)?;
            make(store, step)?;
            undo.push(back);
            Ok(())
        };
        let made = match change {
            Change::Clear(table) | Change::Replace(table) => removals(store, *table)
                .and_then(|removals| removals.iter().try_for_each(|one| step(store, one))),
            Change::ClearNames(set) => store.names(*set).and_then(|rules| {
                rules.into_iter().try_for_each(|rule| {
                    make(store, &Change::RemoveName(*set, rule.name.clone()))?;
                    undo.push(Change::InsertName(*set, rule));
                    Ok(())
                })
            }),
            change => step(store, change),
        };
        if let Err(error) = made {
            let back = undo.iter().rev().try_for_each(|step| make(store, step));
            return Err(Rejected {
                at,
                error,
                not_undone: back.err(),
            });
        }
    }
    Ok(changes.len())
}

/// Returns the removals that clearing a table consists of.
fn removals(store: &impl Store, table: Table) -> Result<Vec<Change>, StoreError> {
    let entries = store.entries(table)?.into_iter();
    let removals = entries
        .filter(|entry| !entry.is_const)
        .map(|entry| Change::Remove(table, EntryKey::of(&entry)));
    Ok(removals.collect())
}

/// Returns the change that undoes a step. It must be called before the step is made.
fn undoing(store: &impl Store, step: &Change) -> Result<Change, StoreError> {
    Ok(match step {
        Change::Insert(table, entry) => Change::Remove(*table, EntryKey::of(entry)),
        Change::Modify(table, entry) => {
            Change::Modify(*table, store.entry(*table, &entry.keys, entry.priority)?)
        }
        Change::Remove(table, key) => {
            Change::Insert(*table, store.entry(*table, &key.keys, key.priority)?)
        }
        Change::SetDefault(table, _) => Change::SetDefault(*table, store.default_action(*table)?),
        Change::Clear(_) | Change::Replace(_) => unreachable!("a table is cleared by removals"),
        Change::InsertMember(set, member) => Change::RemoveMember(*set, member.clone()),
        Change::RemoveMember(set, member) => Change::InsertMember(*set, member.clone()),
        Change::InsertName(set, rule) => Change::RemoveName(*set, rule.name.clone()),
        Change::RemoveName(set, name) => {
            let value = store.name(*set, name)?.ok_or_else(|| is_missing(name))?;
            let name = name.clone();
            Change::InsertName(*set, NameRule { name, value })
        }
        Change::ClearNames(_) => unreachable!("a name set is cleared by removals"),
        Change::Group(group, _) => {
            let old = of(store.multicast_groups()?, group);
            Change::Group(*group, old.unwrap_or_default())
        }
        Change::Session(session, _) => {
            Change::Session(*session, of(store.clone_sessions()?, session))
        }
        Change::Member(profile, member, _) => {
            Change::Member(*profile, *member, of(store.members(*profile)?, member))
        }
        Change::MemberGroup(selector, group, _) => {
            let old = of(store.member_groups(*selector)?, group);
            Change::MemberGroup(*selector, *group, old.unwrap_or_default())
        }
        Change::Meter(meter, _) => {
            let old = match meter {
                MeterRef::Indexed(meter, index) => store.meter(*meter, *index)?,
                MeterRef::OfEntry(table, key) => store.direct_meter(*table, key)?,
            };
            Change::Meter(meter.clone(), old)
        }
    })
}

/// Returns the value that is stored under a number.
fn of<N: PartialEq, T>(all: Vec<(N, T)>, number: &N) -> Option<T> {
    let mut all = all.into_iter();
    all.find(|(known, _)| known == number).map(|(_, to)| to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, Fake};
    use schema::Bits;

    fn drop_call() -> ActionCall {
        ActionCall {
            action: 1,
            args: Vec::new(),
        }
    }

    fn route(length: u32) -> Entry {
        let value = Bits::new(32, 0x0a00_0000u32);
        Entry {
            keys: vec![KeyMatch::Lpm(value, length)],
            priority: 0,
            action: drop_call(),
            is_const: false,
        }
    }

    /// Returns the sample's `C.routes`, a store in which it has one entry, and the entry.
    fn one_entry() -> (Table, Fake, Entry) {
        let routes = sample::table("C.routes");
        let mut store = Fake::default();
        store
            .change(Change::Insert(routes, route(8)))
            .expect("it is empty");
        (routes, store, route(8))
    }

    #[test]
    fn each_kind_of_change_is_undone_when_a_later_one_fails() {
        let (routes, store, entry) = one_entry();
        let mut other = entry.clone();
        other.action = ActionCall {
            action: 0,
            args: vec![Bits::zero(9)],
        };
        let changes = [
            Change::Insert(routes, route(16)),
            Change::Modify(routes, other.clone()),
            Change::Remove(routes, EntryKey::of(&entry)),
            Change::SetDefault(routes, other.action),
            Change::Clear(routes),
        ];
        for change in changes {
            let mut store = store.clone();
            store
                .change(Change::SetDefault(routes, drop_call()))
                .expect("a default");
            let before = store.state();
            let missing = Change::Remove(routes, EntryKey::of(&route(24)));
            let rejected = store.apply(&[change.clone(), missing]).unwrap_err();
            let expected = Rejected {
                at: 1,
                error: StoreError::Missing,
                not_undone: None,
            };
            assert_eq!(rejected, expected, "{change:?}");
            assert_eq!(store.state(), before, "{change:?}");
            store
                .apply(std::slice::from_ref(&change))
                .expect("alone it is fine");
            assert_ne!(store.state(), before, "{change:?}");
        }
    }

    #[test]
    fn an_abandoned_batch_changes_nothing() {
        let (routes, mut store, entry) = one_entry();
        let mut changes = vec![
            Next::Abandon,
            Next::Change(Change::Insert(routes, route(24))),
        ];
        let mut next = || changes.pop().expect("it was abandoned before");
        assert_eq!(store.apply_from(&mut next), Ok(0));
        assert_eq!(store.entries(routes), Ok(vec![entry]));
        let mut changes = vec![Next::End, Next::Change(Change::Clear(routes))];
        let mut next = || changes.pop().expect("it ended before");
        assert_eq!(store.apply_from(&mut next), Ok(1));
        assert_eq!(store.entries(routes), Ok(vec![]));
    }

    #[test]
    fn a_table_is_replaced_by_clearing_it_first() {
        let (routes, mut store, _) = one_entry();
        store
            .apply(&[Change::Clear(routes), Change::Insert(routes, route(24))])
            .expect("both fit");
        assert_eq!(store.entries(routes), Ok(vec![route(24)]));
    }

    #[test]
    fn what_cannot_be_undone_is_reported() {
        let (routes, mut store, _) = one_entry();
        store.stuck = true;
        let changes = [
            Change::Insert(routes, route(16)),
            Change::Insert(routes, route(24)),
        ];
        let rejected = store.apply(&changes).unwrap_err();
        assert_eq!(
            (rejected.at, rejected.error),
            (1, StoreError::Full { capacity: 2 })
        );
        assert!(matches!(
            rejected.not_undone,
            Some(StoreError::System { .. })
        ));
    }
}

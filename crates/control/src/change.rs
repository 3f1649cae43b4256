//! Changes of tables and of all else that the control plane sets, as data: planned first, then applied all or none.

use crate::{
    CloneSession, MeterRef, Rates, Replica, Store, StoreError, check_group, check_member_group,
    check_session,
};
use schema::{ActionCall, Entry, KeyMatch, Object, Table, ValueSet};
use std::fmt;

/// What an entry is found by.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct EntryKey {
    /// One match a key.
    pub keys: Vec<KeyMatch>,
    /// The priority; ignored where matches cannot overlap.
    pub priority: u32,
}

impl EntryKey {
    /// What finds an entry.
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
    /// Adds an entry.
    Insert(Table, Entry),
    /// Gives an entry another action.
    Modify(Table, Entry),
    /// Removes an entry.
    Remove(Table, EntryKey),
    /// Changes what runs when nothing matches.
    SetDefault(Table, ActionCall),
    /// Removes all entries but those that the program made `const`.
    Clear(Table),
    /// As [`Change::Clear`], where packets are to meet the entries from before until all changes of the batch are made,
    /// and all of those that there are then at once.
    Replace(Table),
    /// Adds a member to a parser value set.
    InsertMember(ValueSet, Vec<KeyMatch>),
    /// Removes a member of a parser value set.
    RemoveMember(ValueSet, Vec<KeyMatch>),
    /// Makes a multicast group of these copies; without any there is no group.
    Group(u16, Vec<Replica>),
    /// Makes a clone session; `None` removes it.
    Session(u32, Option<CloneSession>),
    /// Makes a member of an action profile or selector; `None` removes it.
    Member(Object, u32, Option<ActionCall>),
    /// Makes a group of an action selector of these members; without any there is no group.
    MemberGroup(Object, u32, Vec<u32>),
    /// Gives a meter rates; `None` takes them away.
    Meter(MeterRef, Option<Rates>),
}

impl Change {
    /// Whether there can be such a thing on any target.
    ///
    /// # Errors
    /// [`StoreError::Invalid`]
    pub fn check(&self) -> Result<(), StoreError> {
        match self {
            Change::Group(group, replicas) => check_group(*group, replicas),
            Change::Session(_, Some(to)) => check_session(to),
            Change::MemberGroup(.., members) => check_member_group(members),
            Change::Meter(_, Some(rates)) => rates.check(),
            _ => Ok(()),
        }
    }

    /// The ports that it has copies go to.
    pub fn ports(&self) -> impl Iterator<Item = u32> + '_ {
        let replicas = match self {
            Change::Group(_, replicas) => replicas.as_slice(),
            Change::Session(_, Some(to)) => to.replicas.as_slice(),
            _ => &[],
        };
        replicas.iter().map(|replica| replica.port)
    }
}

/// Why a batch of changes was rejected. The store is as it was before, unless `not_undone` says otherwise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejected {
    /// The index of the change that failed.
    pub at: usize,
    /// Why it failed.
    pub error: StoreError,
    /// Why some of the changes before it are still in force, if they are.
    pub not_undone: Option<StoreError>,
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

/// What comes next of a batch that is read while it is applied.
#[derive(Clone, PartialEq, Debug)]
pub enum Next {
    /// A change.
    Change(Change),
    /// All changes have come: they are to be made.
    End,
    /// None is to be made.
    Abandon,
}

/// Makes changes one after the other, and undoes them if one fails: what [`Store::apply`] does in a store that has
/// nothing faster. Readers see the changes one by one.
///
/// # Errors
/// As for [`Store::apply`].
pub fn apply_one_by_one<S: Store + ?Sized>(
    store: &mut S,
    changes: &[Change],
) -> Result<(), Rejected> {
    let mut undo: Vec<Change> = Vec::new();
    for (at, change) in changes.iter().enumerate() {
        if let Err(error) = make(store, change, &mut undo) {
            let back = undo
                .iter()
                .rev()
                .try_for_each(|step| step_back(store, step));
            return Err(Rejected {
                at,
                error,
                not_undone: back.err(),
            });
        }
    }
    Ok(())
}

/// Makes one change, and notes each step that it made as the change that undoes it.
fn make<S: Store + ?Sized>(
    store: &mut S,
    change: &Change,
    undo: &mut Vec<Change>,
) -> Result<(), StoreError> {
    match change {
        Change::Insert(table, entry) => {
            store.insert(*table, entry)?;
            undo.push(Change::Remove(*table, EntryKey::of(entry)));
        }
        Change::Modify(table, entry) => {
            let old = store.entry(*table, &entry.keys, entry.priority)?;
            store.modify(*table, entry)?;
            undo.push(Change::Modify(*table, old));
        }
        Change::Remove(table, key) => {
            let old = store.entry(*table, &key.keys, key.priority)?;
            store.remove(*table, &key.keys, key.priority)?;
            undo.push(Change::Insert(*table, old));
        }
        Change::SetDefault(table, call) => {
            let old = store.default_action(*table)?;
            store.set_default(*table, call)?;
            undo.push(Change::SetDefault(*table, old));
        }
        Change::Clear(table) | Change::Replace(table) => {
            let old = store.entries(*table)?;
            for entry in old.into_iter().filter(|e| !e.is_const) {
                store.remove(*table, &entry.keys, entry.priority)?;
                undo.push(Change::Insert(*table, entry));
            }
        }
        Change::InsertMember(set, member) => {
            store.value_set_insert(*set, member)?;
            undo.push(Change::RemoveMember(*set, member.clone()));
        }
        Change::RemoveMember(set, member) => {
            store.value_set_remove(*set, member)?;
            undo.push(Change::InsertMember(*set, member.clone()));
        }
        Change::Group(group, replicas) => {
            let old = of(store.multicast_groups()?, group).unwrap_or_default();
            store.set_multicast_group(*group, replicas)?;
            undo.push(Change::Group(*group, old));
        }
        Change::Session(session, to) => {
            let old = of(store.clone_sessions()?, session);
            store.set_clone_session(*session, to.as_ref())?;
            undo.push(Change::Session(*session, old));
        }
        Change::Member(profile, member, to) => {
            let old = of(store.members(*profile)?, member);
            store.set_member(*profile, *member, to.as_ref())?;
            undo.push(Change::Member(*profile, *member, old));
        }
        Change::MemberGroup(selector, group, members) => {
            let old = of(store.member_groups(*selector)?, group).unwrap_or_default();
            store.set_member_group(*selector, *group, members)?;
            undo.push(Change::MemberGroup(*selector, *group, old));
        }
        Change::Meter(meter, rates) => {
            let old = match meter {
                MeterRef::Indexed(meter, index) => {
                    let old = store.meter(*meter, *index)?;
                    store.set_meter(*meter, *index, *rates)?;
                    old
                }
                MeterRef::OfEntry(table, key) => {
                    let old = store.direct_meter(*table, key)?;
                    store.set_direct_meter(*table, key, *rates)?;
                    old
                }
            };
            undo.push(Change::Meter(meter.clone(), old));
        }
    }
    Ok(())
}

/// What stands under a number.
fn of<N: PartialEq, T>(all: Vec<(N, T)>, number: &N) -> Option<T> {
    let mut all = all.into_iter();
    all.find(|(known, _)| known == number).map(|(_, to)| to)
}

fn step_back<S: Store + ?Sized>(store: &mut S, step: &Change) -> Result<(), StoreError> {
    make(store, step, &mut Vec::new())
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

    /// The sample's `C.routes`, a store in which it has one entry, and the entry.
    fn one_entry() -> (Table, Fake, Entry) {
        let routes = sample::table("C.routes");
        let mut store = Fake::default();
        store.insert(routes, &route(8)).expect("it is empty");
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
            Change::SetDefault(routes, other.action.clone()),
            Change::Clear(routes),
        ];
        for change in changes {
            let mut store = store.clone();
            store.set_default(routes, &drop_call()).expect("a default");
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

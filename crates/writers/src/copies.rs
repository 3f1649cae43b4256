//! Multicast groups and clone sessions in a batch of changes. Each is one element of a map, so that a packet meets
//! either the old one or the new one.

use crate::errors::{system, unopened, unsupported};
use crate::records::NO_ORIGIN;
use crate::replicas::{Traffic, check_form, group_value, session_value};
use crate::state::ProgramState;
use crate::steps::ChangeStep;
use control::{Change, CloneSession, Replica, StoreError};
use std::collections::BTreeMap;

/// Changes of groups and sessions by a batch, each with the index of the change in the batch.
#[derive(Default)]
pub(super) struct Copies {
    /// Replicas of multicast groups. Without replicas there is no group.
    groups: BTreeMap<u16, (Vec<Replica>, u32)>,
    /// Clone sessions; `None` removes a session.
    sessions: BTreeMap<u32, (Option<CloneSession>, u32)>,
}

impl Copies {
    /// Sets the replicas of a multicast group. Without replicas the group is removed.
    pub(super) fn set_group(
        &mut self,
        store: &ProgramState<'_>,
        group: u16,
        replicas: &[Replica],
        origin: u32,
    ) -> Result<(), StoreError> {
        check_group(store.memory.traffic(), group, replicas)?;
        check_interfaces(store, replicas)?;
        self.groups.insert(group, (replicas.to_vec(), origin));
        Ok(())
    }

    /// Sets a clone session, or removes it.
    pub(super) fn set_session(
        &mut self,
        store: &ProgramState<'_>,
        session: u32,
        to: Option<&CloneSession>,
        origin: u32,
    ) -> Result<(), StoreError> {
        if let Some(to) = to {
            check_session(store.schema.clones, to)?;
            check_interfaces(store, &to.replicas)?;
        }
        self.sessions.insert(session, (to.cloned(), origin));
        Ok(())
    }

    /// Returns true if nothing changes.
    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.sessions.is_empty()
    }

    /// Returns the maps in which something may change.
    pub(super) fn maps<'a>(&self, traffic: Traffic<'a>) -> impl Iterator<Item = &'a str> {
        let groups = traffic.groups.filter(|_| !self.groups.is_empty());
        let sessions = traffic.sessions.filter(|_| !self.sessions.is_empty());
        groups.into_iter().chain(sessions)
    }

    /// Returns the steps that change the maps: groups first, since sessions may send to them.
    pub(super) fn steps(&self, store: &ProgramState<'_>) -> Result<Vec<ChangeStep>, StoreError> {
        let mut steps = Vec::new();
        for (&group, (replicas, origin)) in &self.groups {
            steps.extend(group_step(store, group, replicas, *origin)?);
        }
        for (&session, (to, origin)) in &self.sessions {
            steps.extend(session_step(store, session, to.as_ref(), *origin)?);
        }
        Ok(steps)
    }

    /// Returns the steps that fill the empty maps of a successor: the program's groups and sessions with the changes
    /// applied.
    pub(super) fn steps_anew(
        &self,
        store: &ProgramState<'_>,
        successor: &ProgramState<'_>,
    ) -> Result<Vec<ChangeStep>, StoreError> {
        let mut all = Copies::default();
        if !self.groups.is_empty() {
            let kept = store.read_groups()?.into_iter();
            all.groups = kept.map(|(group, to)| (group, (to, NO_ORIGIN))).collect();
            all.groups.extend(self.groups.clone());
        }
        if !self.sessions.is_empty() {
            let kept = store.read_sessions()?.into_iter();
            let kept = kept.map(|(session, to)| (session, (Some(to), NO_ORIGIN)));
            all.sessions = kept.collect();
            all.sessions.extend(self.sessions.clone());
        }
        all.steps(successor)
    }
}

/// Checks that a program can have the multicast group or clone session of a change, whatever its ports are. `clones` is
/// true if the program clones packets. Any other change passes.
///
/// # Errors
/// As for [`Store::apply`](control::Store::apply).
pub fn check_copies(traffic: Traffic<'_>, clones: bool, change: &Change) -> Result<(), StoreError> {
    match change {
        Change::Group(group, replicas) => check_group(traffic, *group, replicas),
        Change::Session(_, Some(to)) => check_session(clones, to),
        _ => Ok(()),
    }
}

fn check_group(traffic: Traffic<'_>, group: u16, replicas: &[Replica]) -> Result<(), StoreError> {
    control::check_group(group, replicas)?;
    // A program that never sends to a group accepts any group that its variant of copies could have.
    check_form(traffic.form, replicas)
}

fn check_session(clones: bool, to: &CloneSession) -> Result<(), StoreError> {
    if !clones {
        return Err(unsupported("the program clones no packets"));
    }
    control::check_session(to)
}

/// Fails if a running program has no interface for one of the replicas' ports.
fn check_interfaces(store: &ProgramState<'_>, replicas: &[Replica]) -> Result<(), StoreError> {
    if !store.live {
        return Ok(());
    }
    let ports: Vec<u32> = replicas.iter().map(|replica| replica.port).collect();
    store.memory.check_ports(&ports)
}

fn group_step(
    store: &ProgramState<'_>,
    group: u16,
    replicas: &[Replica],
    origin: u32,
) -> Result<Option<ChangeStep>, StoreError> {
    let Traffic { groups, form, .. } = store.memory.traffic();
    let Some(map) = groups else {
        return Ok(None);
    };
    let new = |size| (!replicas.is_empty()).then(|| group_value(form, replicas, size));
    step(store, map, group.into(), new, origin)
}

fn session_step(
    store: &ProgramState<'_>,
    session: u32,
    to: Option<&CloneSession>,
    origin: u32,
) -> Result<Option<ChangeStep>, StoreError> {
    let Some(map) = store.memory.traffic().sessions else {
        return Ok(None);
    };
    let new = |size| to.map(|to| session_value(to, size));
    step(store, map, session, new, origin)
}

/// Returns the step that gives an element its new value, or removes it. `new` receives the value's size in bytes.
/// `None` if nothing changes.
fn step(
    store: &ProgramState<'_>,
    name: &str,
    number: u32,
    new: impl FnOnce(usize) -> Option<Vec<u8>>,
    origin: u32,
) -> Result<Option<ChangeStep>, StoreError> {
    let Some(found) = store.memory.map(name).map_err(unopened)? else {
        return Ok(None);
    };
    let keys = number.to_ne_bytes().to_vec();
    let old = found
        .get(&keys)
        .map_err(system("read where copies of packets go"))?;
    let map = name.to_owned();
    let capacity = found.info().max_entries.into();
    Ok(match (old, new(found.info().value_size)) {
        (None, None) => None,
        (Some(old), Some(new)) if old == new => None,
        (None, Some(values)) => Some(ChangeStep::Insert {
            map,
            keys,
            values,
            origins: vec![origin],
            capacity,
        }),
        (Some(old), Some(new)) => Some(ChangeStep::Replace {
            map,
            keys,
            old,
            new,
            origins: vec![origin],
        }),
        (Some(old), None) => Some(ChangeStep::Erase { map, keys, old }),
    })
}

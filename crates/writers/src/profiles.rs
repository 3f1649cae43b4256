//! Action profiles and selectors: members and groups in the maps in which packets find them. An entry or group can only
//! refer to members and groups that exist, as in the interpreter.
//!
//! Each table has the members in a map of its own, in the layout of its entries. The tables of a selector share the
//! groups.

use crate::errors::unsupported;
use crate::state::{LookupShape, Opened, ProgramState};
use crate::transaction::{Staged, Subject, Transaction};
use crate::{encoding, flat};
use control::StoreError;
use control::profile::{is_in_group, is_missing, is_referred_to};
use layout::MOST_MEMBERS_OF_A_GROUP;
use schema::{ActionCall, Bits, KeyMatch, Object, Reference, Table, Type};

/// Returns the key of a member or group.
fn key(number: u32) -> Vec<KeyMatch> {
    vec![KeyMatch::Exact(Bits::new(32, number))]
}

/// Returns the number of a member or group.
fn number(keys: &[KeyMatch]) -> u32 {
    match keys {
        [KeyMatch::Exact(value)] => value.to_u64().unwrap_or(0) as u32,
        _ => 0,
    }
}

/// Encodes a group as its map stores it.
fn group_value(members: &[u32]) -> ActionCall {
    let mut words = [0; MOST_MEMBERS_OF_A_GROUP as usize];
    words[..members.len()].copy_from_slice(members);
    let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
    let count = Bits::new(32, members.len() as u32);
    ActionCall {
        action: 0,
        args: vec![
            count,
            Bits::from_bytes(32 * MOST_MEMBERS_OF_A_GROUP, &bytes),
        ],
    }
}

/// Decodes the members of a group.
fn members_of(group: &ActionCall) -> Vec<u32> {
    let [count, members] = &group.args[..] else {
        return Vec::new();
    };
    let bytes = members.to_bytes();
    let count = count.to_u64().unwrap_or(0) as usize;
    let words = (0..count.min(MOST_MEMBERS_OF_A_GROUP as usize)).map(|at| 4 * at);
    words.map(|at| encoding::get_u32(&bytes, at)).collect()
}

impl<'a> ProgramState<'a> {
    fn capacity(&self, profile: Object) -> Result<u64, StoreError> {
        let kept = self.schema.objects[profile].kind.profile();
        let kept = kept.ok_or_else(|| unsupported("this extern object has no members"))?;
        Ok(kept.size)
    }

    /// Returns the shape of the members of a table's action profile.
    pub(super) fn members_shape(&self, table: Table) -> Result<LookupShape<'a>, StoreError> {
        let profile = self.schema.profile_of(table);
        let profile = profile.ok_or_else(|| unsupported("the table has no action profile"))?;
        let lookup = self.table_abi(table)?.members.as_ref();
        Ok(LookupShape {
            lookup: lookup.ok_or_else(|| unsupported(UNUSED))?,
            types: vec![Type::bit(32)],
            capacity: self.capacity(profile)?,
            priorities: false,
        })
    }

    /// Returns the shape of the groups of an action selector.
    pub(super) fn groups_shape(&self, selector: Object) -> Result<LookupShape<'a>, StoreError> {
        let capacity = self.capacity(selector)?;
        let mut all = self.memory.contents().member_groups.iter();
        let known = all.find(|known| known.index == selector.as_u32());
        Ok(LookupShape {
            lookup: &known.ok_or_else(|| unsupported(UNUSED))?.groups,
            types: vec![Type::bit(32)],
            capacity,
            priorities: false,
        })
    }

    /// Returns the tables whose packets may find members of a profile.
    fn tables_with(&self, profile: Object) -> Result<Vec<Table>, StoreError> {
        self.capacity(profile)?;
        let tables = self.schema.tables_of(profile);
        let has_members = |table: &Table| {
            let abi = self.table_abi(*table);
            abi.is_ok_and(|abi| abi.members.is_some())
        };
        Ok(tables.filter(has_members).collect())
    }

    fn stored(&self, shape: LookupShape<'_>) -> Result<Vec<(u32, ActionCall)>, StoreError> {
        let all = match self.open(shape)? {
            Opened::Flat(codec) => flat::entries(&*codec)?,
            Opened::Prioritized(_) => Vec::new(),
        };
        let mut all: Vec<_> = all
            .into_iter()
            .map(|(keys, call)| (number(&keys), call))
            .collect();
        all.sort_by_key(|(number, _)| *number);
        Ok(all)
    }

    /// Reads the members of a profile. An action is given by its index among the profile's actions.
    pub(super) fn read_members(
        &self,
        profile: Object,
    ) -> Result<Vec<(u32, ActionCall)>, StoreError> {
        let Some(&table) = self.tables_with(profile)?.first() else {
            return Ok(Vec::new());
        };
        let stored = self.stored(self.members_shape(table)?)?.into_iter();
        let of_profile = |(member, call): (u32, ActionCall)| {
            let action = self.schema.tables[table].actions[call.action as usize].action;
            let kept = self.schema.objects[profile].kind.profile()?;
            let number = kept.actions.iter().position(|known| *known == action)?;
            let action = number as u32;
            Some((member, ActionCall { action, ..call }))
        };
        Ok(stored.filter_map(of_profile).collect())
    }

    /// Reads the groups of a selector with their members.
    pub(super) fn read_member_groups(
        &self,
        selector: Object,
    ) -> Result<Vec<(u32, Vec<u32>)>, StoreError> {
        if self.tables_with(selector)?.is_empty() {
            return Ok(Vec::new());
        }
        let stored = self.stored(self.groups_shape(selector)?)?.into_iter();
        Ok(stored
            .map(|(group, value)| (group, members_of(&value)))
            .collect())
    }

    /// Converts a member's call: its action gets the index that it has in a table.
    fn of_table(&self, profile: Object, table: Table, call: &ActionCall) -> Option<ActionCall> {
        let kept = self.schema.objects[profile].kind.profile()?;
        let action = *kept.actions.get(call.action as usize)?;
        let mut listed = self.schema.tables[table].actions.iter();
        let number = listed.position(|listed| listed.action == action)?;
        Some(ActionCall {
            action: number as u32,
            args: call.args.clone(),
        })
    }
}

/// Error for a profile without maps.
const UNUSED: &str = "the program applies no table whose entries name members of it";

impl Transaction<'_> {
    /// Returns true if a member or group exists after the changes.
    fn has(&mut self, subject: Subject, number: u32) -> Result<bool, StoreError> {
        Ok(match self.stage(subject)? {
            Staged::Flat(flat, _) => flat.get(&key(number))?.is_some(),
            Staged::Prioritized(_) => false,
        })
    }

    /// Creates, changes or removes a member or group.
    fn put(
        &mut self,
        subject: Subject,
        number: u32,
        to: Option<&ActionCall>,
        origin: u32,
    ) -> Result<(), StoreError> {
        let is_there = self.has(subject, number)?;
        match (self.stage(subject)?, to) {
            (Staged::Prioritized(_), _) => Ok(()),
            (Staged::Flat(flat, _), None) => flat.remove(&key(number), origin),
            (Staged::Flat(flat, _), Some(to)) if is_there => flat.modify(&key(number), to, origin),
            (Staged::Flat(flat, _), Some(to)) => flat.insert(&key(number), to, origin),
        }
    }

    /// Fails if an entry's action refers to a member or group that will not exist.
    pub(super) fn check_reference(
        &mut self,
        table: Table,
        call: &ActionCall,
    ) -> Result<(), StoreError> {
        let store = self.store;
        let (Some(profile), Some(reference)) = (
            store.schema.profile_of(table),
            store.schema.tables[table].reference(call),
        ) else {
            return Ok(());
        };
        let is_there = match reference {
            Reference::Member(member) => self.has(Subject::Members(table.as_u32()), member)?,
            Reference::Group(group) => self.has(Subject::MemberGroups(profile.as_u32()), group)?,
        };
        match is_there {
            true => Ok(()),
            false => Err(is_missing(reference)),
        }
    }

    /// Fails if an entry refers to this member or group.
    fn check_unreferenced(&mut self, profile: Object, to: Reference) -> Result<(), StoreError> {
        let store = self.store;
        for table in store.tables_with(profile)? {
            let data = &store.schema.tables[table];
            let calls: Vec<ActionCall> = match self.stage(Subject::Table(table.as_u32()))? {
                Staged::Flat(flat, _) => flat.all()?.into_iter().map(|(_, call)| call).collect(),
                Staged::Prioritized(entries) => entries.calls()?,
            };
            if calls.iter().any(|call| data.reference(call) == Some(to)) {
                return Err(is_referred_to(&data.name, to));
            }
        }
        Ok(())
    }

    /// Returns the tables that store members of a profile.
    fn keepers(&self, profile: Object) -> Result<Vec<Table>, StoreError> {
        let tables = self.store.tables_with(profile)?;
        match tables.is_empty() {
            true => Err(unsupported(UNUSED)),
            false => Ok(tables),
        }
    }

    /// Creates or changes a member; `None` removes it.
    pub(super) fn set_member(
        &mut self,
        profile: Object,
        member: u32,
        to: Option<&ActionCall>,
        origin: u32,
    ) -> Result<(), StoreError> {
        let store = self.store;
        let tables = self.keepers(profile)?;
        if to.is_none() {
            let reference = Reference::Member(member);
            if !self.has(Subject::Members(tables[0].as_u32()), member)? {
                return Err(is_missing(reference));
            }
            if let Some(group) = self.group_with(profile, member)? {
                return Err(is_in_group(member, group));
            }
            self.check_unreferenced(profile, reference)?;
        }
        for table in tables {
            let of_table = |call| {
                let call = store.of_table(profile, table, call);
                call.ok_or_else(|| unsupported("no member may run this action"))
            };
            let to = to.map(of_table).transpose()?;
            self.put(
                Subject::Members(table.as_u32()),
                member,
                to.as_ref(),
                origin,
            )?;
        }
        Ok(())
    }

    /// Returns the first group that has a member.
    fn group_with(&mut self, profile: Object, member: u32) -> Result<Option<u32>, StoreError> {
        let mut all = self.store.memory.contents().member_groups.iter();
        if !all.any(|known| known.index == profile.as_u32()) {
            return Ok(None);
        }
        Ok(match self.stage(Subject::MemberGroups(profile.as_u32()))? {
            Staged::Flat(flat, _) => {
                let all = flat.all()?.into_iter();
                let with = all.filter(|(_, group)| members_of(group).contains(&member));
                with.map(|(keys, _)| number(&keys)).min()
            }
            Staged::Prioritized(_) => None,
        })
    }

    /// Sets the members of a group. Without members the group is removed.
    pub(super) fn set_member_group(
        &mut self,
        selector: Object,
        group: u32,
        members: &[u32],
        origin: u32,
    ) -> Result<(), StoreError> {
        control::check_member_group(members)?;
        let tables = self.keepers(selector)?;
        let subject = Subject::MemberGroups(selector.as_u32());
        if members.is_empty() {
            let reference = Reference::Group(group);
            if !self.has(subject, group)? {
                return Err(is_missing(reference));
            }
            self.check_unreferenced(selector, reference)?;
            return self.put(subject, group, None, origin);
        }
        for &member in members {
            if !self.has(Subject::Members(tables[0].as_u32()), member)? {
                return Err(is_missing(Reference::Member(member)));
            }
        }
        let mut members = members.to_vec();
        members.sort_unstable();
        self.put(subject, group, Some(&group_value(&members)), origin)
    }
}

//! Action profiles and selectors. Entries and groups can only refer to members and groups that exist.

use super::no_such;
use crate::Interpreter;
use control::StoreError;
use control::profile::{is_in_group, is_missing, is_referred_to};
use cranelift_entity::EntityRef;
use externs::{ExternState, Profile};
use schema::{ActionCall, Object, Reference, Table};

impl Interpreter {
    pub(super) fn profile(&self, profile: Object) -> Result<&Profile, StoreError> {
        match &self.externs[profile.index()] {
            ExternState::Profile(profile) => Ok(profile),
            _ => Err(no_such("members")),
        }
    }

    fn profile_mut(&mut self, profile: Object) -> Result<&mut Profile, StoreError> {
        match &mut self.externs[profile.index()] {
            ExternState::Profile(profile) => Ok(profile),
            _ => Err(no_such("members")),
        }
    }

    /// Fails if an entry's action refers to a member or group that does not exist.
    pub(super) fn check_reference(
        &self,
        table: Table,
        call: &ActionCall,
    ) -> Result<(), StoreError> {
        let (Some(profile), Some(reference)) = (
            self.schema.profile_of(table),
            self.schema.tables[table].reference(call),
        ) else {
            return Ok(());
        };
        let Profile { members, groups } = self.profile(profile)?;
        match reference {
            Reference::Member(member) if !members.contains_key(&member) => {
                Err(is_missing(reference))
            }
            Reference::Group(group) if !groups.contains_key(&group) => Err(is_missing(reference)),
            _ => Ok(()),
        }
    }

    /// Returns the name of a table with an entry that refers to this member or group.
    fn referring(&self, profile: Object, to: Reference) -> Option<&str> {
        let mut tables = self.schema.tables_of(profile);
        let table = tables.find(|&table| {
            let data = &self.schema.tables[table];
            let mut entries = self.tables[table.index()].entries();
            entries.any(|entry| data.reference(&entry.entry.action) == Some(to))
        })?;
        Some(&self.schema.tables[table].name)
    }

    pub(super) fn change_member(
        &mut self,
        profile: Object,
        member: u32,
        to: Option<&ActionCall>,
    ) -> Result<(), StoreError> {
        let kept = self.profile(profile)?;
        let is_new = !kept.members.contains_key(&member);
        let Some(to) = to else {
            if is_new {
                return Err(is_missing(Reference::Member(member)));
            }
            let mut groups = kept.groups.iter();
            if let Some((group, _)) = groups.find(|(_, members)| members.contains(&member)) {
                return Err(is_in_group(member, *group));
            }
            let reference = Reference::Member(member);
            if let Some(table) = self.referring(profile, reference) {
                return Err(is_referred_to(table, reference));
            }
            self.profile_mut(profile)?.members.remove(&member);
            return Ok(());
        };
        self.check_room(profile, is_new, kept.members.len())?;
        self.profile_mut(profile)?
            .members
            .insert(member, to.clone());
        Ok(())
    }

    pub(super) fn change_member_group(
        &mut self,
        selector: Object,
        group: u32,
        members: &[u32],
    ) -> Result<(), StoreError> {
        control::check_member_group(members)?;
        let kept = self.profile(selector)?;
        let is_new = !kept.groups.contains_key(&group);
        if members.is_empty() {
            let reference = Reference::Group(group);
            if is_new {
                return Err(is_missing(reference));
            }
            if let Some(table) = self.referring(selector, reference) {
                return Err(is_referred_to(table, reference));
            }
            self.profile_mut(selector)?.groups.remove(&group);
            return Ok(());
        }
        let mut wanted = members.iter();
        if let Some(missing) = wanted.find(|member| !kept.members.contains_key(member)) {
            return Err(is_missing(Reference::Member(*missing)));
        }
        self.check_room(selector, is_new, kept.groups.len())?;
        let mut members = members.to_vec();
        members.sort_unstable();
        self.profile_mut(selector)?.groups.insert(group, members);
        Ok(())
    }

    /// Fails if there is no room for a new member or group.
    fn check_room(&self, profile: Object, is_new: bool, has: usize) -> Result<(), StoreError> {
        let kind = &self.schema.objects[profile].kind;
        let capacity = kind.profile().map_or(0, |profile| profile.size);
        match is_new && has as u64 >= capacity {
            true => Err(StoreError::Full { capacity }),
            false => Ok(()),
        }
    }
}

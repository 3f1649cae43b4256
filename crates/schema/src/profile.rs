//! Action profiles and selectors: actions that are kept apart from entries, which refer to them.

use crate::{Action, ActionCall, Object, Schema, Table, TableSchema};
use serde::{Deserialize, Serialize};

/// What an action profile or selector keeps.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProfileSchema {
    /// How many members it may have.
    pub size: u64,
    /// The actions that a member may run: those that all tables of the profile allow in their entries. A member's
    /// [`ActionCall::action`] is an index of this list.
    pub actions: Vec<Action>,
}

/// What an entry of a table with a profile names in place of an action.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reference {
    /// The member of this number.
    Member(u32),
    /// The group of this number: the hash over the table's selector keys chooses one of its members.
    Group(u32),
}

impl TableSchema {
    /// What a call refers to; `None` if it is one of the table's own actions.
    pub fn reference(&self, call: &ActionCall) -> Option<Reference> {
        let number = (call.action as usize).checked_sub(self.actions.len())?;
        let id = call.args.first().and_then(|id| id.to_u64()).unwrap_or(0) as u32;
        match number {
            0 => Some(Reference::Member(id)),
            _ => Some(Reference::Group(id)),
        }
    }
}

impl Schema {
    /// The action profile or selector of a table.
    pub fn profile_of(&self, table: Table) -> Option<Object> {
        let mut objects = self.tables[table].objects.iter().map(|&(_, object)| object);
        objects.find(|&object| self.objects[object].kind.profile().is_some())
    }

    /// The tables whose entries can refer to members of a profile.
    pub fn tables_of(&self, profile: Object) -> impl Iterator<Item = Table> {
        let all = self.tables.keys();
        all.filter(move |&table| self.profile_of(table) == Some(profile))
    }
}

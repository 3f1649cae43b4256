//! Action profiles and selectors: actions that are stored apart from the entries that refer to them.

use crate::{Action, ActionCall, Object, Schema, Table, TableSchema};
use serde::{Deserialize, Serialize};

/// Contents of an action profile or selector.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProfileSchema {
    /// Greatest number of members.
    pub size: u64,
    /// Actions that a member may run: those that all tables of the profile allow in their entries. A member's
    /// [`ActionCall::action`] is an index of this list.
    pub actions: Vec<Action>,
}

/// Reference that an entry of a table with a profile contains in place of an action.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reference {
    /// The member of this number.
    Member(u32),
    /// The group of this number. A hash over the table's selector keys chooses one of its members.
    Group(u32),
}

impl TableSchema {
    /// Returns the member or group that a call refers to; `None` if the call names one of the table's own actions.
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
    /// Returns the action profile or selector of a table.
    pub fn profile_of(&self, table: Table) -> Option<Object> {
        let mut objects = self.tables[table].objects.iter().map(|&(_, object)| object);
        objects.find(|&object| self.objects[object].kind.profile().is_some())
    }

    /// Returns the tables whose entries can refer to members of a profile.
    pub fn tables_of(&self, profile: Object) -> impl Iterator<Item = Table> {
        let all = self.tables.keys();
        all.filter(move |&table| self.profile_of(table) == Some(profile))
    }
}

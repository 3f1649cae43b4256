//! Tables, their keys and actions, and parser value sets.

use crate::{Action, ActionCall, Annotation, Entry, Field, KeyMatch, MatchKind, Object, canonical};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// An action.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ActionSchema {
    /// Its P4Runtime id.
    pub id: u32,
    /// Its fully qualified control-plane name.
    pub name: SmolStr,
    /// Parameters that the control plane supplies. A struct's fields are separate parameters, named `param.field`.
    pub params: Vec<Field>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<Annotation>,
}

/// A table.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TableSchema {
    /// Its P4Runtime id.
    pub id: u32,
    /// Its fully qualified control-plane name.
    pub name: SmolStr,
    /// Its key, selectors included.
    pub keys: Vec<KeySchema>,
    /// The actions that it may run.
    pub actions: Vec<ActionRef>,
    /// References that its entries may contain in place of an action, if it has an action profile:
    /// `PROFILE.member(id)`, and with a selector `PROFILE.group(id)`. In an [`ActionCall`] their numbers follow those
    /// of the actions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<ActionSchema>,
    /// Action that runs on a miss, before the control plane changes it.
    pub default_action: ActionCall,
    /// True if the default action may not change.
    pub const_default: bool,
    /// Entries that the program declares; those marked `const` may not change.
    pub entries: Vec<Entry>,
    /// True if the control plane may add no entries.
    pub const_entries: bool,
    /// Number of entries that the table should hold, if the program gives it.
    pub size: Option<u64>,
    /// Extern objects that its properties name (`implementation`, `counters`, `meters`).
    pub objects: Vec<(SmolStr, Object)>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<Annotation>,
}

/// A key of a table or a field of a value set.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct KeySchema {
    /// Its name and type.
    pub field: Field,
    /// Match kind.
    pub kind: MatchKind,
}

impl KeySchema {
    /// Returns the canonical form of a match of this key.
    pub fn canonical(&self, found: &KeyMatch) -> KeyMatch {
        canonical(found.clone(), self.kind, self.field.ty)
    }
}

/// An action in a table's list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ActionRef {
    /// The action.
    pub action: Action,
    /// True if `@defaultonly`: not allowed in entries.
    pub default_only: bool,
    /// True if `@tableonly`: not allowed as default action.
    pub table_only: bool,
}

impl TableSchema {
    /// Returns the keys that an entry matches: all except an action selector's inputs.
    pub fn match_keys(&self) -> impl Iterator<Item = &KeySchema> + Clone {
        let all = self.keys.iter();
        all.filter(|key| key.kind != MatchKind::Selector)
    }

    /// Returns true if entries have priorities, because they can overlap without one having a longer prefix.
    pub fn has_priorities(&self) -> bool {
        self.keys.iter().any(|key| key.kind.needs_priority())
    }

    /// Returns the canonical forms of an entry's matches.
    pub fn canonical(&self, keys: &[KeyMatch]) -> Vec<KeyMatch> {
        let declared = self.match_keys();
        declared
            .zip(keys)
            .map(|(key, m)| key.canonical(m))
            .collect()
    }
}

/// A parser value set.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ValueSetSchema {
    /// Its P4Runtime id.
    pub id: u32,
    /// Its fully qualified control-plane name.
    pub name: SmolStr,
    /// Its fields.
    pub fields: Vec<KeySchema>,
    /// Number of members that it may hold.
    pub size: u64,
    /// Annotations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<Annotation>,
}

impl ValueSetSchema {
    /// Returns the canonical form of a member.
    pub fn canonical(&self, member: &[KeyMatch]) -> Vec<KeyMatch> {
        let fields = self.fields.iter().zip(member);
        fields.map(|(field, m)| field.canonical(m)).collect()
    }
}

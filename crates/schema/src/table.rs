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
    /// What the control plane supplies. A struct's fields are parameters of their own, named `param.field`.
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
    /// What its entries may name in place of an action, if it has an action profile: `PROFILE.member(id)`, and with a
    /// selector `PROFILE.group(id)`. In an [`ActionCall`] they have the numbers after those of the actions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<ActionSchema>,
    /// What runs when nothing matches, at the start.
    pub default_action: ActionCall,
    /// Whether that may not change.
    pub const_default: bool,
    /// Entries of the program; those marked `const` may not change.
    pub entries: Vec<Entry>,
    /// Whether there may be no others.
    pub const_entries: bool,
    /// How many entries it should hold, where the program says so.
    pub size: Option<u64>,
    /// Extern objects among its properties (`implementation`, `counters`, `meters`).
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
    /// How it is matched.
    pub kind: MatchKind,
}

impl KeySchema {
    /// The one form of a match of this key.
    pub fn canonical(&self, found: &KeyMatch) -> KeyMatch {
        canonical(found.clone(), self.kind, self.field.ty)
    }
}

/// An action in a table's list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ActionRef {
    /// The action.
    pub action: Action,
    /// `@defaultonly`: not in entries.
    pub default_only: bool,
    /// `@tableonly`: not as default.
    pub table_only: bool,
}

impl TableSchema {
    /// The keys that an entry matches: all but an action selector's inputs.
    pub fn match_keys(&self) -> impl Iterator<Item = &KeySchema> + Clone {
        let all = self.keys.iter();
        all.filter(|key| key.kind != MatchKind::Selector)
    }

    /// Whether entries can overlap without one being longer, so that they have priorities.
    pub fn has_priorities(&self) -> bool {
        self.keys.iter().any(|key| key.kind.needs_priority())
    }

    /// Matches in their one form.
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
    /// How many members it may hold.
    pub size: u64,
    /// Annotations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<Annotation>,
}

impl ValueSetSchema {
    /// A member in its one form.
    pub fn canonical(&self, member: &[KeyMatch]) -> Vec<KeyMatch> {
        let fields = self.fields.iter().zip(member);
        fields.map(|(field, m)| field.canonical(m)).collect()
    }
}

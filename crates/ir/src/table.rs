//! Tables: keys, match kinds, actions and entries.

use crate::{Action, Annotation, Bits, Block, CtorValue, Declared, Expr, Var};
use diag::Span;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// How a key is matched.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
#[serde(rename_all = "snake_case")]
pub enum MatchKind {
    Exact,
    Lpm,
    Ternary,
    Range,
    Optional,
    /// Not matched: input of an action selector's hash.
    Selector,
}

impl MatchKind {
    /// All match kinds.
    pub const ALL: [MatchKind; 6] = [
        MatchKind::Exact,
        MatchKind::Lpm,
        MatchKind::Ternary,
        MatchKind::Range,
        MatchKind::Optional,
        MatchKind::Selector,
    ];

    /// The match kind as P4 writes it.
    pub fn name(self) -> &'static str {
        match self {
            MatchKind::Exact => "exact",
            MatchKind::Lpm => "lpm",
            MatchKind::Ternary => "ternary",
            MatchKind::Range => "range",
            MatchKind::Optional => "optional",
            MatchKind::Selector => "selector",
        }
    }

    /// The match kind of a name in P4.
    pub fn from_name(name: &str) -> Option<MatchKind> {
        MatchKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether entries with this kind of key can overlap without one being longer, so that a priority decides.
    pub fn needs_priority(self) -> bool {
        matches!(
            self,
            MatchKind::Ternary | MatchKind::Range | MatchKind::Optional
        )
    }
}

/// An action.
#[derive(Clone, PartialEq, Debug)]
pub struct ActionData {
    /// Its fully qualified control-plane name.
    pub name: SmolStr,
    /// What the control plane supplies.
    pub params: Vec<Var>,
    /// How each parameter is declared.
    pub declared: Vec<Declared>,
    /// What it does. Directional parameters were bound by elaboration.
    pub body: Block,
    /// Annotations.
    pub annotations: Vec<Annotation>,
    /// Its declaration.
    pub span: Span,
}

/// A table.
#[derive(Clone, PartialEq, Debug)]
pub struct TableData {
    /// Its fully qualified control-plane name.
    pub name: SmolStr,
    /// Its key.
    pub keys: Vec<Key>,
    /// Its actions.
    pub actions: Vec<TableAction>,
    /// What runs when nothing matches, at the start.
    pub default_action: ActionCall,
    /// Whether that may not change.
    pub const_default: bool,
    /// Entries of the program; the control plane may not change those marked `const`.
    pub entries: Vec<Entry>,
    /// Whether the control plane may add no others.
    pub const_entries: bool,
    /// How many entries it should hold.
    pub size: Option<u64>,
    /// Extern objects among its properties (`implementation`, `counters`, `meters`).
    pub properties: Vec<(SmolStr, CtorValue)>,
    /// Annotations.
    pub annotations: Vec<Annotation>,
    /// Its declaration.
    pub span: Span,
}

/// An element of a key.
#[derive(Clone, PartialEq, Debug)]
pub struct Key {
    /// Its control-plane name.
    pub name: SmolStr,
    /// What is matched.
    pub expr: Expr,
    /// How.
    pub kind: MatchKind,
    /// Its type's name, and annotations: the key's own, then those of the field or variable that it is.
    pub declared: Declared,
}

/// An action of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct TableAction {
    /// The action.
    pub action: Action,
    /// `@defaultonly`: not in entries.
    pub default_only: bool,
    /// `@tableonly`: not as default.
    pub table_only: bool,
}

/// An action with its arguments.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct ActionCall {
    /// Its index in the table's list.
    pub action: u32,
    /// One value a parameter. Bools are 1 bit wide, members of enums and errors 32.
    pub args: Vec<Bits>,
}

/// An entry of a table.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// One match a key.
    pub keys: Vec<KeyMatch>,
    /// Larger wins, where more than one entry can match; distinct among a program's own entries.
    pub priority: u32,
    /// What it does.
    pub action: ActionCall,
    /// Whether the control plane may not change it.
    pub is_const: bool,
}

/// An entry's match on one key. The values have the key's width; bools are 1 bit wide, members of
/// enums and errors 32.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyMatch {
    /// This value. For `exact`, and for `optional`.
    Exact(Bits),
    /// These first bits; the rest of the value is zero.
    Lpm(Bits, u32),
    /// The value where the mask has ones; zero elsewhere.
    Ternary(Bits, Bits),
    /// From the first to the second, both included, unsigned or by the key's signedness.
    Range(Bits, Bits),
    /// Anything: a ternary without bits, an optional left out, a whole range, a prefix of length 0.
    Any,
}

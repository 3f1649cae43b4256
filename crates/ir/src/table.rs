//! Tables: keys, match kinds, actions and entries.

use crate::{Action, Annotation, Bits, Block, CtorValue, Declared, Expr, Var};
use diag::Span;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// Match kind of a key.
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

    /// Returns the match kind's name in P4.
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

    /// Returns the match kind with this name in P4.
    pub fn from_name(name: &str) -> Option<MatchKind> {
        MatchKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns true if entries with this kind of key need priorities, because they can overlap without one having a
    /// longer prefix.
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
    /// Parameters that the control plane supplies.
    pub params: Vec<Var>,
    /// Declaration of each parameter.
    pub declared: Vec<Declared>,
    /// Body. Elaboration has bound directional parameters.
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
    /// Action that runs on a miss, before the control plane changes it.
    pub default_action: ActionCall,
    /// True if the default action may not change.
    pub const_default: bool,
    /// Entries that the program declares; the control plane may not change those marked `const`.
    pub entries: Vec<Entry>,
    /// True if the control plane may add no entries.
    pub const_entries: bool,
    /// Number of entries that the table should hold.
    pub size: Option<u64>,
    /// Extern objects that its properties name (`implementation`, `counters`, `meters`).
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
    /// Expression that is matched.
    pub expr: Expr,
    /// Match kind.
    pub kind: MatchKind,
    /// Its type's name, and annotations: the key's own, then those of the field or variable that the key reads.
    pub declared: Declared,
}

/// An action of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct TableAction {
    /// The action.
    pub action: Action,
    /// True if `@defaultonly`: not allowed in entries.
    pub default_only: bool,
    /// True if `@tableonly`: not allowed as default action.
    pub table_only: bool,
}

/// An action with its arguments.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct ActionCall {
    /// Its index in the table's list.
    pub action: u32,
    /// One value for each parameter. Bools are 1 bit wide, members of enums and errors 32.
    pub args: Vec<Bits>,
}

/// An entry of a table.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// One match for each key.
    pub keys: Vec<KeyMatch>,
    /// Priority; of several matching entries the one with the largest wins. Distinct among a program's own entries.
    pub priority: u32,
    /// Action that it runs.
    pub action: ActionCall,
    /// True if the control plane may not change it.
    pub is_const: bool,
}

/// An entry's match on one key. The values have the key's width; bools are 1 bit wide, members of
/// enums and errors 32.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyMatch {
    /// A single value, for `exact` and `optional`.
    Exact(Bits),
    /// A value and the length of its prefix that is matched, in bits; the rest of the value is zero.
    Lpm(Bits, u32),
    /// A value and the mask of bits that are matched; the value is zero elsewhere.
    Ternary(Bits, Bits),
    /// A range, both ends included, unsigned or by the key's signedness.
    Range(Bits, Bits),
    /// Any value: a ternary without bits, an omitted optional, a whole range, a prefix of length 0.
    Any,
}

impl KeyMatch {
    /// Returns true if a value of the key's width matches. Ranges compare signed values if `signed`.
    pub fn matches(&self, value: &Bits, signed: bool) -> bool {
        match self {
            KeyMatch::Any => true,
            KeyMatch::Exact(wanted) => value == wanted,
            KeyMatch::Lpm(wanted, length) => {
                let behind = value.width() - (*length).min(value.width());
                value.value() >> behind == wanted.value() >> behind
            }
            KeyMatch::Ternary(wanted, mask) => value.value() & mask.value() == *wanted.value(),
            KeyMatch::Range(low, high) => {
                (low.to_int(signed)..=high.to_int(signed)).contains(&value.to_int(signed))
            }
        }
    }

    /// Returns the only value that matches, if there is one.
    pub fn only_value(&self) -> Option<&Bits> {
        match self {
            KeyMatch::Exact(value) => Some(value),
            KeyMatch::Lpm(value, length) => (*length == value.width()).then_some(value),
            KeyMatch::Ternary(value, mask) => (*mask == Bits::ones(mask.width())).then_some(value),
            KeyMatch::Range(low, high) => (low == high).then_some(low),
            KeyMatch::Any => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(value: u32) -> Bits {
        Bits::new(8, value)
    }

    #[test]
    fn each_kind_of_match() {
        let cases = [
            (KeyMatch::Exact(bits(5)), vec![5], vec![4]),
            (KeyMatch::Lpm(bits(0xa0), 4), vec![0xa0, 0xaf], vec![0xb0]),
            (KeyMatch::Lpm(bits(0), 0), vec![0, 255], vec![]),
            (
                KeyMatch::Ternary(bits(1), bits(0x81)),
                vec![1, 0x7f],
                vec![0x81, 0],
            ),
            (KeyMatch::Range(bits(3), bits(5)), vec![3, 5], vec![2, 6]),
            (KeyMatch::Any, vec![0, 255], vec![]),
        ];
        for (found, yes, no) in cases {
            for value in yes {
                assert!(found.matches(&bits(value), false), "{found:?} {value}");
            }
            for value in no {
                assert!(!found.matches(&bits(value), false), "{found:?} {value}");
            }
        }
    }

    #[test]
    fn ranges_of_signed_keys_reach_over_zero() {
        let range = KeyMatch::Range(bits(0xff), bits(1));
        assert!(range.matches(&bits(0), true));
        assert!(!range.matches(&bits(2), true));
        assert!(!range.matches(&bits(0), false));
    }
}

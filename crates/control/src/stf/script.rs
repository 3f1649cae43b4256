//! A parsed test script.

use crate::{CloneSession, Replica};
use diag::Span;

/// A script: statements in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Script {
    /// Statements in order.
    pub statements: Vec<Statement>,
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Statement {
    /// Kind of the statement, with its operands.
    pub kind: StatementKind,
    /// Span of the whole line.
    pub span: Span,
}

/// Kind of a statement, with its operands. Names and entries stay text until the script is bound to a program.
#[derive(Clone, PartialEq, Debug)]
pub enum StatementKind {
    /// `packet`
    Packet {
        /// Port that the packet enters by.
        port: u32,
        /// Bytes of the packet.
        bytes: Vec<u8>,
    },
    /// `expect`
    Expect {
        /// Port that the packet leaves by.
        port: u32,
        /// Expected bytes; `None` for any packet.
        pattern: Option<Pattern>,
    },
    /// `no_packet`
    NoPacket {
        /// Port that no packet leaves by; `None` for all ports.
        port: Option<u32>,
    },
    /// `add`
    Add(Text),
    /// `remove`
    Remove(Text),
    /// `remove all [TABLE]`
    RemoveAll(Option<Text>),
    /// `setdefault`
    SetDefault(Text),
    /// `check_counter`
    CheckCounter {
        /// Name of the counter or table.
        name: Text,
        /// Index in brackets, for indexed counters.
        index: Option<u64>,
        /// Keys, for direct counters; may be empty.
        keys: Text,
        /// True for bytes instead of packets.
        bytes: bool,
        /// Comparison operator.
        op: Comparison,
        /// Number to compare with.
        value: u64,
    },
    /// `check_metric`
    CheckMetric {
        /// Object, key and measure.
        asked: Text,
        /// Comparison operator.
        op: Comparison,
        /// Number to compare with.
        value: u64,
    },
    /// `register_read`
    RegisterRead(Cell, Text),
    /// `register_write`
    RegisterWrite(Cell, Text),
    /// `register_reset`
    RegisterReset(Text),
    /// `meter_set`
    MeterSet(Text),
    /// `meter_reset`
    MeterReset(Text),
    /// `action_member`
    ActionMember(Text),
    /// `action_group`
    ActionGroup(Text),
    /// `expect_digest`
    ExpectDigest(Text),
    /// `no_digest [NAME]`
    NoDigest(Option<Text>),
    /// `value_set_add`
    ValueSetAdd(Text),
    /// `value_set_remove`
    ValueSetRemove(Text),
    /// `name_add`, `name_remove` or `name_clear`: the whole line.
    NameSet(Text),
    /// `wait`, with its time in nanoseconds.
    Wait(u64),
    /// `multicast_group`, and BMv2's statements that change a group.
    MulticastGroup {
        /// Number of the group.
        group: u16,
        /// All its copies after the statement.
        replicas: Vec<Replica>,
    },
    /// `mc_node_create`, whose copies become part of the groups that the node is added to, and `mirroring_get`.
    Nothing,
    /// `clone_session`, and BMv2's statements about mirroring.
    CloneSession {
        /// Number of the session.
        session: u32,
        /// Its contents after the statement; `None` removes it.
        to: Option<CloneSession>,
    },
}

/// Text that is parsed when the program is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Location of the text.
    pub span: Span,
}

/// An element of an array by name and index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// Name of the array.
    pub name: Text,
    /// Index of the element.
    pub index: u64,
}

/// Comparison operator of a counter's check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Comparison {
    /// Returns true if the comparison of `left` with `right` holds.
    pub fn holds(self, left: u64, right: u64) -> bool {
        match self {
            Comparison::Eq => left == right,
            Comparison::Ne => left != right,
            Comparison::Lt => left < right,
            Comparison::Le => left <= right,
            Comparison::Gt => left > right,
            Comparison::Ge => left >= right,
        }
    }

    /// Returns the operator as it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Eq => "==",
            Comparison::Ne => "!=",
            Comparison::Lt => "<",
            Comparison::Le => "<=",
            Comparison::Gt => ">",
            Comparison::Ge => ">=",
        }
    }
}

/// Pattern of an expected packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// One item for each nibble, an even number of them; `None` matches anything.
    pub nibbles: Vec<Option<u8>>,
    /// True if the packet ends after the pattern.
    pub strict: bool,
}

impl Pattern {
    /// Returns true if a packet matches.
    pub fn matches(&self, bytes: &[u8]) -> bool {
        let len = self.nibbles.len() / 2;
        bytes.len() >= len
            && (!self.strict || bytes.len() == len)
            && (0..len).all(|i| self.byte_matches(i, bytes[i]))
    }

    /// Returns true if the byte at `index`, which the pattern must have, may be `byte`.
    pub fn byte_matches(&self, index: usize, byte: u8) -> bool {
        let fits = |nibble: Option<u8>, value: u8| nibble.is_none_or(|n| n == value);
        fits(self.nibbles[2 * index], byte >> 4) && fits(self.nibbles[2 * index + 1], byte & 15)
    }

    /// Formats the byte at `index` as two characters, `*` for anything.
    pub fn show_byte(&self, index: usize) -> String {
        let digit = |nibble: Option<u8>| {
            nibble.map_or('*', |n| {
                char::from_digit(u32::from(n), 16).expect("a nibble")
            })
        };
        [
            digit(self.nibbles[2 * index]),
            digit(self.nibbles[2 * index + 1]),
        ]
        .iter()
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_end_where_they_say() {
        let open = Pattern {
            nibbles: vec![Some(0xa), None],
            strict: false,
        };
        let strict = Pattern {
            strict: true,
            ..open.clone()
        };
        assert!(open.matches(&[0xa7]) && open.matches(&[0xa7, 1]) && !open.matches(&[]));
        assert!(strict.matches(&[0xa7]) && !strict.matches(&[0xa7, 1]) && !strict.matches(&[0xb7]));
    }
}

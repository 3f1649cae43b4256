//! A parsed test script.

use crate::{CloneSession, Replica};
use diag::Span;

/// A script: statements in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Script {
    /// In order.
    pub statements: Vec<Statement>,
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Statement {
    /// What it asks for.
    pub kind: StatementKind,
    /// The whole line.
    pub span: Span,
}

/// What a statement asks for. Names and entries stay text until the program is at hand.
#[derive(Clone, PartialEq, Debug)]
pub enum StatementKind {
    /// `packet`
    Packet {
        /// Into which port.
        port: u32,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// `expect`
    Expect {
        /// Out of which port.
        port: u32,
        /// What; `None` for any packet.
        pattern: Option<Pattern>,
    },
    /// `no_packet`
    NoPacket {
        /// Out of which port; `None` for all.
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
        /// Counter or table.
        name: Text,
        /// Index in brackets, for indexed counters.
        index: Option<u64>,
        /// Keys, for direct counters; may be empty.
        keys: Text,
        /// Bytes instead of packets.
        bytes: bool,
        /// How to compare.
        op: Comparison,
        /// With what.
        value: u64,
    },
    /// `check_figure`
    CheckFigure {
        /// Object, key and measure.
        asked: Text,
        /// How to compare.
        op: Comparison,
        /// With what.
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
    /// `wait`, and for how many nanoseconds.
    Wait(u64),
    /// `multicast_group`, and those of BMv2's statements that change a group.
    MulticastGroup {
        /// Its number.
        group: u16,
        /// All its copies from here on.
        replicas: Vec<Replica>,
    },
    /// `mc_node_create`, whose copies stand in the groups that it becomes a part of, and `mirroring_get`.
    Nothing,
    /// `clone_session`, and BMv2's statements about mirroring.
    CloneSession {
        /// Its number.
        session: u32,
        /// What it is from here on; `None` removes it.
        to: Option<CloneSession>,
    },
}

/// Text to be read with the program at hand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// An element of an array by name and index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// The array.
    pub name: Text,
    /// Which element.
    pub index: u64,
}

/// How a counter is compared.
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
    /// Whether `left` compares to `right` like this.
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

    /// The operator as written.
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

/// What an expected packet has to look like.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// One a nibble, an even number; `None` is anything.
    pub nibbles: Vec<Option<u8>>,
    /// Whether the packet ends here.
    pub strict: bool,
}

impl Pattern {
    /// Whether a packet looks like this.
    pub fn matches(&self, bytes: &[u8]) -> bool {
        let len = self.nibbles.len() / 2;
        bytes.len() >= len
            && (!self.strict || bytes.len() == len)
            && (0..len).all(|i| self.byte_matches(i, bytes[i]))
    }

    /// Whether the byte at `index`, which the pattern must have, may be `byte`.
    pub fn byte_matches(&self, index: usize, byte: u8) -> bool {
        let fits = |nibble: Option<u8>, value: u8| nibble.is_none_or(|n| n == value);
        fits(self.nibbles[2 * index], byte >> 4) && fits(self.nibbles[2 * index + 1], byte & 15)
    }

    /// The byte at `index` as two characters, `*` for anything.
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

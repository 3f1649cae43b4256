//! Extern objects: what the control plane can do with them.

use crate::{Annotation, Enum, Field, Object, ProfileSchema, Schema, Table, TableSchema};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// An extern object.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ObjectSchema {
    /// Its P4Runtime id; 0 for an object that P4Runtime has no word for.
    pub id: u32,
    /// Its fully qualified control-plane name.
    pub name: SmolStr,
    /// The extern's name.
    pub extern_name: SmolStr,
    /// What it is to the control plane.
    pub kind: ObjectKind,
    /// The constructor's arguments by name.
    pub args: Vec<(SmolStr, Argument)>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<Annotation>,
}

/// What an extern object is to the control plane.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectKind {
    /// Counters with an index.
    Counter {
        /// How many.
        size: u64,
        /// What they count.
        unit: Unit,
    },
    /// A counter for each entry of a table.
    DirectCounter {
        /// What it counts.
        unit: Unit,
    },
    /// Meters with an index.
    Meter {
        /// How many.
        size: u64,
        /// What their rates mean.
        unit: Unit,
    },
    /// A meter for each entry of a table.
    DirectMeter {
        /// What its rates mean.
        unit: Unit,
    },
    /// Registers with an index.
    Register {
        /// How many.
        size: u64,
        /// The scalars that an element is taken apart into; one named `value` if it is no struct.
        element: Vec<Field>,
    },
    /// A value for each flow.
    FlowState {
        /// The scalars that a key is taken apart into; one named `key` if it is no struct.
        key: Vec<Field>,
        /// The scalars that a value is taken apart into; one named `value` if it is no struct.
        value: Vec<Field>,
    },
    /// A figure for each group of packets.
    Figures {
        /// What it says.
        kind: FigureKind,
        /// The scalars that a group's key is taken apart into; one named `key` if it is no struct.
        key: Vec<Field>,
    },
    /// Actions that entries share.
    ActionProfile(ProfileSchema),
    /// Actions that entries share, alone or in groups.
    ActionSelector(ProfileSchema),
    /// Nothing that the control plane reads or changes.
    Other,
}

impl ObjectKind {
    /// Whether it counts, with an index or for each entry.
    pub fn is_counter(&self) -> bool {
        matches!(
            self,
            ObjectKind::Counter { .. } | ObjectKind::DirectCounter { .. }
        )
    }

    /// What it keeps, if it is an action profile or an action selector.
    pub fn profile(&self) -> Option<&ProfileSchema> {
        match self {
            ObjectKind::ActionProfile(profile) | ObjectKind::ActionSelector(profile) => {
                Some(profile)
            }
            _ => None,
        }
    }
}

impl Unit {
    /// True if packets are counted.
    pub fn has_packets(self) -> bool {
        self != Unit::Bytes
    }

    /// True if bytes are counted.
    pub fn has_bytes(self) -> bool {
        self != Unit::Packets
    }
}

impl Schema {
    /// The unit in which a table counts for each of its entries, if it does.
    pub fn unit_of_entries(&self, table: Table) -> Option<Unit> {
        let mut objects = self.tables[table].objects.iter();
        objects.find_map(|(_, object)| match self.objects[*object].kind {
            ObjectKind::DirectCounter { unit } => Some(unit),
            _ => None,
        })
    }

    /// The tables for whose entries a direct counter counts.
    pub fn counted_tables(&self, counter: Object) -> impl Iterator<Item = Table> {
        let has = move |table: &TableSchema| table.objects.iter().any(|(_, o)| *o == counter);
        let all = self.tables.iter();
        all.filter_map(move |(id, table)| has(table).then_some(id))
    }
}

/// What a figure says about a group of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureKind {
    /// How many values there were, their sum, the least and the greatest.
    Tally,
    /// How values are distributed.
    Histogram,
    /// How many different items there were, by 2^`precision` registers.
    Distinct {
        /// 4 to 12.
        precision: u32,
    },
    /// The weight of a key that is among the greatest.
    Top,
}

/// What is counted or metered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Packets, or whatever the program adds up.
    Packets,
    /// Bytes.
    Bytes,
    /// Both.
    PacketsAndBytes,
}

/// A constructor argument.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Argument {
    /// An integer of any type.
    Int(#[serde(with = "decimal")] num_bigint::BigInt),
    /// A bool.
    Bool(bool),
    /// A string.
    String(String),
    /// A member of an enum.
    Member(Enum, u32),
    /// Another object.
    Object(Object),
    /// Left out for an `@optional` parameter.
    Absent,
}

/// Integers of any size as decimal text.
mod decimal {
    use num_bigint::BigInt;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &BigInt, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BigInt, D::Error> {
        let text = String::deserialize(from)?;
        text.parse()
            .map_err(|_| D::Error::custom(format!("`{text}` is not a number")))
    }
}

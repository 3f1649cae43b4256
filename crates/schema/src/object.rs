//! Extern objects: operations and data that they offer the control plane.

use crate::{Annotation, Enum, Field, Object, ProfileSchema, Schema, Table, TableSchema};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// An extern object.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ObjectSchema {
    /// P4Runtime id; 0 for an object of a kind that P4Runtime does not have.
    pub id: u32,
    /// Its fully qualified control-plane name.
    pub name: SmolStr,
    /// The extern's name.
    pub extern_name: SmolStr,
    /// Kind of object, with its parameters.
    pub kind: ObjectKind,
    /// The constructor's arguments by name.
    pub args: Vec<(SmolStr, Argument)>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<Annotation>,
}

/// Kind of an extern object, as the control plane sees it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectKind {
    /// Counters with an index.
    Counter {
        /// Number of counters.
        size: u64,
        /// Unit in which they count.
        unit: Unit,
    },
    /// A counter for each entry of a table.
    DirectCounter {
        /// Unit in which it counts.
        unit: Unit,
    },
    /// Meters with an index.
    Meter {
        /// Number of meters.
        size: u64,
        /// Unit of their rates.
        unit: Unit,
    },
    /// A meter for each entry of a table.
    DirectMeter {
        /// Unit of its rates.
        unit: Unit,
    },
    /// Registers with an index.
    Register {
        /// Number of registers.
        size: u64,
        /// Scalars of an element; one named `value` if it is not a struct.
        element: Vec<Field>,
    },
    /// A value for each flow.
    FlowState {
        /// Scalars of a key; one named `key` if it is not a struct.
        key: Vec<Field>,
        /// Scalars of a value; one named `value` if it is not a struct.
        value: Vec<Field>,
    },
    /// A metric for each group of packets.
    Metrics {
        /// Kind of metric.
        kind: MetricKind,
        /// Scalars of a group's key; one named `key` if it is not a struct.
        key: Vec<Field>,
    },
    /// Actions that entries share.
    ActionProfile(ProfileSchema),
    /// Actions that entries share, alone or in groups.
    ActionSelector(ProfileSchema),
    /// Rules for domain names.
    NameSet {
        /// Most rules.
        size: u64,
    },
    /// Rules for the text of URLs.
    PatternSet {
        /// Most states of their automata.
        size: u64,
    },
    /// An object that the control plane neither reads nor changes.
    Other,
}

impl ObjectKind {
    /// Returns true for counters, indexed or direct.
    pub fn is_counter(&self) -> bool {
        matches!(
            self,
            ObjectKind::Counter { .. } | ObjectKind::DirectCounter { .. }
        )
    }

    /// Returns true for name sets and pattern sets, whose rules the control plane names alike.
    pub fn has_name_rules(&self) -> bool {
        matches!(
            self,
            ObjectKind::NameSet { .. } | ObjectKind::PatternSet { .. }
        )
    }

    /// Returns the profile of an action profile or an action selector.
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
    /// Returns true if packets are counted.
    pub fn has_packets(self) -> bool {
        self != Unit::Bytes
    }

    /// Returns true if bytes are counted.
    pub fn has_bytes(self) -> bool {
        self != Unit::Packets
    }
}

impl Schema {
    /// Returns the unit of the table's direct counter, if it has one.
    pub fn unit_of_entries(&self, table: Table) -> Option<Unit> {
        let mut objects = self.tables[table].objects.iter();
        objects.find_map(|(_, object)| match self.objects[*object].kind {
            ObjectKind::DirectCounter { unit } => Some(unit),
            _ => None,
        })
    }

    /// Returns the tables that have this direct counter.
    pub fn counted_tables(&self, counter: Object) -> impl Iterator<Item = Table> {
        let has = move |table: &TableSchema| table.objects.iter().any(|(_, o)| *o == counter);
        let all = self.tables.iter();
        all.filter_map(move |(id, table)| has(table).then_some(id))
    }
}

/// Kind of a metric by group.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricKind {
    /// Number of values, their sum, minimum and maximum.
    Tally,
    /// Distribution of values.
    Histogram,
    /// Number of distinct items, estimated with 2^`precision` registers.
    Distinct {
        /// Base-2 logarithm of the number of registers, 4 to 12.
        precision: u32,
    },
    /// Weights of the heaviest keys.
    Top,
}

/// Unit of counters and meters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Packets, or another quantity that the program adds up.
    Packets,
    /// Bytes.
    Bytes,
    /// Packets and bytes.
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

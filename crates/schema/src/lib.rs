//! Control-plane interface of a program, as data: tables with keys and actions, counters, meters, registers, digests,
//! flow states and parser value sets. A [`Schema`] is derived once, from the IR, and written beside the compiled
//! program. Every store and every command reads it.
//!
//! Dense ids ([`Table`], [`Object`], …) identify the entities. They are the same in the IR, in the schema and in a
//! store. Every entity also has a 32-bit P4Runtime id ([`p4runtime`]).

mod canonical;
mod field;
mod from_ir;
mod object;
mod profile;
mod table;

pub use canonical::canonical;
pub use domains::{NameRule, NameRules, RuleValue, Scope, ScopedName};
pub use field::{Field, Format, Translation};
pub use from_ir::without_selectors;
pub use ir::{
    Action, ActionCall, Annotation, Bits, Entry, Enum, ExternInst as Object, KeyMatch, MatchKind,
    Table, Type, ValueSet,
};
pub use object::{Argument, MetricKind, ObjectKind, ObjectSchema, Unit};
pub use profile::{ProfileSchema, Reference};
pub use table::{ActionRef, ActionSchema, KeySchema, TableSchema, ValueSetSchema};

use cranelift_entity::PrimaryMap;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// Control-plane interface of a program.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Schema {
    /// The architecture's package (`xdp`, `V1Switch`, …).
    pub arch: SmolStr,
    /// Members of `error`, in order.
    pub errors: Vec<SmolStr>,
    /// Enums without an underlying type. Values are indices of members.
    pub enums: PrimaryMap<Enum, EnumSchema>,
    /// Actions.
    pub actions: PrimaryMap<Action, ActionSchema>,
    /// Tables.
    pub tables: PrimaryMap<Table, TableSchema>,
    /// Extern objects: counters, meters, registers, flow states and others.
    pub objects: PrimaryMap<Object, ObjectSchema>,
    /// Parser value sets.
    pub value_sets: PrimaryMap<ValueSet, ValueSetSchema>,
    /// Digests: messages that the data plane can send to the control plane.
    pub digests: Vec<DigestSchema>,
    /// True if the program clones packets, so that it uses clone sessions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clones: bool,
}

/// An enum.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EnumSchema {
    /// Its name.
    pub name: SmolStr,
    /// Its members in order.
    pub members: Vec<SmolStr>,
}

/// Digest: a message that the data plane sends to the control plane.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct DigestSchema {
    /// Its P4Runtime id.
    pub id: u32,
    /// The name of its type.
    pub name: SmolStr,
    /// Scalars of the message.
    pub fields: Vec<Field>,
}

impl Schema {
    /// Returns all counters with their names, direct counters included.
    pub fn counters(&self) -> impl Iterator<Item = (Object, &str)> {
        let all = self.objects.iter();
        all.filter(|(_, object)| object.kind.is_counter())
            .map(|(id, object)| (id, object.name.as_str()))
    }

    /// Returns a type in P4 syntax.
    pub fn type_name(&self, ty: Type) -> String {
        match ty {
            Type::Bool => "bool".to_string(),
            Type::Bits { width, signed } => {
                format!("{}<{width}>", if signed { "int" } else { "bit" })
            }
            Type::Varbit(width) => format!("varbit<{width}>"),
            Type::Error => "error".to_string(),
            Type::Enum(id) => self.enums[id].name.to_string(),
        }
    }

    /// Returns the action that a call in this table names. For a reference to a profile, returns its entry in
    /// [`TableSchema::references`].
    pub fn called(&self, table: Table, call: &ActionCall) -> &ActionSchema {
        let data = &self.tables[table];
        let number = call.action as usize;
        match data.actions.get(number) {
            Some(listed) => &self.actions[listed.action],
            None => &data.references[number - data.actions.len()],
        }
    }

    /// Returns the metrics that are aggregated by group, in order.
    pub fn metrics(&self) -> impl Iterator<Item = (Object, &ObjectSchema)> {
        let all = self.objects.iter();
        all.filter(|(_, object)| matches!(object.kind, ObjectKind::Metrics { .. }))
    }

    /// Returns the flow states, in order.
    pub fn flow_states(&self) -> impl Iterator<Item = (Object, &ObjectSchema)> {
        let all = self.objects.iter();
        all.filter(|(_, object)| matches!(object.kind, ObjectKind::FlowState { .. }))
    }
}

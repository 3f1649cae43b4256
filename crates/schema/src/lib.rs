//! What a program offers the control plane, as data: tables with keys and actions, counters, meters, registers,
//! digests, flow states and parser value sets. A [`Schema`] is made once, from the IR; it is written beside the
//! compiled program, and every store and every command reads it.
//!
//! Things are found by dense ids ([`Table`], [`Object`], …), which mean the same in the IR, in the schema and in a
//! store. Every thing also has the 32-bit id that P4Runtime gives it ([`p4runtime`]).
//!
//! Values are [`Bits`]; an entry is an [`Entry`] with one [`KeyMatch`] a key. Two matches of a key are equal if their
//! [`canonical`] forms are.

mod canonical;
mod field;
mod from_ir;
mod object;
mod profile;
mod table;

pub use canonical::canonical;
pub use field::{Field, Format, Translation};
pub use from_ir::without_selectors;
pub use ir::{
    Action, ActionCall, Annotation, Bits, Entry, Enum, ExternInst as Object, KeyMatch, MatchKind,
    Table, Type, ValueSet,
};
pub use object::{Argument, FigureKind, ObjectKind, ObjectSchema, Unit};
pub use profile::{ProfileSchema, Reference};
pub use table::{ActionRef, ActionSchema, KeySchema, TableSchema, ValueSetSchema};

use cranelift_entity::PrimaryMap;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// A program as the control plane sees it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Schema {
    /// The architecture's package (`xdp`, `V1Switch`, …).
    pub arch: SmolStr,
    /// Members of `error`, in order.
    pub errors: Vec<SmolStr>,
    /// Enums without a representation of their own. Values are indices of members.
    pub enums: PrimaryMap<Enum, EnumSchema>,
    /// Actions.
    pub actions: PrimaryMap<Action, ActionSchema>,
    /// Tables.
    pub tables: PrimaryMap<Table, TableSchema>,
    /// Extern objects: counters, meters, registers, flow states and others.
    pub objects: PrimaryMap<Object, ObjectSchema>,
    /// Parser value sets.
    pub value_sets: PrimaryMap<ValueSet, ValueSetSchema>,
    /// What packets can hand to the control plane.
    pub digests: Vec<DigestSchema>,
    /// Whether it clones packets, so that clone sessions mean something to it.
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

/// What packets hand to the control plane.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct DigestSchema {
    /// Its P4Runtime id.
    pub id: u32,
    /// The name of its type.
    pub name: SmolStr,
    /// What it consists of.
    pub fields: Vec<Field>,
}

impl Schema {
    /// All counters, those of tables' entries too, with their names.
    pub fn counters(&self) -> impl Iterator<Item = (Object, &str)> {
        let all = self.objects.iter();
        all.filter(|(_, object)| object.kind.is_counter())
            .map(|(id, object)| (id, object.name.as_str()))
    }

    /// A type as P4 writes it.
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

    /// The action that one of a table's calls means; for a reference, what stands in its place
    /// ([`TableSchema::references`]).
    pub fn called(&self, table: Table, call: &ActionCall) -> &ActionSchema {
        let data = &self.tables[table];
        let number = call.action as usize;
        match data.actions.get(number) {
            Some(listed) => &self.actions[listed.action],
            None => &data.references[number - data.actions.len()],
        }
    }

    /// The objects with figures by group, in order.
    pub fn figures(&self) -> impl Iterator<Item = (Object, &ObjectSchema)> {
        let all = self.objects.iter();
        all.filter(|(_, object)| matches!(object.kind, ObjectKind::Figures { .. }))
    }

    /// The flow states, in order.
    pub fn flow_states(&self) -> impl Iterator<Item = (Object, &ObjectSchema)> {
        let all = self.objects.iter();
        all.filter(|(_, object)| matches!(object.kind, ObjectKind::FlowState { .. }))
    }
}

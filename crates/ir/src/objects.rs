//! Objects of a program that the control plane can name (externs, value sets, digests), and declarations of scalars.

use crate::{Enum, ExternInst, MatchKind, Routine, Type};
use diag::Span;
use num_bigint::BigInt;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// Digest: a message that the data plane sends to the control plane.
#[derive(Clone, PartialEq, Debug)]
pub struct DigestData {
    /// The name of its type.
    pub name: SmolStr,
    /// Its scalars by dotted path; the path of a digest that is itself a scalar is empty.
    pub fields: Vec<(SmolStr, Type)>,
    /// Declaration of each scalar.
    pub declared: Vec<Declared>,
}

/// Source declaration of a scalar that the control plane can name.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Declared {
    /// The name of the `type` or serializable `enum` that is its type.
    pub type_name: Option<SmolStr>,
    /// Annotations before it, then those of its `type`.
    pub annotations: Vec<Annotation>,
}

/// An annotation that the schema retains.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Annotation {
    /// The name after `@`.
    pub name: SmolStr,
    /// Its body's tokens or values as text, strings without quotes.
    pub values: Vec<SmolStr>,
}

/// An instance of an extern object.
#[derive(Clone, PartialEq, Debug)]
pub struct ExternData {
    /// Its fully qualified control-plane name.
    pub name: SmolStr,
    /// The extern's name.
    pub ty: SmolStr,
    /// Type arguments, each split into scalars.
    pub type_args: Vec<Vec<Type>>,
    /// Dotted names of those scalars, in the same order; empty for a type argument that is a scalar itself.
    pub type_arg_names: Vec<Vec<SmolStr>>,
    /// Declarations of those scalars.
    pub type_arg_declared: Vec<Vec<Declared>>,
    /// Constructor arguments by parameter name.
    pub args: Vec<(SmolStr, CtorValue)>,
    /// Implementations of abstract methods.
    pub implementations: Vec<(SmolStr, Routine)>,
    /// Annotations.
    pub annotations: Vec<Annotation>,
    /// Its declaration.
    pub span: Span,
}

impl ExternData {
    /// Returns an integer argument by parameter name.
    pub fn int_arg(&self, name: &str) -> Option<&BigInt> {
        self.args.iter().find_map(|(n, v)| match v {
            CtorValue::Int(value) if n == name => Some(value),
            _ => None,
        })
    }
}

/// A constructor argument.
#[derive(Clone, PartialEq, Debug)]
pub enum CtorValue {
    /// An integer of any type.
    Int(BigInt),
    /// A bool.
    Bool(bool),
    /// A string.
    String(String),
    /// A member of an enum.
    Member(Enum, u32),
    /// Another extern object.
    Extern(ExternInst),
    /// Omitted, for an `@optional` parameter.
    Absent,
}

/// A parser value set.
#[derive(Clone, PartialEq, Debug)]
pub struct ValueSetData {
    /// Its fully qualified control-plane name.
    pub name: SmolStr,
    /// Its fields: name, type, match kind.
    pub fields: Vec<(SmolStr, Type, MatchKind)>,
    /// Declaration of each field.
    pub declared: Vec<Declared>,
    /// Number of members that it may hold.
    pub size: u64,
    /// Annotations.
    pub annotations: Vec<Annotation>,
    /// Its declaration.
    pub span: Span,
}

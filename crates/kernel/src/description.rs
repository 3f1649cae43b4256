//! What the control plane needs of a program, in a form that can be kept: names, types, tables,
//! actions, counters, value sets. A process that was not there when the program was compiled makes an
//! [`ir::Program`] of it that has these and nothing else.

use ir::{
    Action, ActionCall, ActionData, Bits, CtorValue, Entry, Enum, EnumData, ExprData, ExprKind,
    ExternData, Key, KeyMatch, MatchKind, Program, TableAction, TableData, Type, ValueSetData,
    VarData,
};
use num_bigint::{BigInt, BigUint};
use serde::{Deserialize, Serialize};

/// A program as the control plane sees it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Description {
    /// The architecture's package.
    pub arch: String,
    /// Members of `error`.
    pub errors: Vec<String>,
    /// Enums: name and members.
    pub enums: Vec<(String, Vec<String>)>,
    /// Actions: name and parameters.
    pub actions: Vec<(String, Vec<Named>)>,
    /// Tables.
    pub tables: Vec<TableDescription>,
    /// Extern objects.
    pub externs: Vec<ExternDescription>,
    /// Value sets: name, fields with how they match, size.
    pub value_sets: Vec<(String, Vec<KeyDescription>, u64)>,
}

/// A name and a type.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: TypeDescription,
}

/// An extern object.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ExternDescription {
    /// Its name.
    pub name: String,
    /// The extern's name.
    pub ty: String,
    /// Its integer arguments by name, in decimal.
    pub args: Vec<(String, String)>,
    /// The scalars of each type argument; their names are empty where the argument is a scalar itself.
    #[serde(default)]
    pub type_args: Vec<Vec<Named>>,
}

/// A key of a table or a field of a value set.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct KeyDescription {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeDescription,
    /// How it is matched.
    pub kind: Kind,
}

/// A table.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TableDescription {
    /// Its name.
    pub name: String,
    /// Its keys.
    pub keys: Vec<KeyDescription>,
    /// Its actions: the index among all, whether only as default, whether only in entries.
    pub actions: Vec<(u32, bool, bool)>,
    /// What runs when nothing matches, at the start.
    pub default_action: Call,
    /// Whether that may not change.
    pub const_default: bool,
    /// The program's own entries.
    pub entries: Vec<EntryDescription>,
    /// Whether there may be no others.
    pub const_entries: bool,
    /// How many it should hold.
    pub size: Option<u64>,
}

/// An entry.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EntryDescription {
    /// One a key.
    pub keys: Vec<Match>,
    /// Larger wins.
    pub priority: u32,
    /// What it does.
    pub action: Call,
    /// Whether it may not change.
    pub is_const: bool,
}

/// An action by its index in the table's list, and its arguments.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Call {
    /// The index.
    pub action: u32,
    /// The arguments.
    pub args: Vec<Value>,
}

/// A width and a value in hexadecimal.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Value(u32, String);

/// [`ir::Type`]
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum TypeDescription {
    Bool,
    Bit(u32),
    Int(u32),
    Varbit(u32),
    Error,
    Enum(u32),
}

/// [`ir::MatchKind`]
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Kind {
    Exact,
    Lpm,
    Ternary,
    Range,
    Optional,
    Selector,
}

/// [`ir::KeyMatch`]
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Match {
    Exact(Value),
    Lpm(Value, u32),
    Ternary(Value, Value),
    Range(Value, Value),
    Any,
}

impl Description {
    /// What of a program the control plane needs.
    pub fn of(program: &Program) -> Description {
        let named = |var: &ir::Var| Named {
            name: program.vars[*var].name.to_string(),
            ty: program.vars[*var].ty.into(),
        };
        Description {
            arch: program.arch.to_string(),
            errors: program.errors.iter().map(ToString::to_string).collect(),
            enums: program
                .enums
                .values()
                .map(|e| {
                    let members = e.members.iter().map(ToString::to_string);
                    (e.name.to_string(), members.collect())
                })
                .collect(),
            actions: program
                .actions
                .values()
                .map(|a| (a.name.to_string(), a.params.iter().map(named).collect()))
                .collect(),
            tables: program
                .tables
                .values()
                .map(|t| TableDescription::of(program, t))
                .collect(),
            externs: program.externs.values().map(describe_extern).collect(),
            value_sets: program
                .value_sets
                .values()
                .map(|s| {
                    let fields = s.fields.iter().map(|(name, ty, kind)| KeyDescription {
                        name: name.to_string(),
                        ty: (*ty).into(),
                        kind: (*kind).into(),
                    });
                    (s.name.to_string(), fields.collect(), s.size)
                })
                .collect(),
        }
    }

    /// A program of which only the control plane's part is there.
    pub fn program(&self) -> Program {
        let mut program = Program {
            arch: self.arch.as_str().into(),
            errors: self.errors.iter().map(Into::into).collect(),
            ..Program::default()
        };
        for (name, members) in &self.enums {
            program.enums.push(EnumData {
                name: name.into(),
                members: members.iter().map(Into::into).collect(),
            });
        }
        for (name, params) in &self.actions {
            let declared = vec![ir::Declared::default(); params.len()];
            let params = params
                .iter()
                .map(|p| {
                    program.vars.push(VarData {
                        name: p.name.as_str().into(),
                        ty: p.ty.into(),
                        span: diag::Span::NONE,
                    })
                })
                .collect();
            program.actions.push(ActionData {
                name: name.into(),
                params,
                declared,
                body: Vec::new(),
                annotations: Vec::new(),
                span: diag::Span::NONE,
            });
        }
        for table in &self.tables {
            table.add_to(&mut program);
        }
        for description in &self.externs {
            let ExternDescription {
                name,
                ty,
                args,
                type_args,
            } = description;
            program.externs.push(ExternData {
                name: name.into(),
                ty: ty.into(),
                type_args: type_args
                    .iter()
                    .map(|scalars| scalars.iter().map(|s| s.ty.into()).collect())
                    .collect(),
                type_arg_names: type_args
                    .iter()
                    .map(|scalars| {
                        let names = scalars.iter().map(|s| s.name.as_str());
                        names.filter(|n| !n.is_empty()).map(Into::into).collect()
                    })
                    .collect(),
                type_arg_declared: type_args
                    .iter()
                    .map(|scalars| vec![ir::Declared::default(); scalars.len()])
                    .collect(),
                args: args
                    .iter()
                    .filter_map(|(n, v)| {
                        Some((n.into(), CtorValue::Int(v.parse::<BigInt>().ok()?)))
                    })
                    .collect(),
                implementations: Vec::new(),
                annotations: Vec::new(),
                span: diag::Span::NONE,
            });
        }
        for (name, fields, size) in &self.value_sets {
            program.value_sets.push(ValueSetData {
                name: name.into(),
                fields: fields
                    .iter()
                    .map(|f| (f.name.as_str().into(), f.ty.into(), f.kind.into()))
                    .collect(),
                declared: vec![ir::Declared::default(); fields.len()],
                size: *size,
                annotations: Vec::new(),
                span: diag::Span::NONE,
            });
        }
        program
    }
}

fn describe_extern(data: &ExternData) -> ExternDescription {
    let ints = data.args.iter().filter_map(|(name, value)| match value {
        CtorValue::Int(value) => Some((name.to_string(), value.to_string())),
        _ => None,
    });
    let scalars = |(i, types): (usize, &Vec<ir::Type>)| -> Vec<Named> {
        let names = data.type_arg_names.get(i).map_or(&[][..], Vec::as_slice);
        let named = |(k, &ty): (usize, &ir::Type)| Named {
            name: names.get(k).map(ToString::to_string).unwrap_or_default(),
            ty: ty.into(),
        };
        types.iter().enumerate().map(named).collect()
    };
    ExternDescription {
        name: data.name.to_string(),
        ty: data.ty.to_string(),
        args: ints.collect(),
        type_args: data.type_args.iter().enumerate().map(scalars).collect(),
    }
}

impl TableDescription {
    fn of(program: &Program, table: &TableData) -> TableDescription {
        let key = |k: &Key| KeyDescription {
            name: k.name.to_string(),
            ty: program.exprs[k.expr].ty.into(),
            kind: k.kind.into(),
        };
        TableDescription {
            name: table.name.to_string(),
            keys: table.keys.iter().map(key).collect(),
            actions: table
                .actions
                .iter()
                .map(|a| (a.action.as_u32(), a.default_only, a.table_only))
                .collect(),
            default_action: (&table.default_action).into(),
            const_default: table.const_default,
            entries: table
                .entries
                .iter()
                .map(|e| EntryDescription {
                    keys: e.keys.iter().map(Into::into).collect(),
                    priority: e.priority,
                    action: (&e.action).into(),
                    is_const: e.is_const,
                })
                .collect(),
            const_entries: table.const_entries,
            size: table.size,
        }
    }

    fn add_to(&self, program: &mut Program) {
        let keys = self
            .keys
            .iter()
            .map(|k| {
                let ty = k.ty.into();
                let var = program.vars.push(VarData {
                    name: k.name.as_str().into(),
                    ty,
                    span: diag::Span::NONE,
                });
                Key {
                    name: k.name.as_str().into(),
                    expr: program.exprs.push(ExprData {
                        kind: ExprKind::Var(var),
                        ty,
                        span: diag::Span::NONE,
                    }),
                    kind: k.kind.into(),
                    declared: ir::Declared::default(),
                }
            })
            .collect();
        program.tables.push(TableData {
            name: self.name.as_str().into(),
            keys,
            actions: self
                .actions
                .iter()
                .map(|&(action, default_only, table_only)| TableAction {
                    action: Action::from_u32(action),
                    default_only,
                    table_only,
                })
                .collect(),
            default_action: (&self.default_action).into(),
            const_default: self.const_default,
            entries: self
                .entries
                .iter()
                .map(|e| Entry {
                    keys: e.keys.iter().map(Into::into).collect(),
                    priority: e.priority,
                    action: (&e.action).into(),
                    is_const: e.is_const,
                })
                .collect(),
            const_entries: self.const_entries,
            size: self.size,
            properties: Vec::new(),
            annotations: Vec::new(),
            span: diag::Span::NONE,
        });
    }
}

impl From<&Bits> for Value {
    fn from(bits: &Bits) -> Value {
        Value(bits.width(), bits.value().to_str_radix(16))
    }
}

impl From<&Value> for Bits {
    fn from(value: &Value) -> Bits {
        let digits = BigUint::parse_bytes(value.1.as_bytes(), 16).unwrap_or_default();
        Bits::new(value.0, digits)
    }
}

impl From<&ActionCall> for Call {
    fn from(call: &ActionCall) -> Call {
        Call {
            action: call.action,
            args: call.args.iter().map(Into::into).collect(),
        }
    }
}

impl From<&Call> for ActionCall {
    fn from(call: &Call) -> ActionCall {
        ActionCall {
            action: call.action,
            args: call.args.iter().map(Into::into).collect(),
        }
    }
}

impl From<&KeyMatch> for Match {
    fn from(key: &KeyMatch) -> Match {
        match key {
            KeyMatch::Exact(a) => Match::Exact(a.into()),
            KeyMatch::Lpm(a, length) => Match::Lpm(a.into(), *length),
            KeyMatch::Ternary(a, b) => Match::Ternary(a.into(), b.into()),
            KeyMatch::Range(a, b) => Match::Range(a.into(), b.into()),
            KeyMatch::Any => Match::Any,
        }
    }
}

impl From<&Match> for KeyMatch {
    fn from(key: &Match) -> KeyMatch {
        match key {
            Match::Exact(a) => KeyMatch::Exact(a.into()),
            Match::Lpm(a, length) => KeyMatch::Lpm(a.into(), *length),
            Match::Ternary(a, b) => KeyMatch::Ternary(a.into(), b.into()),
            Match::Range(a, b) => KeyMatch::Range(a.into(), b.into()),
            Match::Any => KeyMatch::Any,
        }
    }
}

impl From<Type> for TypeDescription {
    fn from(ty: Type) -> TypeDescription {
        match ty {
            Type::Bool => TypeDescription::Bool,
            Type::Bits {
                width,
                signed: false,
            } => TypeDescription::Bit(width),
            Type::Bits {
                width,
                signed: true,
            } => TypeDescription::Int(width),
            Type::Varbit(width) => TypeDescription::Varbit(width),
            Type::Error => TypeDescription::Error,
            Type::Enum(e) => TypeDescription::Enum(e.as_u32()),
        }
    }
}

impl From<TypeDescription> for Type {
    fn from(ty: TypeDescription) -> Type {
        match ty {
            TypeDescription::Bool => Type::Bool,
            TypeDescription::Bit(width) => Type::bit(width),
            TypeDescription::Int(width) => Type::Bits {
                width,
                signed: true,
            },
            TypeDescription::Varbit(width) => Type::Varbit(width),
            TypeDescription::Error => Type::Error,
            TypeDescription::Enum(e) => Type::Enum(Enum::from_u32(e)),
        }
    }
}

impl From<MatchKind> for Kind {
    fn from(kind: MatchKind) -> Kind {
        match kind {
            MatchKind::Exact => Kind::Exact,
            MatchKind::Lpm => Kind::Lpm,
            MatchKind::Ternary => Kind::Ternary,
            MatchKind::Range => Kind::Range,
            MatchKind::Optional => Kind::Optional,
            MatchKind::Selector => Kind::Selector,
        }
    }
}

impl From<Kind> for MatchKind {
    fn from(kind: Kind) -> MatchKind {
        match kind {
            Kind::Exact => MatchKind::Exact,
            Kind::Lpm => MatchKind::Lpm,
            Kind::Ternary => MatchKind::Ternary,
            Kind::Range => MatchKind::Range,
            Kind::Optional => MatchKind::Optional,
            Kind::Selector => MatchKind::Selector,
        }
    }
}

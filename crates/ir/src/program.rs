//! The program: every entity, and the pipeline they form.

use crate::{Bits, Block, Expr, ExprData, Label, Param, State, StmtId, Transition, visit};
use cranelift_entity::{PrimaryMap, entity_impl};
use diag::Span;
use num_bigint::BigInt;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use std::collections::HashSet;

macro_rules! entities {
    ($($(#[$doc:meta])* $name:ident $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct $name(u32);
        entity_impl!($name, $prefix);
    )*};
}

entities! {
    /// An enum whose members are numbered from 0.
    Enum "enum";
    /// The layout of a header.
    HeaderType "htype";
    /// A scalar variable.
    Var "v";
    /// A header instance.
    Header "h";
    /// A header stack.
    Stack "stack";
    /// An instance of an extern object.
    ExternInst "extern";
    /// A parser value set.
    ValueSet "vset";
    /// An action of one control instance.
    Action "action";
    /// A table of one control instance.
    Table "table";
    /// A function, sub-control, directly called action or control block.
    Routine "routine";
    /// A parser block.
    Parser "parser";
}

/// A scalar type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    /// `bool`
    Bool,
    /// `bit<width>` or `int<width>`; the width may be 0 and may be thousands.
    Bits {
        /// Bits.
        width: u32,
        /// Two's complement instead of unsigned.
        signed: bool,
    },
    /// `varbit<max>`, the maximum in bits. Header fields and variables only.
    Varbit(u32),
    /// `error`, by index into [`Program::errors`].
    Error,
    /// An enum.
    Enum(Enum),
}

impl Type {
    /// `bit<width>`
    pub const fn bit(width: u32) -> Type {
        Type::Bits {
            width,
            signed: false,
        }
    }

    /// Bits of a value of this type: 1 for `bool`, 32 for errors and enums, the maximum for varbit.
    pub fn width(self) -> u32 {
        match self {
            Type::Bool => 1,
            Type::Bits { width, .. } | Type::Varbit(width) => width,
            Type::Error | Type::Enum(_) => 32,
        }
    }
}

/// A whole program for one architecture.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    /// The architecture's package. No pass depends on it; what passes need to know of an architecture is stated
    /// by the fields of this program.
    pub arch: SmolStr,
    /// What follows for a packet that a parser block rejects.
    pub on_reject: OnReject,
    /// Members of `error`, in order.
    pub errors: Vec<SmolStr>,
    /// Enums.
    pub enums: PrimaryMap<Enum, EnumData>,
    /// Header layouts.
    pub header_types: PrimaryMap<HeaderType, HeaderTypeData>,
    /// Variables.
    pub vars: PrimaryMap<Var, VarData>,
    /// Header instances.
    pub headers: PrimaryMap<Header, HeaderData>,
    /// Header stacks.
    pub stacks: PrimaryMap<Stack, StackData>,
    /// Expressions.
    pub exprs: PrimaryMap<Expr, ExprData>,
    /// How many labels there are; the next free one.
    pub next_label: u32,
    /// How many statements were numbered; every id is below.
    pub stmts: u32,
    /// Extern objects.
    pub externs: PrimaryMap<ExternInst, ExternData>,
    /// Value sets.
    pub value_sets: PrimaryMap<ValueSet, ValueSetData>,
    /// Actions.
    pub actions: PrimaryMap<Action, ActionData>,
    /// Tables.
    pub tables: PrimaryMap<Table, TableData>,
    /// Routines.
    pub routines: PrimaryMap<Routine, RoutineData>,
    /// Parsers.
    pub parsers: PrimaryMap<Parser, ParserData>,
    /// The pipeline's blocks in the order in which a packet meets them.
    pub blocks: Vec<PipelineBlock>,
    /// What the architecture keeps for a packet between the blocks.
    pub slots: Vec<Slot>,
    /// What packets can send to the control plane, in the order in which the program first does it.
    pub digests: Vec<DigestData>,
}

impl Program {
    /// A new label.
    pub fn make_label(&mut self) -> Label {
        self.next_label += 1;
        Label::from_u32(self.next_label - 1)
    }

    /// Gives every statement an id of its own, from 0 on. To be done after whatever made or copied statements, before
    /// anybody asks by id.
    pub fn number_stmts(&mut self) {
        let mut next = 0;
        visit::walk_program_mut(self, &mut |stmt| {
            stmt.id = StmtId::from_u32(next);
            next += 1;
        });
        self.stmts = next;
    }

    /// The scalar at `path` (dotted, without the slot's name) in a slot.
    pub fn slot_var(&self, slot: &str, path: &str) -> Option<Var> {
        let slot = self.slots.iter().find(|s| s.name == slot)?;
        slot.vars
            .iter()
            .find(|(name, _)| name == path)
            .map(|&(_, var)| var)
    }

    /// The pipeline's block that the architecture knows by this name.
    pub fn block(&self, name: &str) -> Option<BlockBody> {
        self.blocks.iter().find(|b| b.name == name).map(|b| b.body)
    }

    /// The parser block of this name.
    pub fn parser_block(&self, name: &str) -> Option<Parser> {
        match self.block(name)? {
            BlockBody::Parser(parser) => Some(parser),
            BlockBody::Control(_) | BlockBody::Deparser(_) => None,
        }
    }

    /// The routine of the control or deparser block of this name.
    pub fn control_block(&self, name: &str) -> Option<Routine> {
        self.block(name)?.routine()
    }

    /// The architecture's own variables: those of intrinsic slots.
    pub fn intrinsic_vars(&self) -> HashSet<Var> {
        self.slots
            .iter()
            .filter(|slot| slot.kind == SlotKind::Intrinsic)
            .flat_map(|slot| slot.vars.iter().map(|(_, var)| *var))
            .collect()
    }
}

/// What follows for a packet that a parser block rejects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum OnReject {
    /// No further block runs.
    #[default]
    Stop,
    /// The blocks after the parser run as for any other packet.
    Continue,
}

/// A block of a pipeline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PipelineBlock {
    /// The architecture's name for it.
    pub name: SmolStr,
    /// What it is made of.
    pub body: BlockBody,
}

/// What a block is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockBody {
    /// A parser.
    Parser(Parser),
    /// A control, as a routine without parameters: they are bound to slots.
    Control(Routine),
    /// A control that emits headers, as a routine without parameters.
    Deparser(Routine),
}

impl BlockBody {
    /// The routine of a control or deparser.
    pub fn routine(self) -> Option<Routine> {
        match self {
            BlockBody::Control(routine) | BlockBody::Deparser(routine) => Some(routine),
            BlockBody::Parser(_) => None,
        }
    }
}

/// The readers and writers of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SlotKind {
    /// The program's blocks alone; all zero and invalid when a packet arrives.
    Program,
    /// The architecture too: between blocks, and whenever an extern is called.
    Intrinsic,
}

/// Storage that an architecture shares between blocks, such as the program's headers.
#[derive(Clone, PartialEq, Debug)]
pub struct Slot {
    /// The architecture's name for it.
    pub name: SmolStr,
    /// Its readers and writers.
    pub kind: SlotKind,
    /// Its scalars by dotted path; the path of a slot that is itself a scalar is empty.
    pub vars: Vec<(SmolStr, Var)>,
    /// Its headers by dotted path, elements of stacks included.
    pub headers: Vec<(SmolStr, Header)>,
}

/// An enum.
#[derive(Clone, PartialEq, Debug)]
pub struct EnumData {
    /// Its name.
    pub name: SmolStr,
    /// Its members in order.
    pub members: Vec<SmolStr>,
}

/// A header's layout. Fields lie one after the other, most significant bit first, in network order.
#[derive(Clone, PartialEq, Debug)]
pub struct HeaderTypeData {
    /// Its name.
    pub name: SmolStr,
    /// Its fields; at most one varbit.
    pub fields: Vec<FieldData>,
}

impl HeaderTypeData {
    /// Bits without the varbit field; a multiple of 8.
    pub fn fixed_width(&self) -> u32 {
        self.fields
            .iter()
            .map(|f| {
                if let Type::Varbit(_) = f.ty {
                    0
                } else {
                    f.ty.width()
                }
            })
            .sum()
    }

    /// The index of the varbit field.
    pub fn varbit(&self) -> Option<u32> {
        self.fields
            .iter()
            .position(|f| matches!(f.ty, Type::Varbit(_)))
            .map(|i| i as u32)
    }
}

/// A field of a header.
#[derive(Clone, PartialEq, Debug)]
pub struct FieldData {
    /// Its name; dotted if it comes from a struct in the header.
    pub name: SmolStr,
    /// Its type: `bool`, bits or varbit.
    pub ty: Type,
}

/// A variable.
#[derive(Clone, PartialEq, Debug)]
pub struct VarData {
    /// Its name as in P4 source; need not be unique.
    pub name: SmolStr,
    /// Its type.
    pub ty: Type,
    /// Its declaration.
    pub span: Span,
}

/// A header instance.
#[derive(Clone, PartialEq, Debug)]
pub struct HeaderData {
    /// Its name as in P4 source (`hdr.ipv4`, `hdr.vlan[1]`); need not be unique.
    pub name: SmolStr,
    /// Its layout.
    pub ty: HeaderType,
    /// Its declaration.
    pub span: Span,
}

/// A header stack.
#[derive(Clone, PartialEq, Debug)]
pub struct StackData {
    /// Its name.
    pub name: SmolStr,
    /// Its elements.
    pub elems: Vec<Header>,
    /// The index of the element that `next` means, `bit<32>`.
    pub next: Var,
}

/// What packets send to the control plane.
#[derive(Clone, PartialEq, Debug)]
pub struct DigestData {
    /// The name of its type.
    pub name: SmolStr,
    /// Its scalars by dotted path; the path of a digest that is itself a scalar is empty.
    pub fields: Vec<(SmolStr, Type)>,
    /// How each of them is declared.
    pub declared: Vec<Declared>,
}

/// How the source declares a scalar that the control plane can name.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Declared {
    /// The name of the `type` or serializable `enum` that is its type.
    pub type_name: Option<SmolStr>,
    /// Annotations in front of it, then those of its `type`.
    pub annotations: Vec<Annotation>,
}

/// An annotation that outlives compilation.
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
    /// How each of those scalars is declared.
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
    /// An integer argument by parameter name.
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
    /// Left out for an `@optional` parameter.
    Absent,
}

/// A parser value set.
#[derive(Clone, PartialEq, Debug)]
pub struct ValueSetData {
    /// Its fully qualified control-plane name.
    pub name: SmolStr,
    /// Its fields: name, type, how they match.
    pub fields: Vec<(SmolStr, Type, MatchKind)>,
    /// How each field is declared.
    pub declared: Vec<Declared>,
    /// How many members it may hold.
    pub size: u64,
    /// Annotations.
    pub annotations: Vec<Annotation>,
    /// Its declaration.
    pub span: Span,
}

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

/// A routine.
#[derive(Clone, PartialEq, Debug)]
pub struct RoutineData {
    /// Its name.
    pub name: SmolStr,
    /// What it is.
    pub kind: RoutineKind,
    /// Its parameters; a function's result comes last as `Out`s.
    pub params: Vec<Param>,
    /// Its body; begins by setting its own locals to zero and invalid where that is observable.
    pub body: Block,
    /// Its declaration.
    pub span: Span,
}

/// What a routine is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RoutineKind {
    /// A block of the pipeline.
    Block,
    /// An instance of a control applied by another.
    Control,
    /// A function, or an abstract method's implementation.
    Function,
    /// An action that is called directly.
    Action,
}

/// A parser.
#[derive(Clone, PartialEq, Debug)]
pub struct ParserData {
    /// Its name.
    pub name: SmolStr,
    /// Its states; sub-parsers' states are among them, with dotted names.
    pub states: PrimaryMap<State, StateData>,
    /// Where it begins.
    pub start: State,
    /// Its declaration.
    pub span: Span,
}

/// A parser state.
#[derive(Clone, PartialEq, Debug)]
pub struct StateData {
    /// Its name.
    pub name: SmolStr,
    /// What it does.
    pub body: Block,
    /// Where it goes.
    pub transition: Transition,
    /// `@rare`: few packets come here.
    pub rare: bool,
    /// Its declaration.
    pub span: Span,
}

//! The program: every entity, and the pipeline they form.

use crate::{
    ActionData, Block, DigestData, Expr, ExprData, ExternData, Label, Param, State, StmtId,
    TableData, Transition, ValueSetData, visit,
};
use cranelift_entity::{PrimaryMap, entity_impl};
use diag::Span;
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
        /// Width in bits.
        width: u32,
        /// True for two's complement, `int`.
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
    /// Returns `bit<width>`.
    pub const fn bit(width: u32) -> Type {
        Type::Bits {
            width,
            signed: false,
        }
    }

    /// Returns the width in bits: 1 for `bool`, 32 for errors and enums, the maximum for varbit.
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
    /// The architecture's package. No pass depends on it; the fields of this program describe the architecture to
    /// passes.
    pub arch: SmolStr,
    /// Treatment of a packet that a parser block rejects.
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
    /// Number of labels, and index of the next one.
    pub next_label: u32,
    /// Number of statements that have an id; every id is below.
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
    /// The pipeline's blocks, in the order in which they process a packet.
    pub blocks: Vec<PipelineBlock>,
    /// Storage that the architecture preserves for a packet between blocks.
    pub slots: Vec<Slot>,
    /// Digests that the program can send, in the order of their first use.
    pub digests: Vec<DigestData>,
    /// Field lists: variables that are preserved when a packet is resubmitted, recirculated or cloned.
    pub field_lists: Vec<FieldList>,
    /// True if a copy of a packet can enter a block with headers and variables from another point. At a block's start
    /// nothing is then known about the effects of the blocks before it, and at a block's end all storage in slots may
    /// be read.
    pub copies: bool,
}

impl Program {
    /// Creates a label.
    pub fn make_label(&mut self) -> Label {
        self.next_label += 1;
        Label::from_u32(self.next_label - 1)
    }

    /// Gives every statement a unique id, starting from 0. Required after statements are created or copied, before
    /// analyses run.
    pub fn number_stmts(&mut self) {
        let mut next = 0;
        visit::walk_program_mut(self, &mut |stmt| {
            stmt.id = StmtId::from_u32(next);
            next += 1;
        });
        self.stmts = next;
    }

    /// Returns the scalar at `path` (dotted, without the slot's name) in a slot.
    pub fn slot_var(&self, slot: &str, path: &str) -> Option<Var> {
        let slot = self.slots.iter().find(|s| s.name == slot)?;
        slot.vars
            .iter()
            .find(|(name, _)| name == path)
            .map(|&(_, var)| var)
    }

    /// Returns the pipeline block to which the architecture gives this name.
    pub fn block(&self, name: &str) -> Option<BlockBody> {
        self.blocks.iter().find(|b| b.name == name).map(|b| b.body)
    }

    /// Returns the parser block with this name.
    pub fn parser_block(&self, name: &str) -> Option<Parser> {
        match self.block(name)? {
            BlockBody::Parser(parser) => Some(parser),
            BlockBody::Control(_) | BlockBody::Deparser(_) => None,
        }
    }

    /// Returns the routine of the control or deparser block with this name.
    pub fn control_block(&self, name: &str) -> Option<Routine> {
        self.block(name)?.routine()
    }

    /// Returns the variables that the architecture reads and writes between blocks: those of intrinsic slots, and those
    /// of field lists.
    pub fn intrinsic_vars(&self) -> HashSet<Var> {
        let kept = self.field_lists.iter().flat_map(|list| &list.vars);
        self.slots
            .iter()
            .filter(|slot| slot.kind == SlotKind::Intrinsic)
            .flat_map(|slot| slot.vars.iter().map(|(_, var)| var))
            .chain(kept)
            .copied()
            .collect()
    }
}

/// Treatment of a packet that a parser block rejects.
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
    /// Parser or routine that it runs.
    pub body: BlockBody,
}

/// Parser or routine of a pipeline block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockBody {
    /// A parser.
    Parser(Parser),
    /// A control, as a routine without parameters: its P4 parameters are bound to slots.
    Control(Routine),
    /// A control that emits headers, as a routine without parameters.
    Deparser(Routine),
}

impl BlockBody {
    /// Returns the routine of a control or deparser.
    pub fn routine(self) -> Option<Routine> {
        match self {
            BlockBody::Control(routine) | BlockBody::Deparser(routine) => Some(routine),
            BlockBody::Parser(_) => None,
        }
    }
}

/// Kind of a slot, by its readers and writers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SlotKind {
    /// Accessed by the program's blocks alone; all zero and invalid when a packet arrives.
    Program,
    /// Also accessed by the architecture: between blocks, and whenever an extern is called.
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

/// Field list: variables that are preserved when a packet is resubmitted, recirculated or cloned with this list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldList {
    /// Number by which calls name it.
    pub number: u32,
    /// The variables, each once, in the order of their declaration.
    pub vars: Vec<Var>,
}

/// An enum.
#[derive(Clone, PartialEq, Debug)]
pub struct EnumData {
    /// Its name.
    pub name: SmolStr,
    /// Its members in order.
    pub members: Vec<SmolStr>,
}

/// A header's layout. Fields are contiguous, most significant bit first, in network order.
#[derive(Clone, PartialEq, Debug)]
pub struct HeaderTypeData {
    /// Its name.
    pub name: SmolStr,
    /// Its fields; at most one varbit.
    pub fields: Vec<FieldData>,
}

impl HeaderTypeData {
    /// Returns the width in bits without the varbit field; a multiple of 8.
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

    /// Returns the index of the varbit field.
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
    /// The index of the element that `next` names, `bit<32>`.
    pub next: Var,
    /// True if loops that fill it remain loops, and its elements are accessed by index ([`crate::passes::unroll`]
    /// decides).
    pub rolled: bool,
}

/// A routine.
#[derive(Clone, PartialEq, Debug)]
pub struct RoutineData {
    /// Its name.
    pub name: SmolStr,
    /// Kind of routine.
    pub kind: RoutineKind,
    /// Its parameters; a function's result comes last as `Out`s.
    pub params: Vec<Param>,
    /// Its body. It first sets its own locals to zero and invalid where that is observable.
    pub body: Block,
    /// Its declaration.
    pub span: Span,
}

/// Kind of a routine.
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
    /// Start state.
    pub start: State,
    /// Its declaration.
    pub span: Span,
}

/// A parser state.
#[derive(Clone, PartialEq, Debug)]
pub struct StateData {
    /// Its name.
    pub name: SmolStr,
    /// Statements.
    pub body: Block,
    /// Transition at its end.
    pub transition: Transition,
    /// True if `@rare`: few packets reach the state.
    pub rare: bool,
    /// Its declaration.
    pub span: Span,
}

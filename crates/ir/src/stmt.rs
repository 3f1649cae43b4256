//! Statements and parser states.

use crate::{
    Automaton, Bits, Enum, Expr, ExternInst, Header, HeaderRef, Routine, SkipTable, Stack, Table,
    ValueSet, Var,
};
use cranelift_entity::entity_impl;
use cranelift_entity::packed_option::ReservedValue;
use diag::Span;
use smol_str::SmolStr;

/// A target of `break` or `continue`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(u32);
entity_impl!(Label, "label");

/// A state of a parser.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State(u32);
entity_impl!(State, "state");

/// A point of a control at which edges out of the parser enter it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryPoint(u32);
entity_impl!(EntryPoint, "e");

/// Statements in order.
pub type Block = Vec<Stmt>;

/// A statement's identity, the key of analyses' side tables.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StmtId(u32);
entity_impl!(StmtId, "stmt");

/// A statement. Two are equal if they do the same and come from the same source text, whatever their ids are.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Id, unique in the program and below [`crate::Program::stmts`]. [`crate::Program::number_stmts`] assigns it;
    /// before that it has the reserved value.
    pub id: StmtId,
    /// Kind of statement, with its operands.
    pub kind: StmtKind,
    /// The source text it comes from.
    pub span: Span,
}

impl Stmt {
    /// Creates a statement without an id.
    pub fn new(kind: StmtKind, span: Span) -> Stmt {
        Stmt {
            id: StmtId::reserved_value(),
            kind,
            span,
        }
    }
}

impl PartialEq for Stmt {
    fn eq(&self, other: &Stmt) -> bool {
        self.kind == other.kind && self.span == other.span
    }
}

/// L-value: a scalar that can be assigned.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// A variable.
    Var(Var),
    /// A header's field by index. A write to an invalid header's field is retained, but the header stays invalid.
    Field(HeaderRef, u32),
}

/// Kind of a statement, with its operands.
#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    /// Stores a value of the l-value's type. Elaboration lowers assignments to slices to assignments of whole values.
    Assign {
        /// Target.
        dst: Place,
        /// Value.
        value: Expr,
    },
    /// Copies all fields and validity between headers of one type.
    CopyHeader {
        /// Target.
        dst: HeaderRef,
        /// Source.
        src: HeaderRef,
    },
    /// Makes a header valid; its fields stay.
    SetValid(HeaderRef),
    /// Makes a header invalid.
    SetInvalid(HeaderRef),
    /// Moves the elements of stacks up by a count; the first become invalid and zero. Stacks of a union's
    /// members move together; the next index they share is raised once, to the size at most.
    PushFront(Vec<Stack>, u32),
    /// Moves the elements of stacks down by a count; the last become invalid and zero. The next index is
    /// lowered once, to 0 at least.
    PopFront(Vec<Stack>, u32),
    /// Runs one of two blocks.
    If {
        /// Condition, of type `bool`.
        cond: Expr,
        /// Block for a true condition.
        then: Block,
        /// Block for a false condition.
        otherwise: Block,
    },
    /// Runs the block of the case with the operand's value, or `default`.
    Switch {
        /// Operand, of any scalar type except varbit.
        on: Expr,
        /// Distinct values (as bits; members by index, 32 wide) and blocks.
        cases: Vec<(Vec<Bits>, Block)>,
        /// Block for all other values.
        default: Block,
    },
    /// Atomic block: no other access to the state of its extern objects comes between its statements. Targets treat it
    /// as [`crate::atomic`] describes.
    Atomic(Block),
    /// A block that [`StmtKind::Break`] can leave.
    Labeled(Label, Block),
    /// A block that repeats until left by [`StmtKind::Break`]; [`StmtKind::Continue`] starts the next iteration.
    Loop(Label, Block),
    /// Leaves the labelled block or loop.
    Break(Label),
    /// Starts the next iteration of the loop.
    Continue(Label),
    /// Ends the routine; the caller copies out and continues. At the top of a pipeline block, ends that block.
    Return,
    /// Ends the running pipeline block; its callers copy out.
    Exit,
    /// Looks up a table and runs the action of the entry found, or the default action.
    Apply {
        /// The table.
        table: Table,
        /// Variable for the result of the look-up, `bool`: true if an entry was found.
        hit: Option<Var>,
        /// Variable for the index, in the table's list, of the action that ran; `bit<32>`.
        action: Option<Var>,
    },
    /// Tests whether a table's contents, entries and default action, are still of a generation, the number of changes
    /// before it. A target may answer `false` at any time. [`crate::passes::specialize`] makes these statements.
    IsCurrent {
        /// The table.
        table: Table,
        /// The generation.
        generation: u64,
        /// Variable for the answer; `bool`.
        current: Var,
    },
    /// Calls a routine with one argument for each parameter.
    Call(Routine, Vec<Arg>),
    /// Calls an extern.
    Extern(ExternCall),
    /// Reads a header from the packet and makes it valid. The errors are `PacketTooShort` if the packet has not enough
    /// bits, and `StackOutOfBounds` if the element does not exist. An error leaves the header unchanged. In parsers
    /// only.
    Extract {
        /// The header, valid or invalid before.
        header: HeaderRef,
        /// The size of its varbit field in bits (`bit<32>`), if it has one. The errors are `HeaderTooShort` if it
        /// exceeds the field's maximum, and `ParserInvalidArgument` if the header is not a multiple of 8 bits.
        varbit: Option<Expr>,
    },
    /// Reads as many bits as the l-value's type has, without moving the cursor; `PacketTooShort` if there are not
    /// enough. In parsers only.
    Lookahead {
        /// L-value that receives the bits.
        place: Place,
        /// Offset of the first bit after the cursor, in bits.
        skip: u32,
    },
    /// Moves the cursor forward by a number of bits (`bit<32>`); `PacketTooShort` if there are not enough,
    /// `ParserInvalidArgument` if not a multiple of 8. In parsers only.
    Advance(Expr),
    /// Moves the cursor forward, byte by byte, to the first match of a pattern. Without a match it stops at the first
    /// position from which the pattern exceeds the packet. Never rejects. In parsers only; [`crate::passes::search`]
    /// makes these statements.
    Search {
        /// The pattern.
        pattern: Pattern,
        /// Greatest number of bytes to pass (`bit<32>`).
        limit: Option<Expr>,
        /// Variable for the number of bytes passed; `bit<32>`.
        passed: Option<Var>,
    },
    /// Moves the cursor forward to the first byte at which an automaton stops, or to the packet's end. Never rejects.
    /// In parsers only; [`crate::passes::automaton`] makes these statements.
    Automaton {
        /// The automaton.
        automaton: Automaton,
        /// Index of its first state (`bit<16>`), less than the number of states.
        start: Expr,
        /// Greatest number of bytes to pass (`bit<32>`).
        limit: Option<Expr>,
        /// Variable for the index of the state in which it stopped; `bit<16>`.
        end: Var,
        /// Variable for the number of bytes passed; `bit<32>`.
        passed: Option<Var>,
    },
    /// Tests whether a number of bits is left after the cursor. In parsers only; [`crate::passes::rejects`] makes these
    /// statements.
    Fits {
        /// Number of bits (`bit<32>`).
        bits: Expr,
        /// Variable for the answer; `bool`.
        fits: Var,
    },
    /// Moves the cursor from attribute to attribute, while the tag is complete and in the table and the attribute is
    /// complete. Never rejects. In parsers only; [`crate::passes::skip_ahead`] makes these statements.
    SkipAhead {
        /// The sizes of attributes by tag.
        table: SkipTable,
        /// Variable set to true if it stopped at an attribute of the table that the packet truncates; `bool`.
        short: Var,
    },
    /// Stores the packet's length in bytes (`bit<32>`). In parsers only.
    PacketLength(Place),
    /// Rejects with an error unless the condition holds. In parsers only.
    Verify {
        /// Condition, of type `bool`.
        cond: Expr,
        /// Error, of type `error`.
        error: Expr,
    },
    /// Appends a header to the outgoing packet if it is valid. In deparsers only.
    Emit(HeaderRef),
    /// Entry point of a control, without an effect: parsers enter the control here by [`TransitionTarget::AcceptAt`].
    /// Only in the control after the parser, at its top or in branches of [`StmtKind::If`]. [`crate::passes::thread`]
    /// makes these statements.
    Entry(EntryPoint),
}

/// Bit pattern at an offset from the cursor, with a mask.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// The bits; zero where the mask is.
    pub value: Bits,
    /// Ones at the bits that must match; as wide as the value.
    pub mask: Bits,
    /// Offset of the first bit from the cursor, in bits.
    pub skip: u32,
}

impl Pattern {
    /// Returns the offset of the pattern's end from the cursor, in bits.
    pub fn end(&self) -> u32 {
        self.skip + self.value.width()
    }

    /// Returns true if these bits match, which were read `skip` bits after a position.
    pub fn matches(&self, bits: &Bits) -> bool {
        bits.value() & self.mask.value() == *self.value.value()
    }
}

/// An argument of a routine, one for each parameter. All arguments, and indices in l-values, are evaluated before the
/// first parameter is written. Results are copied out in order.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Arg {
    /// For an `in` variable.
    In(Expr),
    /// For an `out` variable; `None` discards the result.
    Out(Option<Place>),
    /// For an `inout` variable.
    InOut(Place),
    /// For a header of any direction; `None` discards an `out` header.
    Header(Option<HeaderRef>),
}

/// A call of an extern function or of a method of an extern object.
#[derive(Clone, PartialEq, Debug)]
pub struct ExternCall {
    /// The object; `None` for a function.
    pub object: Option<ExternInst>,
    /// The function's or method's name.
    pub name: SmolStr,
    /// Effect of the call, besides writes to its results and `out` arguments.
    pub effect: Effect,
    /// One argument for each parameter of the declaration.
    pub args: Vec<ExternArg>,
    /// L-values for the returned value, split into scalars; empty if there is none or it is unused.
    pub result: Vec<Place>,
}

/// Effect of an extern's call, besides writes to its results and `out` arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Effect {
    /// No effect, and the results depend on the arguments alone: it is declared `@pure`.
    None,
    /// It may read the payload, and read and change state outside of the program, such as a clock or a log. It neither
    /// reads nor changes the packet's parsed part or the architecture's variables: it is declared `@isolated`.
    Outside,
    /// It may read the packet as it arrived, and read and change state and the architecture's own variables.
    Any,
}

/// An argument of an extern. Structs and tuples, and headers given for a type parameter, are split into scalars in
/// order.
#[derive(Clone, PartialEq, Debug)]
pub enum ExternArg {
    /// Values.
    In(Vec<Expr>),
    /// L-values that are written.
    Out(Vec<Place>),
    /// L-values that are read and written.
    InOut(Vec<Place>),
    /// A header given for a parameter of header type that is only read.
    HeaderIn(HeaderRef),
    /// A header given for a parameter of header type that is written, and read if `inout`.
    HeaderOut(HeaderRef),
    /// A string.
    String(String),
    /// A member of an enum that the extern takes at compile time (`HashAlgorithm.crc32`).
    Member(Enum, u32),
    /// Another object.
    Object(ExternInst),
    /// Omitted, for an `@optional` parameter, or `_`.
    Absent,
}

/// Target of a parser's transition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TransitionTarget {
    /// To a state.
    State(State),
    /// The packet is accepted.
    Accept,
    /// The packet is accepted, and enters the following control at this point: nothing before it is to be done.
    AcceptAt(EntryPoint),
    /// The packet is rejected.
    Reject,
    /// The packet leaves the fast path: the full program processes it, from its first byte. Only in programs that
    /// [`crate::passes::fast_path`] made.
    Rare,
}

/// Transition at the end of a state.
#[derive(Clone, PartialEq, Debug)]
pub enum Transition {
    /// Unconditional.
    To(TransitionTarget),
    /// To the first case that matches; without one, to `reject` with `NoMatch`.
    Select {
        /// Keys.
        keys: Vec<Expr>,
        /// Cases, in order.
        cases: Vec<SelectCase>,
    },
}

/// A case of a select.
#[derive(Clone, PartialEq, Debug)]
pub struct SelectCase {
    /// Keysets that cover the keys from left to right: one key each, except for [`Keyset::ValueSet`], which covers as
    /// many as the set has fields.
    pub keysets: Vec<Keyset>,
    /// Target of the case.
    pub target: TransitionTarget,
    /// The case's source location.
    pub span: Span,
}

/// A set of values. Members of enums and errors are their index, 32 bits wide; `bool` is 1 bit.
#[derive(Clone, PartialEq, Debug)]
pub enum Keyset {
    /// All values.
    Any,
    /// One value.
    Value(Bits),
    /// Values that equal the first operand where the second, a mask, has ones.
    Mask(Bits, Bits),
    /// From the first to the second, both included, by the key's signedness.
    Range(Bits, Bits),
    /// The members that the control plane puts in the set.
    ValueSet(ValueSet),
}

/// Storage that a routine's parameter is bound to, and its direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Param {
    /// Copied in.
    In(Var),
    /// Copied out; zero at the start.
    Out(Var),
    /// Copied in and out.
    InOut(Var),
    /// Copied in.
    HeaderIn(Header),
    /// Copied out; invalid and zero at the start.
    HeaderOut(Header),
    /// Copied in and out.
    HeaderInOut(Header),
}

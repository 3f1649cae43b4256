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

/// A statement. Two are equal if they do the same and come from the same text, whatever their ids are.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Which one it is: no other of the program has the same id, and ids are below [`crate::Program::stmts`].
    /// [`crate::Program::number_stmts`] gives it; until then it is reserved.
    pub id: StmtId,
    /// What it does.
    pub kind: StmtKind,
    /// The source text it comes from.
    pub span: Span,
}

impl Stmt {
    /// A statement that has no id yet.
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

/// A scalar that can be assigned.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// A variable.
    Var(Var),
    /// A header's field by index. Writing to an invalid header's field is kept but changes no
    /// validity.
    Field(HeaderRef, u32),
}

/// What a statement does.
#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    /// Stores a value of the place's type. Slices of l-values were turned into whole values.
    Assign {
        /// Where.
        dst: Place,
        /// What.
        value: Expr,
    },
    /// Copies all fields and validity between headers of one type.
    CopyHeader {
        /// To.
        dst: HeaderRef,
        /// From.
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
        /// Of type `bool`.
        cond: Expr,
        /// If true.
        then: Block,
        /// If false.
        otherwise: Block,
    },
    /// Runs the block of the case that has the value, or `default`.
    Switch {
        /// Of any scalar type but varbit.
        on: Expr,
        /// Distinct values (as bits; members by index, 32 wide) and blocks.
        cases: Vec<(Vec<Bits>, Block)>,
        /// Where no case has the value.
        default: Block,
    },
    /// A block that nothing else that the extern objects in it keep state for comes between. Targets
    /// treat it as [`crate::atomic`] describes.
    Atomic(Block),
    /// A block that [`StmtKind::Break`] can leave.
    Labeled(Label, Block),
    /// A block that runs again and again until left by [`StmtKind::Break`];
    /// [`StmtKind::Continue`] starts it again.
    Loop(Label, Block),
    /// Leaves the labelled block or loop.
    Break(Label),
    /// Starts the loop's block again.
    Continue(Label),
    /// Ends the routine; the caller copies out and goes on. At the top of a block, ends the block.
    Return,
    /// Ends the pipeline block that runs; its callers copy out.
    Exit,
    /// Looks a table up and runs the action found.
    Apply {
        /// The table.
        table: Table,
        /// Set to whether an entry was found; `bool`.
        hit: Option<Var>,
        /// Set to the index, in the table's list, of the action that ran; `bit<32>`.
        action: Option<Var>,
    },
    /// Stores whether a table's contents, entries and default action, are still of a generation: as many changes of them
    /// came before it. A target may answer `false` at any time. [`crate::passes::specialize`] makes them.
    IsCurrent {
        /// The table.
        table: Table,
        /// The generation.
        generation: u64,
        /// Set to the answer; `bool`.
        current: Var,
    },
    /// Calls a routine with one argument a parameter.
    Call(Routine, Vec<Arg>),
    /// Calls an extern.
    Extern(ExternCall),
    /// Reads a header from the packet and makes it valid; `PacketTooShort` if it has not that many
    /// bits, `StackOutOfBounds` if the element does not exist; on an error the header stays as it
    /// was. In parsers only.
    Extract {
        /// The header; invalid or not before.
        header: HeaderRef,
        /// The size of its varbit field in bits (`bit<32>`), if it has one. More than the field
        /// holds is `HeaderTooShort`, not a multiple of 8 bits in all `ParserInvalidArgument`.
        varbit: Option<Expr>,
    },
    /// Reads as many bits as the place's type has without moving on; `PacketTooShort` if there are
    /// not enough. In parsers only.
    Lookahead {
        /// Where they are stored.
        place: Place,
        /// How many bits behind the cursor they begin.
        skip: u32,
    },
    /// Moves on by a number of bits (`bit<32>`); `PacketTooShort` if there are not enough,
    /// `ParserInvalidArgument` if not a multiple of 8. In parsers only.
    Advance(Expr),
    /// Moves on, byte by byte, to the first place where a pattern is; without one, to the first place where not all of its
    /// bits are left. Rejects nothing. In parsers only; [`crate::passes::search`] makes them.
    Search {
        /// What is looked for.
        pattern: Pattern,
        /// Stops after at most so many bytes (`bit<32>`).
        limit: Option<Expr>,
        /// Set to how many bytes were passed over; `bit<32>`.
        passed: Option<Var>,
    },
    /// Moves on to the first byte at which an automaton stops, or to the packet's end. Rejects nothing. In parsers only;
    /// [`crate::passes::automaton`] makes them.
    Automaton {
        /// The automaton.
        automaton: Automaton,
        /// The number of its first state (`bit<16>`), less than it has states.
        start: Expr,
        /// Stops after at most so many bytes (`bit<32>`).
        limit: Option<Expr>,
        /// Set to the number of the state that it stopped in; `bit<16>`.
        end: Var,
        /// Set to how many bytes were passed over; `bit<32>`.
        passed: Option<Var>,
    },
    /// Stores whether so many bits are left behind the cursor. In parsers only; [`crate::passes::rejects`] makes them.
    Fits {
        /// How many (`bit<32>`).
        bits: Expr,
        /// Set to the answer; `bool`.
        fits: Var,
    },
    /// Moves on from attribute to attribute as long as the tag is there and in the table and the attribute is there as a
    /// whole; never rejects. In parsers only; [`crate::passes::skip_ahead`] makes them.
    SkipAhead {
        /// The sizes of attributes by tag.
        table: SkipTable,
        /// Set to whether it stopped at an attribute of the table that the packet has not as a whole; `bool`.
        short: Var,
    },
    /// Stores the packet's length in bytes (`bit<32>`). In parsers only.
    PacketLength(Place),
    /// Rejects with an error unless the condition holds. In parsers only.
    Verify {
        /// Of type `bool`.
        cond: Expr,
        /// Of type error.
        error: Expr,
    },
    /// Appends a header to the outgoing packet if it is valid. In deparsers only.
    Emit(HeaderRef),
    /// Does nothing; parsers enter the control here by [`Target::AcceptAt`]. Only in the control that runs after the
    /// parser, at its top or in branches of [`StmtKind::If`]; [`crate::passes::thread`] makes them.
    Entry(EntryPoint),
}

/// Bits behind the cursor, some of which matter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// What they are. Those that do not matter are 0.
    pub value: Bits,
    /// Ones where they matter; as wide.
    pub mask: Bits,
    /// How many bits behind the cursor they begin.
    pub skip: u32,
}

impl Pattern {
    /// Where the last bit ends, in bits behind the cursor.
    pub fn end(&self) -> u32 {
        self.skip + self.value.width()
    }

    /// Whether so many bits, those that begin `skip` bits behind a place, are the pattern's there.
    pub fn matches(&self, bits: &Bits) -> bool {
        bits.value() & self.mask.value() == *self.value.value()
    }
}

/// An argument of a routine, one a parameter. All of them, indices in places too, are evaluated
/// before a parameter is written; results are copied out in order.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Arg {
    /// For an `in` variable.
    In(Expr),
    /// For an `out` variable; `None` drops the result.
    Out(Option<Place>),
    /// For an `inout` variable.
    InOut(Place),
    /// For a header of any direction; `None` drops an `out` header.
    Header(Option<HeaderRef>),
}

/// A call of an extern function or of a method of an extern object.
#[derive(Clone, PartialEq, Debug)]
pub struct ExternCall {
    /// The object; `None` for a function.
    pub object: Option<ExternInst>,
    /// The function's or method's name.
    pub name: SmolStr,
    /// What the call does besides writing its results and `out` arguments.
    pub effect: Effect,
    /// One argument a parameter of the declaration.
    pub args: Vec<ExternArg>,
    /// Where the returned value goes, split into scalars; empty if there is none or it is
    /// unused.
    pub result: Vec<Place>,
}

/// What a call of an extern does besides writing its results and `out` arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Effect {
    /// Nothing, and what it writes depends on its arguments alone: it is declared `@pure`.
    None,
    /// It may read and change what lies outside of the program, as a clock or a log, and read the payload, but neither what the parser took of the
    /// packet nor the architecture's variables: it is declared `@isolated`.
    Outside,
    /// It may read the packet as it came in, and read and change state and the architecture's own variables.
    Any,
}

/// An argument of an extern. Structs and tuples, and headers given for a type parameter, are taken
/// apart into scalars in order.
#[derive(Clone, PartialEq, Debug)]
pub enum ExternArg {
    /// Values.
    In(Vec<Expr>),
    /// Places that are written.
    Out(Vec<Place>),
    /// Places that are read and written.
    InOut(Vec<Place>),
    /// A header given for a parameter of header type that is only read.
    HeaderIn(HeaderRef),
    /// A header given for a parameter of header type that is written, and read if `inout`.
    HeaderOut(HeaderRef),
    /// A string.
    String(String),
    /// A member of an enum that the extern takes at compile time (`HashAlgorithm.crc32`).
    Member(Enum, u32),
    /// Left out for an `@optional` parameter, or `_`.
    Absent,
}

/// Where a parser goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// To a state.
    State(State),
    /// Parsing is done.
    Accept,
    /// Parsing is done, and the control that follows has nothing to do before this point of it.
    AcceptAt(EntryPoint),
    /// The packet is refused.
    Reject,
    /// The packet leaves the fast path: the full program takes it, from its first byte. Only in programs that
    /// [`crate::passes::fast_path`] made.
    Rare,
}

/// How a state ends.
#[derive(Clone, PartialEq, Debug)]
pub enum Transition {
    /// Always there.
    To(Target),
    /// By the first case that matches; without one, to `reject` with `NoMatch`.
    Select {
        /// What is looked at.
        keys: Vec<Expr>,
        /// In order.
        cases: Vec<SelectCase>,
    },
}

/// A case of a select.
#[derive(Clone, PartialEq, Debug)]
pub struct SelectCase {
    /// Keysets that cover the keys from left to right: one key each, but for
    /// [`Keyset::ValueSet`], which covers as many as the set has fields.
    pub keysets: Vec<Keyset>,
    /// Where it leads.
    pub target: Target,
    /// The case's source location.
    pub span: Span,
}

/// A set of values. Members of enums and errors are their index, 32 bits wide; `bool` is 1 bit.
#[derive(Clone, PartialEq, Debug)]
pub enum Keyset {
    /// Everything.
    Any,
    /// One value.
    Value(Bits),
    /// Those that agree with the value where the mask has ones.
    Mask(Bits, Bits),
    /// From the first to the second, both included, by the key's signedness.
    Range(Bits, Bits),
    /// The members that the control plane puts in the set.
    ValueSet(ValueSet),
}

/// What a parameter of a routine is bound to.
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

//! Expressions, calls and compile-time values.

use crate::*;
use diag::Span;
use num_bigint::BigInt;

/// A typed expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Kind of expression, with its operands.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Ty,
    /// Its location.
    pub span: Span,
}

/// A compile-time constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConstValue {
    /// `true`, `false`
    Bool(bool),
    /// An integer of the expression's type (`int`, `bit<w>`, `int<w>`, a `type` of these, or a
    /// serializable enum); for fixed widths already reduced to the type's range.
    Int(BigInt),
    /// A string.
    String(String),
    /// A member of `error`, by its index in [`Module::errors`].
    Error(u32),
    /// A member of an enum without representation, by its index.
    Enum(u32),
    /// A match kind, by its index in [`Module::match_kinds`].
    MatchKind(u32),
    /// The elements of a tuple, list or stack, or the fields of a struct or valid header in order.
    List(Vec<ConstValue>),
    /// `{#}`
    InvalidHeader,
}

/// Kind of an expression, with its operands.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A compile-time constant.
    Const(ConstValue),
    /// A variable, parameter, or constant that depends on constructor parameters.
    Local(LocalId),
    /// An instance: named, or a constructor call as an argument of another constructor.
    Instance(InstanceId),
    /// `this` in an abstract method's implementation.
    This,
    /// A field of a struct, header or union, by index.
    Field(Box<Expr>, u32),
    /// An element of a tuple, by constant index.
    TupleField(Box<Expr>, u32),
    /// `array[i]`; also an element of a header stack.
    StackIndex(Box<Expr>, Box<Expr>),
    /// `stack.next`, `stack.last` (elements), `stack.lastIndex`, `stack.nextIndex` (`bit<32>`).
    /// `stack.size` is a constant.
    StackProperty(Box<Expr>, StackProperty),
    /// `a[hi:lo]` with constant bounds.
    Slice {
        /// Value that is sliced; `bit<w>` or `int<w>`.
        base: Box<Expr>,
        /// Highest bit.
        hi: u32,
        /// Lowest bit.
        lo: u32,
    },
    /// `a[lo +: width]` with a base that is known at run time only. Bits beyond the value read as zero and are not
    /// written.
    PartSelect {
        /// Value that is sliced; `bit<w>` or `int<w>`.
        base: Box<Expr>,
        /// Lowest bit; `bit<w>`, or an `int` that depends on a constructor argument.
        lo: Box<Expr>,
        /// Number of bits.
        width: u32,
    },
    /// The value of the target of the surrounding [`StmtKind::Update`].
    Target,
    /// `h.isValid()` of a header or union.
    IsValid(Box<Expr>),
    /// Elements of a tuple, or fields of a struct or of a header, which is then valid, in order. The type says which it
    /// is.
    List(Vec<Expr>),
    /// `...` where a value of this type is expected: zero, false, first member, invalid header.
    Default,
    /// Prefix operator. The operand has the result's type.
    Unary(UnaryOp, Box<Expr>),
    /// Infix operators, at least one, applied from left to right.
    Chain(Box<Expr>, Vec<InfixOperation>),
    /// `c ? a : b`
    Mux(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Conversion to this expression's type: between bit and int of any widths, bool and `bit<1>`,
    /// serializable enums, `type`s, tuples to structs field by field, and headers.
    Cast(Box<Expr>),
    /// A call that returns a value.
    Call(Box<Call>),
    /// `t.apply().hit` or, if false, `.miss`.
    TableHit(TableId, bool),
}

/// An infix operator of a chain. Its left operand is the chain before it.
///
/// Both operands have the same type, except for concatenation and shifts. The right operand of a shift is unsigned of
/// any width, or `int`.
#[derive(Clone, Debug)]
pub struct InfixOperation {
    /// The operator.
    pub op: BinaryOp,
    /// Its right operand.
    pub right: Expr,
    /// The type of the result.
    pub ty: Ty,
    /// Location of the chain, up to and including the right operand.
    pub span: Span,
}

/// Property of a header stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StackProperty {
    /// The element after the last extracted.
    Next,
    /// The last extracted element.
    Last,
    /// The index of the last extracted element.
    LastIndex,
    /// The index of the next element (`bit<32>`).
    NextIndex,
}

/// A prefix operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// Negation, modulo the width.
    Neg,
    /// Complement of all bits.
    BitNot,
    /// `!`
    Not,
}

/// An infix operator. The operands' type gives the signedness.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Mul,
    Div,
    Mod,
    Add,
    Sub,
    SatAdd,
    SatSub,
    Shl,
    Shr,
    Le,
    Ge,
    Lt,
    Gt,
    Eq,
    Ne,
    BitAnd,
    BitXor,
    BitOr,
    Concat,
    And,
    Or,
}

/// A call of a function, method, action, parser, control, table or built-in method.
#[derive(Clone, Debug)]
pub struct Call {
    /// The entity that is called.
    pub callee: Callee,
    /// One argument per parameter.
    pub args: Args,
    /// Type of the result; [`Ty::Void`] if there is none.
    pub result: Ty,
    /// The whole call.
    pub span: Span,
}

/// The entity that a call names.
#[derive(Clone, Debug)]
pub enum Callee {
    /// A function with its type arguments.
    Function(FunctionId, Vec<Ty>),
    /// An extern function with its type arguments.
    ExternFunction(ExternFnId, Vec<Ty>),
    /// A method of an extern object.
    Method {
        /// The object: an instance, a parameter or `this`. Its type has the extern's arguments.
        object: Expr,
        /// Index of the method in the extern's declaration.
        method: u32,
        /// The method's own type arguments.
        type_args: Vec<Ty>,
    },
    /// An action, called directly.
    Action(ActionId),
    /// `p.apply(...)` of a parser instance or a constructor parameter.
    Parser(Expr),
    /// `c.apply(...)` of a control instance or a constructor parameter.
    Control(Expr),
    /// `t.apply();`
    Table(TableId),
    /// `h.setValid()`, on a header.
    SetValid(Expr),
    /// `h.setInvalid()`, on a header.
    SetInvalid(Expr),
    /// `s.push_front(n)`
    PushFront(Expr, u32),
    /// `s.pop_front(n)`
    PopFront(Expr, u32),
}

/// Arguments, in the callee's order: one per parameter.
#[derive(Clone, Default, Debug)]
pub struct Args {
    all: Vec<Arg>,
    /// Indices of the arguments written in the call, in source order.
    written: Vec<usize>,
}

impl Args {
    /// Returns arguments of which those at the indices `written` appear in the source, in this order.
    pub fn new(all: Vec<Arg>, written: Vec<usize>) -> Args {
        Args { all, written }
    }

    /// Returns the arguments written in the call, with their indices, from left to right. They are evaluated and copied
    /// back in this order (P4-16, section 6.8).
    pub fn as_written(&self) -> impl DoubleEndedIterator<Item = (usize, &Arg)> {
        self.written.iter().map(|&i| (i, &self.all[i]))
    }

    /// Returns all arguments, in the callee's order.
    pub fn into_vec(self) -> Vec<Arg> {
        self.all
    }
}

impl std::ops::Deref for Args {
    type Target = [Arg];

    fn deref(&self) -> &[Arg] {
        &self.all
    }
}

/// An argument, bound to its parameter.
#[derive(Clone, Debug)]
pub enum Arg {
    /// By value: `in`, directionless, constructor and control-plane parameters.
    In(Expr),
    /// By copy-out (`out`) to an l-value.
    Out(Expr),
    /// By copy-in and copy-out (`inout`).
    InOut(Expr),
    /// `_` for an `out` parameter of this type.
    Discard(Ty),
    /// Omitted, for an `@optional` parameter.
    Absent,
}

//! The syntax tree: the program as written, without its meaning.
//!
//! One node kind per grammar production (P4-16 1.2.5, appendix "P4 grammar"). Every node keeps its
//! span. A tree is complete even after errors: what could not be parsed is left out.

use diag::Span;
use num_bigint::BigInt;
use smol_str::SmolStr;

/// A name as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ident {
    /// The text.
    pub name: SmolStr,
    /// Its location.
    pub span: Span,
}

/// A whole program after preprocessing.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Declarations in order.
    pub decls: Vec<Decl>,
}

/// `@name` with an optional body.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// The name after `@` (`pragma` for `@pragma`).
    pub name: Ident,
    /// What follows.
    pub body: AnnotationBody,
    /// The whole annotation.
    pub span: Span,
}

/// The body of an annotation (specification section "Annotations").
#[derive(Clone, Debug)]
pub enum AnnotationBody {
    /// `@x`
    None,
    /// `@x(tokens)`: the tokens' texts; string literals keep their quotes.
    Unstructured(Vec<SmolStr>),
    /// `@x[e, e]`
    Exprs(Vec<Expr>),
    /// `@x[k = e, k = e]`
    Pairs(Vec<(Ident, Expr)>),
}

/// A declaration, at top level or local to a parser, control or block.
#[derive(Clone, Debug)]
pub struct Decl {
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// What it declares.
    pub kind: DeclKind,
    /// The whole declaration.
    pub span: Span,
}

/// What a declaration declares.
#[derive(Clone, Debug)]
pub enum DeclKind {
    /// `const T x = e;`
    Const {
        /// Its type.
        ty: Type,
        /// Its name.
        name: Ident,
        /// Its value.
        value: Expr,
    },
    /// `T x;` or `T x = e;`
    Var {
        /// Its type.
        ty: Type,
        /// Its name.
        name: Ident,
        /// The value it begins with.
        init: Option<Expr>,
    },
    /// `T(args) x;`, `T(args) x[n];` or `T(args) x = { members };`
    Instance {
        /// What it is an instance of.
        ty: Type,
        /// Constructor arguments.
        args: Vec<Arg>,
        /// Its name.
        name: Ident,
        /// `[n]` behind the name: an array of such instances.
        size: Option<Expr>,
        /// Abstract methods and inner instances, if given.
        body: Option<Vec<Decl>>,
    },
    /// `extern T f(params);`
    ExternFunction(Proto),
    /// `extern X<T> { methods }`
    Extern {
        /// Its name.
        name: Ident,
        /// `<T, U>`
        type_params: Vec<Ident>,
        /// Constructors and methods.
        methods: Vec<Method>,
    },
    /// `T f(params) { body }`
    Function {
        /// Name, parameters and result.
        proto: Proto,
        /// Its statements.
        body: Block,
    },
    /// `action a(params) { body }`
    Action {
        /// Its name.
        name: Ident,
        /// Parameters in order.
        params: Vec<Param>,
        /// Its statements.
        body: Block,
    },
    /// `parser p(params);` as a type, or `parser p(params)(ctor) { locals states }`.
    Parser {
        /// Name and parameters.
        head: Head,
        /// Locals and states; none for a type.
        body: Option<ParserBody>,
    },
    /// `control c(params);` as a type, or `control c(params)(ctor) { locals apply {} }`.
    Control {
        /// Name and parameters.
        head: Head,
        /// Locals and `apply`; none for a type.
        body: Option<ControlBody>,
    },
    /// `package p<T>(params);`
    Package {
        /// Its name.
        name: Ident,
        /// `<T, U>`
        type_params: Vec<Ident>,
        /// Parameters in order.
        params: Vec<Param>,
    },
    /// `struct`, `header` or `header_union`.
    Composite {
        /// Which of the three.
        kind: CompositeKind,
        /// Its name.
        name: Ident,
        /// `<T, U>`
        type_params: Vec<Ident>,
        /// Fields in order.
        fields: Vec<Field>,
    },
    /// `enum E { A, B }` or `enum bit<8> E { A = 1 }`
    Enum {
        /// The type of its values, if it is serializable.
        underlying: Option<Type>,
        /// Its name.
        name: Ident,
        /// Members in order.
        members: Vec<EnumMember>,
    },
    /// `error { A, B }`
    Error {
        /// Members in order.
        members: Vec<Ident>,
    },
    /// `match_kind { a, b }`
    MatchKind {
        /// Members in order.
        members: Vec<Ident>,
    },
    /// `typedef T x;`
    Typedef {
        /// What the name denotes.
        ty: Type,
        /// Its name.
        name: Ident,
    },
    /// `type T x;`
    NewType {
        /// What it is made from.
        ty: Type,
        /// Its name.
        name: Ident,
    },
    /// `table t { properties }`
    Table {
        /// Its name.
        name: Ident,
        /// Properties in order.
        properties: Vec<Property>,
    },
    /// `value_set<T>(size) s;`
    ValueSet {
        /// The type of its values.
        ty: Type,
        /// How many values it holds.
        size: Expr,
        /// Its name.
        name: Ident,
    },
}

/// The three kinds of field lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompositeKind {
    /// `struct`
    Struct,
    /// `header`
    Header,
    /// `header_union`
    Union,
}

/// A field of a struct, header or header union.
#[derive(Clone, Debug)]
pub struct Field {
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// Its type.
    pub ty: Type,
    /// Its name.
    pub name: Ident,
}

/// `NAME` or `NAME = value`.
#[derive(Clone, Debug)]
pub struct EnumMember {
    /// Its name.
    pub name: Ident,
    /// Its value, in serializable enums.
    pub value: Option<Expr>,
}

/// Name, parameters and constructor parameters of a parser or control.
#[derive(Clone, Debug)]
pub struct Head {
    /// Its name.
    pub name: Ident,
    /// `<T, U>`
    pub type_params: Vec<Ident>,
    /// Run-time parameters.
    pub params: Vec<Param>,
    /// Constructor parameters.
    pub ctor_params: Vec<Param>,
}

/// What comes in a parser's braces.
#[derive(Clone, Debug)]
pub struct ParserBody {
    /// Constants, variables, instances and value sets.
    pub locals: Vec<Decl>,
    /// States in order.
    pub states: Vec<State>,
}

/// What comes in a control's braces.
#[derive(Clone, Debug)]
pub struct ControlBody {
    /// Constants, variables, instances, actions and tables.
    pub locals: Vec<Decl>,
    /// The `apply` block.
    pub apply: Block,
}

/// A parser state.
#[derive(Clone, Debug)]
pub struct State {
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// Its name.
    pub name: Ident,
    /// Statements in order.
    pub body: Vec<Stmt>,
    /// Where it goes; without one, to `reject`.
    pub transition: Option<Transition>,
    /// The whole state.
    pub span: Span,
}

/// Where a parser state goes.
#[derive(Clone, Debug)]
pub enum Transition {
    /// `transition s;`
    To(Ident),
    /// `transition select(keys) { cases }`
    Select {
        /// The selector.
        keys: Vec<Expr>,
        /// Cases in order.
        cases: Vec<SelectCase>,
        /// The whole of it.
        span: Span,
    },
}

/// `keyset: state;`
#[derive(Clone, Debug)]
pub struct SelectCase {
    /// One element per key; a lone `default` or `_` stands for all. See [`ExprKind::DontCare`],
    /// [`ExprKind::Default`], [`ExprKind::Mask`] and [`ExprKind::Range`].
    pub keyset: Vec<Expr>,
    /// The state to go to.
    pub target: Ident,
    /// The whole case.
    pub span: Span,
}

/// A function's or method's name, type parameters, parameters and result.
#[derive(Clone, Debug)]
pub struct Proto {
    /// Its name.
    pub name: Ident,
    /// `<T, U>`
    pub type_params: Vec<Ident>,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// What it returns; [`TypeKind::Void`] for nothing. A constructor has none.
    pub result: Option<Type>,
}

/// A method of an extern object.
#[derive(Clone, Debug)]
pub struct Method {
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// `abstract`: to be supplied by the instance.
    pub is_abstract: bool,
    /// Its prototype; a constructor has the extern's name and no result.
    pub proto: Proto,
    /// The whole method.
    pub span: Span,
}

/// `in`, `out`, `inout` or nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// No direction: a compile-time or control-plane parameter.
    None,
    /// `in`
    In,
    /// `out`
    Out,
    /// `inout`
    InOut,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// Its direction.
    pub direction: Direction,
    /// Its type.
    pub ty: Type,
    /// Its name.
    pub name: Ident,
    /// The value it has when no argument is given.
    pub default: Option<Expr>,
    /// The whole parameter.
    pub span: Span,
}

/// An argument, by position or by name. `_` is [`ExprKind::DontCare`].
#[derive(Clone, Debug)]
pub struct Arg {
    /// `name =`
    pub name: Option<Ident>,
    /// Its value.
    pub value: Expr,
}

/// A type as written.
#[derive(Clone, Debug)]
pub struct Type {
    /// Its kind.
    pub kind: TypeKind,
    /// Its location.
    pub span: Span,
}

/// What a type is.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `bool`
    Bool,
    /// `error`
    Error,
    /// `match_kind`
    MatchKind,
    /// `string`
    String,
    /// `int`, of any size
    Int,
    /// `void`
    Void,
    /// `_` among type arguments
    DontCare,
    /// `bit<w>`, or `bit` with `None`
    Bit(Option<Box<Expr>>),
    /// `int<w>`
    SignedInt(Box<Expr>),
    /// `varbit<w>`
    Varbit(Box<Expr>),
    /// `X` or `.X`
    Name {
        /// Whether it has a leading dot: looked up at top level.
        global: bool,
        /// The name.
        name: Ident,
    },
    /// `X<A, B>`
    Specialized {
        /// The generic type; always a [`TypeKind::Name`].
        base: Box<Type>,
        /// The arguments.
        args: Vec<Type>,
    },
    /// `T[n]`
    Stack {
        /// The element.
        elem: Box<Type>,
        /// How many.
        size: Box<Expr>,
    },
    /// `tuple<A, B>`
    Tuple(Vec<Type>),
    /// `list<T>`
    List(Box<Type>),
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its kind.
    pub kind: ExprKind,
    /// Its location.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `5`, `8w5`, `4s0b101`: the value as written and, if given, width in bits and signedness.
    Int {
        /// The digits' value, never negative.
        value: BigInt,
        /// The prefix before `w` or `s`.
        width: Option<IntWidth>,
    },
    /// `true`, `false`
    Bool(bool),
    /// `"text"`, escapes resolved
    String(String),
    /// `x` or `.x`
    Name {
        /// Whether it has a leading dot: looked up at top level.
        global: bool,
        /// The name.
        name: Ident,
    },
    /// `this`
    This,
    /// A type in place of an expression: `error` in `error.X`, `E<T>` in `E<T>.A`. A plain `E` in
    /// `E.A` is an [`ExprKind::Name`], and the constructor call `C<T>(x)` is an [`ExprKind::Call`]
    /// with type arguments.
    Type(Box<Type>),
    /// `a.b`
    Member(Box<Expr>, Ident),
    /// `a[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `a[hi:lo]`
    Slice {
        /// What is sliced.
        base: Box<Expr>,
        /// Highest bit.
        hi: Box<Expr>,
        /// Lowest bit.
        lo: Box<Expr>,
    },
    /// `a[lo +: width]`
    PartSelect {
        /// What is sliced.
        base: Box<Expr>,
        /// Lowest bit.
        lo: Box<Expr>,
        /// How many bits.
        width: Box<Expr>,
    },
    /// `{a, b}` or `{a, ...}`; the dots are a last element [`ExprKind::Default`].
    List(Vec<Expr>),
    /// `{x = a, y = b}` or `{x = a, ...}`
    Struct {
        /// The named fields.
        fields: Vec<(Ident, Expr)>,
        /// Whether it ends with `...`.
        rest: bool,
    },
    /// `{#}`
    Invalid,
    /// `...`, or `default` in a keyset or switch label
    Default,
    /// `_`
    DontCare,
    /// `-a`, `!a`, `~a`, `+a`
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`, `a * b + c`: operators that apply from left to right, at least one. However many there
    /// are, the tree is no deeper for it.
    Chain(Box<Expr>, Vec<Link>),
    /// `c ? a : b`
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `(T) a`
    Cast(Box<Type>, Box<Expr>),
    /// `f<T>(args)`; a constructor call looks alike.
    Call {
        /// What is called.
        callee: Box<Expr>,
        /// Explicit type arguments.
        type_args: Vec<Type>,
        /// Arguments.
        args: Vec<Arg>,
    },
    /// `a &&& b`
    Mask(Box<Expr>, Box<Expr>),
    /// `a .. b`
    Range(Box<Expr>, Box<Expr>),
    /// `(a, b)` in a keyset with more than one element inside a larger keyset, or in `entries`.
    Tuple(Vec<Expr>),
}

/// An infix operator and its right operand.
#[derive(Clone, Debug)]
pub struct Link {
    /// The operator; what is on its left is all of the chain before it.
    pub op: BinaryOp,
    /// Its right operand.
    pub right: Expr,
    /// From the beginning of the chain to the end of `right`.
    pub span: Span,
}

/// Width and signedness before an integer literal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntWidth {
    /// Bits.
    pub bits: u32,
    /// `s` instead of `w`.
    pub signed: bool,
}

/// A prefix operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `+`
    Plus,
    /// `~`
    BitNot,
    /// `!`
    Not,
}

/// An infix operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOp {
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Mod,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `|+|`
    SatAdd,
    /// `|-|`
    SatSub,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `<=`
    Le,
    /// `>=`
    Ge,
    /// `<`
    Lt,
    /// `>`
    Gt,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `|`
    BitOr,
    /// `++`
    Concat,
    /// `&&`
    And,
    /// `||`
    Or,
}

/// `{ ... }`
#[derive(Clone, Debug)]
pub struct Block {
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// Statements and declarations in order.
    pub stmts: Vec<Stmt>,
    /// From brace to brace.
    pub span: Span,
}

/// A statement or a declaration among statements.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Annotations before an `if`, `switch`, `for`, assignment or call; those of a block or a
    /// declaration stand in the [`Block`] or [`Decl`].
    pub annotations: Vec<Annotation>,
    /// Its kind.
    pub kind: StmtKind,
    /// The whole statement.
    pub span: Span,
}

/// `if (c) s`, in a chain of `else if`.
#[derive(Clone, Debug)]
pub struct IfArm {
    /// The condition.
    pub cond: Expr,
    /// What is done if it is the first that holds.
    pub then: Stmt,
    /// From this `if` to the end of the chain.
    pub span: Span,
}

/// What a statement is.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `;`
    Empty,
    /// A constant, variable or instance.
    Decl(Box<Decl>),
    /// `a = b;` or, with an operator, `a += b;`
    Assign {
        /// What is assigned to.
        target: Expr,
        /// `+` in `+=`, and so on.
        op: Option<BinaryOp>,
        /// What is assigned.
        value: Expr,
    },
    /// `f(x);`, always an [`ExprKind::Call`], which is also how `C.apply(x)` on a type reads.
    Call(Expr),
    /// `if (c) s else if (c) s else s`
    If {
        /// The conditions in order, at least one.
        arms: Vec<IfArm>,
        /// What is done if none holds.
        otherwise: Option<Box<Stmt>>,
    },
    /// `{ ... }`
    Block(Block),
    /// `return;`, `return e;`
    Return(Option<Expr>),
    /// `exit;`
    Exit,
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `switch (e) { cases }`
    Switch {
        /// The selector.
        scrutinee: Expr,
        /// Cases in order.
        cases: Vec<SwitchCase>,
    },
    /// `for (init; cond; update) body`
    For {
        /// Done once before.
        init: Vec<Stmt>,
        /// Tested before each round.
        cond: Expr,
        /// Done after each round.
        update: Vec<Stmt>,
        /// A round.
        body: Box<Stmt>,
    },
    /// `for (T x in collection) body`
    ForIn {
        /// Those of the variable.
        annotations: Vec<Annotation>,
        /// The type of the variable.
        ty: Type,
        /// The variable.
        name: Ident,
        /// What it iterates over: a list, stack or [`ExprKind::Range`].
        collection: Expr,
        /// A round.
        body: Box<Stmt>,
    },
}

/// `label: { ... }`, or `label:` alone, which falls through to the next with a block.
#[derive(Clone, Debug)]
pub struct SwitchCase {
    /// An expression, or [`ExprKind::Default`].
    pub label: Expr,
    /// The block.
    pub body: Option<Block>,
    /// The whole case.
    pub span: Span,
}

/// A property of a table.
#[derive(Clone, Debug)]
pub struct Property {
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// `const` before it.
    pub is_const: bool,
    /// Its name (`key`, `actions`, `entries`, `default_action`, `size`, or one of the target's).
    pub name: Ident,
    /// Its value.
    pub value: PropertyValue,
    /// The whole property.
    pub span: Span,
}

/// The value of a table property.
#[derive(Clone, Debug)]
pub enum PropertyValue {
    /// `key = { e : kind @ann; ... }`
    Key(Vec<KeyElement>),
    /// `actions = { @ann a(args); ... }`
    Actions(Vec<ActionRef>),
    /// `entries = { keyset : action(args) @ann; ... }`
    Entries(Vec<Entry>),
    /// `name = e;` (an initializer `{...}` of declarations is not used by any known target)
    Expr(Expr),
}

/// `e : match_kind @ann;`
#[derive(Clone, Debug)]
pub struct KeyElement {
    /// What is matched.
    pub expr: Expr,
    /// How.
    pub match_kind: Ident,
    /// Annotations after it.
    pub annotations: Vec<Annotation>,
    /// The whole element.
    pub span: Span,
}

/// `@ann a` or `@ann a(args)` in an action list.
#[derive(Clone, Debug)]
pub struct ActionRef {
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// A leading dot.
    pub global: bool,
    /// The action.
    pub name: Ident,
    /// Arguments for its directional parameters.
    pub args: Vec<Arg>,
    /// The whole reference.
    pub span: Span,
}

/// `const priority=n: keyset : action(args) @ann;`
#[derive(Clone, Debug)]
pub struct Entry {
    /// `const` before it.
    pub is_const: bool,
    /// `priority = e :`
    pub priority: Option<Expr>,
    /// One element per key field.
    pub keyset: Vec<Expr>,
    /// The action and its arguments.
    pub action: ActionRef,
    /// Annotations after it.
    pub annotations: Vec<Annotation>,
    /// The whole entry.
    pub span: Span,
}

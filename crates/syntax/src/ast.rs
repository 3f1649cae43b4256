//! The syntax tree: the program as written, without its meaning.
//!
//! One node kind for each grammar production (P4-16 1.2.5, appendix "P4 grammar"). Every node keeps its span. After
//! errors the tree is still well-formed: text that could not be parsed is left out.

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
    /// Body after the name.
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
    /// Kind of the declaration, with its parts.
    pub kind: DeclKind,
    /// The whole declaration.
    pub span: Span,
}

/// Kind of a declaration, with its parts.
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
        /// Initial value.
        init: Option<Expr>,
    },
    /// `T(args) x;`, `T(args) x[n];` or `T(args) x = { members };`
    Instance {
        /// Type of the instance.
        ty: Type,
        /// Constructor arguments.
        args: Vec<Arg>,
        /// Its name.
        name: Ident,
        /// `[n]` after the name: an array of such instances.
        size: Option<Expr>,
        /// Abstract methods and inner instances in braces, if given.
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
        /// Kind of composite: one of the three.
        kind: CompositeKind,
        /// Its name.
        name: Ident,
        /// `<T, U>`
        type_params: Vec<Ident>,
        /// Fields in order.
        fields: Vec<FieldDecl>,
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
        /// Type that the name denotes.
        ty: Type,
        /// Its name.
        name: Ident,
    },
    /// `type T x;`
    NewType {
        /// Type that represents its values.
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
        /// Number of values that it holds.
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
pub struct FieldDecl {
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

/// Contents of a parser's braces.
#[derive(Clone, Debug)]
pub struct ParserBody {
    /// Constants, variables, instances and value sets.
    pub locals: Vec<Decl>,
    /// States in order.
    pub states: Vec<ParserState>,
}

/// Contents of a control's braces.
#[derive(Clone, Debug)]
pub struct ControlBody {
    /// Constants, variables, instances, actions and tables.
    pub locals: Vec<Decl>,
    /// The `apply` block.
    pub apply: Block,
}

/// A parser state.
#[derive(Clone, Debug)]
pub struct ParserState {
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// Its name.
    pub name: Ident,
    /// Statements in order.
    pub body: Vec<Stmt>,
    /// Transition; a state without one goes to `reject`.
    pub transition: Option<Transition>,
    /// The whole state.
    pub span: Span,
}

/// Transition out of a parser state.
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
    /// One element for each key; a lone `default` or `_` stands for all. See [`ExprKind::DontCare`],
    /// [`ExprKind::Default`], [`ExprKind::Mask`] and [`ExprKind::Range`].
    pub keyset: Vec<Expr>,
    /// Name of the next state.
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
    /// Result type; [`TypeKind::Void`] for no result. A constructor has none.
    pub result: Option<Type>,
}

/// A method of an extern object.
#[derive(Clone, Debug)]
pub struct Method {
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// True for `abstract`: an instance must supply the method.
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
    /// Default value, used if no argument is given.
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

/// Kind of a type, with its parts.
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
        /// True if it has a leading dot: it is looked up at top level.
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
        /// Number of elements.
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

/// Kind of an expression, with its parts.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `5`, `8w5`, `4s0b101`: the value and, if given, width in bits and signedness.
    Int {
        /// The digits' value, never negative.
        value: BigInt,
        /// Width and signedness before the digits.
        width: Option<IntWidth>,
    },
    /// `true`, `false`
    Bool(bool),
    /// `"text"`, escapes resolved
    String(String),
    /// `x` or `.x`
    Name {
        /// True if it has a leading dot: it is looked up at top level.
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
        /// Value that is sliced.
        base: Box<Expr>,
        /// Highest bit.
        hi: Box<Expr>,
        /// Lowest bit.
        lo: Box<Expr>,
    },
    /// `a[lo +: width]`
    PartSelect {
        /// Value that is sliced.
        base: Box<Expr>,
        /// Lowest bit.
        lo: Box<Expr>,
        /// Number of bits.
        width: Box<Expr>,
    },
    /// `{a, b}` or `{a, ...}`; the dots are a last element [`ExprKind::Default`].
    List(Vec<Expr>),
    /// `{x = a, y = b}` or `{x = a, ...}`
    Struct {
        /// The named fields.
        fields: Vec<(Ident, Expr)>,
        /// True if it ends with `...`.
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
    /// `a + b`, `a * b + c`: at least one operator, applied from left to right. The depth of the tree does not grow
    /// with the number of operators.
    Chain(Box<Expr>, Vec<Link>),
    /// `c ? a : b`
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `(T) a`
    Cast(Box<Type>, Box<Expr>),
    /// `f<T>(args)`; a constructor call looks alike.
    Call {
        /// Callee.
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
    /// Operator, whose left operand is the whole chain before it.
    pub op: BinaryOp,
    /// Its right operand.
    pub right: Expr,
    /// From the beginning of the chain to the end of `right`.
    pub span: Span,
}

/// Width and signedness before an integer literal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntWidth {
    /// Number of bits.
    pub bits: u32,
    /// True for `s`, false for `w`.
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
    /// Annotations before an `if`, `switch`, `for`, assignment or call. Those of a block or a declaration are in the
    /// [`Block`] or [`Decl`].
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
    /// Statement to execute if its condition is the first that holds.
    pub then: Stmt,
    /// From this `if` to the end of the chain.
    pub span: Span,
}

/// Kind of a statement, with its parts.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `;`
    Empty,
    /// A constant, variable or instance.
    Decl(Box<Decl>),
    /// `a = b;` or, with an operator, `a += b;`
    Assign {
        /// L-value that is assigned.
        target: Expr,
        /// `+` in `+=`, and so on.
        op: Option<BinaryOp>,
        /// Value on the right.
        value: Expr,
    },
    /// `f(x);`, always an [`ExprKind::Call`]. `C.apply(x)` on a type is parsed as one too.
    Call(Expr),
    /// `if (c) s else if (c) s else s`
    If {
        /// The conditions in order, at least one.
        arms: Vec<IfArm>,
        /// Statement to execute if no condition holds.
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
        /// Statements executed once before the loop.
        init: Vec<Stmt>,
        /// Condition tested before each iteration.
        cond: Expr,
        /// Statements executed after each iteration.
        update: Vec<Stmt>,
        /// Body of an iteration.
        body: Box<Stmt>,
    },
    /// `for (T x in collection) body`
    ForIn {
        /// Annotations of the variable.
        annotations: Vec<Annotation>,
        /// Type of the variable.
        ty: Type,
        /// Name of the variable.
        name: Ident,
        /// Collection to iterate over: a list, stack or [`ExprKind::Range`].
        collection: Expr,
        /// Body of an iteration.
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
    /// True with `const` before it.
    pub is_const: bool,
    /// Name of the property (`key`, `actions`, `entries`, `default_action`, `size`, or one of the target's).
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
    /// Expression that is matched.
    pub expr: Expr,
    /// Match kind.
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
    /// True if the name has a leading dot.
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
    /// True with `const` before it.
    pub is_const: bool,
    /// `priority = e :`
    pub priority: Option<Expr>,
    /// One element for each key.
    pub keyset: Vec<Expr>,
    /// The action and its arguments.
    pub action: ActionRef,
    /// Annotations after it.
    pub annotations: Vec<Annotation>,
    /// The whole entry.
    pub span: Span,
}

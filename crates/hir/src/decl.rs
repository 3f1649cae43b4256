//! Declarations and the module that holds them.

use crate::*;
use cranelift_entity::PrimaryMap;
use diag::Span;
use num_bigint::BigInt;
use smol_str::SmolStr;

/// A whole checked program.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Structs, headers, header unions.
    pub composites: PrimaryMap<CompositeId, Composite>,
    /// Enums.
    pub enums: PrimaryMap<EnumId, Enum>,
    /// `type` declarations.
    pub new_types: PrimaryMap<NewTypeId, NewType>,
    /// Type parameters.
    pub type_params: PrimaryMap<TypeParamId, TypeParam>,
    /// Extern objects.
    pub externs: PrimaryMap<ExternId, Extern>,
    /// Extern functions.
    pub extern_functions: PrimaryMap<ExternFnId, Prototype>,
    /// Functions, and implementations of abstract methods.
    pub functions: PrimaryMap<FunctionId, Function>,
    /// Actions, of the top level and of controls.
    pub actions: PrimaryMap<ActionId, Action>,
    /// Parsers and parser types.
    pub parsers: PrimaryMap<ParserId, Parser>,
    /// Controls and control types.
    pub controls: PrimaryMap<ControlId, Control>,
    /// Packages.
    pub packages: PrimaryMap<PackageId, Package>,
    /// Tables.
    pub tables: PrimaryMap<TableId, Table>,
    /// Value sets.
    pub value_sets: PrimaryMap<ValueSetId, ValueSet>,
    /// Instances.
    pub instances: PrimaryMap<InstanceId, Instance>,
    /// Variables, parameters and constructor-dependent constants.
    pub locals: PrimaryMap<LocalId, Local>,
    /// Members of `error`, in order of declaration.
    pub errors: Vec<SmolStr>,
    /// Members of `match_kind`, in order of declaration.
    pub match_kinds: Vec<SmolStr>,
    /// Instances at top level, in order.
    pub top_level: Vec<InstanceId>,
    /// Value sets of the top level, which all parsers share.
    pub shared_sets: Vec<ValueSetId>,
    /// The instance named `main`, if there is one.
    pub main: Option<InstanceId>,
    /// Constants of the top level that are integers: names, values, where their values are written. All are folded where
    /// they are used; an architecture may ask what a program says of itself.
    pub numbers: Vec<(SmolStr, BigInt, Span)>,
}

/// A checked annotation.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// The name after `@`.
    pub name: SmolStr,
    /// What follows.
    pub body: AnnotationBody,
    /// The whole annotation.
    pub span: Span,
}

/// An annotation's body.
#[derive(Clone, Debug)]
pub enum AnnotationBody {
    /// Nothing.
    None,
    /// Tokens; a lone string literal is given without its quotes as [`AnnotationBody::Values`].
    Tokens(Vec<SmolStr>),
    /// `[a, b]`, or a lone string or number in parentheses.
    Values(Vec<ConstValue>),
    /// `[k = a]`
    Pairs(Vec<(SmolStr, ConstValue)>),
}

/// A type parameter.
#[derive(Clone, Debug)]
pub struct TypeParam {
    /// Its name.
    pub name: SmolStr,
}

/// Struct, header or union.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompositeKind {
    /// `struct`
    Struct,
    /// `header`
    Header,
    /// `header_union`
    Union,
}

/// A struct, header or header union.
#[derive(Clone, Debug)]
pub struct Composite {
    /// Which.
    pub kind: CompositeKind,
    /// Its name.
    pub name: SmolStr,
    /// Its type parameters.
    pub type_params: Vec<TypeParamId>,
    /// Its fields.
    pub fields: Vec<Field>,
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub span: Span,
}

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: SmolStr,
    /// Its type.
    pub ty: Ty,
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub span: Span,
}

/// An enum.
#[derive(Clone, Debug)]
pub struct Enum {
    /// Its name.
    pub name: SmolStr,
    /// What represents it, in serializable enums: `bit<w>` or `int<w>`.
    pub underlying: Option<Ty>,
    /// Names and, in serializable enums, values ([`ConstValue::Int`]).
    pub members: Vec<(SmolStr, Option<ConstValue>)>,
}

/// A `type` declaration.
#[derive(Clone, Debug)]
pub struct NewType {
    /// Its name.
    pub name: SmolStr,
    /// What it is made of.
    pub ty: Ty,
    /// Annotations (`@p4runtime_translation` and alike).
    pub annotations: Vec<Annotation>,
}

/// A direction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// None: compile-time or control-plane.
    None,
    /// `in`
    In,
    /// `out`
    Out,
    /// `inout`
    InOut,
}

/// A variable, parameter or constructor-dependent constant.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name.
    pub name: SmolStr,
    /// Its type.
    pub ty: Ty,
    /// What it is.
    pub kind: LocalKind,
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub span: Span,
}

/// What a local is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LocalKind {
    /// A run-time parameter.
    Param(Direction),
    /// A constructor parameter.
    CtorParam,
    /// A variable.
    Var,
    /// A constant that depends on constructor parameters.
    Const,
}

/// A function's signature.
#[derive(Clone, Debug)]
pub struct Prototype {
    /// Its name.
    pub name: SmolStr,
    /// Its type parameters.
    pub type_params: Vec<TypeParamId>,
    /// Its parameters.
    pub params: Vec<LocalId>,
    /// Parameters that `@optional` allows to be left out.
    pub optional: Vec<bool>,
    /// What it returns.
    pub result: Ty,
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub span: Span,
}

/// An extern object.
#[derive(Clone, Debug)]
pub struct Extern {
    /// Its name.
    pub name: SmolStr,
    /// Its type parameters.
    pub type_params: Vec<TypeParamId>,
    /// Its constructors: prototypes with a [`Ty::Void`] result.
    pub constructors: Vec<Prototype>,
    /// Its methods.
    pub methods: Vec<ExternMethod>,
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub span: Span,
}

/// A method of an extern object.
#[derive(Clone, Debug)]
pub struct ExternMethod {
    /// Its signature.
    pub proto: Prototype,
    /// Whether instances supply it.
    pub is_abstract: bool,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its signature.
    pub proto: Prototype,
    /// Its body.
    pub body: Block,
}

/// An action.
#[derive(Clone, Debug)]
pub struct Action {
    /// Its name.
    pub name: SmolStr,
    /// Its parameters; those without direction come last and from the control plane.
    pub params: Vec<LocalId>,
    /// Its body.
    pub body: Block,
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub span: Span,
}

/// A parser, or with no states a parser type.
#[derive(Clone, Debug)]
pub struct Parser {
    /// Its name.
    pub name: SmolStr,
    /// Its type parameters.
    pub type_params: Vec<TypeParamId>,
    /// Its parameters.
    pub params: Vec<LocalId>,
    /// Its constructor parameters.
    pub ctor_params: Vec<LocalId>,
    /// What it consists of; `None` for a parser type.
    pub body: Option<ParserBody>,
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub span: Span,
}

/// A parser's insides.
#[derive(Clone, Debug)]
pub struct ParserBody {
    /// Variables, instances and value sets in order.
    pub locals: Vec<BodyDecl>,
    /// Its states without `accept` and `reject`.
    pub states: PrimaryMap<StateId, State>,
    /// The state `start`.
    pub start: StateId,
}

/// A local declaration of a parser or control.
#[derive(Clone, Debug)]
pub enum BodyDecl {
    /// A variable or constructor-dependent constant; its initial value is assigned each time the
    /// parser or control is applied.
    Local(LocalId, Option<Expr>),
    /// An instance.
    Instance(InstanceId),
    /// A value set.
    ValueSet(ValueSetId),
    /// An action.
    Action(ActionId),
    /// A table.
    Table(TableId),
}

/// A parser state.
#[derive(Clone, Debug)]
pub struct State {
    /// Its name.
    pub name: SmolStr,
    /// Its statements.
    pub body: Block,
    /// Where it goes.
    pub transition: Transition,
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub span: Span,
}

/// A state to go to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// A state.
    State(StateId),
    /// `accept`
    Accept,
    /// `reject`
    Reject,
}

/// Where a state goes. Without a matching case a select goes to `reject` with `error.NoMatch`.
#[derive(Clone, Debug)]
pub enum Transition {
    /// Always there.
    To(Target, Span),
    /// By the first case that matches.
    Select {
        /// Scalar keys (structs and tuples are split).
        keys: Vec<Expr>,
        /// One keyset element a key.
        cases: Vec<(Vec<Keyset>, Target, Span)>,
        /// The select expression.
        span: Span,
    },
}

/// An element of a keyset. Expressions have the key's type. In entries of tables they are compile-time constants,
/// though perhaps only once constructor parameters are; a `select` may compare with what is known at run time only.
#[derive(Clone, Debug)]
pub enum Keyset {
    /// `_` or `default`
    Any,
    /// One value.
    Value(Expr),
    /// `value &&& mask`
    Mask(Expr, Expr),
    /// `lo .. hi`, both ends included
    Range(Expr, Expr),
    /// The members of a value set. If its elements are structs, one field per key: the second is
    /// the field's index.
    ValueSet(ValueSetId, u32),
}

/// A value set.
#[derive(Clone, Debug)]
pub struct ValueSet {
    /// Its name.
    pub name: SmolStr,
    /// Its elements' type.
    pub elem: Ty,
    /// How many it may hold.
    pub size: Expr,
    /// Annotations before it (`@match` stands on the fields of its type).
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub span: Span,
}

/// A control, or with no body a control type.
#[derive(Clone, Debug)]
pub struct Control {
    /// Its name.
    pub name: SmolStr,
    /// Its type parameters.
    pub type_params: Vec<TypeParamId>,
    /// Its parameters.
    pub params: Vec<LocalId>,
    /// Its constructor parameters.
    pub ctor_params: Vec<LocalId>,
    /// What it consists of; `None` for a control type.
    pub body: Option<ControlBody>,
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub span: Span,
}

/// A control's insides.
#[derive(Clone, Debug)]
pub struct ControlBody {
    /// Variables, instances, actions and tables in order.
    pub locals: Vec<BodyDecl>,
    /// The `apply` block.
    pub apply: Block,
}

/// A package.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its name.
    pub name: SmolStr,
    /// Its type parameters.
    pub type_params: Vec<TypeParamId>,
    /// Its constructor parameters.
    pub params: Vec<LocalId>,
    /// The location of its name.
    pub span: Span,
}

/// An instance of an extern, parser, control or package.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Its name; empty for a constructor call as an argument.
    pub name: SmolStr,
    /// What it is an instance of, with type arguments.
    pub ty: Ty,
    /// How many there are, if it is an array of externs: `ty` is then that of each.
    pub count: Option<u32>,
    /// Which constructor, for externs: index into [`Extern::constructors`].
    pub constructor: u32,
    /// One argument per constructor parameter ([`Arg::In`] or [`Arg::Absent`]).
    pub args: Vec<Arg>,
    /// Implementations of abstract methods: method index and function. They may use locals of
    /// their scope.
    pub implementations: Vec<(u32, FunctionId)>,
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub span: Span,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name.
    pub name: SmolStr,
    /// Its key.
    pub keys: Vec<KeyElement>,
    /// Its actions.
    pub actions: Vec<ActionRef>,
    /// Its default action; `NoAction` of core.p4 where none is declared.
    pub default_action: Option<ActionCall>,
    /// Whether the default action is `const`.
    pub const_default: bool,
    /// Its entries.
    pub entries: Vec<Entry>,
    /// Whether the entries are `const`: the control plane may add none.
    pub const_entries: bool,
    /// Its size, where declared.
    pub size: Option<Expr>,
    /// Other properties, in order: name, value, whether `const`.
    pub properties: Vec<(SmolStr, Expr, bool)>,
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub span: Span,
}

/// An element of a key.
#[derive(Clone, Debug)]
pub struct KeyElement {
    /// What is matched; a scalar.
    pub expr: Expr,
    /// How: an index into [`Module::match_kinds`].
    pub match_kind: u32,
    /// Its control-plane name: `@name`, or the expression as written.
    pub name: SmolStr,
    /// Annotations after it.
    pub annotations: Vec<Annotation>,
    /// The whole element.
    pub span: Span,
}

/// An action in a table's list.
#[derive(Clone, Debug)]
pub struct ActionRef {
    /// The action.
    pub action: ActionId,
    /// Arguments for its directional parameters, which come first.
    pub args: Args,
    /// `@defaultonly`, `@tableonly` and others.
    pub annotations: Vec<Annotation>,
    /// The whole reference.
    pub span: Span,
}

/// An action with control-plane arguments.
#[derive(Clone, Debug)]
pub struct ActionCall {
    /// Which of the table's [`ActionRef`]s.
    pub action: u32,
    /// Values for its directionless parameters, compile-time constants.
    pub args: Vec<Expr>,
    /// The whole call.
    pub span: Span,
}

/// An entry written in the program.
#[derive(Clone, Debug)]
pub struct Entry {
    /// `const` before it, or of all entries.
    pub is_const: bool,
    /// Its priority, where written; larger wins unless `largest_priority_wins = false`.
    pub priority: Option<Expr>,
    /// One keyset element a key.
    pub keyset: Vec<Keyset>,
    /// What it does.
    pub action: ActionCall,
    /// The whole entry.
    pub span: Span,
}

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
    /// Integer constants of the top level: name, value, location of the value. Their uses are already folded; an
    /// architecture may look up settings of a program here.
    pub numbers: Vec<(SmolStr, BigInt, Span)>,
}

/// A checked annotation.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// The name after `@`.
    pub name: SmolStr,
    /// The part after the name.
    pub body: AnnotationBody,
    /// The whole annotation.
    pub span: Span,
}

/// An annotation's body.
#[derive(Clone, Debug)]
pub enum AnnotationBody {
    /// Nothing.
    None,
    /// Tokens, except a lone string literal: that is an [`AnnotationBody::Values`], without its quotes.
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
    /// Kind of declaration.
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
    /// Underlying type of a serializable enum: `bit<w>` or `int<w>`.
    pub underlying: Option<Ty>,
    /// Names and, in serializable enums, values ([`ConstValue::Int`]).
    pub members: Vec<(SmolStr, Option<ConstValue>)>,
}

/// A `type` declaration.
#[derive(Clone, Debug)]
pub struct NewType {
    /// Its name.
    pub name: SmolStr,
    /// Underlying type.
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
    /// Kind of local.
    pub kind: LocalKind,
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub span: Span,
}

/// Kind of a local.
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
    /// Type of the returned value.
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
    /// True if instances implement it.
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
    /// Its parameters. Those without direction come last; the control plane supplies them.
    pub params: Vec<LocalId>,
    /// Its body.
    pub body: Block,
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub span: Span,
}

/// A parser; a parser type if it has no body.
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
    /// Local declarations and states; `None` for a parser type.
    pub body: Option<ParserBody>,
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub span: Span,
}

/// Local declarations and states of a parser.
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
    /// Transition to the next state.
    pub transition: Transition,
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub span: Span,
}

/// Target of a transition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransitionTarget {
    /// A state.
    State(StateId),
    /// `accept`
    Accept,
    /// `reject`
    Reject,
}

/// Transition at the end of a state. A select without a matching case goes to `reject` with `error.NoMatch`.
#[derive(Clone, Debug)]
pub enum Transition {
    /// Unconditional.
    To(TransitionTarget, Span),
    /// To the target of the first matching case.
    Select {
        /// Scalar keys (structs and tuples are split).
        keys: Vec<Expr>,
        /// Cases: one keyset element for each key, the target, and the location.
        cases: Vec<(Vec<Keyset>, TransitionTarget, Span)>,
        /// The select expression.
        span: Span,
    },
}

/// An element of a keyset. Expressions have the key's type. In table entries they are compile-time constants, perhaps
/// only once constructor parameters are known; in a `select` they may be run-time values.
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
    /// The members of a value set. If its elements are structs, each key matches one field; the second component is the
    /// field's index.
    ValueSet(ValueSetId, u32),
}

/// A value set.
#[derive(Clone, Debug)]
pub struct ValueSet {
    /// Its name.
    pub name: SmolStr,
    /// Its elements' type.
    pub elem: Ty,
    /// Greatest number of members.
    pub size: Expr,
    /// Annotations before it (`@match` stands on the fields of its type).
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub span: Span,
}

/// A control; a control type if it has no body.
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
    /// Local declarations and `apply` block; `None` for a control type.
    pub body: Option<ControlBody>,
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub span: Span,
}

/// Local declarations and `apply` block of a control.
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
    /// Type of the instance, with type arguments.
    pub ty: Ty,
    /// Number of elements of an array of externs; `ty` is then the type of one element.
    pub count: Option<u32>,
    /// Index of an extern's constructor in [`Extern::constructors`].
    pub constructor: u32,
    /// One argument per constructor parameter ([`Arg::In`] or [`Arg::Absent`]).
    pub args: Vec<Arg>,
    /// Implementations of abstract methods: method index and function. They may use locals of their scope.
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
    /// True if the default action is `const`.
    pub const_default: bool,
    /// Its entries.
    pub entries: Vec<Entry>,
    /// True if the entries are `const`, so that the control plane may add none.
    pub const_entries: bool,
    /// Its size, where declared.
    pub size: Option<Expr>,
    /// Other properties, in order: name, value, and true if `const`.
    pub properties: Vec<(SmolStr, Expr, bool)>,
    /// Annotations before it.
    pub annotations: Vec<Annotation>,
    /// The location of its name.
    pub span: Span,
}

/// An element of a key.
#[derive(Clone, Debug)]
pub struct KeyElement {
    /// Expression that is matched, a scalar.
    pub expr: Expr,
    /// Match kind: an index into [`Module::match_kinds`].
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
    /// Index of the action in the table's list of [`ActionRef`]s.
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
    /// One keyset element for each key.
    pub keyset: Vec<Keyset>,
    /// Action that it runs.
    pub action: ActionCall,
    /// The whole entry.
    pub span: Span,
}

//! Types.

use cranelift_entity::entity_impl;
use std::rc::Rc;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);
        entity_impl!($name, $prefix);
    )*};
}

ids! {
    /// A struct, header or header union declaration.
    CompositeId "composite";
    /// An enum declaration, serializable or not.
    EnumId "enum";
    /// A `type` declaration.
    NewTypeId "newtype";
    /// A type parameter of any generic declaration.
    TypeParamId "typaram";
    /// An extern object declaration.
    ExternId "extern";
    /// An extern function declaration.
    ExternFnId "externfn";
    /// A function with a body.
    FunctionId "function";
    /// An action.
    ActionId "action";
    /// A parser or parser type.
    ParserId "parser";
    /// A control or control type.
    ControlId "control";
    /// A package.
    PackageId "package";
    /// A table.
    TableId "table";
    /// A value set.
    ValueSetId "valueset";
    /// A named or anonymous instance of an extern, parser, control or package.
    InstanceId "instance";
    /// A variable, a parameter of any kind, or a constant that depends on constructor parameters.
    LocalId "local";
    /// A parser state.
    StateId "state";
}

/// Greatest number of elements of a header stack, on every target.
pub const MAX_STACK_SIZE: u32 = 1024;

/// A type. A `typedef` is replaced by its type; a `type` remains.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Ty {
    /// Placeholder after a reported error; compatible with every type. Never in an error-free module.
    Poison,
    /// An inference variable of the checker. Never in an error-free module.
    Infer(u32),
    /// A type parameter.
    Param(TypeParamId),
    /// `void`
    Void,
    /// `bool`
    Bool,
    /// `int` without a width; compile-time values only.
    Int,
    /// `bit<width>` or `int<width>`
    Bits {
        /// Bits; may be 0.
        width: u32,
        /// `int` instead of `bit`.
        signed: bool,
    },
    /// `varbit<max>`, the maximum in bits.
    Varbit(u32),
    /// `string`; compile-time values only.
    String,
    /// `error`
    Error,
    /// `match_kind`
    MatchKind,
    /// A struct, header or header union with its type arguments.
    Composite(CompositeId, Rc<[Ty]>),
    /// An enum.
    Enum(EnumId),
    /// A `type` of another type, which is looked up in [`crate::Module::new_types`].
    NewType(NewTypeId),
    /// An array: element type and number of elements, up to [`MAX_STACK_SIZE`]. One of headers or header unions is a
    /// header stack.
    Stack(Rc<Ty>, u32),
    /// `tuple<...>`; also the type of `{a, b}` if the context gives no other.
    Tuple(Rc<[Ty]>),
    /// `list<T>`; compile-time values only.
    List(Rc<Ty>),
    /// `set<T>`: the type of keysets.
    Set(Rc<Ty>),
    /// An extern object.
    Extern(ExternId, Rc<[Ty]>),
    /// A parser (type or declaration).
    Parser(ParserId, Rc<[Ty]>),
    /// A control (type or declaration).
    Control(ControlId, Rc<[Ty]>),
    /// A package.
    Package(PackageId, Rc<[Ty]>),
    /// The result of `t.apply()`.
    ApplyResult(TableId),
    /// The enum of a table's actions (`t.apply().action_run`).
    ActionRun(TableId),
}

impl Ty {
    /// Returns `bit<width>`.
    pub const fn bit(width: u32) -> Ty {
        Ty::Bits {
            width,
            signed: false,
        }
    }

    /// Returns `int<width>`.
    pub const fn int(width: u32) -> Ty {
        Ty::Bits {
            width,
            signed: true,
        }
    }
}

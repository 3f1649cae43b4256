//! Declarations at file level.

use super::{Block, Expr, Type};
use smol_str::SmolStr;

/// A member of a struct.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Member {
    /// A named member.
    Field {
        /// Its type.
        ty: Type,
        /// Its name.
        name: SmolStr,
        /// Description in a few words, printed as a comment; may be empty.
        note: String,
    },
    /// An anonymous union of named structs.
    Union(Vec<(SmolStr, Vec<Member>)>),
}

/// A declaration at file level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// `#include "path"`
    Include(String),
    /// `#pragma words`
    Pragma(String),
    /// Comment lines, one string for each.
    Comment(Vec<String>),
    /// `struct name { };`
    Struct {
        /// Its name.
        name: SmolStr,
        /// Its members.
        members: Vec<Member>,
    },
    /// An enum of constants.
    Enum(Vec<(SmolStr, u64)>),
    /// A variable of an anonymous struct type whose members are macro expansions.
    Described {
        /// The macro calls, in order.
        members: Vec<Expr>,
        /// The variable's name.
        name: SmolStr,
        /// Attributes after the name.
        attribute: String,
        /// Initial value.
        init: Option<Expr>,
    },
    /// A variable.
    Variable {
        /// Its type.
        ty: Type,
        /// Its name.
        name: SmolStr,
        /// Initial value.
        init: Option<Expr>,
        /// Attributes after the name, if any.
        attribute: Option<String>,
        /// `const`
        constant: bool,
    },
    /// A prototype.
    Prototype {
        /// Result.
        result: Type,
        /// Name.
        name: SmolStr,
        /// Parameters.
        params: Vec<(Type, SmolStr)>,
    },
    /// A function.
    Function {
        /// Linkage specifiers, printed on a line of their own before the function.
        linkage: SmolStr,
        /// Result.
        result: Type,
        /// Name.
        name: SmolStr,
        /// Parameters.
        params: Vec<(Type, SmolStr)>,
        /// Body.
        body: Block,
    },
}

/// A C file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Unit {
    /// Its items in order.
    pub items: Vec<Item>,
}

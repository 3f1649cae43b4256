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
        /// What it is, in a few words; may be empty.
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
    /// `#pragma` and these words.
    Pragma(String),
    /// A comment, one line each.
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
    /// A variable of a struct without a name, whose members are macros' expansions.
    Described {
        /// The macro calls, in order.
        members: Vec<Expr>,
        /// The variable's name.
        name: SmolStr,
        /// What follows its name.
        attribute: String,
        /// First value.
        init: Option<Expr>,
    },
    /// A variable with a first value.
    Variable {
        /// Its type.
        ty: Type,
        /// Its name.
        name: SmolStr,
        /// First value.
        init: Option<Expr>,
        /// What follows its name, if anything.
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
        /// What stands in front of it, on a line of its own: how it is linked.
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

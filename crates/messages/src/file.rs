//! Target of the generated C, and the file that it is added to.

use cgen::tree::{Expr as C, Item, Type as CType};
use emit::names::Names;
use emit::{Function, Reserved};
use smol_str::SmolStr;

/// Properties of a target, besides the definitions in its headers.
#[derive(Clone, Copy, Debug)]
pub struct MessageTarget {
    /// Names that its headers and its own code use; [`crate::RESERVED`] is among them.
    pub reserved: &'static [Reserved],
    /// Linkage of functions.
    pub linkage: &'static str,
}

impl MessageTarget {
    /// Returns the initial names of a function, or of a struct's members.
    pub(crate) fn names(&self) -> Names {
        Names::new(self.reserved)
    }
}

/// Parts of a C file to which code about messages is added.
#[derive(Debug)]
pub struct File<'f> {
    /// Target of the code.
    pub target: MessageTarget,
    /// Names in the file.
    pub names: &'f mut Names,
    /// Structs and constant arrays.
    pub tables: &'f mut Vec<Item>,
    /// Functions.
    pub functions: &'f mut Vec<Function>,
}

impl File<'_> {
    /// Adds an array of constants, named after `wish`.
    pub(crate) fn array(
        &mut self,
        wish: &str,
        ty: CType,
        size: usize,
        values: &mut dyn Iterator<Item = u64>,
    ) -> C {
        let name = self.names.fresh(wish);
        self.tables.push(array(&name, ty, size, values));
        C::Ident(name)
    }
}

/// Builds an array of constants.
pub(crate) fn array(
    name: &SmolStr,
    ty: CType,
    size: usize,
    values: &mut dyn Iterator<Item = u64>,
) -> Item {
    Item::Variable {
        ty: ty.array(size as u32),
        name: name.clone(),
        init: Some(C::Init(values.map(|value| (None, C::int(value))).collect())),
        attribute: None,
        constant: true,
    }
}

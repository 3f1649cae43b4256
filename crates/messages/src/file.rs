//! The target that C is written for, and the file that it is added to.

use cgen::tree::{Expr as C, Item, Type as CType};
use emit::names::Names;
use emit::{Function, Reserved};
use smol_str::SmolStr;

/// Properties of a target that the C depends on, besides the definitions in the target's headers.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The names that its headers and its own code use; [`crate::RESERVED`] is among them.
    pub reserved: &'static [Reserved],
    /// The linkage of functions.
    pub linkage: &'static str,
}

impl Target {
    /// The names of a function, or of a struct's members.
    pub(crate) fn names(&self) -> Names {
        Names::new(self.reserved)
    }
}

/// A file in C, as far as code about messages is added to it.
#[derive(Debug)]
pub struct File<'f> {
    /// The target that the code is for.
    pub target: Target,
    /// Its names.
    pub names: &'f mut Names,
    /// Its structs and constant arrays.
    pub tables: &'f mut Vec<Item>,
    /// Its functions.
    pub functions: &'f mut Vec<Function>,
}

impl File<'_> {
    /// Adds an array of constants, with a name like the wish.
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

/// An array of constants.
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

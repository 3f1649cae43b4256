//! Texts that functions look rules up for, each in memory of its own on each core.

use crate::target::Tables;
use cgen::tree::{Expr as C, Stmt, Type};
use emit::{Gen, memory};
use layout::{Map, MapKind};
use smol_str::SmolStr;

/// Kind of text.
#[derive(Debug)]
pub struct Text {
    /// Struct of a text.
    pub structure: &'static str,
    /// Size of that struct in bytes.
    pub size: u32,
    /// Parameter of functions that have a text.
    pub parameter: &'static str,
    /// Start of the name of its map.
    pub map: &'static str,
}

impl Text {
    /// Declares the memory of a text on this core; returns its map, on further calls too.
    pub fn declare<T: Tables>(&self, g: &mut Gen<'_, T>) -> SmolStr {
        if let Some(known) = T::tables(&mut g.file.own).texts.get(self.structure) {
            return known.clone();
        }
        let map = g.file.names.fresh_short(self.map, "", T::MAP_NAME);
        let of_cores = Map::new(map.as_str(), MapKind::PerCoreArray, 4, self.size, 1);
        let value = Type::Struct(self.structure.into());
        memory::declare(g, of_cores, Some((Type::U32, value)));
        let texts = &mut T::tables(&mut g.file.own).texts;
        texts.insert(self.structure, map.clone());
        map
    }

    /// Returns the type of a pointer to a text.
    pub fn pointer(&self) -> Type {
        Type::Struct(self.structure.into()).ptr()
    }

    /// Returns the parameter of a function.
    pub fn parameter(&self) -> (Type, SmolStr) {
        (self.pointer(), self.parameter.into())
    }

    /// Returns the statement that leaves a function without a result if it has no text: only a checker thinks so.
    pub fn unless_there(&self) -> Stmt {
        Stmt::If(
            C::not(C::id(self.parameter)),
            vec![Stmt::Return(Some(C::int(0)))],
            Vec::new(),
        )
    }
}

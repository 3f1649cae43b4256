//! Emits pattern sets ([`PatternSetAbi`]).

use crate::target::Tables;
use crate::text::Text;
use cgen::tree::{Expr as C, Stmt, Type};
use emit::memory;
use emit::{Function, Gen};
use ir::ExternInst;
use layout::{Map, MapKind, PatternSetAbi};
use smol_str::SmolStr;

/// Text of a URL, and what is found in it.
pub const TEXT: Text = Text {
    structure: "pattern_text",
    size: 16 + 16384,
    parameter: "url",
    map: "url",
};

/// Declares a pattern set; returns on further calls too the function that searches the last bytes of a text
/// (`struct pattern_text *`), by their number and the number of the first automaton.
pub fn declare<T: Tables>(g: &mut Gen<'_, T>, object: ExternInst) -> SmolStr {
    if let Some(known) = T::tables(&mut g.file.own).pattern_sets.get(&object) {
        return known.clone();
    }
    for taken in ["url", "size", "first"] {
        g.file.names.reserve(taken);
    }
    let data = &g.p.externs[object];
    let size = data
        .int_arg("size")
        .and_then(|size| u32::try_from(size).ok());
    let capacity = size.unwrap_or(1);
    let block_count = patterns::blocks(capacity);
    let map = g.file.names.fresh_short(&data.name, "", T::MAP_NAME);
    let blocks = Map {
        mapped: true,
        ..Map::new(
            map.as_str(),
            MapKind::Array,
            4,
            patterns::BLOCK,
            block_count.into(),
        )
    };
    memory::declare(g, blocks, None);
    let short = data.name.rsplit('.').next().unwrap_or(&data.name);
    let find = g.file.names.fresh(&format!("{short}_find"));
    let args = vec![
        C::Ident(map.clone()).addr(),
        C::id("url"),
        C::id("size"),
        C::id("first"),
    ];
    g.file.functions.push(Function {
        linkage: g.target.linkage().into(),
        name: find.clone(),
        result: Type::U32,
        params: vec![
            TEXT.parameter(),
            (Type::U32, "size".into()),
            (Type::U32, "first".into()),
        ],
        body: vec![
            TEXT.unless_there(),
            Stmt::Return(Some(C::call("pattern_find", args))),
        ],
    });
    let abi = PatternSetAbi {
        index: object.as_u32(),
        name: data.name.to_string(),
        map: map.to_string(),
        block_count,
        capacity,
    };
    T::kept(&mut g.file.own).contents.pattern_sets.push(abi);
    let sets = &mut T::tables(&mut g.file.own).pattern_sets;
    sets.insert(object, find.clone());
    find
}

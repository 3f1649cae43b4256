//! Emits pattern sets ([`PatternSetAbi`]).

use crate::target::Tables;
use cgen::tree::{Expr as C, Stmt, Type};
use emit::memory;
use emit::{Function, Gen};
use ir::ExternInst;
use layout::{Map, MapKind, PatternSetAbi};
use smol_str::SmolStr;

/// Struct of a text and of what is found in it.
pub const TEXT: &str = "pattern_text";
/// Size of that struct in bytes.
const TEXT_SIZE: u32 = 16 + 16384;

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
            parameter(),
            (Type::U32, "size".into()),
            (Type::U32, "first".into()),
        ],
        body: vec![
            unless_there(),
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

/// Declares the memory of a text on this core, and returns its map.
pub fn text<T: Tables>(g: &mut Gen<'_, T>) -> SmolStr {
    if let Some(known) = T::tables(&mut g.file.own).pattern_text.clone() {
        return known;
    }
    let map = g.file.names.fresh_short("url", "", T::MAP_NAME);
    let of_cores = Map::new(map.as_str(), MapKind::PerCoreArray, 4, TEXT_SIZE, 1);
    memory::declare(g, of_cores, Some((Type::U32, Type::Struct(TEXT.into()))));
    T::tables(&mut g.file.own).pattern_text = Some(map.clone());
    map
}

/// Returns the parameter for a text.
pub fn parameter() -> (Type, SmolStr) {
    (Type::Struct(TEXT.into()).ptr(), "url".into())
}

/// Returns the statement that leaves a function without a result if it has no text: only a checker thinks so.
pub fn unless_there() -> Stmt {
    Stmt::If(
        C::not(C::id("url")),
        vec![Stmt::Return(Some(C::int(0)))],
        Vec::new(),
    )
}

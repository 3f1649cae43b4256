//! Entries to be stored, and functions shared by their structures.

use crate::describe;
use crate::errors;
use crate::target::Tables;
use cgen::tree::{Block, Expr as C, Stmt, Type};
use diag::Span;
use emit::names::Names;
use emit::record::Record;
use emit::table::key::{self, KeyLayout, KeyPart};
use emit::{Function, Gen};
use layout::{KeyAbi, Map, MapKind, ValueAbi};
use smol_str::SmolStr;

/// Longest key that fits on the stack together with its masked copy, in bytes.
const KEY_LIMIT: u32 = 192;

/// Type of the entries' values, in C and in the description for the control plane.
#[derive(Clone)]
pub(crate) struct Values {
    pub(crate) ty: Type,
    pub(crate) abi: ValueAbi,
}

/// Entries to be stored.
pub(crate) struct Entries<'a> {
    /// Control-plane name of their table or value set.
    pub(crate) name: &'a str,
    /// Prefix of generated names.
    pub(crate) short: &'a str,
    pub(crate) values: Values,
    /// Capacity, in entries.
    pub(crate) size: u64,
    pub(crate) span: Span,
}

/// Lays a key's fields out one after the other.
pub(crate) fn plain_key(names: Names, name: SmolStr, parts: &[KeyPart]) -> KeyLayout {
    key::layout(names, name, parts, Record::default())
}

/// Does the same for the sizes only, which names and types do not affect.
pub(crate) fn measured_key(parts: &[KeyPart]) -> KeyLayout {
    plain_key(Names::new(&[]), SmolStr::default(), parts)
}

/// Returns key parts without prefixes, which are looked up as a whole.
pub(crate) fn whole(parts: &[KeyPart]) -> Vec<KeyPart> {
    parts.iter().map(KeyPart::without_prefix).collect()
}

/// Declares the struct of a search's key, which is on the stack. Returns its layout, and its description for the
/// control plane.
pub(crate) fn declare_key<T: Tables>(
    g: &mut Gen<'_, T>,
    parts: &[KeyPart],
    entries: &Entries<'_>,
) -> (KeyLayout, KeyAbi) {
    let name = g.file.names.fresh(&format!("{}_key", entries.short));
    let key = plain_key(T::names(), name, parts);
    let abi = describe::key(&key, parts);
    limit_key(g, abi.size, KEY_LIMIT, entries);
    g.file.declare_struct(&key.name, key.record.members.clone());
    (key, abi)
}

/// Refuses the program if a key is too long.
pub(crate) fn limit_key<T: Tables>(
    g: &mut Gen<'_, T>,
    bytes: u32,
    limit: u32,
    entries: &Entries<'_>,
) {
    if bytes > limit {
        let target = g.target.name();
        g.refuse(errors::key_too_long(
            target,
            entries.name,
            bytes,
            limit,
            entries.span,
        ));
    }
}

/// Returns the map of shadow entries: entries as they were given, which only the control plane uses.
pub(crate) fn shadow_map(name: &SmolStr, parts: &[KeyPart], entries: &Entries<'_>) -> Map {
    let keys: u32 = parts
        .iter()
        .map(|p| 1 + 2 * p.width.div_ceil(8).max(2))
        .sum();
    let written = (4 + entries.values.abi.size + keys).next_multiple_of(4);
    Map {
        on_demand: true,
        ..Map::new(name.as_str(), MapKind::Hash, 4, written, entries.size)
    }
}

/// Returns the function of this name, which maps a key and further parameters to the number of an entry, as `search` does,
/// which reads the parameters by name. It is a function of its own, so that a checker checks it once.
pub(crate) fn search_function(
    linkage: &str,
    name: &SmolStr,
    key: &SmolStr,
    further: Option<(Type, SmolStr)>,
    mut search: Block,
) -> Function {
    let no_entry = Stmt::Return(Some(C::id("NO_ENTRY")));
    let key = (Type::Struct(key.clone()).ptr(), "key".into());
    let without_key = Stmt::If(C::not(C::id("key")), vec![no_entry], Vec::new());
    search.insert(0, without_key);
    Function {
        linkage: linkage.into(),
        name: name.clone(),
        result: Type::U32,
        params: std::iter::once(key).chain(further).collect(),
        body: search,
    }
}

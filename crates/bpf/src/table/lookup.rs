//! The kernel's structure for a table's match kinds, and the look-up in it.

use super::bit_vectors::{self, BitVectors};
use super::buckets::{self, Buckets};
use super::multibit_trie::{self, MultibitTrie};
use super::perfect_hash::{self, PerfectHash};
use super::structure;
use super::tuple_space::{self, TupleSpace};
use super::{Entries, describe, element};
use crate::abi::{MapAbi, MapKind};
use crate::errors;
use crate::maps::MAP_NAME;
use crate::target::{Bpf, Gen};
use cgen::lower;
use cgen::tree::{BinOp, Expr as C, Stmt, Type};
use emit::record::Record;
use emit::table::has_priorities;
use emit::table::key::{self, KeyLayout, KeyPart};
use ir::{CtorValue, Expr, MatchKind, Program, TableData};
use layout::Structure;
use layout::{KeyAbi, LookupAbi};
use smol_str::SmolStr;

/// Bits of a key that an array map is used for: 4,096 elements, of which all exist.
const ARRAY_BITS: u32 = 12;
/// Bytes of key data that an LPM trie takes.
const TRIE_LIMIT: u32 = 256;
/// Bytes of key that fit on the stack together with their masked copy.
pub(crate) const KEY_LIMIT: u32 = 192;

/// How entries are found.
#[derive(Clone, Debug)]
pub(crate) enum Lookup {
    /// In an array map.
    Array {
        /// The map.
        map: SmolStr,
    },
    /// In a hash map.
    Hash {
        /// The map.
        map: SmolStr,
        /// Its keys.
        key: KeyLayout,
    },
    /// In an LPM trie.
    Lpm {
        /// The map.
        map: SmolStr,
        /// Its keys.
        key: KeyLayout,
        /// The prefix length to ask for: that of a whole key.
        bits: u32,
    },
    /// In read-only data.
    PerfectHash(PerfectHash),
    /// In a multibit trie.
    MultibitTrie(MultibitTrie),
    /// By tuple space search.
    TupleSpace(TupleSpace),
    /// By bit vectors.
    BitVectors(BitVectors),
    /// In buckets.
    Buckets(Buckets),
}

/// A map of entries.
pub(crate) fn map(
    name: &SmolStr,
    kind: MapKind,
    key_size: u32,
    value_size: u32,
    max_entries: u64,
) -> MapAbi {
    MapAbi {
        name: name.to_string(),
        kind,
        key_size,
        value_size,
        max_entries: u32::try_from(max_entries).unwrap_or(u32::MAX),
        no_prealloc: kind == MapKind::LpmTrie,
        mmapable: false,
    }
}

/// Declares what a table's match kinds need.
pub(crate) fn declare(
    g: &mut Gen<'_>,
    data: &TableData,
    wanted: Option<Structure>,
    entries: &Entries<'_>,
) -> (Lookup, LookupAbi) {
    let parts = key::parts(g.p, &data.keys);
    if has_priorities(data) {
        let kinds: Vec<MatchKind> = key::matched(&data.keys).map(|key| key.kind).collect();
        return structure::declare(g, &data.name, &parts, &kinds, wanted, entries);
    }
    match key::matched(&data.keys).position(|k| k.kind == MatchKind::Lpm) {
        Some(lpm) => structure::declare_prefixes(g, &data.name, lpm, &parts, wanted, entries),
        None => {
            let hash = asks_for_hash(g.p, data);
            structure::declare_exact(g, &data.name, hash, &parts, wanted, entries)
        }
    }
}

/// Declares a trie of the kernel.
pub(super) fn declare_trie(
    g: &mut Gen<'_>,
    table: &str,
    lpm: usize,
    parts: &[KeyPart],
    entries: &Entries<'_>,
) -> (Lookup, LookupAbi) {
    let name = g.file.names.fresh(&format!("{}_key", entries.short));
    let mut head = Record::default();
    head.add(Type::U32, "prefix_length", 4, 4, "in bits, of what follows");
    let key = key::layout::<Bpf>(name.clone(), parts, head);
    let key_abi = describe::key(&key, parts);
    limit_key(g, table, key_abi.size - 4, TRIE_LIMIT, entries);
    g.file.declare_struct(&name, key.record.members.clone());
    let map_name = g.file.names.fresh_short(entries.short, "", MAP_NAME);
    let value = &entries.values;
    let value_size = value.abi.size;
    g.file.own.maps.declare(
        map(
            &map_name,
            MapKind::LpmTrie,
            key_abi.size,
            value_size,
            entries.size,
        ),
        Some((Type::Struct(name), value.ty.clone())),
    );
    let field = &key_abi.fields[lpm];
    let prefix_base = 8 * (field.offset - 4) + 8 * field.size - field.width;
    let bits = prefix_base + field.width;
    let abi = LookupAbi::Lpm {
        map: map_name.to_string(),
        key: key_abi,
        lpm_key: lpm as u32,
        prefix_base,
        value: value.abi.clone(),
    };
    let lookup = Lookup::Lpm {
        map: map_name,
        key,
        bits,
    };
    (lookup, abi)
}

/// Whether a table's key is short enough for an array.
pub(super) fn is_array(parts: &[KeyPart], entries: &Entries<'_>) -> bool {
    let fits = |part: &KeyPart| part.width <= ARRAY_BITS && entries.values.abi.size <= 8;
    matches!(parts, [part] if fits(part))
}

/// Declares an array map of which the key is the index.
pub(super) fn declare_array(
    g: &mut Gen<'_>,
    parts: &[KeyPart],
    entries: &Entries<'_>,
) -> (Lookup, LookupAbi) {
    let value = &entries.values;
    let width = parts.iter().map(|part| part.width).sum();
    let map_name = g.file.names.fresh_short(entries.short, "", MAP_NAME);
    g.file.own.maps.declare(
        map(&map_name, MapKind::Array, 4, value.abi.size, 1u64 << width),
        Some((Type::U32, value.ty.clone())),
    );
    let abi = LookupAbi::Array {
        map: map_name.to_string(),
        key_width: width,
        value: value.abi.clone(),
    };
    (Lookup::Array { map: map_name }, abi)
}

/// Declares a hash map of the kernel.
pub(super) fn declare_hash(
    g: &mut Gen<'_>,
    table: &str,
    parts: &[KeyPart],
    entries: &Entries<'_>,
) -> (Lookup, LookupAbi) {
    let value = &entries.values;
    let map_name = g.file.names.fresh_short(entries.short, "", MAP_NAME);
    let name = g.file.names.fresh(&format!("{}_key", entries.short));
    let key = key::layout::<Bpf>(name.clone(), parts, Record::default());
    let key_abi = describe::key(&key, parts);
    limit_key(g, table, key_abi.size, KEY_LIMIT, entries);
    g.file.declare_struct(&name, key.record.members.clone());
    g.file.own.maps.declare(
        map(
            &map_name,
            MapKind::Hash,
            key_abi.size,
            value.abi.size,
            entries.size,
        ),
        Some((Type::Struct(name), value.ty.clone())),
    );
    let abi = LookupAbi::Hash {
        map: map_name.to_string(),
        key: key_abi,
        value: value.abi.clone(),
    };
    (Lookup::Hash { map: map_name, key }, abi)
}

/// Declares the struct of a search's key, which is on the stack; gives its name, its layout, and that for user space.
pub(crate) fn declare_key(
    g: &mut Gen<'_>,
    parts: &[KeyPart],
    layout: fn(SmolStr, &[KeyPart]) -> KeyLayout,
    entries: &Entries<'_>,
) -> (SmolStr, KeyLayout, KeyAbi) {
    let name = g.file.names.fresh(&format!("{}_key", entries.short));
    let key = layout(name.clone(), parts);
    let abi = describe::key(&key, parts);
    limit_key(g, entries.short, abi.size, KEY_LIMIT, entries);
    g.file.declare_struct(&name, key.record.members.clone());
    (name, key, abi)
}

/// A key's fields one behind the other, without what tries of the kernel have in front.
pub(crate) fn plain_key(name: SmolStr, parts: &[KeyPart]) -> KeyLayout {
    key::layout::<Bpf>(name, parts, Record::default())
}

/// Refuses a key of too many bytes.
pub(crate) fn limit_key(g: &mut Gen<'_>, of: &str, bytes: u32, limit: u32, entries: &Entries<'_>) {
    if bytes > limit {
        let hook = g.target.options.hook;
        g.refuse(errors::key_too_long(hook, of, bytes, limit, entries.span));
    }
}

/// Emits the look-up; gives the entry found, or a null pointer.
pub(crate) fn look_up(g: &mut Gen<'_>, lookup: &Lookup, keys: &[Expr], entry_type: Type) -> C {
    match lookup {
        Lookup::Array { map } => {
            let index = g.file.names.fresh("key");
            let value = lower::scalar(g, keys[0]);
            g.push(Stmt::decl(Type::U32, index.clone(), value));
            let entry = element(g, map, C::Ident(index), entry_type);
            let empty = C::bin(
                BinOp::LogicalAnd,
                entry.clone(),
                C::not(entry.clone().arrow("action")),
            );
            let none = vec![Stmt::Assign(entry.clone(), C::id("NULL"))];
            g.push(Stmt::If(empty, none, Vec::new()));
            entry
        }
        Lookup::Hash { map, key } => {
            let key = g.build_key(key, keys);
            element(g, map, key, entry_type)
        }
        Lookup::Lpm { map, key, bits } => {
            let built = g.build_key(key, keys);
            let length = built.clone().member("prefix_length");
            g.set(length, C::int((*bits).into()));
            element(g, map, built, entry_type)
        }
        Lookup::PerfectHash(table) => perfect_hash::search(g, table, keys, entry_type),
        Lookup::MultibitTrie(trie) => multibit_trie::search(g, trie, keys, entry_type),
        Lookup::TupleSpace(space) => tuple_space::search(g, space, keys, entry_type),
        Lookup::BitVectors(bits) => bit_vectors::search(g, bits, keys, entry_type),
        Lookup::Buckets(found) => buckets::search(g, found, keys, entry_type),
    }
}

fn asks_for_hash(p: &Program, data: &TableData) -> bool {
    data.properties.iter().any(|(_, value)| {
        matches!(value, CtorValue::Extern(inst) if p.externs[*inst].ty == "hash_table")
    })
}

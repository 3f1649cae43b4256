//! Tables that are one map: an array, a hash table, or a bitwise trie of prefixes.

use crate::describe;
use crate::entries::{Entries, declare_key, limit_key};
use crate::target::Tables;
use cgen::lower;
use cgen::tree::{BinOp, Expr as C, Stmt, Type};
use emit::Gen;
use emit::memory;
use emit::record::Record;
use emit::table::key::{self, KeyLayout, KeyPart};
use ir::Expr;
use layout::{LookupAbi, Map, MapKind};
use smol_str::SmolStr;

/// Widest key for which an array map is used, in bits: 4,096 elements, all of which exist.
const ARRAY_BITS: u32 = 12;
/// Longest key of a trie of prefixes, in bytes.
const TRIE_LIMIT: u32 = 256;

/// Map of entries, with the layout of its key.
#[derive(Clone, Debug)]
pub(crate) enum OneMap {
    /// Array.
    Array {
        /// Name of the map.
        map: SmolStr,
    },
    /// Hash table.
    Hash {
        /// Name of the map.
        map: SmolStr,
        /// Layout of its keys.
        key: KeyLayout,
    },
    /// Trie of prefixes.
    Trie {
        /// Name of the map.
        map: SmolStr,
        /// Layout of its keys.
        key: KeyLayout,
        /// Prefix length of a look-up: that of a whole key, in bits.
        bits: u32,
    },
}

/// Returns true if a table's key is short enough for an array.
pub(crate) fn fits_array(parts: &[KeyPart], entries: &Entries<'_>) -> bool {
    let fits = |part: &KeyPart| part.width <= ARRAY_BITS && entries.values.abi.size <= 8;
    matches!(parts, [part] if fits(part))
}

/// Declares an array whose index is the key.
pub(crate) fn declare_array<T: Tables>(
    g: &mut Gen<'_, T>,
    parts: &[KeyPart],
    entries: &Entries<'_>,
) -> (OneMap, LookupAbi) {
    let width = parts.iter().map(|part| part.width).sum();
    let map = declare(g, MapKind::Array, (4, Type::U32), 1u64 << width, entries);
    let abi = LookupAbi::Array {
        map: map.to_string(),
        key_width: width,
        value: entries.values.abi.clone(),
    };
    (OneMap::Array { map }, abi)
}

/// Declares a hash table.
pub(crate) fn declare_hash<T: Tables>(
    g: &mut Gen<'_, T>,
    parts: &[KeyPart],
    entries: &Entries<'_>,
) -> (OneMap, LookupAbi) {
    let (key, key_abi) = declare_key(g, parts, entries);
    let key_type = Type::Struct(key.name.clone());
    let of_keys = (key_abi.size, key_type);
    let map = declare(g, MapKind::Hash, of_keys, entries.size, entries);
    let abi = LookupAbi::Hash {
        map: map.to_string(),
        key: key_abi,
        value: entries.values.abi.clone(),
    };
    (OneMap::Hash { map, key }, abi)
}

/// Declares a trie of prefixes. `lpm` is the index of the P4 key with the prefix.
pub(crate) fn declare_trie<T: Tables>(
    g: &mut Gen<'_, T>,
    lpm: usize,
    parts: &[KeyPart],
    entries: &Entries<'_>,
) -> (OneMap, LookupAbi) {
    let name = g.file.names.fresh(&format!("{}_key", entries.short));
    let mut head = Record::default();
    head.add(Type::U32, "prefix_length", 4, 4, "in bits, of what follows");
    let key = key::layout(T::names(), name.clone(), parts, head);
    let key_abi = describe::key(&key, parts);
    limit_key(g, key_abi.size - 4, TRIE_LIMIT, entries);
    g.file.declare_struct(&name, key.record.members.clone());
    let of_keys = (key_abi.size, Type::Struct(name));
    let map = declare(g, MapKind::PrefixTrie, of_keys, entries.size, entries);
    let field = &key_abi.fields[lpm];
    let prefix_base = 8 * (field.offset - 4) + 8 * field.size - field.width;
    let bits = prefix_base + field.width;
    let abi = LookupAbi::Lpm {
        map: map.to_string(),
        key: key_abi,
        lpm_key: lpm as u32,
        prefix_base,
        value: entries.values.abi.clone(),
    };
    (OneMap::Trie { map, key, bits }, abi)
}

/// Declares a map of `size` entries, with keys of this size and type. Returns its name.
fn declare<T: Tables>(
    g: &mut Gen<'_, T>,
    kind: MapKind,
    (key_size, key_type): (u32, Type),
    size: u64,
    entries: &Entries<'_>,
) -> SmolStr {
    let name = g.file.names.fresh_short(entries.short, "", T::MAP_NAME);
    let values = &entries.values;
    let map = Map::new(name.as_str(), kind, key_size, values.abi.size, size);
    memory::declare(g, map, Some((key_type, values.ty.clone())));
    name
}

impl OneMap {
    /// Emits the look-up. Returns a pointer to the entry, which may be null.
    pub(crate) fn search<T: Tables>(&self, g: &mut Gen<'_, T>, keys: &[Expr], entry: Type) -> C {
        match self {
            OneMap::Array { map } => {
                let index = g.file.names.fresh("key");
                let value = lower::scalar(g, keys[0]);
                g.push(Stmt::decl(Type::U32, index.clone(), value));
                let entry = element(g, map, C::Ident(index), entry);
                let empty = C::bin(
                    BinOp::LogicalAnd,
                    entry.clone(),
                    C::not(entry.clone().arrow("action")),
                );
                let none = vec![Stmt::Assign(entry.clone(), C::id("NULL"))];
                g.push(Stmt::If(empty, none, Vec::new()));
                entry
            }
            OneMap::Hash { map, key } => {
                let key = g.build_key(key, keys);
                element(g, map, key, entry)
            }
            OneMap::Trie { map, key, bits } => {
                let built = g.build_key(key, keys);
                let length = built.clone().member("prefix_length");
                g.set(length, C::int((*bits).into()));
                element(g, map, built, entry)
            }
        }
    }
}

/// Looks a key up in a map. Returns the pointer to its value, in a variable of its own.
fn element<T: Tables>(g: &mut Gen<'_, T>, map: &SmolStr, key: C, entry: Type) -> C {
    let found = g.file.names.fresh("entry");
    let value = T::find(map, key.addr());
    g.push(Stmt::decl(entry, found.clone(), value));
    C::Ident(found)
}

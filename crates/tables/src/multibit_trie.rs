//! Emits tables with many prefixes ([`MultibitTrieAbi`]).

use crate::entries::{Entries, declare_key, measured_key, search_function};
use crate::target::Tables;
use cgen::tree::{Expr as C, Stmt, Type};
use emit::memory;
use emit::record::Record;
use emit::table::key::{KeyLayout, KeyPart};
use emit::{Event, Function, Gen};
use ir::Expr;
use layout::{Map, MapKind, MultibitTrieAbi};
use smol_str::SmolStr;

/// Number of leading key bytes that are consumed whole.
const BYTES: u32 = 2;
/// Number of wide nodes, which consume these bytes. At most a root and one node for each of its slots are in use. As
/// many more are there for their replacements.
const WIDE: u64 = 2 * 257;
/// Size of a slot, in bytes.
const SLOT: u64 = 8;
/// Largest map of the trie, in bytes: offsets have 32 bits.
const LIMIT: u64 = u32::MAX as u64;

/// Table that is searched by a multibit trie.
#[derive(Clone, Debug)]
pub(crate) struct MultibitTrie {
    /// Function that finds a route's number.
    find: SmolStr,
    /// Map of routes.
    routes: SmolStr,
    /// Layout of the key.
    key: KeyLayout,
    /// Member of the globals that holds the root's number.
    root: SmolStr,
}

/// Capacities of the trie's maps, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Room {
    narrow: u64,
    routes: u64,
}

impl Room {
    /// Returns the capacities for `size` entries with such keys, and values of `value` bytes. There is a node for each
    /// entry at least, and as many more as fit in `memory` bytes, up to what any set of prefixes could need. `None` if
    /// the maps would be too large.
    pub(crate) fn of(parts: &[KeyPart], value: u32, size: u64, memory: u64) -> Option<Room> {
        let key = measured_key(parts);
        let bytes = key.record.size;
        // A node exists where at least two prefixes continue, so that each depth has at most half as many nodes as
        // there are entries.
        let halves = 2 * bytes.checked_sub(BYTES)?;
        let deep = |half: u32| (size / 2 + 1).min(1 << (8 * BYTES + 4 * half).min(40));
        let all: u64 = (0..halves).map(deep).sum();
        let with = |nodes: u64| Room {
            narrow: nodes + spare(nodes),
            routes: 1 + size + spare(size),
        };
        // Each further node takes 16 slots, a byte of the pool, and an eighth of that as a spare.
        let left = memory.saturating_sub(with(0).bytes(bytes, value));
        let fit = left / (16 * SLOT + 1) * 8 / 9;
        let room = with(all.min(fit.max(size).max(1024)));
        let fits = room.narrow * 16 * SLOT <= LIMIT && room.routes * route(bytes, value) <= LIMIT;
        fits.then_some(room)
    }

    /// Returns the size of the maps that packets search, in bytes, for keys and values of so many bytes.
    pub(crate) fn bytes(self, key: u32, value: u32) -> u64 {
        (256 * WIDE + 16 * self.narrow + self.pool()) * SLOT + self.routes * route(key, value)
    }

    /// Returns the size of the pool in elements of 8 bytes: search positions of each kind, then a byte for each node
    /// and route.
    fn pool(self) -> u64 {
        (16 + WIDE + self.narrow + self.routes).div_ceil(SLOT)
    }
}

/// Returns the number of spare elements, which replace elements that packets may still read.
fn spare(of: u64) -> u64 {
    64 + of / 8
}

/// Returns an upper bound of a route's size, in bytes.
fn route(key: u32, value: u32) -> u64 {
    u64::from(value + 2 * key) + 3 * SLOT
}

/// Declares the maps, structs and the function of a multibit trie. `lpm` is the index of the P4 key with the prefix.
pub(crate) fn declare<T: Tables>(
    g: &mut Gen<'_, T>,
    lpm: usize,
    parts: &[KeyPart],
    room: Room,
    entries: &Entries<'_>,
) -> (MultibitTrie, MultibitTrieAbi) {
    let Entries {
        short,
        ref values,
        size,
        ..
    } = *entries;
    let (key, key_abi) = declare_key(g, parts, entries);
    let route_name = g.file.names.fresh(&format!("{short}_route"));
    let key_type = Type::Struct(key.name.clone());
    let mut route = Record::default();
    route.add(values.ty.clone(), "value", values.abi.size, 8, "");
    let align = key.record.align.max(4);
    let prefix_offset = route.add(key_type.clone(), "prefix", key_abi.size, align, "");
    let mask_offset = route.add(key_type.clone(), "mask", key_abi.size, align, "");
    route.pad_to(8);
    let route_size = route.size;
    g.file.declare_struct(&route_name, route.members);
    let named = |g: &mut Gen<'_, T>, what: &str| g.file.names.fresh_short(short, what, T::MAP_NAME);
    let [wide, narrow, routes, index, pool] =
        ["_wide", "_narrow", "", "_index", "_pool"].map(|what| named(g, what));
    let array = |name: &SmolStr, bytes: u64, count: u64| Map {
        mapped: true,
        ..Map::new(name.as_str(), MapKind::Array, 4, bytes as u32, count)
    };
    memory::declare(g, array(&wide, 256 * SLOT, WIDE), None);
    memory::declare(g, array(&narrow, 16 * SLOT, room.narrow), None);
    memory::declare(
        g,
        array(&routes, u64::from(route_size), room.routes),
        Some((Type::U32, Type::Struct(route_name))),
    );
    let numbers = Map {
        on_demand: true,
        ..Map::new(index.as_str(), MapKind::Hash, 4 + key_abi.size, 4, size)
    };
    memory::declare(g, numbers, None);
    memory::declare(g, array(&pool, SLOT, room.pool()), None);
    let root = g.file.names.fresh(&format!("{short}_root"));
    let kept = T::kept(&mut g.file.own);
    let root_offset = kept.add_global(Type::U32, &root, 4, None, vec![0; 4]);
    let field = &key_abi.fields[lpm];
    let find = g.file.names.fresh(&format!("{short}_find"));
    let abi = MultibitTrieAbi {
        wide: wide.to_string(),
        narrow: narrow.to_string(),
        routes: routes.to_string(),
        index: index.to_string(),
        pool: pool.to_string(),
        lpm_key: lpm as u32,
        prefix_base: 8 * field.offset + 8 * field.size - field.width,
        key: key_abi,
        value: values.abi.clone(),
        prefix_offset,
        mask_offset,
        root_offset,
    };
    let linkage = g.target.linkage();
    let function = function(linkage, &find, &key.name, &abi);
    g.file.functions.push(function);
    T::tables(&mut g.file.own).multibit_trie = true;
    let trie = MultibitTrie {
        find,
        routes,
        key,
        root,
    };
    (trie, abi)
}

/// Returns the function of this name, which maps a key and the root's number to the number of the route with the
/// longest prefix. Its loops have constant bounds.
fn function(linkage: &str, name: &SmolStr, key: &SmolStr, abi: &MultibitTrieAbi) -> Function {
    let address = |map: &str| C::id(map).addr();
    let number = |n: u32| C::int(n.into());
    let found = C::call(
        "longest_prefix",
        vec![
            address(&abi.wide),
            address(&abi.narrow),
            address(&abi.routes),
            C::id("key").cast(Type::U8.ptr()),
            C::id("root"),
            number(2 * (abi.key.size - BYTES)),
            number(abi.key.size / 4),
            number(abi.prefix_offset),
            number(abi.mask_offset),
        ],
    );
    let root = (Type::U32, "root".into());
    let search = vec![Stmt::Return(Some(found))];
    search_function(linkage, name, key, Some(root), search)
}

/// Emits the search for the entry with the longest prefix. Returns a pointer to it, which may be null.
pub(crate) fn search<T: Tables>(
    g: &mut Gen<'_, T>,
    trie: &MultibitTrie,
    exprs: &[Expr],
    entry: Type,
) -> C {
    let key = g.build_key(&trie.key, exprs);
    let [number, found] = ["route", "entry"].map(|wish| g.file.names.fresh(wish));
    let root = C::id(T::GLOBALS).member(trie.root.clone());
    g.on(Event::Searches);
    let call = C::call(trie.find.clone(), vec![key.addr(), root]);
    g.push(Stmt::decl(Type::U32, number.clone(), call));
    // A route begins with its value.
    let value = T::find(&trie.routes, C::Ident(number).addr());
    g.push(Stmt::decl(entry, found.clone(), value));
    C::Ident(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(width: u32) -> KeyPart {
        KeyPart {
            name: "k".into(),
            width,
            prefix: true,
        }
    }

    fn room(width: u32, size: u64) -> Option<Room> {
        Room::of(&[part(width)], 8, size, 4 << 20)
    }

    #[test]
    fn nodes_are_for_as_many_prefixes_as_may_differ() {
        // A million routes: as many nodes of 128 bytes, and spare ones.
        let million = room(32, 1 << 20).expect("not too large");
        assert_eq!(million.narrow, (1 << 20) + spare(1 << 20));
        assert_eq!(million.routes, 1 + (1 << 20) + spare(1 << 20));
        // With few entries, all may continue to the key's end.
        assert_eq!(
            room(32, 100).map(|room| room.narrow),
            Some(204 + spare(204))
        );
        // Where that is too much, there are at least as many nodes as entries.
        assert_eq!(
            room(128, 20_000).map(|room| room.narrow),
            Some(20_000 + spare(20_000))
        );
        let middle = room(128, 4096).expect("not too large");
        assert!(middle.narrow > 10_000 && middle.bytes(16, 8) <= 4 << 20);
    }

    #[test]
    fn any_prefixes_fit_where_the_room_is_for_any() {
        // Pairs that differ in their last bits only have a chain of nodes each, of 28 half bytes.
        let room = room(128, 1024).expect("not too large");
        assert_eq!(room.narrow, 28 * 513 + spare(28 * 513));
    }

    #[test]
    fn what_is_too_large_has_no_room() {
        assert_eq!(room(32, 1 << 27), None);
        assert!(room(32, 3 << 20).is_some());
    }
}

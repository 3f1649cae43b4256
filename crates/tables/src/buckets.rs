//! Emits tables with exact keys ([`BucketsAbi`]).

use crate::entries::{Entries, declare_key, measured_key, search_function};
use crate::target::Tables;
use cgen::tree::{BinOp, Expr as C, Stmt, Type, UnOp};
use emit::memory;
use emit::record::Record;
use emit::table::key::{KeyLayout, KeyPart};
use emit::{Event, Function, Gen};
use ir::Expr;
use layout::{BUCKET_PLACES, BucketsAbi, Map, MapKind, ValueAbi};
use smol_str::SmolStr;

/// Entries per bucket: half as many as it has slots. Then one bucket in 30 has keys in second buckets, and one key in
/// 260 finds both of its buckets full.
const LOAD: u64 = BUCKET_PLACES as u64 / 2;
/// Largest array of buckets, in bytes: offsets have 32 bits.
const LIMIT: u64 = u32::MAX as u64;

/// Variables of the search function, which would shadow maps.
const VARIABLES: [&str; 2] = ["place", "copy"];

/// Table that is searched by buckets.
#[derive(Clone, Debug)]
pub(crate) struct Buckets {
    /// Function that finds the slot of an entry.
    find: SmolStr,
    /// Map of buckets.
    map: SmolStr,
    /// Layout of the key.
    key: KeyLayout,
    /// Offset of the values in a bucket, and size of a value, in bytes.
    values: (u32, u32),
}

/// Number of buckets of a table, and layout of a bucket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Room {
    buckets: u32,
    keys_offset: u32,
    values_offset: u32,
    size: u32,
}

impl Room {
    /// Returns the buckets for this many entries. `None` if they would be too large.
    pub(crate) fn of(parts: &[KeyPart], value: &ValueAbi, entries: u64) -> Option<Room> {
        let key = measured_key(parts).record;
        // Types do not affect sizes.
        let (bucket, [keys_offset, values_offset]) = bucket([Type::U8, Type::U8], &key, value.size);
        let buckets = entries.div_ceil(LOAD).max(1);
        // One more bucket is for the control plane.
        let fits = (buckets + 1) * u64::from(bucket.size) <= LIMIT;
        fits.then_some(Room {
            buckets: buckets as u32,
            keys_offset,
            values_offset,
            size: bucket.size,
        })
    }
}

/// Returns the struct of a bucket with such keys and values, and the offsets of both.
fn bucket([key_type, value_type]: [Type; 2], key: &Record, value: u32) -> (Record, [u32; 2]) {
    let mut bucket = Record::default();
    bucket.add(Type::U32, "used", 4, 4, "a bit for each place");
    bucket.add(Type::U32, "elsewhere", 4, 4, "keys that are not here");
    let (places, align) = (BUCKET_PLACES, key.align.max(4));
    let keys = bucket.add(key_type.array(places), "keys", places * key.size, align, "");
    let values = bucket.add(value_type.array(places), "values", places * value, 8, "");
    bucket.pad_to(8);
    (bucket, [keys, values])
}

/// Declares the maps, structs and the function of a table with buckets.
pub(crate) fn declare<T: Tables>(
    g: &mut Gen<'_, T>,
    parts: &[KeyPart],
    room: Room,
    entries: &Entries<'_>,
) -> (Buckets, BucketsAbi) {
    let Entries {
        short,
        ref values,
        size,
        ..
    } = *entries;
    for taken in VARIABLES {
        g.file.names.reserve(taken);
    }
    let (key, key_abi) = declare_key(g, parts, entries);
    let key_type = Type::Struct(key.name.clone());
    let types = [key_type.clone(), values.ty.clone()];
    let (record, _) = bucket(types, &key.record, values.abi.size);
    let bucket_name = g.file.names.fresh(&format!("{short}_bucket"));
    g.file.declare_struct(&bucket_name, record.members);
    let named = |g: &mut Gen<'_, T>, what: &str| g.file.names.fresh_short(short, what, T::MAP_NAME);
    let [buckets, overflow] = ["", "_more"].map(|what| named(g, what));
    let count = u64::from(room.buckets) + 1;
    let map = Map {
        mapped: true,
        ..Map::new(buckets.as_str(), MapKind::Array, 4, room.size, count)
    };
    memory::declare(g, map, Some((Type::U32, Type::Struct(bucket_name))));
    let map = Map {
        on_demand: true,
        ..Map::new(overflow.as_str(), MapKind::Hash, key_abi.size, 4, size)
    };
    memory::declare(g, map, Some((key_type, Type::U32)));
    let find = g.file.names.fresh(&format!("{short}_find"));
    let abi = BucketsAbi {
        buckets: buckets.to_string(),
        overflow: overflow.to_string(),
        count: room.buckets,
        size: room.size,
        keys_offset: room.keys_offset,
        values_offset: room.values_offset,
        key: key_abi,
        value: values.abi.clone(),
    };
    let linkage = g.target.linkage();
    let function = function(linkage, &find, &key.name, &abi);
    g.file.functions.push(function);
    T::tables(&mut g.file.own).buckets = true;
    let found = Buckets {
        find,
        map: buckets,
        key,
        values: (room.values_offset, values.abi.size),
    };
    (found, abi)
}

/// Returns the function of this name, which maps a key to the slot of its entry. The overflow map is asked with a copy of
/// the key: Linux 6.1 takes a map's key from the stack, and not from the memory of a caller.
fn function(linkage: &str, name: &SmolStr, key: &SmolStr, abi: &BucketsAbi) -> Function {
    let found = C::call(
        "bucket_find",
        vec![
            C::id(&abi.buckets).addr(),
            C::id("key").cast(Type::U8.ptr()),
            C::int((abi.key.size / 4).into()),
            C::int(abi.count.into()),
        ],
    );
    let overflows = C::bin(BinOp::Eq, C::id("place"), C::id("BUCKET_OVERFLOW"));
    let key_type = Type::Struct(key.clone());
    let copied = Stmt::decl(
        key_type,
        "copy",
        C::Unary(UnOp::Deref, Box::new(C::id("key"))),
    );
    let led = C::call(
        "bucket_overflow",
        vec![C::id(&abi.overflow).addr(), C::id("copy").addr()],
    );
    let search = vec![
        Stmt::decl(Type::U32, "place", found),
        Stmt::If(overflows, vec![copied, Stmt::Return(Some(led))], Vec::new()),
        Stmt::Return(Some(C::id("place"))),
    ];
    search_function(linkage, name, key, None, search)
}

/// Emits the search for the entry of a key. Returns a pointer to it, which may be null.
pub(crate) fn search<T: Tables>(
    g: &mut Gen<'_, T>,
    table: &Buckets,
    exprs: &[Expr],
    entry: Type,
) -> C {
    let key = g.build_key(&table.key, exprs);
    let [place, found] = ["place", "entry"].map(|wish| g.file.names.fresh(wish));
    g.on(Event::Searches);
    let call = C::call(table.find.clone(), vec![key.addr()]);
    g.push(Stmt::decl(Type::U32, place.clone(), call));
    let (place, (offset, size)) = (C::Ident(place), table.values);
    let value = C::call(
        "bucket_value",
        vec![
            C::Ident(table.map.clone()).addr(),
            place,
            C::int(offset.into()),
            C::int(size.into()),
        ],
    );
    g.push(Stmt::decl(entry, found.clone(), value));
    C::Ident(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(width: u32, entries: u64) -> Option<Room> {
        let part = KeyPart {
            name: "k".into(),
            width,
            prefix: false,
        };
        let value = ValueAbi {
            size: 8,
            priority_offset: None,
            action_offset: 0,
            number_offset: None,
            actions: Vec::new(),
        };
        Room::of(&[part], &value, entries)
    }

    #[test]
    fn half_of_the_places_are_for_entries() {
        let found = room(32, 1 << 20).expect("not too large");
        assert_eq!((found.buckets, found.size), (1 << 19, 8 + 4 * (4 + 8)));
        assert_eq!((found.keys_offset, found.values_offset), (8, 24));
        // Values are aligned.
        let odd = room(72, 3).expect("not too large");
        assert_eq!((odd.buckets, odd.values_offset % 8), (2, 0));
        assert_eq!(room(16, 1).map(|room| room.buckets), Some(1));
    }

    #[test]
    fn what_is_too_large_has_no_room() {
        assert!(room(32, 150_000_000).is_some());
        assert_eq!(room(32, 160_000_000), None);
    }
}

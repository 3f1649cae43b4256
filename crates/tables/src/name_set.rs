//! Emits name sets ([`NameSetAbi`]).

use crate::target::Tables;
use crate::text::Text;
use cgen::tree::{Expr as C, Stmt, Type};
use emit::memory;
use emit::{Function, Gen};
use ir::ExternInst;
use layout::{Map, MapKind, NAME_RECORD, NAME_SLOTS, NameSetAbi, name_set_room};
use smol_str::SmolStr;

/// Name of a packet, in lower case.
pub const TEXT: Text = Text {
    structure: "name_text",
    size: 712,
    parameter: "text",
    map: "name",
};

/// Parameters of the functions, which would shadow others.
const VARIABLES: [&str; 6] = ["text", "at", "length", "hash", "record", "scope"];

/// Name set that the program looks names up in.
#[derive(Clone, Debug)]
pub struct NameSet {
    /// Function from a name (`struct name_text *`) and its length to the number of the rule's first record, or 0.
    pub find: SmolStr,
    /// Function that looks a rest of a name up.
    pub probe: SmolStr,
    /// Map of records, whose values are `struct name_record`.
    pub records: SmolStr,
}

/// Declares a name set; returns it on further calls.
pub fn declare<T: Tables>(g: &mut Gen<'_, T>, object: ExternInst) -> NameSet {
    if let Some(known) = T::tables(&mut g.file.own).name_sets.get(&object) {
        return known.clone();
    }
    for taken in VARIABLES {
        g.file.names.reserve(taken);
    }
    let data = &g.p.externs[object];
    let size = data
        .int_arg("size")
        .and_then(|size| u32::try_from(size).ok());
    let capacity = size.unwrap_or(1);
    let (bucket_count, record_count) = name_set_room(capacity);
    let named =
        |g: &mut Gen<'_, T>, what: &str| g.file.names.fresh_short(&data.name, what, T::MAP_NAME);
    let [buckets, records] = ["", "_rules"].map(|what| named(g, what));
    let array = |name: &SmolStr, size: u32, count: u32| Map {
        mapped: true,
        ..Map::new(name.as_str(), MapKind::Array, 4, size, count.into())
    };
    memory::declare(g, array(&buckets, 8 * NAME_SLOTS, bucket_count), None);
    memory::declare(g, array(&records, NAME_RECORD, record_count), None);
    let functions = [function_is, function_probe, function_find];
    let [is, probe, find] = ["is", "probe", "find"].map(|what| {
        let short = data.name.rsplit('.').next().unwrap_or(&data.name);
        g.file.names.fresh(&format!("{short}_{what}"))
    });
    let names = [&is, &probe, &find];
    let made = NameSet {
        find: find.clone(),
        probe: probe.clone(),
        records: records.clone(),
    };
    let maps = (&buckets, &records, bucket_count);
    for function in functions {
        let linkage = g.target.linkage().into();
        g.file.functions.push(function(linkage, names, maps));
    }
    let abi = NameSetAbi {
        index: object.as_u32(),
        name: data.name.to_string(),
        buckets: buckets.to_string(),
        records: records.to_string(),
        bucket_count,
        record_count,
        capacity,
    };
    T::kept(&mut g.file.own).contents.name_sets.push(abi);
    let sets = &mut T::tables(&mut g.file.own).name_sets;
    sets.insert(object, made.clone());
    made
}

/// Names of the functions that compare a rule, look a rest of a name up, and find the rule of a name.
type Names<'a> = [&'a SmolStr; 3];
/// Map of buckets, map of records, and number of buckets.
type Maps<'a> = (&'a SmolStr, &'a SmolStr, u32);

fn function(linkage: SmolStr, name: &SmolStr, further: &[(Type, &str)], result: C) -> Function {
    let further = further
        .iter()
        .map(|(ty, name)| (ty.clone(), SmolStr::from(*name)));
    Function {
        linkage,
        name: name.clone(),
        result: Type::U32,
        params: std::iter::once(TEXT.parameter()).chain(further).collect(),
        body: vec![TEXT.unless_there(), Stmt::Return(Some(result))],
    }
}

/// Returns the function that tells whether a rule has the rest of a name, and a scope. A checker checks it once.
fn function_is(linkage: SmolStr, [is, ..]: Names<'_>, (_, records, _): Maps<'_>) -> Function {
    let further = ["at", "length", "record", "scope"];
    let args = ["text", "at", "length", "record", "scope"].map(C::id);
    let records = C::Ident(records.clone()).addr();
    let same = C::call("name_is", std::iter::once(records).chain(args).collect());
    function(linkage, is, &further.map(|name| (Type::U32, name)), same)
}

/// Returns the function that finds the rule of a rest of a name.
fn function_probe(
    linkage: SmolStr,
    [is, probe, _]: Names<'_>,
    (buckets, _, count): Maps<'_>,
) -> Function {
    let further = [
        (Type::U32, "at"),
        (Type::U32, "length"),
        (Type::U64, "hash"),
        (Type::U32, "scope"),
    ];
    let mut args = vec![
        C::Ident(buckets.clone()).addr(),
        C::int(count.into()),
        C::Ident(is.clone()),
    ];
    args.extend(["text", "at", "length", "hash", "scope"].map(C::id));
    function(linkage, probe, &further, C::call("name_probe", args))
}

/// Returns the function that finds the rule that decides for a name.
fn function_find(
    linkage: SmolStr,
    [_, probe, find]: Names<'_>,
    (_, records, _): Maps<'_>,
) -> Function {
    let args = vec![
        C::Ident(records.clone()).addr(),
        C::Ident(probe.clone()),
        C::id("text"),
        C::id("length"),
    ];
    function(
        linkage,
        find,
        &[(Type::U32, "length")],
        C::call("name_find", args),
    )
}

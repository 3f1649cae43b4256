//! Parser value sets: sets of keys, looked up like tables.

use crate::describe;
use crate::entries::{Entries, Values, plain_key};
use crate::lookup::Lookup;
use crate::structure::{self, Chosen};
use crate::target::Tables;
use cgen::tree::{Expr as C, Member, Type};
use emit::record::Record;
use emit::table::key::{KeyLayout, KeyPart};
use emit::{Gen, memory};
use ir::{Expr, MatchKind, ValueSet, ValueSetData};
use layout::{ActionAbi, LookupAbi, Map, MapKind, ValueAbi, ValueSetAbi};
use smol_str::SmolStr;

/// Value set in C.
#[derive(Clone, Debug)]
pub struct Set {
    value: SmolStr,
    lookup: SetLookup,
}

#[derive(Clone, Debug)]
enum SetLookup {
    Hash(SmolStr, KeyLayout),
    Other(Lookup),
}

/// Emits the look-up. Returns a pointer to the member's entry, which may be null.
pub fn member<T: Tables>(g: &mut Gen<'_, T>, set: &Set, keys: &[Expr]) -> C {
    match &set.lookup {
        SetLookup::Other(lookup) => {
            let entry = Type::Struct(set.value.clone()).ptr();
            lookup.search(g, keys, entry)
        }
        SetLookup::Hash(map, layout) => {
            let key = g.build_key(layout, keys);
            T::find(map, key.addr())
        }
    }
}

/// Declares the storage of a value set.
pub fn declare<T: Tables>(g: &mut Gen<'_, T>, set: ValueSet, data: &ValueSetData) -> Set {
    let short = data.name.rsplit('.').next().unwrap_or(&data.name);
    let value = g.file.names.fresh(&format!("{short}_member"));
    g.file.declare_struct(&value, member_record());
    let parts: Vec<KeyPart> = data
        .fields
        .iter()
        .map(|(name, ty, _)| KeyPart {
            name: name.to_string(),
            width: ty.width(),
            prefix: false,
        })
        .collect();
    let size = data.size.clamp(1, u64::from(u32::MAX));
    let entries = Entries {
        name: &data.name,
        short,
        values: Values {
            ty: Type::Struct(value.clone()),
            abi: ValueAbi {
                size: 8,
                priority_offset: Some(0),
                action_offset: 4,
                number_offset: None,
                actions: vec![ActionAbi {
                    name: "member".into(),
                    params: Vec::new(),
                }],
            },
        },
        size,
        span: data.span,
    };
    let exact = data
        .fields
        .iter()
        .all(|(_, _, kind)| *kind == MatchKind::Exact);
    let wanted = structure::wanted(g, &Chosen::value_set(data));
    let (lookup, abi) = if exact {
        declare_hash(g, &parts, &entries)
    } else {
        let kinds: Vec<MatchKind> = data.fields.iter().map(|(_, _, kind)| *kind).collect();
        let (lookup, abi) = structure::declare_overlapping(g, &parts, &kinds, wanted, &entries);
        (SetLookup::Other(lookup), abi)
    };
    let kept = T::kept(&mut g.file.own);
    kept.contents.value_sets.push(ValueSetAbi {
        index: set.as_u32(),
        name: data.name.to_string(),
        capacity: size,
        lookup: abi,
    });
    Set { value, lookup }
}

fn declare_hash<T: Tables>(
    g: &mut Gen<'_, T>,
    parts: &[KeyPart],
    entries: &Entries<'_>,
) -> (SetLookup, LookupAbi) {
    let Entries { short, values, .. } = entries;
    let name = g.file.names.fresh(&format!("{short}_key"));
    let layout = plain_key(T::names(), name.clone(), parts);
    let key = describe::key(&layout, parts);
    g.file.declare_struct(&name, layout.record.members.clone());
    let map = g.file.names.fresh_short(short, "", T::MAP_NAME);
    let size = values.abi.size;
    memory::declare(
        g,
        Map::new(map.as_str(), MapKind::Hash, key.size, size, entries.size),
        Some((Type::Struct(name), values.ty.clone())),
    );
    let abi = LookupAbi::Hash {
        map: map.to_string(),
        key,
        value: values.abi.clone(),
    };
    (SetLookup::Hash(map, layout), abi)
}

/// Returns the struct of a member: a priority and an action number.
fn member_record() -> Vec<Member> {
    let mut record = Record::default();
    record.add(Type::U32, "priority", 4, 4, "");
    record.add(Type::U32, "action", 4, 4, "1: a member");
    record.members
}

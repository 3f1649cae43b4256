//! Parser value sets: sets of keys, looked up as tables are.

use super::lookup::{self, Lookup};
use super::{Entries, Values, describe, map_element, structure};
use crate::abi::MapKind;
use crate::maps::MAP_NAME;
use crate::target::{Bpf, Gen};
use cgen::tree::{Expr as C, Member, Type};
use emit::record::Record;
use emit::table::key::{self, KeyPart};
use ir::{Expr, MatchKind, ValueSet, ValueSetData};
use layout::{ActionAbi, LookupAbi, ValueAbi, ValueSetAbi};
use smol_str::SmolStr;

/// A value set's C side.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    value: SmolStr,
    lookup: SetLookup,
}

#[derive(Clone, Debug)]
enum SetLookup {
    Hash(SmolStr, key::KeyLayout),
    Other(Lookup),
}

/// Emits the look-up; gives the member's entry, or null.
pub(crate) fn member(g: &mut Gen<'_>, set: &Set, keys: &[Expr]) -> C {
    match &set.lookup {
        SetLookup::Other(lookup) => {
            let entry = Type::Struct(set.value.clone()).ptr();
            lookup::look_up(g, lookup, keys, entry)
        }
        SetLookup::Hash(map, layout) => {
            let key = g.build_key(layout, keys);
            map_element(map, key)
        }
    }
}

/// Declares what a set needs.
pub(crate) fn declare(g: &mut Gen<'_>, set: ValueSet, data: &ValueSetData) -> Set {
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
    let wanted = structure::wanted(g, &structure::Chosen::value_set(data));
    let (lookup, abi) = if exact {
        declare_hash(g, &parts, &entries)
    } else {
        let kinds: Vec<MatchKind> = data.fields.iter().map(|(_, _, kind)| *kind).collect();
        let (lookup, abi) = structure::declare(g, &data.name, &parts, &kinds, wanted, &entries);
        (SetLookup::Other(lookup), abi)
    };
    g.file.own.maps.kept.contents.value_sets.push(ValueSetAbi {
        index: set.as_u32(),
        name: data.name.to_string(),
        capacity: size,
        lookup: abi,
    });
    Set { value, lookup }
}

fn declare_hash(
    g: &mut Gen<'_>,
    parts: &[KeyPart],
    entries: &Entries<'_>,
) -> (SetLookup, LookupAbi) {
    let Entries { short, values, .. } = entries;
    let name = g.file.names.fresh(&format!("{short}_key"));
    let layout = key::layout::<Bpf>(name.clone(), parts, Record::default());
    let key = describe::key(&layout, parts);
    g.file.declare_struct(&name, layout.record.members.clone());
    let map = g.file.names.fresh_short(short, "", MAP_NAME);
    let size = values.abi.size;
    g.file.own.maps.declare(
        lookup::map(&map, MapKind::Hash, key.size, size, entries.size),
        Some((Type::Struct(name), values.ty.clone())),
    );
    let abi = LookupAbi::Hash {
        map: map.to_string(),
        key,
        value: values.abi.clone(),
    };
    (SetLookup::Hash(map, layout), abi)
}

/// A struct with nothing but a priority and that it is a member.
fn member_record() -> Vec<Member> {
    let mut record = Record::default();
    record.add(Type::U32, "priority", 4, 4, "");
    record.add(Type::U32, "action", 4, 4, "1: a member");
    record.members
}

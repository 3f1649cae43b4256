//! Layout of flow states: the structs of their map, as C and in the description for the control plane.

use crate::errors;
use crate::keys;
use crate::layouts::FlowLayout;
use crate::target::{StateTarget, add_lock};
use cgen::tree::Type as CType;
use emit::Gen;
use emit::memory::declare;
use emit::names::Names;
use emit::record::{MemberLayout, Record};
use externs::flow_state::{WAYS, idle_of, sets, size_of};
use ir::{ExternInst, Type};
use layout::{ByteOrder, FlowStateAbi, Map, MapKind};

/// Largest set, and largest sum of all sets, in bytes.
const SET_LIMIT: u32 = 64 << 10;
const STATE_LIMIT: u64 = 4 << 30;

/// Returns the layout of a flow state, whose map is declared on first use. `None` if the program is refused.
pub(crate) fn flow_layout<T: StateTarget>(
    g: &mut Gen<'_, T>,
    object: ExternInst,
) -> Option<FlowLayout> {
    if let Some(known) = T::shared(&mut g.file.own).flow_states.get(&object) {
        return Some(known.clone());
    }
    let (key, key_abi) = keys::layout(g, object, 0)?;
    let data = &g.p.externs[object];
    let values = keys::scalars(data, 1);
    if values.iter().any(|t| matches!(t, Type::Varbit(_))) {
        g.refuse(errors::varbit_in_key(&data.ty, &data.name, data.span));
        return None;
    }

    let idle = idle_of(data);
    let mut way = Record::default();
    way.add(
        CType::U64.array(key.words),
        "key",
        key.words * 8,
        8,
        "each field in network order",
    );
    let seen_offset =
        (idle > 0).then(|| way.add(CType::U64, "seen", 8, 8, "when it was last used"));
    // Fields are in order of declaration, since fields that are used together are declared together.
    let forms: Vec<MemberLayout> = values
        .iter()
        .map(|ty| MemberLayout::new(ty.width(), ByteOrder::Host))
        .collect();
    let mut members: Names = T::names();
    members.reserve("key");
    if seen_offset.is_some() {
        members.reserve("seen");
    }
    let mut value = Vec::with_capacity(forms.len());
    let mut value_fields = Vec::with_capacity(forms.len());
    for (k, form) in forms.into_iter().enumerate() {
        let name = keys::name_of_scalar(data, 1, k);
        let wish = if name.is_empty() {
            "value"
        } else {
            name.as_str()
        };
        let member = members.fresh(wish);
        let offset = way.add_value(form, member.clone(), "");
        value_fields.push(form.field(&name, offset));
        value.push((member, form));
    }
    way.pad_to(8);

    let ways = WAYS as u32;
    let (map, set_name, way_name) = {
        let map = g.file.names.fresh_short(&data.name, "", T::MAP_NAME);
        let set = g.file.names.fresh(&format!("{map}_set"));
        let way = g.file.names.fresh(&format!("{map}_way"));
        (map, set, way)
    };
    let mut set = Record::default();
    add_lock::<T>(&mut set);
    set.add(CType::U32, "lru", 4, 4, "counts the set's uses");
    set.add(
        CType::U32,
        "changes",
        4,
        4,
        "of keys and values; odd during one",
    );
    let tags_offset = set.add(CType::U32.array(ways), "tag", 4 * ways, 4, "0 where empty");
    let used_offset = set.add(
        CType::U32.array(ways),
        "used",
        4 * ways,
        4,
        "the LRU counter at the last use",
    );
    let evicted_offset = set.add(
        CType::U64,
        "evicted",
        8,
        8,
        "flows that others have replaced",
    );
    let ways_offset = set.add(
        CType::Struct(way_name.clone()).array(ways),
        "way",
        way.size.saturating_mul(ways),
        8,
        "",
    );
    let sets = sets(size_of(data));
    if way.size > SET_LIMIT / ways || u64::from(sets) * u64::from(set.size) >= STATE_LIMIT {
        let bytes = u64::from(sets) * u64::from(set.size);
        let besides = set.size.saturating_sub(way.size.saturating_mul(ways));
        let refusal = errors::too_many_flows(&data.name, way.size, besides, bytes, data.span);
        g.refuse(refusal);
        return None;
    }
    g.file.declare_struct(&way_name, way.members);
    g.file.declare_struct(&set_name, set.members);
    let declared = Map::new(map.as_str(), MapKind::Array, 4, set.size, sets.into());
    let types = (CType::U32, CType::Struct(set_name.clone()));
    declare(g, declared, Some(types));
    T::kept(&mut g.file.own)
        .contents
        .flow_states
        .push(FlowStateAbi {
            index: object.as_u32(),
            name: data.name.to_string(),
            map: map.to_string(),
            sets,
            ways,
            tags_offset,
            used_offset,
            evicted_offset: Some(evicted_offset),
            ways_offset,
            way_size: way.size,
            seen_offset,
            idle,
            key: key_abi,
            value: value_fields,
        });
    let layout = FlowLayout {
        map,
        set: set_name,
        way: way_name,
        key,
        value,
        sets,
        idle,
    };
    T::shared(&mut g.file.own)
        .flow_states
        .insert(object, layout.clone());
    Some(layout)
}

//! Layout of metrics: the structs of their map, as C and in the description for the control plane.

use super::kind::MetricKind;
use crate::errors;
use crate::keys;
use crate::layouts::MetricLayout;
use crate::target::StateTarget;
use cgen::tree::Type as CType;
use emit::Gen;
use emit::memory::declare;
use emit::record::Record;
use externs::flow_state::{WAYS, sets};
use externs::metrics::groups_of;
use ir::ExternInst;
use layout::{Map, MapKind, MetricsAbi};

/// Largest set, and largest sum of a processor's sets, in bytes.
const SET_LIMIT: u32 = 64 << 10;
const METRICS_LIMIT: u64 = 1 << 30;
/// Size of `struct metric_set`, and offsets of its members, in bytes.
const HEAD: u32 = 48;
const LOST: u32 = 8;
const TAGS: u32 = 16;

/// Returns the layout of an object's metrics, whose map is declared on first use. `None` if the program is refused.
pub(crate) fn layout<T: StateTarget>(
    g: &mut Gen<'_, T>,
    object: ExternInst,
    kind: MetricKind,
) -> Option<MetricLayout> {
    if let Some(known) = T::shared(&mut g.file.own).metrics.get(&object) {
        return Some(known.clone());
    }
    let data = &g.p.externs[object];
    if let MetricKind::Distinct { precision } = kind
        && !externs::metrics::PRECISIONS.contains(&precision)
    {
        g.refuse(errors::precision(&data.name, precision, data.span));
        return None;
    }
    let (key, key_abi) = keys::layout(g, object, 0)?;
    let item = match kind {
        MetricKind::Distinct { .. } => Some(keys::layout(g, object, 1)?.0),
        _ => None,
    };

    let mut way = Record::default();
    let words = key.words;
    let note = "each field in network order";
    way.add(CType::U64.array(words), "key", words * 8, 8, note);
    let (ty, size) = kind.metric();
    let metric_offset = way.add(ty, "metric", size, 8, "");
    way.pad_to(8);

    let data = &g.p.externs[object];
    let ways = WAYS as u32;
    let sets = sets(groups_of(data));
    let set_size = HEAD + way.size.saturating_mul(ways);
    let bytes = u64::from(sets) * u64::from(set_size);
    if set_size > SET_LIMIT || bytes > METRICS_LIMIT {
        g.refuse(errors::too_many_groups(
            &data.ty, &data.name, way.size, HEAD, bytes, data.span,
        ));
        return None;
    }
    let map = g.file.names.fresh_short(&data.name, "", T::MAP_NAME);
    let set_name = g.file.names.fresh(&format!("{map}_set"));
    let way_name = g.file.names.fresh(&format!("{map}_way"));
    let mut set = Record::default();
    set.add(CType::Struct("metric_set".into()), "head", HEAD, 8, "");
    let array = CType::Struct(way_name.clone()).array(ways);
    let ways_offset = set.add(array, "way", way.size * ways, 8, "");
    let abi = MetricsAbi {
        index: object.as_u32(),
        name: data.name.to_string(),
        map: map.to_string(),
        sets,
        ways,
        lost_offset: LOST,
        tags_offset: TAGS,
        ways_offset,
        way_size: way.size,
        metric_offset,
        key: key_abi,
    };
    g.file.declare_struct(&way_name, way.members);
    g.file.declare_struct(&set_name, set.members);
    let mut declared = Map::new(map.as_str(), MapKind::Array, 4, set.size, sets.into());
    declared.mapped = true;
    let types = (CType::U32, CType::Struct(set_name.clone()));
    declare(g, declared, Some(types));
    T::kept(&mut g.file.own).contents.metrics.push(abi);
    let layout = MetricLayout {
        map,
        set: set_name,
        way: way_name,
        key,
        item,
        sets,
    };
    T::shared(&mut g.file.own)
        .metrics
        .insert(object, layout.clone());
    Some(layout)
}

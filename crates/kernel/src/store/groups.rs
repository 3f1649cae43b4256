//! Multicast groups in a batch of changes: each is one element of a map, so that a packet meets the old group or the new
//! one.

use super::records::NO_ORIGIN;
use super::steps::Step;
use super::{KernelStore, system, unopened};
use control::StoreError;
use std::collections::BTreeMap;

/// The step that makes a group of these ports, for the change of that number; no ports are no group. `None` if it is as it
/// should be, or if the program never sends to a group and has no map for them.
pub(super) fn step(
    store: &KernelStore,
    group: u16,
    ports: &[u32],
    origin: u32,
) -> Result<Option<Step>, StoreError> {
    let Some(name) = &store.abi.ports.groups else {
        return Ok(None);
    };
    let Some(map) = store.maps.get(name).map_err(unopened)? else {
        return Ok(None);
    };
    let key = u32::from(group).to_ne_bytes();
    let old = map.get(&key).map_err(system("read a multicast group"))?;
    let (map, keys) = (name.clone(), key.to_vec());
    let new = (!ports.is_empty()).then(|| crate::ports::group_value(ports));
    let capacity = store.map(name)?.info().max_entries.into();
    Ok(match (old, new) {
        (None, None) => None,
        (Some(old), Some(new)) if old == new => None,
        (None, Some(values)) => Some(Step::Insert {
            map,
            keys,
            values,
            origins: vec![origin],
            capacity,
        }),
        (Some(old), Some(new)) => Some(Step::Replace {
            map,
            keys,
            old,
            new,
            origins: vec![origin],
        }),
        (Some(old), None) => Some(Step::Erase { map, keys, old }),
    })
}

/// The steps that fill the empty map of a successor with the groups that the program has and those that change, each with
/// the change that wants it.
pub(super) fn steps_anew(
    store: &KernelStore,
    changed: &BTreeMap<u16, (Vec<u32>, u32)>,
    successor: &KernelStore,
) -> Result<Vec<Step>, StoreError> {
    let kept = crate::ports::groups(&store.abi.ports, &store.maps)?;
    let kept = kept
        .iter()
        .filter(|(group, _)| !changed.contains_key(group));
    let kept = kept.map(|(group, ports)| (*group, ports, NO_ORIGIN));
    let changed = changed.iter();
    let changed = changed.map(|(group, (ports, origin))| (*group, ports, *origin));
    let steps = kept.chain(changed);
    let steps = steps.map(|(group, ports, origin)| step(successor, group, ports, origin));
    let steps: Result<Vec<Option<Step>>, StoreError> = steps.collect();
    Ok(steps?.into_iter().flatten().collect())
}

//! Programs that are specialized to the contents of their tables. A specialized object takes the place of the general
//! one, over the same maps. A packet that is in the old program stays there to its end; the next one meets the new
//! program.
//!
//! The pins still hold the general object, from which the program is loaded again. So replacing a table in one switch
//! brings the general program back.

use super::guard::Guard;
use super::successor::{Successor, not_pinned};
use super::{KernelStore, system};
use crate::load::{Instance, load_again};
use crate::pins::files::{NEXT_SPECIALIZED, SPECIALIZED};
use crate::pins::owner::Owner;
use crate::sys::{Map, pin_bytes, read_bytes};
use bpf::abi::{Abi, CHANGES_SECTION, PROGRAMS_MAP, SEED_SECTION};
use control::StoreError;
use schema::Table;
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::Arc;
use writers::memory::{NotSwitched, Successor as _};

/// Tables that a program is specialized to, and the process that does so.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Specialized {
    /// Process that specializes the program again when its tables change.
    pub watcher: Owner,
    /// The tables whose contents are compiled in.
    pub tables: Vec<SpecializedTable>,
}

/// A table whose contents are compiled in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SpecializedTable {
    /// Table's number.
    pub index: u32,
    /// Table's control-plane name.
    pub name: String,
    /// Number of entries that it had.
    pub entries: usize,
    /// Number of times that it had been changed.
    pub generation: u64,
}

/// Loads another object of a program over its maps. It must have been compiled from the same tables and objects.
///
/// # Errors
/// It keeps its state elsewhere than this one, or the kernel refuses it.
pub fn load_beside(
    store: &KernelStore,
    object: &[u8],
    abi: &Arc<Abi>,
) -> Result<Instance, StoreError> {
    let memory = &store.memory;
    if !keeps_state_alike(&memory.abi, abi) {
        return Err(StoreError::System {
            what: "the specialized program would keep its state elsewhere than this one".into(),
        });
    }
    let mut names = vec![CHANGES_SECTION];
    let shared =
        |name: &str| memory.abi.map(name).is_some() && memory.abi.map(name) == abi.map(name);
    let maps = abi.maps.iter().map(|map| map.name.as_str());
    // Each loading has its own map of chained programs.
    let maps = maps.filter(|name| *name != PROGRAMS_MAP);
    names.extend(maps.filter(|name| shared(name)));
    names.extend(
        abi.contents
            .globals
            .iter()
            .map(|data| data.section.as_str()),
    );
    names.extend(abi.contents.is_seeded().then_some(SEED_SECTION));
    let mut reuse: Vec<(&str, &Map)> = Vec::new();
    for name in names {
        reuse.push((name, memory.existing(name)?));
    }
    load_again(object, abi, &memory.schema, &reuse, memory.allowance).map_err(|failure| {
        StoreError::System {
            what: format!(
                "the kernel does not load the specialized program: {}",
                failure.diagnostic.message
            ),
        }
    })
}

/// Puts a specialized object of a pinned program in the program's place at every interface, one after the other. Each
/// switch is atomic.
///
/// # Errors
/// As for [`load_beside`]; the program was unloaded; or an interface refuses it.
pub fn put_in_place(
    store: &KernelStore,
    object: &[u8],
    abi: &Arc<Abi>,
    specialized: &Specialized,
) -> Result<(), StoreError> {
    let guard = store.memory.guard.as_ref().ok_or_else(not_pinned)?;
    store.alone(None, |now| {
        let instance = load_beside(now, object, abi)?;
        let successor = Successor::over_same_maps(instance, guard.clone());
        successor.take_over().map_err(reported)?;
        note(guard, specialized).map_err(system("write down what the program is specialized to"))
    })
}

/// Returns the tables that a program is specialized to, and for each, whether it still has the same contents. `None`
/// if the program is not specialized.
pub fn specialized(store: &KernelStore) -> Result<Option<(Specialized, Vec<bool>)>, StoreError> {
    let Some(guard) = &store.memory.guard else {
        return Ok(None);
    };
    let failed = system("read what the program is specialized to");
    let bytes = match read_bytes(guard.folder(), SPECIALIZED) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes.map_err(&failed)?,
    };
    let noted: Specialized =
        serde_json::from_slice(&bytes).map_err(|error| failed(error.into()))?;
    let changes = store.changes()?;
    let is_current = |table: &SpecializedTable| match &changes {
        Some(changes) => Ok(changes.of(Table::from_u32(table.index))? == table.generation),
        None => Ok(false),
    };
    let current = noted.tables.iter().map(is_current);
    let current = current.collect::<Result<Vec<bool>, StoreError>>()?;
    Ok(Some((noted, current)))
}

/// Tests whether two objects of one program have the same layout of all state that user space reads or writes, or that
/// outlives a packet.
fn keeps_state_alike(ours: &Abi, other: &Abi) -> bool {
    let counters = |abi: &Abi| {
        let mut all = abi.contents.counters.clone();
        all.sort_by_key(|counter| counter.index);
        all
    };
    let flow_states = |abi: &Abi| {
        let mut all = abi.contents.flow_states.clone();
        all.sort_by_key(|state| state.index);
        all
    };
    let metrics = |abi: &Abi| {
        let mut all = abi.contents.metrics.clone();
        all.sort_by_key(|metrics| metrics.index);
        all
    };
    let name_sets = |abi: &Abi| {
        let mut all = abi.contents.name_sets.clone();
        all.sort_by_key(|set| set.index);
        all
    };
    let pattern_sets = |abi: &Abi| {
        let mut all = abi.contents.pattern_sets.clone();
        all.sort_by_key(|set| set.index);
        all
    };
    ours.contents.tables == other.contents.tables
        && ours.contents.value_sets == other.contents.value_sets
        && ours.contents.globals == other.contents.globals
        && ours.ports == other.ports
        && ours.events == other.events
        && counters(ours) == counters(other)
        && flow_states(ours) == flow_states(other)
        && metrics(ours) == metrics(other)
        && name_sets(ours) == name_sets(other)
        && pattern_sets(ours) == pattern_sets(other)
}

/// Records the tables that a program is specialized to, in place of the earlier record.
fn note(guard: &Guard, specialized: &Specialized) -> io::Result<()> {
    let folder = guard.folder();
    folder.remove_file_if_there(NEXT_SPECIALIZED)?;
    let bytes = serde_json::to_vec(specialized)?;
    pin_bytes(folder, NEXT_SPECIALIZED, "onpath_record", &bytes)?;
    folder.rename(NEXT_SPECIALIZED, SPECIALIZED)
}

fn reported(not_switched: NotSwitched) -> StoreError {
    let left = not_switched.left();
    let error = not_switched.error();
    match left {
        Some(left) => StoreError::System {
            what: format!("{error}; {left}"),
        },
        None => error,
    }
}

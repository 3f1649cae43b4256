//! Direct counters and meters: elements of arrays beside the table, indexed by the entry's number, which is stored in
//! the entry's value. An entry keeps its number as long as it exists, whatever its action. The elements of a new entry
//! start at zero.

use crate::counters::sum;
use crate::errors::{refused, unsupported};
use crate::flat;
use crate::own::Own;
use crate::state::{Opened, ProgramState};
use crate::steps::ChangeStep;
use control::{Count, StoreError};
use layout::{DirectAbi, LookupAbi, TableAbi};
use schema::{Entry, KeyMatch, ObjectKind, Table, Unit};
use std::collections::HashMap;

/// Returns the steps that zero the counters and meters of entries with these numbers.
pub(super) fn begin(abi: &TableAbi, numbers: &[u32]) -> impl Iterator<Item = ChangeStep> {
    let DirectAbi { counter, meter, .. } = abi.direct.clone().unwrap_or_default();
    let keys: Vec<u8> = numbers.iter().flat_map(|number| key(*number)).collect();
    counter
        .into_iter()
        .chain(meter)
        .map(move |map| ChangeStep::Zero {
            map,
            keys: keys.clone(),
        })
}

/// Returns the index of an entry's elements.
fn key(number: u32) -> [u8; 4] {
    number.wrapping_sub(1).to_ne_bytes()
}

impl ProgramState<'_> {
    /// Returns the entries of a table, each with its number: match, priority, number.
    fn numbered(&self, table: Table) -> Result<Vec<(Vec<KeyMatch>, u32, u32)>, StoreError> {
        let shape = self.table_shape(table)?;
        if *shape.lookup == LookupAbi::Compiled {
            let own = self.schema.tables[table].entries.iter().zip(1..);
            return Ok(own
                .map(|(entry, number)| (entry.keys.clone(), entry.priority, number))
                .collect());
        }
        Ok(match self.open(shape)? {
            Opened::Flat(codec) => {
                let own = Own::of(&self.schema.tables[table]);
                let all = flat::numbered(&*codec)?.into_iter();
                // The maps do not keep the priority of the program's own entries.
                let priority = |keys: &[KeyMatch]| own.entry(keys, 0).map_or(0, |e| e.priority);
                all.map(|(keys, number)| {
                    let priority = priority(&keys);
                    (keys, priority, number)
                })
                .collect()
            }
            Opened::Prioritized(structure) => {
                let all = structure.shadow().numbered()?.into_iter();
                all.map(|(entry, number)| (entry.keys, entry.priority, number))
                    .collect()
            }
        })
    }

    /// Returns the number of an entry.
    ///
    /// # Errors
    /// [`StoreError::Missing`]
    pub(super) fn number_of(
        &self,
        table: Table,
        keys: &[KeyMatch],
        priority: u32,
    ) -> Result<u32, StoreError> {
        let data = &self.schema.tables[table];
        let (keys, ordered) = (data.canonical(keys), data.has_priorities());
        let all = self.numbered(table)?;
        let mut all = all.into_iter();
        let found = all.find(|(other, other_priority, _)| {
            (!ordered || *other_priority == priority) && data.canonical(other) == keys
        });
        found.map(|(.., number)| number).ok_or(StoreError::Missing)
    }

    /// Returns the map of a table's direct counter, and its unit. The map is `None` if no packet has an entry to count
    /// for.
    pub(super) fn direct_counter_map(
        &self,
        table: Table,
    ) -> Result<(Option<&str>, Unit), StoreError> {
        let objects = self.schema.tables[table].objects.iter();
        let mut kinds = objects.map(|(_, object)| &self.schema.objects[*object].kind);
        let unit = kinds.find_map(|kind| match kind {
            ObjectKind::DirectCounter { unit } => Some(*unit),
            _ => None,
        });
        let unit = unit.ok_or_else(|| unsupported("the table has no direct counter"))?;
        let direct = self.table_abi(table)?.direct.as_ref();
        let map = direct.and_then(|direct| direct.counter.as_deref());
        Ok((map, unit))
    }

    /// Reads the direct counter of an entry.
    pub(super) fn read_direct_counter(
        &self,
        table: Table,
        entry: &Entry,
    ) -> Result<Count, StoreError> {
        let (map, unit) = self.direct_counter_map(table)?;
        let number = self.number_of(table, &entry.keys, entry.priority)?;
        let Some(map) = map else {
            return Ok(Count::default());
        };
        let map = self.map(map)?;
        let copies = map.get(&key(number)).map_err(refused("read the counter"))?;
        Ok(sum(
            &copies.unwrap_or_default(),
            map.info().value_size,
            unit,
        ))
    }

    /// Reads the direct counters of all entries, in the order of [`control::Store::entries`].
    pub(super) fn read_direct_counters(
        &self,
        table: Table,
    ) -> Result<Vec<(Entry, Count)>, StoreError> {
        let (map, unit) = self.direct_counter_map(table)?;
        let entries = self.read_entries(table)?;
        let Some(map) = map else {
            let none = |entry| (entry, Count::default());
            return Ok(entries.into_iter().map(none).collect());
        };
        let map = self.map(map)?;
        let mut counts: HashMap<Vec<u8>, Count> = HashMap::new();
        let read = map.each(&mut |at, copies| {
            let count = sum(copies, map.info().value_size, unit);
            if count != Count::default() {
                counts.insert(at.to_vec(), count);
            }
        });
        read.map_err(refused("read the counter"))?;
        let numbered = self.numbered(table)?.into_iter();
        let numbers: HashMap<(Vec<KeyMatch>, u32), u32> = numbered
            .map(|(keys, priority, number)| ((keys, priority), number))
            .collect();
        let counted = |entry: Entry| {
            let identity = (entry.keys.clone(), entry.priority);
            let number = numbers.get(&identity).copied().unwrap_or(0);
            let count = counts.get(&key(number)[..]).copied();
            (entry, count.unwrap_or_default())
        };
        Ok(entries.into_iter().map(counted).collect())
    }
}

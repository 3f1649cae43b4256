//! Counters: sums over processors.

use crate::encoding;
use crate::errors::{refused, unsupported};
use crate::memory::Map;
use crate::state::ProgramState;
use control::{Count, StoreError};
use layout::CounterAbi;
use schema::{Object, ObjectKind, Unit};

impl ProgramState<'_> {
    /// Returns the counter's map and its unit. `None` if the program never increments the counter. Fails for an index
    /// that the counter does not have.
    fn counter_map(
        &self,
        counter: Object,
        index: Option<u64>,
    ) -> Result<Option<(&dyn Map, Unit)>, StoreError> {
        let ObjectKind::Counter { size, unit } = self.schema.objects[counter].kind else {
            return Err(unsupported("this extern object counts nothing"));
        };
        let mut counters = self.memory.contents().counters.iter();
        let abi: Option<&CounterAbi> = counters.find(|c| c.index == counter.as_u32());
        let size = abi.map_or(size, |abi| abi.size);
        match index {
            Some(index) if index >= size => Err(StoreError::OutOfRange { size }),
            _ => abi.map(|abi| Ok((self.map(&abi.map)?, unit))).transpose(),
        }
    }

    /// Reads the value of an element.
    pub(super) fn read_counter(&self, counter: Object, index: u64) -> Result<Count, StoreError> {
        let Some((map, unit)) = self.counter_map(counter, Some(index))? else {
            return Ok(Count::default());
        };
        let copies = map
            .get(&(index as u32).to_ne_bytes())
            .map_err(refused("read the counter"))?
            .unwrap_or_default();
        Ok(sum(&copies, map.info().value_size, unit))
    }

    /// Reads the elements that are not zero, in order of their indices.
    pub(super) fn read_counters(&self, counter: Object) -> Result<Vec<(u64, Count)>, StoreError> {
        let Some((map, unit)) = self.counter_map(counter, None)? else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        let read = map.each(&mut |key, copies| {
            let count = sum(copies, map.info().value_size, unit);
            if count != Count::default() {
                found.push((u64::from(encoding::get_u32(key, 0)), count));
            }
        });
        read.map_err(refused("read the counter"))?;
        // A sparse counter is a hash map.
        found.sort_by_key(|(index, _)| *index);
        Ok(found)
    }

    /// Sets one element, or all, to zero.
    pub(super) fn zero_counter(
        &self,
        counter: Object,
        index: Option<u64>,
    ) -> Result<(), StoreError> {
        let direct = matches!(
            self.schema.objects[counter].kind,
            ObjectKind::DirectCounter { .. }
        );
        if direct && index.is_none() {
            let mut tables = self.schema.counted_tables(counter);
            return tables.try_for_each(|table| match self.direct_counter_map(table)? {
                (Some(map), _) => zero(self.map(map)?, None),
                (None, _) => Ok(()),
            });
        }
        match self.counter_map(counter, index)? {
            Some((map, _)) => zero(map, index),
            None => Ok(()),
        }
    }
}

/// Sets one element of a counter's map, or all, to zero.
fn zero(map: &dyn Map, index: Option<u64>) -> Result<(), StoreError> {
    let failed = refused("write the counter");
    let mut keys: Vec<Vec<u8>> = Vec::new();
    match index {
        Some(index) => keys.push((index as u32).to_ne_bytes().to_vec()),
        None => map
            .each(&mut |key, copies| {
                if copies.iter().any(|byte| *byte != 0) {
                    keys.push(key.to_vec());
                }
            })
            .map_err(&failed)?,
    }
    let zero = vec![0; map.info().value_size];
    for key in keys {
        // An element of a sparse counter that is not there is zero.
        let done = match map.is_array() {
            true => map.set(&key, &zero),
            false => map.delete(&key).map(|_| ()),
        };
        done.map_err(&failed)?;
    }
    Ok(())
}

/// Sums a value's per-processor copies: packets, bytes, or both.
pub(super) fn sum(copies: &[u8], size: usize, unit: Unit) -> Count {
    let mut count = Count::default();
    for copy in copies.chunks(size.next_multiple_of(8).max(8)) {
        let (words, _) = copy.as_chunks();
        let word = |at: usize| words.get(at).copied().map_or(0, u64::from_ne_bytes);
        let (packets, bytes) = match unit {
            Unit::Packets => (word(0), 0),
            Unit::Bytes => (0, word(0)),
            Unit::PacketsAndBytes => (word(0), word(1)),
        };
        count.packets = count.packets.wrapping_add(packets);
        count.bytes = count.bytes.wrapping_add(bytes);
    }
    count
}

//! Derives the writes to the program's maps from changed shadow entries.

use super::{List, Mask, TupleSpace};
use crate::encoding;
use crate::errors::refused;
use crate::prioritized::Staged;
use crate::records::Records;
use crate::steps::{ChangeStep, StepFailed, Word};
use control::StoreError;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Tuples after a change, and the entry that each masked key must find.
struct Slots {
    /// Tuple numbers by mask. Existing masks keep theirs.
    numbers: HashMap<Mask, u32>,
    /// Numbers that no new mask may have, since the program may still look under them.
    used: BTreeSet<u32>,
    /// Start of the search for a free number: after all others, since of equal priorities the earlier mask wins.
    next: u32,
    /// Tuples with entries, each with the highest priority under it.
    tops: BTreeMap<u32, (Mask, u32)>,
    /// Elements of the map of entries.
    records: Records,
    /// New priority of each record.
    priorities: Vec<u32>,
}

impl Slots {
    fn tuple(&mut self, mask: &Mask) -> u32 {
        if let Some(number) = self.numbers.get(mask) {
            return *number;
        }
        while self.used.contains(&self.next) {
            self.next = self.next.wrapping_add(1);
        }
        let number = self.next;
        self.used.insert(number);
        self.numbers.insert(mask.clone(), number);
        number
    }

    /// Counts an entry under a mask.
    fn raise(&mut self, tuple: u32, mask: &Mask, priority: u32) {
        match self.tops.get_mut(&tuple) {
            Some((_, top)) => *top = (*top).max(priority),
            None => {
                self.tops.insert(tuple, (mask.clone(), priority));
            }
        }
    }
}

/// Plans the steps of changes, of which there is at least one.
pub(in crate::prioritized) fn plan(
    space: &TupleSpace<'_>,
    staged: &Staged<'_>,
) -> Result<Vec<ChangeStep>, StepFailed> {
    let planned = Planned { space, staged };
    let list = space.read_list()?;
    let slots = planned.slots(&list)?;
    let (mut steps, tally, _) = staged.shadow_steps();
    steps.extend(space.tally_step(tally)?);
    let mut found = slots.records.differences();
    let (goes, changes) = (!found.gone.is_empty(), !found.changed.is_empty());
    let map = &space.abi.entries;
    // Capacity is promised in entries; ranges may need more elements than the map has. Replaced elements come last:
    // their memory is reused at once, while a packet may still read it.
    let [changed, added] = found.writes(map, space.shadow.capacity);
    steps.extend([added, changed]);
    if slots.tops != list.tuples {
        steps.extend(planned.switch(&list, &slots.tops)?);
    }
    steps.push(found.removals(map));
    if goes || changes {
        steps.push(ChangeStep::Settle);
    }
    Ok(steps)
}

/// Returns true if a packet might meet a mix of two entries while these steps run: the memory of a replaced element is
/// reused for the next one at once.
pub(in crate::prioritized) fn tears(space: &TupleSpace<'_>, steps: &[ChangeStep]) -> bool {
    let is_replaced = |step: &ChangeStep| match step {
        ChangeStep::Replace { map, keys, .. } => {
            *map == space.abi.entries && keys.len() > space.entries.info().key_size
        }
        _ => false,
    };
    steps.iter().any(is_replaced)
}

/// Changes of a tuple space.
struct Planned<'p, 'a> {
    space: &'p TupleSpace<'a>,
    staged: &'p Staged<'p>,
}

impl Planned<'_, '_> {
    /// Computes the changed elements of the map of entries, and all tuples.
    fn slots(&self, list: &List) -> Result<Slots, StepFailed> {
        let info = self.space.entries.info();
        let mut slots = Slots {
            numbers: list
                .tuples
                .iter()
                .map(|(number, (mask, _))| (mask.clone(), *number))
                .collect(),
            used: list.tuples.keys().copied().collect(),
            next: list
                .tuples
                .keys()
                .next_back()
                .map_or(0, |last| last.wrapping_add(1)),
            tops: BTreeMap::new(),
            records: Records::new(info.key_size, info.value_size),
            priorities: Vec::new(),
        };
        let replaced = self.vacate(list, &mut slots)?;
        if !replaced {
            slots.tops = list.tuples.clone();
        }
        for number in 0..self.staged.records.len() {
            if number == self.staged.numbers.len() {
                // The remaining records are new. A mask all of whose entries are removed counts as new, too, if new
                // entries have it.
                let Slots { numbers, tops, .. } = &mut slots;
                numbers.retain(|_, tuple| tops.contains_key(tuple));
            }
            let unchanged = self.staged.records.is_unchanged(number);
            // As long as no entry is removed or changed, the existing elements stay as they are.
            if unchanged && !replaced {
                continue;
            }
            let Some(bytes) = self.staged.records.new_value(number) else {
                continue;
            };
            let Some(entry) = self.space.shadow.decode(bytes) else {
                continue;
            };
            let origin = self.staged.records.origin(number);
            let value = self.space.shadow.value(bytes);
            for (mask, key) in self.space.pieces(&entry.keys) {
                let tuple = slots.tuple(&mask);
                slots.raise(tuple, &mask, entry.priority);
                if slots.tops.len() > self.space.abi.max_masks as usize {
                    return Err(StepFailed {
                        origin: (!unchanged).then_some(origin),
                        error: self.too_many_masks(),
                    });
                }
                let key = self.space.entry_key(tuple, &key);
                let Some(at) = self.slot(list, &mut slots, &key, unchanged)? else {
                    continue;
                };
                // Of two entries that match the same packets, the look-up finds the one with the higher priority. Of
                // equal ones it finds the earlier.
                let is_free = slots.records.new_value(at).is_none();
                if is_free || slots.priorities[at] < entry.priority {
                    slots.records.set(at, Some(value), origin);
                    slots.priorities[at] = entry.priority;
                }
            }
        }
        Ok(slots)
    }

    /// Clears the elements of entries that are removed or changed, in the plan only. Returns true if there are any.
    fn vacate(&self, list: &List, slots: &mut Slots) -> Result<bool, StepFailed> {
        let mut any = false;
        for number in 0..self.staged.records.len() {
            if self.staged.records.is_unchanged(number) {
                continue;
            }
            let entry = self.staged.records.old(number);
            let Some(entry) = entry.and_then(|bytes| self.space.shadow.decode(bytes)) else {
                continue;
            };
            any = true;
            for (mask, key) in self.space.pieces(&entry.keys) {
                let tuple = slots.tuple(&mask);
                let key = self.space.entry_key(tuple, &key);
                if let Some(at) = self.slot(list, slots, &key, false)? {
                    slots.records.set(at, None, 0);
                }
            }
        }
        Ok(any)
    }

    /// Returns the record of an element of the map of entries. An element without a record is read first, unless
    /// `only_known` is set.
    fn slot(
        &self,
        list: &List,
        slots: &mut Slots,
        key: &[u8],
        only_known: bool,
    ) -> Result<Option<usize>, StoreError> {
        if let Some(at) = slots.records.find(key) {
            return Ok(Some(at));
        }
        if only_known {
            return Ok(None);
        }
        // No elements are left under a tuple that is not in the list.
        let old = if list.tuples.contains_key(&encoding::get_u32(key, 0)) {
            self.space
                .entries
                .get(key)
                .map_err(refused("read the table"))?
        } else {
            None
        };
        let at = slots.records.add(key, old.as_deref());
        let priority = match (&old, self.space.abi.value.priority_offset) {
            (Some(value), Some(offset)) => encoding::get_u32(value, offset as usize),
            _ => 0,
        };
        slots.priorities.push(priority);
        Ok(Some(at))
    }

    /// Returns the steps that write the list into the half that is not in use, and switch to it.
    fn switch(
        &self,
        list: &List,
        tops: &BTreeMap<u32, (Mask, u32)>,
    ) -> Result<Vec<ChangeStep>, StoreError> {
        let space = self.space;
        let other = if list.first == 0 {
            space.abi.max_masks
        } else {
            0
        };
        let mut order: Vec<_> = tops.iter().collect();
        order.sort_by_key(|(number, (_, top))| (Reverse(*top), **number));
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for (index, (number, (mask, top))) in order.iter().enumerate() {
            let mut bytes = vec![0; space.masks.info().value_size];
            encoding::put_u32(&mut bytes, 0, **number);
            encoding::put_u32(&mut bytes, 4, *top);
            let from = space.abi.mask_offset as usize;
            bytes[from..from + mask.len()].copy_from_slice(mask);
            keys.extend((other + index as u32).to_ne_bytes());
            values.extend(bytes);
        }
        let head = |first: u32, count: usize| {
            let mut head = [0; 8];
            encoding::put_u32(&mut head, 0, first);
            encoding::put_u32(&mut head, 4, count as u32);
            Word::Eight(u64::from_ne_bytes(head))
        };
        Ok(vec![
            ChangeStep::Prepare {
                map: space.abi.masks.clone(),
                keys,
                values,
            },
            ChangeStep::Switch {
                offset: space.abi.head_offset,
                old: head(list.first, list.tuples.len()),
                new: head(other, order.len()),
            },
            // The half that was in use is the next one to be written.
            ChangeStep::Settle,
        ])
    }

    fn too_many_masks(&self) -> StoreError {
        StoreError::Unsupported {
            what: format!(
                "the table's entries would need more than the {} different masks that it has room for",
                self.space.abi.max_masks
            ),
        }
    }
}

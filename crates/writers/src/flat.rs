//! Changes of tables that keep each entry in one element of one map, or in memory.

use crate::encoding;
use crate::errors::refused;
use crate::in_memory::InMemory;
use crate::memory::Map;
use crate::records::Records;
use crate::steps::ChangeStep;
use control::StoreError;
use layout::{MapKind, ValueAbi};
use schema::{ActionCall, KeyMatch};
use std::io;

/// Codec of entries as elements of a map.
pub(super) trait Codec {
    /// Returns the elements.
    fn elements(&self) -> Elements<'_>;

    /// Returns the layout of the elements' values.
    fn layout(&self) -> &ValueAbi;

    /// Encodes an entry's match as a map key.
    fn key(&self, keys: &[KeyMatch]) -> Result<Vec<u8>, StoreError>;

    /// Decodes a map key as an entry's match.
    fn matches(&self, key: &[u8]) -> Vec<KeyMatch>;

    /// Returns the current value of a key, if it exists. The outer `None` means that only reading all elements can
    /// tell.
    fn current(&self, key: &[u8]) -> io::Result<Option<Option<Vec<u8>>>>;
}

/// Container of a table's elements.
#[derive(Clone, Copy)]
pub(super) enum Elements<'a> {
    /// Map with one element for each entry.
    Map(&'a dyn Map),
    /// Memory that packets read.
    InMemory(&'a dyn InMemory),
}

impl Elements<'_> {
    /// Returns the sizes of a key and of a value, in bytes.
    fn sizes(self) -> (usize, usize) {
        match self {
            Elements::Map(map) => (map.info().key_size, map.info().value_size),
            Elements::InMemory(entries) => entries.sizes(),
        }
    }

    fn is_array(self) -> bool {
        matches!(self, Elements::Map(map) if map.is_array())
    }

    /// Returns true if the container may reuse a removed element's memory at once. Tries and entries in memory wait
    /// until no packet reads it.
    fn reuses_memory(self) -> bool {
        matches!(self, Elements::Map(_)) && !self.begin_with_length()
    }

    /// Returns true if keys begin with the length of the prefix, in the machine's byte order.
    fn begin_with_length(self) -> bool {
        match self {
            Elements::Map(map) => map.info().kind == MapKind::PrefixTrie,
            Elements::InMemory(entries) => entries.begin_with_length(),
        }
    }

    fn is_empty(self) -> io::Result<bool> {
        match self {
            Elements::Map(map) => Ok(!map.has_more_than(0)?),
            Elements::InMemory(entries) => Ok(!entries.has_more_than(0)?),
        }
    }

    fn each(self, mut each: impl FnMut(&[u8], &[u8])) -> io::Result<()> {
        match self {
            Elements::Map(map) => map.each(&mut each),
            Elements::InMemory(entries) => entries.each(&mut each),
        }
    }
}

/// Entry as the maps store it: match and action.
pub(super) type StoredEntry = (Vec<KeyMatch>, ActionCall);

/// Reads all entries, ordered by key bytes.
pub(super) fn entries(codec: &dyn Codec) -> Result<Vec<StoredEntry>, StoreError> {
    let mut all = Vec::new();
    let elements = codec.elements();
    let read = elements.each(|key, value| {
        if let Some(call) = encoding::get_value(codec.layout(), value) {
            all.push((key.to_vec(), call));
        }
    });
    read.map_err(refused("read the table"))?;
    if !elements.is_array() {
        let prefixes = elements.begin_with_length();
        let length = |key: &[u8]| {
            if prefixes {
                encoding::get_u32(key, 0)
            } else {
                0
            }
        };
        all.sort_by(|(a, _), (b, _)| (length(a), a).cmp(&(length(b), b)));
    }
    Ok(all
        .into_iter()
        .map(|(key, call)| (codec.matches(&key), call))
        .collect())
}

/// Reads the match of each entry with its number, in no particular order.
pub(super) fn numbered(codec: &dyn Codec) -> Result<Vec<(Vec<KeyMatch>, u32)>, StoreError> {
    let layout = codec.layout();
    let offset = layout.number_offset;
    let mut all = Vec::new();
    let read = codec.elements().each(|key, value| {
        if encoding::get_value(layout, value).is_some() {
            let number = offset.map_or(0, |at| encoding::get_u32(value, at as usize));
            all.push((codec.matches(key), number));
        }
    });
    read.map_err(refused("read the table"))?;
    Ok(all)
}

/// Staged changes of a table.
pub(super) struct Staged<'a> {
    codec: Box<dyn Codec + 'a>,
    capacity: u64,
    records: Records,
    /// True if every key in the map has a record.
    complete: bool,
}

impl<'a> Staged<'a> {
    /// Opens a table for changes, of which there are none yet.
    pub(crate) fn new(codec: Box<dyn Codec + 'a>, capacity: u64) -> Result<Staged<'a>, StoreError> {
        let (key_size, value_size) = codec.elements().sizes();
        let mut staged = Staged {
            capacity,
            records: Records::new(key_size, value_size),
            complete: false,
            codec,
        };
        if staged.codec.elements().is_array() {
            staged.read_all()?;
        } else {
            let empty = staged.codec.elements().is_empty();
            staged.complete = empty.map_err(refused("read the table"))?;
        }
        Ok(staged)
    }

    fn read_all(&mut self) -> Result<(), StoreError> {
        if self.complete {
            return Ok(());
        }
        let (records, codec) = (&mut self.records, &self.codec);
        let read = codec.elements().each(|key, value| {
            let is_entry = encoding::get_value(codec.layout(), value).is_some();
            if is_entry && records.find(key).is_none() {
                records.add(key, Some(value));
            }
        });
        read.map_err(refused("read the table"))?;
        self.complete = true;
        Ok(())
    }

    fn record(&mut self, keys: &[KeyMatch]) -> Result<usize, StoreError> {
        let key = self.codec.key(keys)?;
        if let Some(number) = self.records.find(&key) {
            return Ok(number);
        }
        if !self.complete {
            let now = self.codec.current(&key);
            match now.map_err(refused("read the table"))? {
                Some(now) => return Ok(self.records.add(&key, now.as_deref())),
                None => self.read_all()?,
            }
        }
        Ok(match self.records.find(&key) {
            Some(number) => number,
            None => self.records.add(&key, None),
        })
    }

    /// Returns the action of an entry after the changes. `None` if the entry will not exist.
    pub(crate) fn get(&mut self, keys: &[KeyMatch]) -> Result<Option<ActionCall>, StoreError> {
        let number = self.record(keys)?;
        let value = self.records.new_value(number);
        Ok(value.and_then(|value| encoding::get_value(self.codec.layout(), value)))
    }

    /// Returns the number of an entry after the changes. 0 if entries have no numbers; `None` if the entry will not
    /// exist.
    pub(crate) fn number_of(&mut self, keys: &[KeyMatch]) -> Result<Option<u32>, StoreError> {
        let number = self.record(keys)?;
        let value = self.records.new_value(number);
        let offset = self.codec.layout().number_offset;
        Ok(value.map(|value| offset.map_or(0, |at| encoding::get_u32(value, at as usize))))
    }

    /// Returns all entries after the changes, in no particular order.
    pub(crate) fn all(&mut self) -> Result<Vec<StoredEntry>, StoreError> {
        self.read_all()?;
        let live = (0..self.records.len())
            .filter_map(|number| Some((self.records.key(number), self.records.new_value(number)?)));
        let call = |value: &[u8]| encoding::get_value(self.codec.layout(), value);
        Ok(live
            .filter_map(|(key, value)| Some((self.codec.matches(key), call(value)?)))
            .collect())
    }

    /// Adds an entry.
    pub(crate) fn insert(
        &mut self,
        keys: &[KeyMatch],
        call: &ActionCall,
        origin: u32,
    ) -> Result<(), StoreError> {
        let number = self.record(keys)?;
        if self.records.new_value(number).is_some() {
            return Err(StoreError::Duplicate);
        }
        if self.records.live() >= self.capacity {
            let capacity = self.capacity;
            return Err(StoreError::Full { capacity });
        }
        let value = encoding::put_value(self.codec.layout(), call, 0);
        self.records.set(number, Some(&value), origin);
        Ok(())
    }

    /// Replaces the action of an entry.
    pub(crate) fn modify(
        &mut self,
        keys: &[KeyMatch],
        call: &ActionCall,
        origin: u32,
    ) -> Result<(), StoreError> {
        let number = self.existing(keys)?;
        let mut value = encoding::put_value(self.codec.layout(), call, 0);
        let old = self.records.new_value(number).unwrap_or_default();
        encoding::keep_number(self.codec.layout(), old, &mut value);
        self.records.set(number, Some(&value), origin);
        Ok(())
    }

    /// Assigns numbers to new entries, if entries have any. Returns the assigned numbers.
    pub(crate) fn number(&mut self) -> Result<Vec<u32>, StoreError> {
        let Some(offset) = self.codec.layout().number_offset else {
            return Ok(Vec::new());
        };
        self.read_all()?;
        let most = u32::try_from(self.capacity).unwrap_or(u32::MAX);
        Ok(self.records.number(offset as usize, most))
    }

    /// Removes an entry.
    pub(crate) fn remove(&mut self, keys: &[KeyMatch], origin: u32) -> Result<(), StoreError> {
        let number = self.existing(keys)?;
        self.records.set(number, None, origin);
        Ok(())
    }

    fn existing(&mut self, keys: &[KeyMatch]) -> Result<usize, StoreError> {
        let number = self.record(keys)?;
        match self.records.new_value(number) {
            Some(_) => Ok(number),
            None => Err(StoreError::Missing),
        }
    }

    /// Removes all entries but those for which `kept` returns true.
    pub(crate) fn clear(
        &mut self,
        kept: impl Fn(&[KeyMatch]) -> bool,
        origin: u32,
    ) -> Result<(), StoreError> {
        self.read_all()?;
        for number in 0..self.records.len() {
            let is_there = self.records.new_value(number).is_some();
            if is_there && !kept(&self.codec.matches(self.records.key(number))) {
                self.records.set(number, None, origin);
            }
        }
        Ok(())
    }

    /// Returns true if a packet might meet a mix of the old and the new state when the map is changed during look-ups.
    pub(crate) fn tears(&self) -> bool {
        let layout = self.codec.layout();
        if self.codec.elements().is_array() {
            // An element is changed in place, while a packet that has found it may read it.
            return self.records.changes().any(|change| match change {
                (Some(old), Some(new)) => !encoding::differ_in_a_word(layout, old, new),
                (old, _) => old.is_some(),
            });
        }
        // A replaced element's memory is reused for the next one at once, while a packet may still read it.
        let replaced = |change: &(Option<_>, Option<_>)| matches!(change, (Some(_), Some(_)));
        let reuses_memory = self.codec.elements().reuses_memory();
        reuses_memory && self.records.changes().filter(replaced).nth(1).is_some()
    }

    /// Returns true if any entry is removed.
    pub(crate) fn removes(&self) -> bool {
        let mut changes = self.records.changes();
        changes.any(|(_, new)| new.is_none())
    }

    /// Returns true if anything changes.
    pub(crate) fn differs(&self) -> bool {
        self.records.changes().next().is_some()
    }

    /// Plans the steps that write all entries to an empty map, which packets do not look up yet.
    pub(crate) fn plan_anew(mut self, map: &str) -> Result<Vec<ChangeStep>, StoreError> {
        self.read_all()?;
        let mut found = self.records.anew();
        Ok(match self.codec.elements() {
            Elements::InMemory(_) => vec![ChangeStep::InMemory {
                map: map.to_string(),
                changes: found,
            }],
            Elements::Map(to) if to.is_array() => vec![ChangeStep::Prepare {
                map: map.to_string(),
                keys: found.added,
                values: found.added_values,
            }],
            Elements::Map(_) => found.writes(map, self.capacity).into(),
        })
    }

    /// Plans the steps of the changes. Removals come first, to make room for new entries.
    pub(crate) fn plan(self, map: &str) -> Vec<ChangeStep> {
        let elements = self.codec.elements();
        let reuses_memory = elements.reuses_memory();
        let mut found = self.records.differences();
        if let Elements::InMemory(_) = elements {
            return vec![ChangeStep::InMemory {
                map: map.to_string(),
                changes: found,
            }];
        }
        if !elements.is_array() {
            let (goes, changes) = (!found.gone.is_empty(), !found.changed.is_empty());
            let comes = changes || !found.added.is_empty();
            let gone = found.removals(map);
            let [changed, added] = found.writes(map, self.capacity);
            let settle = |needed: bool| (needed && reuses_memory).then_some(ChangeStep::Settle);
            // No packet may still read memory that is overwritten.
            let steps = [
                Some(gone),
                settle(goes && comes),
                Some(added),
                Some(changed),
                settle(changes || goes && !comes),
            ];
            return steps.into_iter().flatten().collect();
        }
        // An array always has all its elements. The parameters of a new entry are written before its action number, so
        // that a packet sees all of the entry or nothing. They stay if the change is undone.
        let action = self.codec.layout().action_offset as usize;
        let (_, size) = elements.sizes();
        let mut without_action = found.added_values.clone();
        for value in without_action.chunks_exact_mut(size) {
            encoding::put_u32(value, action, 0);
        }
        let first = ChangeStep::Prepare {
            map: map.to_string(),
            keys: found.added.clone(),
            values: without_action.clone(),
        };
        let zeros = vec![0; found.gone_values.len()];
        found.changed_old.append(&mut without_action);
        found.changed_old.append(&mut found.gone_values);
        found.changed_new.append(&mut found.added_values);
        found.changed_new.extend(zeros);
        found.changed.append(&mut found.added);
        found.changed.append(&mut found.gone);
        found.changed_origins.append(&mut found.added_origins);
        let [changed, _] = found.writes(map, self.capacity);
        vec![first, changed]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::{Array, Hash};
    use crate::lpm::{Lpm, Prefixes};
    use crate::memory_for_tests::Tree;
    use layout::{ActionAbi, ByteOrder, FieldAbi, KeyAbi};
    use schema::Bits;

    const HASH: MapKind = MapKind::Hash;
    const ARRAY: MapKind = MapKind::Array;
    const TRIE: MapKind = MapKind::PrefixTrie;

    fn field(offset: u32) -> FieldAbi {
        FieldAbi {
            name: String::new(),
            offset,
            size: 4,
            width: 32,
            order: ByteOrder::Host,
        }
    }

    fn layout() -> ValueAbi {
        let params = vec![field(4), field(8)];
        let name = String::new();
        ValueAbi {
            size: 12,
            priority_offset: None,
            action_offset: 0,
            number_offset: None,
            actions: vec![ActionAbi { name, params }],
        }
    }

    fn call(args: [u32; 2]) -> ActionCall {
        ActionCall {
            action: 0,
            args: args.map(|arg| Bits::new(32, arg)).into(),
        }
    }

    /// Returns the steps of changes of a table with the entries 1 and 2, and whether they tear.
    fn steps(
        kind: MapKind,
        change: impl Fn(&mut Staged<'_>) -> Result<(), StoreError>,
    ) -> (Vec<&'static str>, bool) {
        steps_by(true, kind, change)
    }

    /// Does the same. `exact` is true if the map can tell whether it has exactly a key.
    fn steps_by(
        exact: bool,
        kind: MapKind,
        change: impl Fn(&mut Staged<'_>) -> Result<(), StoreError>,
    ) -> (Vec<&'static str>, bool) {
        let size = if kind == TRIE { 8 } else { 4 };
        let mut map = Tree::new(kind, size as usize, 12, 8);
        map.exact = exact;
        let value = layout();
        let offset = size - 4;
        let key = KeyAbi {
            size,
            fields: vec![field(offset)],
        };
        let codec: Box<dyn Codec + '_> = match kind {
            ARRAY => Box::new(Array {
                map: &map,
                key_width: 32,
                value: &value,
            }),
            TRIE => Box::new(Lpm {
                map: &map,
                prefixes: Prefixes {
                    key: &key,
                    lpm_key: 0,
                    prefix_base: 0,
                },
                value: &value,
            }),
            _ => Box::new(Hash {
                map: &map,
                key: &key,
                value: &value,
            }),
        };
        for number in [1, 2] {
            let key = codec.key(&keys(number)).expect("fits");
            let value = encoding::put_value(&value, &call([9, 9]), 0);
            map.set(&key, &value).expect("there is room");
        }
        let mut staged = Staged::new(codec, 8).expect("reads");
        change(&mut staged).expect("can be done");
        let tears = staged.tears();
        let named = staged
            .plan("flat")
            .into_iter()
            .filter_map(|step| match step {
                ChangeStep::Insert { keys, .. } => (!keys.is_empty()).then_some("insert"),
                ChangeStep::Replace { keys, .. } => (!keys.is_empty()).then_some("replace"),
                ChangeStep::Erase { keys, .. } => (!keys.is_empty()).then_some("erase"),
                ChangeStep::Prepare { keys, .. } => (!keys.is_empty()).then_some("prepare"),
                ChangeStep::Settle => Some("settle"),
                _ => None,
            });
        (named.collect(), tears)
    }

    fn keys(number: u32) -> Vec<KeyMatch> {
        vec![KeyMatch::Exact(Bits::new(32, number))]
    }

    #[test]
    fn a_hash_maps_memory_is_used_again_only_when_no_packet_reads_it() {
        let insert = |s: &mut Staged<'_>| s.insert(&keys(3), &call([1, 1]), 0);
        let modify = |s: &mut Staged<'_>| s.modify(&keys(1), &call([1, 1]), 0);
        let remove = |s: &mut Staged<'_>| s.remove(&keys(2), 0);
        assert_eq!(steps(HASH, insert), (vec!["insert"], false));
        assert_eq!(steps(HASH, modify), (vec!["replace", "settle"], false));
        assert_eq!(steps(HASH, remove), (vec!["erase", "settle"], false));
        let all = |s: &mut Staged<'_>| insert(s).and_then(|()| modify(s)).and_then(|()| remove(s));
        let wanted = vec!["erase", "settle", "insert", "replace", "settle"];
        assert_eq!(steps(HASH, all), (wanted, false));
        assert_eq!(
            steps(TRIE, all),
            (vec!["erase", "insert", "replace"], false)
        );
        let two = |s: &mut Staged<'_>| {
            modify(s)?;
            s.modify(&keys(2), &call([1, 1]), 0)
        };
        assert!(
            steps(HASH, two).1,
            "the second takes the memory of the first"
        );
        assert!(!steps(TRIE, two).1);
    }

    /// Many tries are like this.
    #[test]
    fn a_trie_that_knows_no_very_keys_is_read_whole_instead() {
        let change = |s: &mut Staged<'_>| {
            let again = s.insert(&keys(1), &call([1, 1]), 0);
            assert!(matches!(again, Err(StoreError::Duplicate)), "{again:?}");
            let absent = s.modify(&keys(4), &call([1, 1]), 0);
            assert!(matches!(absent, Err(StoreError::Missing)), "{absent:?}");
            s.insert(&keys(3), &call([1, 1]), 0)?;
            s.modify(&keys(1), &call([1, 1]), 0)
        };
        let wanted = vec!["insert", "replace"];
        assert_eq!(steps_by(false, TRIE, change), (wanted, false));
    }

    #[test]
    fn an_arrays_element_changes_in_place_only_as_a_word() {
        let modify = |args| move |s: &mut Staged<'_>| s.modify(&keys(1), &call(args), 0);
        assert!(!steps(ARRAY, modify([1, 9])).1);
        assert!(!steps(ARRAY, modify([9, 1])).1);
        assert!(steps(ARRAY, modify([1, 1])).1, "one argument may be old");
        assert!(
            steps(ARRAY, |s| s.remove(&keys(1), 0)).1,
            "its action is read twice"
        );
        let insert = |s: &mut Staged<'_>| s.insert(&keys(3), &call([1, 1]), 0);
        assert_eq!(steps(ARRAY, insert), (vec!["prepare", "replace"], false));
    }
}

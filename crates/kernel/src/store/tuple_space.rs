//! Tables with ternary, range and optional keys: tuple space search.
//!
//! The book holds the entries as they were given; the maps that the program reads follow from it. A
//! change computes what those maps should hold, puts in what is missing, switches the list of masks,
//! and takes out what is left over. If anything fails before the switch, what was put in is taken out
//! again.

use super::globals::Globals;
use super::ranges::masked;
use super::{layout, refused};
use crate::sys::{Map, Update};
use bpf::abi::{FieldAbi, TupleSpaceAbi};
use control::StoreError;
use ir::{ActionCall, Bits, Entry, KeyMatch, Type};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A tuple space with its maps.
pub struct TupleSpace<'a> {
    /// Its description.
    pub abi: &'a TupleSpaceAbi,
    /// The list of masks, in two halves.
    pub masks: &'a Map,
    /// What the program looks up.
    pub entries: &'a Map,
    /// The entries as given.
    pub book: &'a Map,
    /// Where the head of the list is.
    pub globals: &'a Globals,
    /// The types of the P4 keys.
    pub types: &'a [Type],
    /// How many P4 entries it may hold.
    pub capacity: u64,
    /// Whether entries have priorities; value sets have none.
    pub priorities: bool,
    /// Whether packets may be on their way through the program.
    pub live: bool,
}

/// An entry of the book under its number.
type Book = BTreeMap<u32, Entry>;

/// A mask in the layout of the key.
type Mask = Vec<u8>;

/// What the program's maps hold, or should.
#[derive(Default)]
struct Installed {
    /// The masks by tuple, each with the highest priority under it.
    tuples: BTreeMap<u32, (Mask, u32)>,
    /// Values by tuple and masked key, as map keys.
    entries: HashMap<Vec<u8>, Vec<u8>>,
}

impl TupleSpace<'_> {
    /// Adds an entry.
    pub fn insert(&self, entry: &Entry) -> Result<(), StoreError> {
        let before = self.read_book()?;
        if self.find(&before, &entry.keys, entry.priority).is_some() {
            return Err(StoreError::Duplicate);
        }
        if before.len() as u64 >= self.capacity {
            return Err(self.full());
        }
        let mut after = before.clone();
        let number = before
            .keys()
            .next_back()
            .map_or(Some(0), |n| n.checked_add(1));
        let number = number
            .or_else(|| (0..u32::MAX).find(|n| !before.contains_key(n)))
            .ok_or_else(|| self.full())?;
        after.insert(number, entry.clone());
        self.change(&before, &after)
    }

    /// Gives an entry another action.
    pub fn modify(&self, entry: &Entry) -> Result<(), StoreError> {
        let before = self.read_book()?;
        let number = self
            .find(&before, &entry.keys, entry.priority)
            .ok_or(StoreError::Missing)?;
        let mut after = before.clone();
        after.insert(number, entry.clone());
        self.change(&before, &after)
    }

    /// Removes an entry.
    pub fn remove(&self, keys: &[KeyMatch], priority: u32) -> Result<(), StoreError> {
        let before = self.read_book()?;
        let number = self
            .find(&before, keys, priority)
            .ok_or(StoreError::Missing)?;
        let mut after = before.clone();
        after.remove(&number);
        self.change(&before, &after)
    }

    /// All entries in the order in which they were given.
    pub fn entries(&self) -> Result<Vec<Entry>, StoreError> {
        Ok(self.read_book()?.into_values().collect())
    }

    fn full(&self) -> StoreError {
        StoreError::Full {
            capacity: self.capacity,
        }
    }

    fn find(&self, book: &Book, keys: &[KeyMatch], priority: u32) -> Option<u32> {
        let wanted = self.canonical(keys);
        book.iter()
            .find(|(_, e)| {
                (!self.priorities || e.priority == priority) && self.canonical(&e.keys) == wanted
            })
            .map(|(number, _)| *number)
    }

    /// Matches as sets: two ways to write the same are one.
    fn canonical(&self, keys: &[KeyMatch]) -> Vec<Vec<(Bits, Bits)>> {
        keys.iter()
            .zip(self.types)
            .map(|(key, ty)| {
                let mut all: Vec<_> = masked(key, *ty)
                    .into_iter()
                    .map(|m| (m.value, m.mask))
                    .collect();
                all.sort();
                all
            })
            .collect()
    }

    /// Takes book and maps from one state to another, or leaves both as they were.
    fn change(&self, before: &Book, after: &Book) -> Result<(), StoreError> {
        let present = self.read_installed()?;
        let wanted = self.plan(after, &present)?;
        let mut undo = Undo {
            maps: self,
            book: Vec::new(),
            entries: Vec::new(),
        };
        let done = self
            .write_book(before, after, &mut undo)
            .and_then(|()| self.put_entries(&present, &wanted, &mut undo))
            .and_then(|()| self.switch(&wanted));
        if let Err(error) = done {
            undo.run();
            return Err(error);
        }
        self.settle();
        for key in present.entries.keys() {
            if !wanted.entries.contains_key(key) {
                self.entries
                    .delete(key)
                    .map_err(refused("remove an old entry"))?;
            }
        }
        Ok(())
    }

    /// What the maps should hold for a book. Masks that are there keep their tuple's number.
    fn plan(&self, book: &Book, present: &Installed) -> Result<Installed, StoreError> {
        let mut numbers: HashMap<Mask, u32> = present
            .tuples
            .iter()
            .map(|(number, (mask, _))| (mask.clone(), *number))
            .collect();
        let mut used: BTreeSet<u32> = present.tuples.keys().copied().collect();
        let mut best: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut wanted = Installed::default();
        for entry in book.values() {
            let value = layout::put_value(&self.abi.value, &entry.action, entry.priority);
            for (mask, key) in self.pieces(&entry.keys) {
                let next = || (0..).find(|n| !used.contains(n)).unwrap_or(u32::MAX);
                let tuple = *numbers.entry(mask.clone()).or_insert_with(next);
                used.insert(tuple);
                let (_, top) = wanted.tuples.entry(tuple).or_insert((mask, entry.priority));
                *top = (*top).max(entry.priority);
                let key = self.entry_key(tuple, &key);
                // Of two entries that a packet cannot tell apart the higher priority is looked up;
                // of equal ones the earlier.
                if best.get(&key).is_none_or(|p| *p < entry.priority) {
                    best.insert(key.clone(), entry.priority);
                    wanted.entries.insert(key, value.clone());
                }
            }
        }
        if wanted.tuples.len() > self.abi.max_masks as usize {
            return Err(StoreError::Unsupported {
                what: format!(
                    "the table's entries would need {} different masks, and it has room for {}",
                    wanted.tuples.len(),
                    self.abi.max_masks
                ),
            });
        }
        Ok(wanted)
    }

    /// The masks and masked keys of an entry: every combination of the keys' own.
    fn pieces(&self, keys: &[KeyMatch]) -> Vec<(Mask, Vec<u8>)> {
        let size = self.abi.key.size as usize;
        let mut all = vec![(vec![0; size], vec![0; size])];
        for ((key, field), ty) in keys.iter().zip(&self.abi.key.fields).zip(self.types) {
            let choices = masked(key, *ty);
            let mut next = Vec::with_capacity(all.len() * choices.len());
            for (mask, value) in &all {
                for choice in &choices {
                    let (mut mask, mut value) = (mask.clone(), value.clone());
                    layout::put(field, &choice.mask, &mut mask);
                    layout::put(field, &choice.value, &mut value);
                    next.push((mask, value));
                }
            }
            all = next;
        }
        all
    }

    fn entry_key(&self, tuple: u32, masked: &[u8]) -> Vec<u8> {
        let mut key = vec![0; self.entries.info().key_size];
        layout::put_u32(&mut key, 0, tuple);
        let from = self.abi.key_offset as usize;
        key[from..from + masked.len()].copy_from_slice(masked);
        key
    }

    fn read_installed(&self) -> Result<Installed, StoreError> {
        let mut installed = Installed::default();
        let (first, count) = self.head()?;
        for index in first..first + count {
            let bytes = self
                .masks
                .get(&index.to_ne_bytes())
                .map_err(refused("read the masks"))?
                .unwrap_or_default();
            let from = self.abi.mask_offset as usize;
            let mask = bytes
                .get(from..from + self.abi.key.size as usize)
                .unwrap_or_default()
                .to_vec();
            let top = layout::get_u32(&bytes, 4);
            installed
                .tuples
                .insert(layout::get_u32(&bytes, 0), (mask, top));
        }
        for key in self.entries.keys().map_err(refused("read the table"))? {
            if let Some(value) = self.entries.get(&key).map_err(refused("read the table"))? {
                installed.entries.insert(key, value);
            }
        }
        Ok(installed)
    }

    /// Where the list that the program reads begins, and how long it is.
    fn head(&self) -> Result<(u32, u32), StoreError> {
        let word = self
            .globals
            .u64(self.abi.head_offset)
            .map_err(refused("read the head of the masks"))?
            .to_ne_bytes();
        Ok((layout::get_u32(&word, 0), layout::get_u32(&word, 4)))
    }

    fn put_entries(
        &self,
        present: &Installed,
        wanted: &Installed,
        undo: &mut Undo<'_>,
    ) -> Result<(), StoreError> {
        for (key, value) in &wanted.entries {
            let old = present.entries.get(key);
            if old == Some(value) {
                continue;
            }
            self.entries
                .set(key, value, Update::Any)
                .map_err(refused("write the table"))?;
            undo.entries.push((key.clone(), old.cloned()));
        }
        Ok(())
    }

    /// Writes the list into the half that is not in use and makes it the one in use.
    fn switch(&self, wanted: &Installed) -> Result<(), StoreError> {
        let (first, _) = self.head()?;
        let other = if first == 0 { self.abi.max_masks } else { 0 };
        let mut list: Vec<_> = wanted.tuples.iter().collect();
        list.sort_by_key(|(number, (_, top))| (std::cmp::Reverse(*top), **number));
        for (index, (number, (mask, top))) in list.iter().enumerate() {
            let mut bytes = vec![0; self.masks.info().value_size];
            layout::put_u32(&mut bytes, 0, **number);
            layout::put_u32(&mut bytes, 4, *top);
            let from = self.abi.mask_offset as usize;
            bytes[from..from + mask.len()].copy_from_slice(mask);
            let key = (other + index as u32).to_ne_bytes();
            self.masks
                .set(&key, &bytes, Update::Any)
                .map_err(refused("write the masks"))?;
        }
        let mut head = [0; 8];
        layout::put_u32(&mut head, 0, other);
        layout::put_u32(&mut head, 4, list.len() as u32);
        self.globals
            .set_u64(self.abi.head_offset, u64::from_ne_bytes(head))
            .map_err(refused("switch the masks"))
    }

    /// Waits until no packet is in the program that still reads the list that was replaced.
    fn settle(&self) {
        if self.live {
            const MEMBARRIER_CMD_GLOBAL: libc::c_int = 1;
            // SAFETY: takes no memory. Where the kernel has no such call a packet in flight may miss
            // an entry that is being removed, as it may anyway.
            unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) };
        }
    }

    fn read_book(&self) -> Result<Book, StoreError> {
        let mut book = Book::new();
        for key in self.book.keys().map_err(refused("read the table's book"))? {
            let value = self
                .book
                .get(&key)
                .map_err(refused("read the table's book"))?;
            if let Some(entry) = value.and_then(|v| self.decode(&v)) {
                book.insert(layout::get_u32(&key, 0), entry);
            }
        }
        Ok(book)
    }

    fn write_book(
        &self,
        before: &Book,
        after: &Book,
        undo: &mut Undo<'_>,
    ) -> Result<(), StoreError> {
        let numbers: BTreeSet<u32> = before.keys().chain(after.keys()).copied().collect();
        for number in numbers {
            let (old, new) = (before.get(&number), after.get(&number));
            if old == new {
                continue;
            }
            let key = number.to_ne_bytes();
            match new {
                Some(entry) => self
                    .book
                    .set(&key, &self.encode(entry), Update::Any)
                    .map_err(refused("write the table's book"))?,
                None => {
                    self.book
                        .delete(&key)
                        .map_err(refused("write the table's book"))?;
                }
            }
            undo.book.push((number, old.map(|e| self.encode(e))));
        }
        Ok(())
    }

    fn encode(&self, entry: &Entry) -> Vec<u8> {
        let mut bytes = entry.priority.to_ne_bytes().to_vec();
        bytes.extend(layout::put_value(
            &self.abi.value,
            &entry.action,
            entry.priority,
        ));
        for (key, field) in entry.keys.iter().zip(&self.abi.key.fields) {
            bytes.extend(encode_match(key, field));
        }
        bytes.resize(self.book.info().value_size, 0);
        bytes
    }

    fn decode(&self, bytes: &[u8]) -> Option<Entry> {
        let priority = layout::get_u32(bytes, 0);
        let mut at = 4 + self.abi.value.size as usize;
        let action = layout::get_value(&self.abi.value, bytes.get(4..at)?).unwrap_or(ActionCall {
            action: 0,
            args: Vec::new(),
        });
        let mut keys = Vec::new();
        for field in &self.abi.key.fields {
            let size = match_size(field);
            keys.push(decode_match(bytes.get(at..at + size)?, field)?);
            at += size;
        }
        Some(Entry {
            keys,
            priority,
            action,
            is_const: false,
        })
    }
}

/// Bytes of a value of a key in the book.
fn digits(field: &FieldAbi) -> usize {
    field.width.div_ceil(8) as usize
}

fn match_size(field: &FieldAbi) -> usize {
    1 + 2 * digits(field)
}

fn encode_match(key: &KeyMatch, field: &FieldAbi) -> Vec<u8> {
    let zero = Bits::zero(field.width);
    let (tag, a, b) = match key {
        KeyMatch::Any => (0, zero.clone(), zero),
        KeyMatch::Exact(value) => (1, value.clone(), zero),
        KeyMatch::Lpm(value, length) => (
            2,
            value.clone(),
            Bits::new(digits(field) as u32 * 8, *length),
        ),
        KeyMatch::Ternary(value, mask) => (3, value.clone(), mask.clone()),
        KeyMatch::Range(low, high) => (4, low.clone(), high.clone()),
    };
    let mut bytes = vec![tag];
    bytes.extend(a.to_bytes());
    bytes.extend(b.to_bytes());
    bytes
}

fn decode_match(bytes: &[u8], field: &FieldAbi) -> Option<KeyMatch> {
    let size = digits(field);
    let a = Bits::from_bytes(field.width, bytes.get(1..1 + size)?);
    let b = bytes.get(1 + size..1 + 2 * size)?;
    let second = Bits::from_bytes(field.width, b);
    Some(match bytes.first()? {
        0 => KeyMatch::Any,
        1 => KeyMatch::Exact(a),
        2 => {
            let length = Bits::from_bytes(size as u32 * 8, b).to_u64()?;
            KeyMatch::Lpm(a, length as u32)
        }
        3 => KeyMatch::Ternary(a, second),
        4 => KeyMatch::Range(a, second),
        _ => return None,
    })
}

/// What was written and what was there before.
struct Undo<'a> {
    maps: &'a TupleSpace<'a>,
    book: Vec<(u32, Option<Vec<u8>>)>,
    entries: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

impl Undo<'_> {
    /// Puts everything back, the last change first. What was there fits where it was.
    fn run(self) {
        let put = |map: &Map, key: &[u8], old: Option<Vec<u8>>| match old {
            Some(value) => map.set(key, &value, Update::Any),
            None => map.delete(key).map(|_| ()),
        };
        for (key, old) in self.entries.into_iter().rev() {
            let _ = put(self.maps.entries, &key, old);
        }
        for (number, old) in self.book.into_iter().rev() {
            let _ = put(self.maps.book, &number.to_ne_bytes(), old);
        }
    }
}

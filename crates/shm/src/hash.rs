//! Hash tables, and prefix tries built on them. The crate's documentation describes their memory.

use crate::cells::{load, room, store};
use crate::readers::Readers;
use host::words::Words;
use layout::MapKind;
use std::collections::HashSet;
use std::io;
use std::sync::atomic::{Ordering, fence};
use writers::memory::MapInfo;

const CHANGES: u64 = 0;
const WRITING: u64 = 8;
const COUNT: u64 = 12;
const FREE_FIRST: u64 = 16;
const FREE_LAST: u64 = 20;
const USED: u64 = 24;
const READY: u64 = 28;
const FREE: u64 = 32;
const LENGTHS: u64 = 64;

/// Number of nodes beyond one for each element. At least as many changes pass before a node is reused.
const SPARE: u32 = 16;

/// Layout of a table's memory: offsets, numbers and sizes.
#[derive(Clone, Copy, Debug)]
struct HashLayout {
    heads: u64,
    heads_at: u64,
    nodes: u32,
    nodes_at: u64,
    node: u64,
    value_at: u64,
}

impl HashLayout {
    fn of(info: &MapInfo, copies: Option<usize>) -> HashLayout {
        let lengths = match info.kind {
            MapKind::PrefixTrie => (info.key_size * 8 / 64 + 1) as u64 * 8,
            _ => 0,
        };
        let heads = u64::from(info.max_entries).next_power_of_two().max(4);
        let heads_at = (LENGTHS + lengths).next_multiple_of(64);
        let value_at = 8 + room(info.key_size) as u64;
        HashLayout {
            heads,
            heads_at,
            nodes: info.max_entries.saturating_add(SPARE),
            nodes_at: (heads_at + 4 * heads).next_multiple_of(64),
            node: value_at + (room(info.value_size) * copies.unwrap_or(1)) as u64,
            value_at,
        }
    }
}

/// Hash table or prefix trie.
#[derive(Debug)]
pub(crate) struct Hash {
    at: Words,
    info: MapInfo,
    copies: Option<usize>,
    layout: HashLayout,
    seed: u64,
    readers: Readers,
}

/// Result of searching a chain.
enum Met {
    Value(Vec<u8>),
    Nothing,
    /// The node was being changed.
    Change,
}

impl Hash {
    /// Returns the size of a table, in bytes.
    pub(crate) fn size(info: &MapInfo, copies: Option<usize>) -> u64 {
        let layout = HashLayout::of(info, copies);
        layout.nodes_at + u64::from(layout.nodes) * layout.node
    }

    pub(crate) fn new(
        at: Words,
        info: MapInfo,
        copies: Option<usize>,
        (seed, readers): (u64, Readers),
    ) -> Hash {
        let layout = HashLayout::of(&info, copies);
        Hash {
            at,
            info,
            copies,
            layout,
            seed,
            readers,
        }
    }

    fn head(&self, key: &[u8]) -> u64 {
        let mut hash = self.seed;
        for chunk in key.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            hash = (hash ^ u64::from_ne_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^= hash >> 32;
        }
        self.layout.heads_at + 4 * (hash & (self.layout.heads - 1))
    }

    /// Returns the offset of a node, which is also that of its link to the next node.
    fn node(&self, number: u32) -> u64 {
        self.layout.nodes_at + u64::from(number.wrapping_sub(1)) * self.layout.node
    }

    fn version(&self, number: u32) -> io::Result<u32> {
        self.at.u32(self.node(number) + 4)
    }

    fn key(&self, number: u32) -> io::Result<Vec<u8>> {
        load(&self.at, self.node(number) + 8, self.info.key_size)
    }

    fn value(&self, number: u32) -> io::Result<Vec<u8>> {
        let size = match self.copies {
            Some(copies) => room(self.info.value_size) * copies,
            None => self.info.value_size,
        };
        load(&self.at, self.node(number) + self.layout.value_at, size)
    }

    fn meet(&self, key: &[u8]) -> io::Result<Met> {
        let mut number = self.at.u32(self.head(key))?;
        for _ in 0..=self.layout.nodes {
            if number == 0 {
                return Ok(Met::Nothing);
            }
            let version = self.version(number)?;
            if version % 2 == 0 && self.key(number)? == key {
                let value = self.value(number)?;
                fence(Ordering::Acquire);
                return Ok(match self.version(number)? == version {
                    true => Met::Value(value),
                    false => Met::Change,
                });
            }
            number = self.at.u32(self.node(number))?;
        }
        Ok(Met::Change)
    }

    /// Reads the value of exactly this key.
    pub(crate) fn get_exactly(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let key = &self.canonical(key);
        loop {
            let before = self.at.u64(CHANGES)?;
            match self.meet(key)? {
                Met::Value(value) => return Ok(Some(value)),
                Met::Nothing => {
                    fence(Ordering::Acquire);
                    if self.at.u64(CHANGES)? == before {
                        return Ok(None);
                    }
                }
                Met::Change => {}
            }
        }
    }

    /// Reads the value that a packet with this key finds.
    pub(crate) fn get(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let Some(most) = self.prefix(key) else {
            return self.get_exactly(key);
        };
        for length in (0..=most).rev() {
            let (at, bit) = lengths(length);
            if self.at.u64(at)? & bit == 0 {
                continue;
            }
            let mut shorter = key.to_vec();
            shorter[..4].copy_from_slice(&length.to_ne_bytes());
            if let Some(value) = self.get_exactly(&shorter)? {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// Returns the prefix length in a trie's key. `None` if the map is no trie.
    fn prefix(&self, key: &[u8]) -> Option<u32> {
        let length = key.first_chunk().map(|length| u32::from_ne_bytes(*length));
        let is_trie = self.info.kind == MapKind::PrefixTrie;
        let bits = (self.info.key_size as u32 * 8).saturating_sub(32);
        length.map(|length| length.min(bits)).filter(|_| is_trie)
    }

    /// Returns the key with the bits after its prefix cleared.
    fn canonical(&self, key: &[u8]) -> Vec<u8> {
        let mut key = key.to_vec();
        if let Some(length) = self.prefix(&key) {
            for (from, byte) in (0..).step_by(8).zip(key.iter_mut().skip(4)) {
                let bits = length.saturating_sub(from).min(8);
                *byte &= !(0xff_u32 >> bits) as u8;
            }
        }
        key
    }

    /// Calls `each` with the key and value of every element.
    pub(crate) fn each(&self, each: &mut dyn FnMut(&[u8], &[u8])) -> io::Result<()> {
        for head in 0..self.layout.heads {
            let mut number = self.at.u32(self.layout.heads_at + 4 * head)?;
            let mut keys = Vec::new();
            while number != 0 && keys.len() <= self.layout.nodes as usize {
                let key = self.key(number)?;
                // A killed writer may have left an element that another one has replaced.
                if !keys.contains(&key) {
                    each(&key, &self.value(number)?);
                }
                keys.push(key);
                number = self.at.u32(self.node(number))?;
            }
        }
        Ok(())
    }

    pub(crate) fn has_more_than(&self, most: usize) -> io::Result<bool> {
        let mut count = self.at.u32(COUNT)? as usize;
        if self.at.u32(WRITING)? != 0 {
            count = 0;
            self.each(&mut |_, _| count += 1)?;
        }
        Ok(count > most)
    }

    pub(crate) fn set(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        self.mend()?;
        let key = &self.canonical(key);
        let (count, is_new) = (self.at.u32(COUNT)?, self.get_exactly(key)?.is_none());
        if is_new && count >= self.info.max_entries {
            return Err(io::ErrorKind::ArgumentListTooLong.into());
        }
        self.at.set_u32(WRITING, 1)?;
        if let Some(length) = self.prefix(key) {
            let (at, bit) = lengths(length);
            self.at.set_u64(at, self.at.u64(at)? | bit)?;
        }
        let number = self.allocate()?;
        let (node, head) = (self.node(number), self.head(key));
        let version = self.version(number)? & !1;
        self.at.set_u32(node + 4, version + 1)?;
        fence(Ordering::Release);
        self.at.set_u32(node, self.at.u32(head)?)?;
        store(&self.at, node + 8, key)?;
        for copy in 0..self.copies.unwrap_or(1) {
            let at = node + self.layout.value_at + (copy * room(self.info.value_size)) as u64;
            store(&self.at, at, value)?;
        }
        self.at.set_u32(node + 4, version.wrapping_add(2))?;
        self.at.set_u32(head, number)?;
        self.unlink(node, key)?;
        self.at.set_u32(COUNT, count + u32::from(is_new))?;
        self.at.set_u32(WRITING, 0)
    }

    pub(crate) fn delete(&self, key: &[u8]) -> io::Result<bool> {
        self.mend()?;
        let key = &self.canonical(key);
        if self.get_exactly(key)?.is_none() {
            return Ok(false);
        }
        self.at.set_u32(WRITING, 1)?;
        self.unlink(self.head(key), key)?;
        self.at
            .set_u32(COUNT, self.at.u32(COUNT)?.saturating_sub(1))?;
        self.at.set_u32(WRITING, 0)?;
        Ok(true)
    }

    /// Removes the elements with a key from a chain, starting at a link.
    fn unlink(&self, mut link: u64, key: &[u8]) -> io::Result<()> {
        loop {
            let number = self.at.u32(link)?;
            if number == 0 {
                return Ok(());
            }
            if self.key(number)? != key {
                link = self.node(number);
                continue;
            }
            self.skip(link, number)?;
            self.free(number)?;
        }
    }

    /// Makes a link skip the node that it leads to. Readers that miss moved nodes see a change counted before, and
    /// readers that are at the skipped node see one after.
    fn skip(&self, link: u64, number: u32) -> io::Result<()> {
        self.note()?;
        self.at.set_u32(link, self.at.u32(self.node(number))?)?;
        self.note()
    }

    fn note(&self) -> io::Result<()> {
        let changes = self.at.u64(CHANGES)?;
        self.at.set_u64(CHANGES, changes.wrapping_add(1))
    }

    /// Allocates a node to which no link leads: one that was never used, or else the one that was freed first.
    fn allocate(&self) -> io::Result<u32> {
        let used = self.at.u32(USED)?;
        if used < self.layout.nodes {
            self.at.set_u32(USED, used + 1)?;
            return Ok(used + 1);
        }
        let number = self.at.u32(FREE_FIRST)?;
        if number == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        // A packet may still use the contents of a freed node.
        if self.at.u32(READY)? == 0 {
            self.readers.wait()?;
            self.at.set_u32(READY, self.at.u32(FREE)?)?;
        }
        self.at.set_u32(READY, self.at.u32(READY)? - 1)?;
        self.at.set_u32(FREE, self.at.u32(FREE)? - 1)?;
        let next = self.at.u32(self.node(number))?;
        self.at.set_u32(FREE_FIRST, next)?;
        if next == 0 {
            self.at.set_u32(FREE_LAST, 0)?;
        }
        Ok(number)
    }

    fn free(&self, number: u32) -> io::Result<()> {
        self.at.set_u32(self.node(number), 0)?;
        match self.at.u32(FREE_LAST)? {
            0 => self.at.set_u32(FREE_FIRST, number)?,
            last => self.at.set_u32(self.node(last), number)?,
        }
        self.at.set_u32(FREE_LAST, number)?;
        self.at.set_u32(FREE, self.at.u32(FREE)? + 1)
    }

    /// Repairs the state that a killed writer has left: replaced elements, nodes to which no link leads, and the count.
    fn mend(&self) -> io::Result<()> {
        if self.at.u32(WRITING)? == 0 {
            return Ok(());
        }
        self.note()?;
        let mut linked = HashSet::new();
        for head in 0..self.layout.heads {
            let mut link = self.layout.heads_at + 4 * head;
            let mut keys = HashSet::new();
            loop {
                let number = self.at.u32(link)?;
                if number == 0 {
                    break;
                }
                if keys.insert(self.key(number)?) {
                    linked.insert(number);
                    link = self.node(number);
                } else {
                    self.skip(link, number)?;
                }
            }
        }
        self.at.set_u32(FREE_FIRST, 0)?;
        self.at.set_u32(FREE_LAST, 0)?;
        self.at.set_u32(READY, 0)?;
        self.at.set_u32(FREE, 0)?;
        let mut left = (1..=self.at.u32(USED)?).filter(|number| !linked.contains(number));
        left.try_for_each(|number| self.free(number))?;
        self.at.set_u32(COUNT, linked.len() as u32)?;
        self.at.set_u32(WRITING, 0)
    }

    /// Empties the table while nobody reads it.
    pub(crate) fn clear(&self) -> io::Result<()> {
        self.note()?;
        let head = (self.layout.nodes_at - WRITING) as usize;
        store(&self.at, WRITING, &vec![0; head])
    }
}

/// Returns the offset of the word with the bit of a prefix length, and the bit.
fn lengths(length: u32) -> (u64, u64) {
    let (word, bit) = (length / 64, length % 64);
    (LENGTHS + 8 * u64::from(word), 1 << bit)
}

//! Arrays: elements by index.

use crate::cells::{load, locked, room, store};
use host::words::Words;
use std::io;
use writers::memory::{MapInfo, SetWay};

/// Array with one copy of each value, or one for each core.
#[derive(Debug)]
pub(crate) struct Array {
    pub at: Words,
    pub info: MapInfo,
    /// Number of copies of a value, each padded to 8 bytes. `None` for a single copy.
    pub copies: Option<usize>,
}

impl Array {
    /// Returns the size of the array, in bytes.
    pub(crate) fn size(info: &MapInfo, copies: Option<usize>) -> u64 {
        info.max_entries as u64 * (room(info.value_size) * copies.unwrap_or(1)) as u64
    }

    fn stride(&self) -> u64 {
        (room(self.info.value_size) * self.copies.unwrap_or(1)) as u64
    }

    fn read(&self, index: u32) -> io::Result<Vec<u8>> {
        let size = match self.copies {
            Some(_) => self.stride() as usize,
            None => self.info.value_size,
        };
        load(&self.at, u64::from(index) * self.stride(), size)
    }

    fn index(&self, key: &[u8]) -> Option<u32> {
        let index = key.first_chunk().map(|key| u32::from_ne_bytes(*key));
        index.filter(|index| *index < self.info.max_entries)
    }

    fn place(&self, key: &[u8]) -> io::Result<u64> {
        let index = self.index(key).ok_or(io::ErrorKind::ArgumentListTooLong)?;
        Ok(u64::from(index) * self.stride())
    }

    pub(crate) fn get(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        self.index(key).map(|index| self.read(index)).transpose()
    }

    fn read_locked(&self, index: u32) -> io::Result<Vec<u8>> {
        let at = u64::from(index) * self.stride();
        let mut value = locked(&self.at, at, || self.read(index))?;
        value.iter_mut().take(4).for_each(|byte| *byte = 0);
        Ok(value)
    }

    pub(crate) fn get_locked(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let index = self.index(key);
        index.map(|index| self.read_locked(index)).transpose()
    }

    pub(crate) fn each(&self, each: &mut dyn FnMut(&[u8], &[u8])) -> io::Result<()> {
        (0..self.info.max_entries).try_for_each(|index| {
            each(&index.to_ne_bytes(), &self.read(index)?);
            Ok(())
        })
    }

    pub(crate) fn each_locked(&self, each: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        (0..self.info.max_entries).try_for_each(|index| {
            each(&self.read_locked(index)?);
            Ok(())
        })
    }

    pub(crate) fn set(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        let at = self.place(key)?;
        let step = room(self.info.value_size) as u64;
        (0..self.copies.unwrap_or(1) as u64)
            .try_for_each(|copy| store(&self.at, at + copy * step, value))
    }

    pub(crate) fn set_locked(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        let at = self.place(key)?;
        let (first, rest) = value.split_at(value.len().min(8));
        locked(&self.at, at, || {
            if let Some(word) = first.get(4..).and_then(|word| word.first_chunk()) {
                self.at.set_u32(at + 4, u32::from_ne_bytes(*word))?;
            }
            store(&self.at, at + 8, rest)
        })
    }

    pub(crate) fn empty_way(&self, way: &SetWay<'_>) -> io::Result<bool> {
        let at = self.place(&way.set.to_ne_bytes())?;
        let (tag_at, key_at) = (at + u64::from(way.tag_at), at + u64::from(way.key_at));
        locked(&self.at, at, || {
            let is_there = self.at.u32(tag_at)? == way.tag
                && self.at.bytes(key_at, way.key.len() as u32)? == way.key;
            if is_there {
                self.at.set_u32(tag_at, 0)?;
            }
            Ok(is_there)
        })
    }

    pub(crate) fn empty_sets(&self, tags_at: u32, ways: u32) -> io::Result<()> {
        (0..self.info.max_entries).try_for_each(|set| {
            let at = u64::from(set) * self.stride();
            locked(&self.at, at, || {
                let mut tags = (0..ways).map(|way| at + u64::from(tags_at + 4 * way));
                tags.try_for_each(|tag| self.at.set_u32(tag, 0))
            })
        })
    }

    /// Zeroes the whole array.
    pub(crate) fn clear(&self) -> io::Result<()> {
        store(&self.at, 0, &vec![0; self.at.length()])
    }
}

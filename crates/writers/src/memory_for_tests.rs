//! Maps and memory for tests, private to each test.

use crate::Guard;
use crate::memory::{Map, MapInfo, Memory, Partial, SetWay, Successor};
use crate::replicas::Traffic;
use control::StoreError;
use host::words::Words;
use layout::{Contents, HashSeeds, MapKind};
use schema::Schema;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

/// Map in a tree.
#[derive(Debug)]
pub(crate) struct Tree {
    info: MapInfo,
    elements: RefCell<BTreeMap<Vec<u8>, Vec<u8>>>,
    /// True if the map can tell whether exactly a key is there.
    pub exact: bool,
    /// True if packets may still read an element that was removed or replaced, whose memory is for the next new one. `None`
    /// where no packets run.
    is_read: Cell<Option<bool>>,
}

impl Tree {
    /// Creates an empty map. An array has zeros.
    pub(crate) fn new(kind: MapKind, key_size: usize, value_size: usize, max_entries: u32) -> Tree {
        let all = match kind {
            MapKind::Array => 0..max_entries,
            _ => 0..0,
        };
        let zero = |index: u32| (index.to_ne_bytes().to_vec(), vec![0; value_size]);
        Tree {
            info: MapInfo {
                kind,
                key_size,
                value_size,
                max_entries,
            },
            elements: RefCell::new(all.map(zero).collect()),
            exact: true,
            is_read: Cell::new(None),
        }
    }
}

impl Map for Tree {
    fn info(&self) -> MapInfo {
        self.info
    }

    fn get(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        Ok(self.elements.borrow().get(key).cloned())
    }

    fn get_exactly(&self, key: &[u8]) -> io::Result<Option<Option<Vec<u8>>>> {
        self.exact.then(|| self.get(key)).transpose()
    }

    fn get_locked(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        self.get(key)
    }

    fn each(&self, each: &mut dyn FnMut(&[u8], &[u8])) -> io::Result<()> {
        let all = self.elements.borrow();
        all.iter().for_each(|(key, value)| each(key, value));
        Ok(())
    }

    fn each_locked(&self, each: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        self.each(&mut |_, value| each(value))
    }

    fn has_more_than(&self, most: usize) -> io::Result<bool> {
        Ok(self.elements.borrow().len() > most)
    }

    fn set(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        let mut all = self.elements.borrow_mut();
        if all.len() == self.info.max_entries as usize && !all.contains_key(key) {
            return Err(io::ErrorKind::ArgumentListTooLong.into());
        }
        let replaced = all.insert(key.to_vec(), value.to_vec());
        let is_read = self.is_read.get();
        assert_ne!(
            is_read,
            Some(true),
            "a packet may read it as another element"
        );
        self.is_read.set(is_read.map(|_| replaced.is_some()));
        Ok(())
    }

    fn set_locked(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        self.set(key, value)
    }

    fn set_many(&self, keys: &[u8], values: &[u8]) -> Result<(), Partial> {
        let keys = keys.chunks_exact(self.info.key_size);
        let elements = keys.zip(values.chunks_exact(self.info.value_size));
        for (done, (key, value)) in elements.enumerate() {
            self.set(key, value)
                .map_err(|error| Partial { done, error })?;
        }
        Ok(())
    }

    fn delete(&self, key: &[u8]) -> io::Result<bool> {
        let removed = self.elements.borrow_mut().remove(key).is_some();
        self.is_read
            .set(self.is_read.get().map(|read| read || removed));
        Ok(removed)
    }

    fn delete_many(&self, keys: &[u8]) -> Result<(), Partial> {
        for key in keys.chunks_exact(self.info.key_size) {
            let removed = self.delete(key);
            removed.map_err(|error| Partial { done: 0, error })?;
        }
        Ok(())
    }

    fn empty_way(&self, _: &SetWay<'_>) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn empty_sets(&self, _: u32, _: u32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn take(&self, _: u64, _: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn wait(&self, _: Duration) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Returns zeroed memory, in an anonymous temporary file.
pub(crate) fn words(length: u64) -> Words {
    let file = tempfile::tempfile().expect("a file");
    file.set_len(length).expect("its length");
    Words::of(file.as_fd(), length as usize).expect("a mapping")
}

/// Memory of which nothing is used but grace periods, after which no packet reads an element of the map any more.
#[derive(Debug)]
pub(crate) struct Packets<'a>(&'a Tree);

impl Packets<'_> {
    /// Returns the memory of packets that read a map from now on.
    pub(crate) fn reading(map: &Tree) -> Packets<'_> {
        map.is_read.set(Some(false));
        Packets(map)
    }
}

impl Memory for Packets<'_> {
    fn wait_for_packets(&self) {
        self.0.is_read.set(Some(false));
    }

    fn contents(&self) -> &Contents {
        unreachable!("nothing asks for it")
    }

    fn schema(&self) -> &Arc<Schema> {
        unreachable!("nothing asks for it")
    }

    fn anew(&self) -> Self {
        unreachable!("nothing asks for it")
    }

    fn map(&self, _: &str) -> io::Result<Option<&dyn Map>> {
        unreachable!("nothing asks for it")
    }

    fn words(&self, _: &str) -> io::Result<Option<&Words>> {
        unreachable!("nothing asks for it")
    }

    fn seeds(&self) -> Result<HashSeeds, StoreError> {
        unreachable!("nothing asks for it")
    }

    fn changes(&self) -> io::Result<Option<Words>> {
        unreachable!("nothing asks for it")
    }

    fn begin_changes(&self, _: usize) -> io::Result<()> {
        unreachable!("nothing asks for it")
    }

    fn now(&self) -> Result<u64, StoreError> {
        unreachable!("nothing asks for it")
    }

    fn traffic(&self) -> Traffic<'_> {
        unreachable!("nothing asks for it")
    }

    fn check_ports(&self, _: &[u32]) -> Result<(), StoreError> {
        unreachable!("nothing asks for it")
    }

    fn guard(&self) -> Option<&dyn Guard> {
        unreachable!("nothing asks for it")
    }

    fn successor(&self, _: &BTreeSet<&str>) -> Result<Box<dyn Successor>, StoreError> {
        unreachable!("nothing asks for it")
    }
}

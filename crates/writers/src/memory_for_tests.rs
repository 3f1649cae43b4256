//! Maps and memory for tests, private to each test.

use crate::memory::{Map, MapInfo, Partial, SetWay};
use host::words::Words;
use layout::MapKind;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

/// Map in a tree.
#[derive(Debug)]
pub(crate) struct Tree {
    info: MapInfo,
    elements: RefCell<BTreeMap<Vec<u8>, Vec<u8>>>,
    /// True if the map can tell whether exactly a key is there.
    pub exact: bool,
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
        all.insert(key.to_vec(), value.to_vec());
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
        Ok(self.elements.borrow_mut().remove(key).is_some())
    }

    fn delete_many(&self, keys: &[u8]) -> Result<(), Partial> {
        for key in keys.chunks_exact(self.info.key_size) {
            self.elements.borrow_mut().remove(key);
        }
        Ok(())
    }

    fn empty_way(&self, _: &SetWay<'_>) -> io::Result<bool> {
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

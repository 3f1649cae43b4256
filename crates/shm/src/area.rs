//! Map of any kind, as writers access it.

use crate::array::Array;
use crate::hash::Hash;
use crate::readers::Readers;
use crate::ring::{self, Ring};
use host::words::Words;
use layout::MapKind;
use std::io;
use std::time::Duration;
use writers::memory::{Map, MapInfo, Partial, SetWay};

/// Map in one of its two locations.
#[derive(Debug)]
pub(crate) struct Area {
    /// Memory of the map.
    pub words: Words,
    info: MapInfo,
    structure: MapStructure,
}

#[derive(Debug)]
enum MapStructure {
    Array(Array),
    Hash(Hash),
    Ring(Ring),
}

/// Returns the number of copies of each value, if each core has one.
fn copies(kind: MapKind, cores: u32) -> Option<usize> {
    let are_many = matches!(kind, MapKind::PerCoreArray | MapKind::PerCoreHash);
    are_many.then_some(cores as usize)
}

/// Returns the size of a map, in bytes.
pub(crate) fn size(info: &MapInfo, cores: u32) -> u64 {
    let copies = copies(info.kind, cores);
    match info.kind {
        MapKind::Array | MapKind::PerCoreArray => Array::size(info, copies),
        MapKind::Hash | MapKind::PerCoreHash | MapKind::PrefixTrie => Hash::size(info, copies),
        MapKind::Ring => ring::Ring::size(info.max_entries),
    }
}

impl Area {
    pub(crate) fn new(words: Words, info: MapInfo, seed: u64, readers: &Readers) -> Area {
        let cores = readers.cores;
        let copies = copies(info.kind, cores);
        let at = words.clone();
        let structure = match info.kind {
            MapKind::Array | MapKind::PerCoreArray => {
                MapStructure::Array(Array { at, info, copies })
            }
            MapKind::Hash | MapKind::PerCoreHash | MapKind::PrefixTrie => {
                MapStructure::Hash(Hash::new(at, info, copies, (seed, readers.clone())))
            }
            MapKind::Ring => MapStructure::Ring(Ring {
                at,
                size: info.max_entries,
            }),
        };
        Area {
            words,
            info,
            structure,
        }
    }

    /// Empties the map while nobody reads it.
    pub(crate) fn clear(&self) -> io::Result<()> {
        match &self.structure {
            MapStructure::Array(array) => array.clear(),
            MapStructure::Hash(hash) => hash.clear(),
            MapStructure::Ring(_) => unsupported(),
        }
    }

    fn array(&self) -> io::Result<&Array> {
        match &self.structure {
            MapStructure::Array(array) => Ok(array),
            _ => unsupported(),
        }
    }
}

fn unsupported<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Applies `work` to several elements. An error comes with the number of elements before it.
fn each_of<T>(
    elements: impl Iterator<Item = T>,
    mut work: impl FnMut(T) -> io::Result<()>,
) -> Result<(), Partial> {
    for (done, element) in elements.enumerate() {
        work(element).map_err(|error| Partial { done, error })?;
    }
    Ok(())
}

impl Map for Area {
    fn info(&self) -> MapInfo {
        self.info
    }

    fn get(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        match &self.structure {
            MapStructure::Array(array) => array.get(key),
            MapStructure::Hash(hash) => hash.get(key),
            MapStructure::Ring(_) => unsupported(),
        }
    }

    fn get_exactly(&self, key: &[u8]) -> io::Result<Option<Option<Vec<u8>>>> {
        match &self.structure {
            MapStructure::Hash(hash) => hash.get_exactly(key).map(Some),
            _ => self.get(key).map(Some),
        }
    }

    fn get_locked(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        self.array()?.get_locked(key)
    }

    fn each(&self, each: &mut dyn FnMut(&[u8], &[u8])) -> io::Result<()> {
        match &self.structure {
            MapStructure::Array(array) => array.each(each),
            MapStructure::Hash(hash) => hash.each(each),
            MapStructure::Ring(_) => unsupported(),
        }
    }

    fn each_locked(&self, each: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        self.array()?.each_locked(each)
    }

    fn has_more_than(&self, most: usize) -> io::Result<bool> {
        match &self.structure {
            MapStructure::Array(_) => Ok(self.info.max_entries as usize > most),
            MapStructure::Hash(hash) => hash.has_more_than(most),
            MapStructure::Ring(_) => unsupported(),
        }
    }

    fn set(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        match &self.structure {
            MapStructure::Array(array) => array.set(key, value),
            MapStructure::Hash(hash) => hash.set(key, value),
            MapStructure::Ring(_) => unsupported(),
        }
    }

    fn set_locked(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        self.array()?.set_locked(key, value)
    }

    fn set_many(&self, keys: &[u8], values: &[u8]) -> Result<(), Partial> {
        let keys = keys.chunks_exact(self.info.key_size);
        let elements = keys.zip(values.chunks_exact(self.info.value_size));
        each_of(elements, |(key, value)| self.set(key, value))
    }

    fn delete(&self, key: &[u8]) -> io::Result<bool> {
        match &self.structure {
            MapStructure::Hash(hash) => hash.delete(key),
            _ => unsupported(),
        }
    }

    fn delete_many(&self, keys: &[u8]) -> Result<(), Partial> {
        let keys = keys.chunks_exact(self.info.key_size);
        each_of(keys, |key| self.delete(key).map(|_| ()))
    }

    fn empty_way(&self, way: &SetWay<'_>) -> io::Result<bool> {
        self.array()?.empty_way(way)
    }

    fn empty_sets(&self, tags_at: u32, ways: u32) -> io::Result<()> {
        self.array()?.empty_sets(tags_at, ways)
    }

    fn take(&self, most: u64, each: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        match &self.structure {
            MapStructure::Ring(ring) => ring.take(most, each),
            _ => unsupported(),
        }
    }

    fn wait(&self, patience: Duration) -> io::Result<()> {
        match &self.structure {
            MapStructure::Ring(ring) => ring.wait(patience),
            _ => unsupported(),
        }
    }
}

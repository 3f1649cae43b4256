//! Tables with many prefixes: multibit tries in memory that packets read while it changes.
//!
//! The entries are in the *index*, a hash map from prefixes to the numbers of routes. Routes and nodes are in arrays
//! that this process maps, so that a change writes memory and makes no system call for each slot. Each change of a
//! prefix is one 8-byte store for packets ([`nodes`]). Replaced nodes and routes are not reused as long as packets may
//! read them ([`pool`]).

mod nodes;
mod pool;
mod slot;

use crate::encoding;
use crate::errors::{refused, system, with_capacity};
use crate::flat::{Codec, Elements};
use crate::in_memory::{InMemory, Refused, unread, unwritten};
use crate::lpm::Prefixes;
use crate::memory::Map;
use crate::records::Differences;
use crate::state::ProgramState;
use control::StoreError;
use host::words::Words;
use layout::{MultibitTrieAbi, ValueAbi};
use nodes::Nodes;
use pool::{Pool, Take};
use schema::KeyMatch;
use slot::Prefix;
use std::io;

/// Number of entries that are replaced before their old routes are retired.
const AT_ONCE: usize = 64;

/// Multibit trie with its maps.
pub(super) struct MultibitTrie<'a> {
    abi: &'a MultibitTrieAbi,
    index: &'a dyn Map,
    routes: &'a Words,
    pool: Pool<'a>,
    globals: &'a Words,
    wide: &'a Words,
    narrow: &'a Words,
    capacity: u64,
}

impl<'a> MultibitTrie<'a> {
    /// Opens the trie of a description.
    pub(crate) fn open(
        store: ProgramState<'a>,
        abi: &'a MultibitTrieAbi,
    ) -> Result<MultibitTrie<'a>, StoreError> {
        let count = |name: &str| Ok::<u32, StoreError>(store.map(name)?.info().max_entries);
        let counts = [count(&abi.wide)?, count(&abi.narrow)?, count(&abi.routes)?];
        let index = store.map(&abi.index)?;
        Ok(MultibitTrie {
            abi,
            index,
            routes: store.shared(&abi.routes)?,
            pool: Pool::new(store.shared(&abi.pool)?, counts, store.grace()),
            globals: store.globals()?,
            wide: store.shared(&abi.wide)?,
            narrow: store.shared(&abi.narrow)?,
            capacity: index.info().max_entries.into(),
        })
    }

    fn nodes(&self) -> Nodes<'_> {
        Nodes {
            wide: self.wide,
            narrow: self.narrow,
            root: (self.globals, self.abi.root_offset),
            pool: &self.pool,
            routes: Routes {
                memory: self.routes,
                abi: self.abi,
                size: self.route_size(),
            },
            index: self.index,
        }
    }

    fn route_size(&self) -> u32 {
        (self.abi.mask_offset + self.abi.key.size).next_multiple_of(8)
    }

    /// Returns the number of a prefix's route, if the index has the prefix.
    fn number(&self, key: &[u8]) -> Result<Option<u32>, StoreError> {
        let found = self.index.get(key).map_err(unread)?;
        Ok(found.map(|number| encoding::get_u32(&number, 0)))
    }

    fn remove_all(&self, keys: &[u8]) -> Result<(), StoreError> {
        let mut numbers = Vec::new();
        for key in keys.chunks_exact(self.sizes().0) {
            numbers.extend(self.number(key)?);
        }
        // Slots that a removed prefix covered fall back to shorter prefixes that are left in the index.
        let gone = self.index.delete_many(keys);
        gone.map_err(|partial| system("remove an entry")(partial.error))?;
        let nodes = self.nodes();
        for key in keys.chunks_exact(self.sizes().0) {
            nodes.remove(&Prefix::of(key))?;
        }
        let retire = |number| self.pool.retire(Take::Route, number);
        numbers.into_iter().try_for_each(retire).map_err(unwritten)
    }

    /// Inserts new entries and replaces existing ones. `first` is the index of the first one, for errors.
    fn put_all(&self, keys: &[u8], values: &[u8], first: usize) -> Result<(), Refused> {
        let (key_size, value_size) = self.sizes();
        let nodes = self.nodes();
        let (mut numbers, mut old) = (Vec::new(), Vec::new());
        let entries = keys
            .chunks_exact(key_size)
            .zip(values.chunks_exact(value_size));
        for (at, (key, value)) in entries.enumerate() {
            let number = self.pool.take(Take::Route).map_err(unwritten)?;
            let number = number.ok_or(Refused {
                entry: Some(first + at),
                error: StoreError::Full {
                    capacity: self.capacity,
                },
            })?;
            let wrote = nodes.routes.write(number, value, &Prefix::of(key));
            wrote.map_err(unwritten)?;
            numbers.push(number);
        }
        // New entries have no old routes.
        if self.index.has_more_than(0).map_err(unread)? {
            for key in keys.chunks_exact(key_size) {
                old.extend(self.number(key)?);
            }
        }
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_ne_bytes()).collect();
        self.index
            .set_many(keys, &bytes)
            .map_err(|partial| Refused {
                entry: Some(first + partial.done),
                error: with_capacity(refused("write the table")(partial.error), self.capacity),
            })?;
        let prefixes = keys.chunks_exact(key_size).map(Prefix::of);
        let routes: Vec<(Prefix<'_>, u32)> = prefixes.zip(numbers).collect();
        nodes.insert_all(&routes).map_err(|(at, error)| Refused {
            entry: Some(first + at),
            error,
        })?;
        let retire = |number| self.pool.retire(Take::Route, number);
        Ok(old.into_iter().try_for_each(retire).map_err(unwritten)?)
    }

    /// Recomputes which nodes and routes are in use.
    fn take_stock(&self) -> Result<(), StoreError> {
        self.pool.settle();
        let mut used = self.nodes().used()?;
        self.index
            .each(&mut |_, number| used.push((Take::Route, encoding::get_u32(number, 0))))
            .map_err(unread)?;
        self.pool.have_in_use(&used).map_err(unwritten)
    }
}

impl InMemory for MultibitTrie<'_> {
    /// Returns the sizes of the index's keys and of values.
    fn sizes(&self) -> (usize, usize) {
        (self.index.info().key_size, self.abi.value.size as usize)
    }

    fn begin_with_length(&self) -> bool {
        true
    }

    fn start_empty(&self) -> Result<(), StoreError> {
        let emptied = self.globals.set_u32(self.abi.root_offset, 0);
        emptied.map_err(unwritten)
    }

    fn has_more_than(&self, most: usize) -> io::Result<bool> {
        self.index.has_more_than(most)
    }

    fn each(&self, each: &mut dyn FnMut(&[u8], &[u8])) -> io::Result<()> {
        let routes = self.nodes().routes;
        let mut failed = None;
        self.index.each(&mut |key, number| {
            match routes.value(encoding::get_u32(number, 0)) {
                Ok(value) => each(key, &value),
                Err(error) => failed = Some(error),
            };
        })?;
        failed.map_or(Ok(()), Err)
    }

    fn change(&self, changes: &Differences) -> Result<(), Refused> {
        let (key_size, value_size) = self.sizes();
        self.remove_all(&changes.gone)?;
        self.put_all(&changes.added, &changes.added_values, 0)?;
        let added = changes.added.len() / key_size;
        let parts = changes.changed.chunks(AT_ONCE * key_size);
        let values = changes.changed_new.chunks(AT_ONCE * value_size);
        for (part, (keys, values)) in parts.zip(values).enumerate() {
            self.put_all(keys, values, added + part * AT_ONCE)?;
        }
        Ok(())
    }

    fn restore(&self, keys: &[u8], values: &[u8], removed: &[u8]) -> Result<(), StoreError> {
        // A killed process may have left wrong states in the pool.
        self.take_stock()?;
        let put = self.put_all(keys, values, 0);
        put.map_err(|refused| refused.error)?;
        self.remove_all(removed)?;
        self.take_stock()
    }
}

/// Routes: values with their prefixes.
pub(super) struct Routes<'a> {
    memory: &'a Words,
    abi: &'a MultibitTrieAbi,
    size: u32,
}

impl Routes<'_> {
    fn value(&self, number: u32) -> io::Result<Vec<u8>> {
        self.memory.bytes(number * self.size, self.abi.value.size)
    }

    fn write(&self, number: u32, value: &[u8], prefix: &Prefix<'_>) -> io::Result<()> {
        let mut bytes = vec![0; self.size as usize];
        bytes[..value.len()].copy_from_slice(value);
        let key = self.abi.prefix_offset as usize;
        bytes[key..key + prefix.key.len()].copy_from_slice(prefix.key);
        let mask = self.abi.mask_offset as usize;
        let length = prefix.length as usize;
        for (at, byte) in bytes[mask..mask + prefix.key.len()].iter_mut().enumerate() {
            let ones = length.saturating_sub(8 * at).min(8);
            *byte = !(0xffu16 >> ones) as u8;
        }
        self.memory.set_bytes(number * self.size, &bytes)
    }

    fn key(&self, number: u32) -> io::Result<Vec<u8>> {
        let at = number * self.size + self.abi.prefix_offset;
        self.memory.bytes(at, self.abi.key.size)
    }

    fn length(&self, number: u32) -> io::Result<u32> {
        let at = number * self.size + self.abi.mask_offset;
        let words = (0..self.abi.key.size / 4).map(|word| self.memory.u32(at + 4 * word));
        words.map(|word| word.map(u32::count_ones)).sum()
    }
}

/// Codec of the entries of a multibit trie.
pub(super) struct Entries<'a> {
    /// The trie.
    pub trie: MultibitTrie<'a>,
}

impl Entries<'_> {
    fn prefixes(&self) -> Prefixes<'_> {
        let abi = self.trie.abi;
        Prefixes {
            key: &abi.key,
            lpm_key: abi.lpm_key as usize,
            prefix_base: abi.prefix_base,
        }
    }
}

impl Codec for Entries<'_> {
    fn elements(&self) -> Elements<'_> {
        Elements::InMemory(&self.trie)
    }

    fn layout(&self) -> &ValueAbi {
        &self.trie.abi.value
    }

    fn key(&self, keys: &[KeyMatch]) -> Result<Vec<u8>, StoreError> {
        let (key, length) = self.prefixes().put(keys)?;
        Ok([&length.to_ne_bytes()[..], &key].concat())
    }

    fn matches(&self, key: &[u8]) -> Vec<KeyMatch> {
        let prefix = Prefix::of(key);
        self.prefixes().get(prefix.key, prefix.length)
    }

    fn current(&self, key: &[u8]) -> io::Result<Option<Option<Vec<u8>>>> {
        let number = self.trie.index.get(key)?;
        let routes = self.trie.nodes().routes;
        let value = number.map(|number| routes.value(encoding::get_u32(&number, 0)));
        value.transpose().map(Some)
    }
}

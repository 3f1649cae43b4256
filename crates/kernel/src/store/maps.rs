//! A program's maps by name. Those of a pinned program are opened when they are first needed: a command that reads a
//! counter opens one map, however many tables the program has.

use super::Globals;
use crate::sys::Map;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The maps of a loaded program.
#[derive(Debug, Default)]
pub struct Maps {
    all: BTreeMap<String, Entry>,
}

#[derive(Debug)]
struct Entry {
    map: OnceLock<Map>,
    /// Its elements, once they were needed in memory.
    shared: OnceLock<Globals>,
    /// Where it is pinned, if it is to be opened there.
    pin: PathBuf,
}

impl Maps {
    /// Maps that this process has loaded.
    pub fn loaded(maps: impl IntoIterator<Item = (String, Map)>) -> Maps {
        let entry = |map| Entry {
            map: OnceLock::from(map),
            shared: OnceLock::new(),
            pin: PathBuf::new(),
        };
        Maps {
            all: maps.into_iter().map(|(n, map)| (n, entry(map))).collect(),
        }
    }

    /// Maps that are pinned, and none of which is open yet.
    pub fn pinned(pins: impl IntoIterator<Item = (String, PathBuf)>) -> Maps {
        let entry = |pin| Entry {
            map: OnceLock::new(),
            shared: OnceLock::new(),
            pin,
        };
        Maps {
            all: pins.into_iter().map(|(n, pin)| (n, entry(pin))).collect(),
        }
    }

    /// The same maps, of which those that are pinned are not open: another process may have replaced them.
    pub(super) fn anew(&self) -> Maps {
        Maps::pinned(
            self.all
                .iter()
                .map(|(n, entry)| (n.clone(), entry.pin.clone())),
        )
    }

    /// Adds a map that this process has made.
    pub(super) fn add(&mut self, name: &str, map: Map) {
        let entry = Entry {
            map: OnceLock::from(map),
            shared: OnceLock::new(),
            pin: PathBuf::new(),
        };
        self.all.insert(name.to_owned(), entry);
    }

    /// The map of this name; `None` if the program has none.
    ///
    /// # Errors
    /// Its pin cannot be opened.
    pub fn get(&self, name: &str) -> io::Result<Option<&Map>> {
        let Some(Entry { map, pin, .. }) = self.all.get(name) else {
            return Ok(None);
        };
        if map.get().is_none() {
            // Another thread has opened the same map first.
            let _ = map.set(Map::open(pin)?);
        }
        Ok(map.get())
    }

    /// The elements of the array of this name, in memory; `None` if the program has none.
    pub(super) fn shared(&self, name: &str) -> io::Result<Option<&Globals>> {
        let Some(map) = self.get(name)? else {
            return Ok(None);
        };
        let Some(Entry { shared, .. }) = self.all.get(name) else {
            return Ok(None);
        };
        if shared.get().is_none() {
            // Another thread has mapped the same array first.
            let _ = shared.set(Globals::map(map)?);
        }
        Ok(shared.get())
    }

    /// Those that are open, by name.
    pub fn open(&self) -> impl Iterator<Item = (&str, &Map)> {
        let all = self.all.iter();
        all.filter_map(|(name, entry)| Some((name.as_str(), entry.map.get()?)))
    }
}

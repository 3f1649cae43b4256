//! A program's maps by name. Those of a pinned program are opened when they are first needed: a command that reads a
//! counter opens one map, however many tables the program has.

use crate::sys::Map;
use bpf::abi::CHANGES_SECTION;
use host::safe_dir::Dir;
use host::words::Words;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, OnceLock};

/// The maps of a loaded program.
#[derive(Debug, Default)]
pub struct Maps {
    all: BTreeMap<String, Entry>,
    /// Folder of the pins of maps that are opened later.
    folder: Option<Arc<Dir>>,
}

#[derive(Debug)]
struct Entry {
    map: OnceLock<Map>,
    /// Map's elements in memory, once they were needed there.
    shared: OnceLock<Words>,
    /// Name of the map's pin in the folder, if it is to be opened there.
    pin: String,
}

impl Maps {
    /// Maps that this process has loaded.
    pub fn loaded(maps: impl IntoIterator<Item = (String, Map)>) -> Maps {
        let loaded = Maps::unopened(None, [(CHANGES_SECTION.to_owned(), String::new())]);
        let entry = |map| Entry {
            map: OnceLock::from(map),
            shared: OnceLock::new(),
            pin: String::new(),
        };
        let maps = maps.into_iter().map(|(name, map)| (name, entry(map)));
        Maps {
            all: loaded.all.into_iter().chain(maps).collect(),
            folder: None,
        }
    }

    /// Maps that are pinned in a folder by these names, and none of which is open yet.
    pub fn pinned(folder: &Arc<Dir>, pins: impl IntoIterator<Item = (String, String)>) -> Maps {
        Maps::unopened(Some(Arc::clone(folder)), pins)
    }

    fn unopened(
        folder: Option<Arc<Dir>>,
        pins: impl IntoIterator<Item = (String, String)>,
    ) -> Maps {
        let entry = |pin| Entry {
            map: OnceLock::new(),
            shared: OnceLock::new(),
            pin,
        };
        Maps {
            all: pins.into_iter().map(|(n, pin)| (n, entry(pin))).collect(),
            folder,
        }
    }

    /// Returns the same maps, with the pinned ones not open: another process may have replaced them.
    pub(super) fn anew(&self) -> Maps {
        let all = self.all.iter();
        let pins = all.map(|(n, entry)| (n.clone(), entry.pin.clone()));
        Maps::unopened(self.folder.clone(), pins)
    }

    /// Adds a map that this process has made, if there is none by this name yet.
    pub(super) fn put(&self, name: &str, map: Map) {
        if let Some(entry) = self.all.get(name) {
            // Another thread has made the same map first.
            let _ = entry.map.set(map);
        }
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
            let folder = self.folder.as_ref().ok_or(io::ErrorKind::NotFound)?;
            // Another thread has opened the same map first.
            let _ = map.set(Map::open(folder, pin)?);
        }
        Ok(map.get())
    }

    /// The elements of the array of this name, in memory; `None` if the program has none.
    pub(crate) fn shared(&self, name: &str) -> io::Result<Option<&Words>> {
        let Some(map) = self.get(name)? else {
            return Ok(None);
        };
        let Some(Entry { shared, .. }) = self.all.get(name) else {
            return Ok(None);
        };
        if shared.get().is_none() {
            // Another thread has mapped the same array first.
            let _ = shared.set(map.words()?);
        }
        Ok(shared.get())
    }

    /// Iterates over the open maps, with their names.
    pub fn open(&self) -> impl Iterator<Item = (&str, &Map)> {
        let all = self.all.iter();
        all.filter_map(|(name, entry)| Some((name.as_str(), entry.map.get()?)))
    }
}

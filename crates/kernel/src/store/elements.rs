//! A map of the kernel as writers see it.

use crate::contents::map_kind;
use crate::sys::{Map, Prog, SETS_A_RUN, Update, ring};
use host::linux::kernel_version;
use layout::MapKind;
use std::io;
use std::time::Duration;
use writers::memory::{MapInfo, Partial, SetWay};

/// Rewords a system's error for users: it names the capability that is missing.
pub(super) fn explained(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::EPERM) => {
            io::Error::new(error.kind(), "not permitted; it takes CAP_BPF (or root)")
        }
        _ => error,
    }
}

fn partial(Partial { done, error }: Partial) -> Partial {
    let error = explained(error);
    Partial { done, error }
}

/// Returns true if this kernel's tries respect the flags of an update, which allow it to make or to replace an entry.
/// Tries before Linux 6.13 do not.
fn flags_are_heeded() -> bool {
    kernel_version() >= (6, 13)
}

impl Map {
    /// Looks up the entry of exactly this prefix in a trie. A look-up finds the longest match, which may be a shorter
    /// prefix. So the found value is written to this very prefix, which changes nothing if the entry is there and
    /// fails if it is not. The outer `None` means that the kernel cannot tell.
    fn get_prefix(&self, key: &[u8]) -> io::Result<Option<Option<Vec<u8>>>> {
        let Some(near) = self.get(key)? else {
            return Ok(Some(None));
        };
        if !flags_are_heeded() {
            return Ok(None);
        }
        match self.set(key, &near, Update::Existing) {
            Ok(()) => Ok(Some(Some(near))),
            Err(e) if e.raw_os_error() == Some(libc::ENOENT) => Ok(Some(None)),
            Err(e) => Err(e),
        }
    }
}

impl writers::Map for Map {
    fn info(&self) -> MapInfo {
        let info = Map::info(self);
        // Writers change no map of any other kind.
        let kind = map_kind(info.kind).and_then(|kind| kind.neutral());
        MapInfo {
            kind: kind.unwrap_or(MapKind::Hash),
            key_size: info.key_size,
            value_size: info.value_size,
            max_entries: info.max_entries,
        }
    }

    fn get(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        Map::get(self, key).map_err(explained)
    }

    fn get_exactly(&self, key: &[u8]) -> io::Result<Option<Option<Vec<u8>>>> {
        let found = match Map::info(self).kind {
            libbpf_sys::BPF_MAP_TYPE_LPM_TRIE => self.get_prefix(key),
            _ => Map::get(self, key).map(Some),
        };
        found.map_err(explained)
    }

    fn get_locked(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        Map::get_locked(self, key).map_err(explained)
    }

    fn each(&self, each: &mut dyn FnMut(&[u8], &[u8])) -> io::Result<()> {
        Map::each(self, each).map_err(explained)
    }

    fn each_locked(&self, each: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        Map::each_locked(self, each).map_err(explained)
    }

    fn has_more_than(&self, most: usize) -> io::Result<bool> {
        Map::has_more_than(self, most).map_err(explained)
    }

    fn set(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        Map::set(self, key, value, Update::Any).map_err(explained)
    }

    fn set_locked(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        Map::set(self, key, value, Update::Locked).map_err(explained)
    }

    fn set_many(&self, keys: &[u8], values: &[u8]) -> Result<(), Partial> {
        Map::set_many(self, keys, values).map_err(partial)
    }

    fn delete(&self, key: &[u8]) -> io::Result<bool> {
        Map::delete(self, key).map_err(explained)
    }

    fn delete_many(&self, keys: &[u8]) -> Result<(), Partial> {
        Map::delete_many(self, keys).map_err(partial)
    }

    fn empty_way(&self, way: &SetWay<'_>) -> io::Result<bool> {
        let removal = Prog::empty_way(self, way).map_err(explained)?;
        let ran = removal.run_xdp(&[0; 64], &mut [0; 512], 0, 1);
        Ok(ran.map_err(explained)?.verdict == 1)
    }

    fn empty_sets(&self, tags_at: u32, ways: u32) -> io::Result<()> {
        let removal = Prog::empty_sets(self, tags_at, ways).map_err(explained)?;
        let sets = Map::info(self).max_entries;
        for first in (0..sets).step_by(SETS_A_RUN as usize) {
            let mut packet = [0; 64];
            packet[..4].copy_from_slice(&first.to_ne_bytes());
            let ran = removal.run_xdp(&packet, &mut [0; 512], 0, 1);
            ran.map_err(explained)?;
        }
        Ok(())
    }

    fn take(&self, most: u64, each: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        ring::take(self, most, each).map_err(explained)
    }

    fn wait(&self, patience: Duration) -> io::Result<()> {
        ring::wait(self, patience).map_err(explained)
    }
}

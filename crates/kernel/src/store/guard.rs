//! The folder of a pinned program, as the guard of its tables: the journal of a change is pinned beside the maps.

use super::elements::explained;
use super::successor;
use crate::pins::files::JOURNAL;
use crate::sys::Map;
use control::StoreError;
use host::safe_dir::Dir;
use std::io;
use std::sync::Arc;

/// Bytes of one element of a long journal.
const PART: usize = 1 << 16;

/// The folder of a pinned program, whose lock its writers hold in turn.
#[derive(Clone, Debug)]
pub struct Guard {
    folder: Arc<Dir>,
    instance: Arc<Dir>,
    member: usize,
}

impl Guard {
    /// Guards the program of this number in its instance; `folder` is the one with the program's pins.
    pub(crate) fn new(folder: Dir, instance: Arc<Dir>, member: usize) -> Guard {
        Guard {
            folder: Arc::new(folder),
            instance,
            member,
        }
    }

    /// The program's number in its instance.
    pub(super) fn member(&self) -> usize {
        self.member
    }

    /// The folder of the program's pins.
    pub(crate) fn folder(&self) -> &Arc<Dir> {
        &self.folder
    }

    /// The instance's folder, which has its attachments.
    pub(super) fn instance(&self) -> &Dir {
        &self.instance
    }
}

impl writers::Guard for Guard {
    fn folder(&self) -> &Dir {
        &self.folder
    }

    fn has_journal(&self) -> bool {
        self.folder.has(JOURNAL)
    }

    /// Writes a journal to the elements of an array. The first element begins with the length of everything.
    fn write_journal(&self, journal: &[u8]) -> io::Result<()> {
        let length = size_of::<u64>() + journal.len();
        let mut bytes = (length as u64).to_ne_bytes().to_vec();
        bytes.extend_from_slice(journal);
        let part = bytes.len().next_multiple_of(8).min(PART);
        bytes.resize(bytes.len().next_multiple_of(part), 0);
        let parts = (bytes.len() / part) as u32;
        let array = libbpf_sys::BPF_MAP_TYPE_ARRAY;
        let map =
            Map::create(array, "onpath_journal", 4, part as u32, parts, 0).map_err(explained)?;
        let keys: Vec<u8> = (0..parts).flat_map(u32::to_ne_bytes).collect();
        map.set_many(&keys, &bytes)
            .map_err(|p| explained(p.error))?;
        map.pin(&self.folder, JOURNAL).map_err(explained)
    }

    fn journal(&self) -> io::Result<Vec<u8>> {
        let map = Map::open(&self.folder, JOURNAL).map_err(explained)?;
        let mut bytes = Vec::new();
        map.each(|_, part| bytes.extend_from_slice(part))
            .map_err(explained)?;
        let (length, rest) = bytes.split_first_chunk().unwrap_or((&[0; 8], &[]));
        let length = u64::from_ne_bytes(*length) as usize;
        let body = rest.get(..length.saturating_sub(8));
        Ok(body.unwrap_or_default().to_vec())
    }

    fn remove_journal(&self) -> io::Result<()> {
        self.folder.remove_file(JOURNAL).map_err(explained)
    }

    fn has_successor(&self) -> bool {
        successor::is_waiting(self)
    }

    fn settle_successor(&self) -> Result<(), StoreError> {
        successor::recover(self)
    }
}

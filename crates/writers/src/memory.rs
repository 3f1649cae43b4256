//! Interface of writers to the memory that holds a program's state.

use crate::Guard;
use crate::replicas::Traffic;
use control::StoreError;
use host::words::Words;
use layout::{Contents, HashSeeds, MapKind};
use schema::Schema;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Kind and sizes of a map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapInfo {
    /// Kind of the map: how its elements are found.
    pub kind: MapKind,
    /// Size of a key, in bytes.
    pub key_size: usize,
    /// Size of a value, in bytes; of one copy if each core has one.
    pub value_size: usize,
    /// Capacity of the map, in elements.
    pub max_entries: u32,
}

/// Failure after some of the elements were written.
#[derive(Debug)]
pub struct Partial {
    /// Number of elements that were written, from the first on.
    pub done: usize,
    /// Error of the first element that was not written.
    pub error: io::Error,
}

/// Way (slot) of a set, in an array of sets that begin with a lock.
#[derive(Clone, Copy, Debug)]
pub struct SetWay<'a> {
    /// Index of the set.
    pub set: u32,
    /// Expected tag of the way; 0 is the tag of an empty way.
    pub tag: u32,
    /// Offset of the tag in the set, in bytes; below 32768.
    pub tag_at: u32,
    /// Offset of the way's key in the set, in bytes.
    pub key_at: u32,
    /// Expected key of the way: a multiple of 8 bytes.
    pub key: &'a [u8],
}

/// Map of the program. Keys and values are bytes; those of several elements are concatenated without padding. If each
/// core has a copy of a value, all copies are read, each padded to a multiple of 8 bytes.
///
/// Packets see an element as a whole or not at all. The exception are arrays, of which they see whole words.
pub trait Map: Debug {
    /// Returns the map's kind and sizes.
    fn info(&self) -> MapInfo;

    /// Returns true if the map is an array: its keys are indices, and all elements always exist.
    fn is_array(&self) -> bool {
        matches!(self.info().kind, MapKind::Array | MapKind::PerCoreArray)
    }

    /// Looks up the element that a packet with this key finds.
    fn get(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>>;

    /// Reads the value of exactly this key, where [`Map::get`] may find a shorter prefix. `None` means that the map
    /// cannot tell without reading all elements; `Some(None)` that the key does not exist.
    fn get_exactly(&self, key: &[u8]) -> io::Result<Option<Option<Vec<u8>>>>;

    /// Reads a value under the lock that it contains. The bytes of the lock are zero in the result.
    fn get_locked(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>>;

    /// Calls `each` with the key and value of every element. For a consistent view the caller must keep others from
    /// writing meanwhile.
    fn each(&self, each: &mut dyn FnMut(&[u8], &[u8])) -> io::Result<()>;

    /// Calls `each` with all values of an array in order, each read under the lock that it contains.
    fn each_locked(&self, each: &mut dyn FnMut(&[u8])) -> io::Result<()>;

    /// Returns true if there are more than `most` elements. An array counts all its elements.
    fn has_more_than(&self, most: usize) -> io::Result<bool>;

    /// Stores a value, whether the key exists or not. All cores get the same value.
    ///
    /// # Errors
    /// [`io::ErrorKind::ArgumentListTooLong`] or [`io::ErrorKind::StorageFull`]: there is no room.
    fn set(&self, key: &[u8], value: &[u8]) -> io::Result<()>;

    /// Stores a value under the lock that it contains.
    fn set_locked(&self, key: &[u8], value: &[u8]) -> io::Result<()>;

    /// Stores elements in order, as [`Map::set`] does.
    fn set_many(&self, keys: &[u8], values: &[u8]) -> Result<(), Partial>;

    /// Removes a key. Returns `false` if it did not exist.
    fn delete(&self, key: &[u8]) -> io::Result<bool>;

    /// Removes keys. Keys that do not exist are skipped.
    fn delete_many(&self, keys: &[u8]) -> Result<(), Partial>;

    /// Empties a way under its set's lock if it has the expected tag and key. Returns true if it had them.
    fn empty_way(&self, way: &SetWay<'_>) -> io::Result<bool>;

    /// Empties all ways of all sets of an array, each set under its lock. The tags of a set, a `u32` for each of its ways,
    /// are at `tags_at`. Keys and values stay, since packets may be reading them without the lock.
    fn empty_sets(&self, tags_at: u32, ways: u32) -> io::Result<()>;

    /// Consumes records of a ring buffer, at most `most`. No other reader gets them. Two readers must not call this at
    /// the same time.
    fn take(&self, most: u64, each: &mut dyn FnMut(&[u8])) -> io::Result<()>;

    /// Waits until a ring buffer has a record, or until `patience` has passed.
    fn wait(&self, patience: Duration) -> io::Result<()>;
}

/// Memory of a program. A writer that has taken the lock opens the memory again ([`Memory::anew`]), since another
/// writer may have replaced maps before.
pub trait Memory: Debug {
    /// Returns the description of the memory's layout.
    fn contents(&self) -> &Contents;

    /// Returns the schema: the program's interface to the control plane.
    fn schema(&self) -> &Arc<Schema>;

    /// Opens the memory again, with no map open yet, since another process may have replaced some.
    fn anew(&self) -> Self
    where
        Self: Sized;

    /// Returns the map with this name. `None` if the program has none.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`]: the program is gone.
    fn map(&self, name: &str) -> io::Result<Option<&dyn Map>>;

    /// Returns the elements of an array that packets and the control plane have in memory, each at a multiple of 8
    /// bytes.
    fn words(&self, name: &str) -> io::Result<Option<&Words>>;

    /// Returns the secret seeds of the program's hashes.
    fn seeds(&self) -> Result<HashSeeds, StoreError>;

    /// Returns the change counts of tables. `None` if changes are not counted yet.
    fn changes(&self) -> io::Result<Option<Words>>;

    /// Creates the memory that [`Memory::changes`] returns from now on: `size` bytes of zeros.
    fn begin_changes(&self, size: usize) -> io::Result<()>;

    /// Returns the time in nanoseconds, by the clock that packets read.
    fn now(&self) -> Result<u64, StoreError>;

    /// Waits for a grace period: until all packets that are being processed have ended.
    fn wait_for_packets(&self);

    /// Returns the traffic manager's maps: multicast groups, clone sessions and losses.
    fn traffic(&self) -> Traffic<'_>;

    /// Fails if the program has no interface for one of the ports that replicas are sent to.
    fn check_ports(&self, ports: &[u32]) -> Result<(), StoreError>;

    /// Returns the lock and journal shared with other processes. `None` as long as no other process knows the program.
    fn guard(&self) -> Option<&dyn Guard>;

    /// Creates a successor of the program with new, empty maps of these names. It shares all other maps with the
    /// program, and starts with a copy of its data. Requires a [`Memory::guard`], whose lock the caller holds for
    /// writing.
    fn successor(&self, fresh: &BTreeSet<&str>) -> Result<Box<dyn Successor>, StoreError>;
}

/// Successor that is to replace a running program.
pub trait Successor {
    /// Returns the successor's memory, which no packet uses yet.
    fn memory(&self) -> &dyn Memory;

    /// Replaces the program that the successor was made for. Packets in progress use the old program to their end; new
    /// packets use the successor. The caller has held the lock for writing since the successor was created.
    fn take_over(&self) -> Result<(), NotSwitched>;
}

/// Failure of a successor to replace a program, by the tables that packets now use.
#[derive(Debug)]
pub enum NotSwitched {
    /// All packets use the old tables.
    Kept(StoreError),
    /// Some interfaces may use the old tables and others the new ones, until the next writer completes the change.
    Begun(StoreError),
    /// All packets use the new tables. The next writer completes the change.
    Made(StoreError),
}

impl NotSwitched {
    /// Describes the part of the change that packets may see. `None` if they see none of it.
    pub fn left(&self) -> Option<StoreError> {
        let what = match self {
            NotSwitched::Kept(_) => return None,
            NotSwitched::Begun(_) => "packets at some interfaces may meet all of it",
            NotSwitched::Made(_) => "packets meet all of it",
        };
        Some(StoreError::System {
            what: format!("{what}, and the next command completes it"),
        })
    }

    /// Returns the cause of the failure.
    pub fn error(self) -> StoreError {
        match self {
            NotSwitched::Kept(error) | NotSwitched::Begun(error) | NotSwitched::Made(error) => {
                error
            }
        }
    }
}

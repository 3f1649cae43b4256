//! What writers ask of the memory that a program's state is in.

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

/// A map's kind and sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapInfo {
    /// The way that its elements are found.
    pub kind: MapKind,
    /// Bytes of a key.
    pub key_size: usize,
    /// Bytes of a value, of one copy.
    pub value_size: usize,
    /// Elements that it holds.
    pub max_entries: u32,
}

/// Why not all elements were written.
#[derive(Debug)]
pub struct Partial {
    /// How many were, from the first on.
    pub done: usize,
    /// The error of the next one.
    pub error: io::Error,
}

/// A way (slot) of a set, in an array of sets that begin with a lock.
#[derive(Clone, Copy, Debug)]
pub struct SetWay<'a> {
    /// The set's number.
    pub set: u32,
    /// The tag that the way has, a `u32`; 0 empties it.
    pub tag: u32,
    /// Where in the set the tag is, in bytes; below 32768.
    pub tag_at: u32,
    /// Where in the set the way's key is.
    pub key_at: u32,
    /// The key that the way has: a multiple of 8 bytes.
    pub key: &'a [u8],
}

/// A map. Keys and values are bytes; those of several elements lie beside each other without padding. A value that each core has a
/// copy of is read as all copies, each rounded up to 8 bytes.
///
/// Packets meet an element of a map as a whole, or not at all, unless it is an array's: of that they meet whole words.
pub trait Map: Debug {
    /// Its kind and sizes.
    fn info(&self) -> MapInfo;

    /// Whether its keys are numbers that are always there.
    fn is_array(&self) -> bool {
        matches!(self.info().kind, MapKind::Array | MapKind::PerCoreArray)
    }

    /// What a packet with this key finds.
    fn get(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>>;

    /// Reads the value of exactly this key, where [`Map::get`] may find a shorter prefix's. `None`: the map cannot tell without
    /// reading all elements. `Some(None)`: the key is not there.
    fn get_exactly(&self, key: &[u8]) -> io::Result<Option<Option<Vec<u8>>>>;

    /// A value read under the lock that it has; its bytes of the lock are zero.
    fn get_locked(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>>;

    /// All elements: key and value. A caller that wants all elements of one moment keeps others from writing meanwhile.
    fn each(&self, each: &mut dyn FnMut(&[u8], &[u8])) -> io::Result<()>;

    /// All values of an array in order, each read under the lock that it has.
    fn each_locked(&self, each: &mut dyn FnMut(&[u8])) -> io::Result<()>;

    /// Whether there are more elements than so many. Always for a larger array.
    fn has_more_than(&self, most: usize) -> io::Result<bool>;

    /// Stores a value, whether the key is there or not; the same for every core.
    ///
    /// # Errors
    /// [`io::ErrorKind::ArgumentListTooLong`] or [`io::ErrorKind::StorageFull`]: there is no room.
    fn set(&self, key: &[u8], value: &[u8]) -> io::Result<()>;

    /// Stores a value under the lock that it has.
    fn set_locked(&self, key: &[u8], value: &[u8]) -> io::Result<()>;

    /// Stores elements in order, as [`Map::set`] does.
    fn set_many(&self, keys: &[u8], values: &[u8]) -> Result<(), Partial>;

    /// Removes a key; `false` if it was not there.
    fn delete(&self, key: &[u8]) -> io::Result<bool>;

    /// Removes keys, which may be gone already.
    fn delete_many(&self, keys: &[u8]) -> Result<(), Partial>;

    /// Empties a way under its set's lock, if it has that tag and key. Says if it had.
    fn empty_way(&self, way: &SetWay<'_>) -> io::Result<bool>;

    /// Takes the records that are in a ring, so many at most. What is taken no other reader finds; two must not do so at once.
    fn take(&self, most: u64, each: &mut dyn FnMut(&[u8])) -> io::Result<()>;

    /// Waits until there is a record in a ring, or for so long.
    fn wait(&self, patience: Duration) -> io::Result<()>;
}

/// The memory of a program. A writer that has taken the lock opens it anew ([`Memory::anew`]), since another writer may have replaced
/// maps before.
pub trait Memory: Debug {
    /// What is where in it.
    fn contents(&self) -> &Contents;

    /// What the program offers the control plane.
    fn schema(&self) -> &Arc<Schema>;

    /// Opens the memory again, with no map open yet: another process may have replaced some.
    fn anew(&self) -> Self
    where
        Self: Sized;

    /// The map of a name; `None` if the program has none.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`]: the program is gone.
    fn map(&self, name: &str) -> io::Result<Option<&dyn Map>>;

    /// The elements of an array that packets and the control plane have in memory, each at a multiple of 8 bytes.
    fn words(&self, name: &str) -> io::Result<Option<&Words>>;

    /// The secrets of the program's hashes.
    fn seeds(&self) -> Result<HashSeeds, StoreError>;

    /// How often each table was changed, once that is counted.
    fn changes(&self) -> io::Result<Option<Words>>;

    /// Makes so many bytes of zeros that are [`Memory::changes`] from now on.
    fn begin_changes(&self, size: usize) -> io::Result<()>;

    /// Nanoseconds, by the clock that packets read.
    fn now(&self) -> Result<u64, StoreError>;

    /// Waits until no packet is left that was on its way.
    fn wait_for_packets(&self);

    /// Where copies of packets go, and what is lost.
    fn traffic(&self) -> Traffic<'_>;

    /// Fails if the program has no interface for one of the ports that it is to send copies to.
    fn check_ports(&self, ports: &[u32]) -> Result<(), StoreError>;

    /// What keeps writers in other processes away; `None` as long as no other process knows the program.
    fn guard(&self) -> Option<&dyn Guard>;

    /// A successor of the program with new, empty maps of these names. All other maps are the program's, and its data is what it
    /// is there. Only where there is a [`Memory::guard`]; the caller holds its lock for writing.
    fn successor(&self, fresh: &BTreeSet<&str>) -> Result<Box<dyn Successor>, StoreError>;
}

/// What is to take the place of a program.
pub trait Successor {
    /// Its memory, which no packet meets yet.
    fn memory(&self) -> &dyn Memory;

    /// Takes the place of the program that it was made for: packets that are on their way meet that to their end, the next ones the
    /// successor. The caller has held the lock for writing since.
    fn take_over(&self) -> Result<(), NotSwitched>;
}

/// Why a successor did not take a program's place, and what packets meet now.
#[derive(Debug)]
pub enum NotSwitched {
    /// The old tables.
    Kept(StoreError),
    /// The old ones at some interfaces, the new ones at others, perhaps, until the next writer.
    Begun(StoreError),
    /// The new tables. The next writer does the rest.
    Made(StoreError),
}

impl NotSwitched {
    /// Why packets may meet the new tables all the same.
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

    /// Why it did not.
    pub fn error(self) -> StoreError {
        match self {
            NotSwitched::Kept(error) | NotSwitched::Begun(error) | NotSwitched::Made(error) => {
                error
            }
        }
    }
}

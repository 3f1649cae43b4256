//! Tables whose entries are in memory that packets read while it changes: each change of an entry is whole for packets, and
//! what they may have found is left alone until they are gone.

use crate::buckets::Buckets;
use crate::errors::{refused, system};
use crate::multibit_trie::MultibitTrie;
use crate::records::Differences;
use crate::state::State;
use control::StoreError;
use layout::LookupAbi;
use std::io;

/// What keeps such entries. Keys and values are bytes, beside each other without padding.
pub(super) trait InMemory {
    /// Bytes of a key and of a value.
    fn sizes(&self) -> (usize, usize);

    /// Whether a key begins with the length of its prefix, in the machine's order.
    fn begin_with_length(&self) -> bool;

    /// Makes the program find nothing, in maps that are empty.
    fn start_empty(&self) -> Result<(), StoreError>;

    /// Whether there are more entries than so many.
    fn has_more_than(&self, most: usize) -> io::Result<bool>;

    /// All entries: keys and values.
    fn each(&self, each: &mut dyn FnMut(&[u8], &[u8])) -> io::Result<()>;

    /// Makes changes. Packets meet each of them as a whole; what goes makes room for what comes.
    fn change(&self, changes: &Differences) -> Result<(), Refused>;

    /// Undoes changes of which any part may have been made, by this process or one that was killed: gives entries the
    /// values that they had, and removes others.
    fn restore(&self, keys: &[u8], values: &[u8], removed: &[u8]) -> Result<(), StoreError>;
}

/// Why a change was not made.
pub(super) struct Refused {
    /// Which of the new or changed entries, counted in this order, it was for.
    pub entry: Option<usize>,
    /// What happened.
    pub error: StoreError,
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Refused {
        Refused { entry: None, error }
    }
}

/// A table could not be read.
pub(super) fn unread(error: io::Error) -> StoreError {
    refused("read the table")(error)
}

/// A table could not be written.
pub(super) fn unwritten(error: io::Error) -> StoreError {
    system("write the table")(error)
}

/// The entries of a table that are in memory, if they are.
pub(super) fn open<'a>(
    store: State<'a>,
    lookup: &'a LookupAbi,
) -> Result<Option<Box<dyn InMemory + 'a>>, StoreError> {
    Ok(match lookup {
        LookupAbi::MultibitTrie(abi) => Some(Box::new(MultibitTrie::open(store, abi)?)),
        LookupAbi::Buckets(abi) => Some(Box::new(Buckets::open(store, abi)?)),
        _ => None,
    })
}

/// Those of the table whose main map has this name.
pub(super) fn of_map<'a>(
    store: State<'a>,
    map: &str,
) -> Result<Box<dyn InMemory + 'a>, StoreError> {
    let mut lookups = store
        .memory
        .contents()
        .tables
        .iter()
        .map(|table| &table.lookup);
    let found = lookups.find(|lookup| lookup.maps().first() == Some(&map));
    let entries = found.map(|lookup| open(store, lookup)).transpose()?;
    entries.flatten().ok_or_else(|| StoreError::System {
        what: format!("the program has no table `{map}`"),
    })
}
